// Objects on disk for which the store has no room: a caller waits as long as its own timeout, however many objects it
// asks for.
#include <troupe/framework/fetching.hpp>

#include <filesystem>
#include <future>

#include <troupe/framework/internal/objects/stored_object.hpp>

#include "fake_object.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

using doubles = array<double>;
using doubles_ref = object_ref<doubles>;

/// Removes a folder after all members that are declared behind it, and use the folder, are destroyed.
struct folder_to_remove {
  ~folder_to_remove() { std::filesystem::remove_all(path); }

  const std::filesystem::path path;
};

class full_store : public testing::Test {
protected:
  full_store() {
    for (int i = 0; i < 3; ++i)
      refs_.push_back(put(i));
    for (const auto size_bytes : {store_bytes - little, little})
      views_.push_back(map(size_bytes));
  }

  store::pin map(std::size_t size_bytes) {
    return store::object_store{*home_.home->store()}.put(std::vector<std::byte>(size_bytes)).value().pin().value();
  }

  /// Puts an object without mapping it.
  doubles_ref put(double first) {
    const auto mapped = home_.home->put(doubles(std::vector<double>(10'000, first))).value();
    auto object = internal::state_of(mapped)->source->stored();
    return internal::ref_to<doubles>(std::make_shared<internal::object_state>(internal::object_state{
        internal::state_of(mapped)->layout, std::make_shared<internal::stored_object>(std::move(object)),
        internal::state_of(mapped)->environment}));
  }

  /// Expects `call` to return within 10 s; the store's own grace time is a minute.
  template <class Call>
  static auto in_time(Call call) {
    const auto began = std::chrono::steady_clock::now();
    auto result = call();
    EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
    return result;
  }

  static void expect_full(const node_error& error) {
    EXPECT_EQ(error.code(), node_errc::store_full) << error.message();
    EXPECT_NE(error.message().find("object of 80,000 bytes, store has"), std::string::npos) << error.message();
  }

  static constexpr std::size_t store_bytes = 1_MiB;
  static constexpr std::size_t little = 90'048; // Room for one object, in bytes.
  const folder_to_remove directory_{std::filesystem::temp_directory_path() / unique_name("troupe-full")};
  side home_{node_options{.store = store::options{.name = unique_name("full"),
                                                  .capacity_bytes = store_bytes,
                                                  .spill_directory = directory_.path,
                                                  .full_grace = 60s}}};
  std::vector<doubles_ref> refs_; // These objects are on disk ...
  std::vector<store::pin> views_; // ... because these views leave no room for them.
};

TEST_F(full_store, get_does_not_wait_where_it_is_not_to) {
  expect_full(in_time([&] { return refs_[0].get(); }).error());
}

TEST_F(full_store, get_waits_no_longer_than_its_timeout) {
  expect_full(in_time([&] { return refs_[0].get(50ms); }).error());
}

TEST_F(full_store, get_waits_until_there_is_room) {
  auto value = std::async(std::launch::async, [&] { return refs_[1].get(30s); });
  EXPECT_EQ(value.wait_for(50ms), std::future_status::timeout);
  views_.clear();
  const auto got = in_time([&] { return value.get(); });
  ASSERT_TRUE(got) << got.error().message();
  EXPECT_EQ((*got)[0], 1.0);
}

TEST_F(full_store, the_time_of_get_all_is_for_all) {
  for (const auto timeout : {0ms, 50ms}) {
    const auto values = in_time([&] { return get_all(refs_, timeout); });
    ASSERT_FALSE(values);
    expect_full(values.error());
    EXPECT_TRUE(values.error().message().starts_with("object 1 of 3: ")) << values.error().message();
  }
}

TEST_F(full_store, wait_gives_what_is_there_when_the_time_is_over) {
  views_.pop_back();
  const auto got = in_time([&] { return wait(refs_, 3, 50ms); }); // There is room for one.
  ASSERT_TRUE(got) << got.error().message();
  EXPECT_EQ(got->here.size() + got->failed.size(), 3u);
  EXPECT_GE(got->here.size(), 1u);
}

TEST_F(full_store, wait_does_not_wait_for_room_where_others_are_enough) {
  views_.pop_back();
  const auto local = home_.home->put(doubles(std::vector{7.0})).value();
  far_object<doubles> far{local};
  views_.push_back(map(little - 1024)); // Beside the small view.
  auto result = std::async(std::launch::async, [&] { return wait(std::vector{refs_[0], far.ref}, 1, 30s); });
  ASSERT_TRUE(far.source->is_fetched());
  far.source->arrive();
  const auto got = in_time([&] { return result.get(); });
  ASSERT_TRUE(got) << got.error().message();
  EXPECT_EQ(got->here, std::vector<std::size_t>{1});
}

TEST_F(full_store, a_handler_is_told_at_once) {
  std::promise<node_error> told;
  home_.system.spawn([&] { told.set_value(refs_[0].get().error()); });
  expect_full(in_time([&] { return told.get_future().get(); }));
  caf::scoped_actor self{home_.system};
  std::vector<node_error> errors;
  in_time([&] {
    for (const auto& each : refs_)
      home_.home->fetch(self, each, 50ms)
          .receive([](const doubles&) { ADD_FAILURE(); },
                   [&](const caf::error& why) { errors.push_back(to_node_error(why)); });
    return 0;
  });
  ASSERT_EQ(errors.size(), 3u);
  for (const auto& each : errors)
    expect_full(each);
}

} // namespace
} // namespace troupe::tests
