// Objects that refer to others, and references outside of messages, after the death of their maker.
#include <caf/all.hpp>
#include <gtest/gtest.h>

#include "messages.hpp"
#include "peer_process.hpp"

namespace troupe::tests {
namespace {

class objects_of_a_peer : public testing::Test {
protected:
  void SetUp() override {
    add_messages(types_);
    auto unique = std::to_string(::getpid()) + "-" + testing::UnitTest::GetInstance()->current_test_info()->name();
    store_ = "obj-" + unique.substr(0, 50);
    auto address = "unix://@troupe-obj-" + unique;
    peer_ = std::make_unique<peer_process>(address, store_, "typed,msgpack");
    node_options options{.name = "test"};
    options.store = store::options{.name = store_, .capacity_bytes = 64_MiB};
    auto opened = node::open(system_, types_, families_, options);
    ASSERT_TRUE(opened) << opened.error().message();
    home_.emplace(*std::move(opened));
    auto connected = home_->connect(address, {});
    ASSERT_TRUE(connected) << connected.error().message();
    link_.emplace(*std::move(connected));
    auto found = link_->find("keeper");
    ASSERT_TRUE(found) << found.error().message();
    keeper_ = *found;
  }

  template <class Result, class... Question>
  std::expected<Result, std::string> ask(const Question&... question) {
    caf::scoped_actor self{system_};
    std::expected<Result, std::string> result = std::unexpected{"nothing came"};
    self->request(keeper_, 10s, question...)
        .receive([&](Result& value) { result = std::move(value); },
                 [&](const caf::error& error) { result = std::unexpected{troupe::text_of(error)}; });
    return result;
  }

  void kill_peer() {
    peer_->kill();
    ASSERT_TRUE(eventually([&] { return !link_->is_open(); }));
  }

  std::size_t objects() { return store::object_store{*home_->store()}.summary().value().objects; }

  std::string store_;
  std::unique_ptr<peer_process> peer_;
  type_registry types_;
  family_set families_;
  system_config config_;
  caf::actor_system system_{config_};
  std::optional<node> home_;
  std::optional<link> link_;
  caf::actor keeper_;
};

TEST_F(objects_of_a_peer, live_as_long_as_the_one_that_refers_to_them_whoever_dies) {
  auto outer = ask<object_ref<storeroom>>(caf::atom("store"), 10'000);
  ASSERT_TRUE(outer) << outer.error();
  kill_peer();
  EXPECT_TRUE(eventually([&] { return objects() == 5; })) << objects(); // The storeroom, its shelf, three boxes.
  {
    auto room = outer->get();
    ASSERT_TRUE(room) << room.error().message();
    auto left = room->shelves.at("left").get();
    ASSERT_TRUE(left) << left.error().message();
    ASSERT_EQ(left->boxes.size(), 3u);
    EXPECT_EQ(left->boxes[2], room->newest);
    for (const auto& box : left->boxes) {
      auto values = box.get();
      ASSERT_TRUE(values) << values.error().message();
      EXPECT_EQ(std::accumulate(values->begin(), values->end(), 0.0), 10'000);
    }
    *outer = {};
    EXPECT_EQ(left->boxes[0].get().value()[9'999], 1.0); // An inner reference itself holds its object.
  }
  EXPECT_TRUE(eventually([&] { return objects() == 0; })) << objects();
}

TEST_F(objects_of_a_peer, that_nobody_counts_live_as_long_as_the_peer) {
  auto saved = ask<std::string>(caf::atom("save"), 10'000.0);
  ASSERT_TRUE(saved) << saved.error();
  std::vector<char> bytes{saved->begin(), saved->end()};
  const auto read = [&] {
    object_ref<array<double>> ref;
    caf::binary_deserializer source{system_, bytes};
    EXPECT_EQ(source(ref), caf::none);
    return ref;
  };
  {
    auto values = read().get();
    ASSERT_TRUE(values) << values.error().message();
    EXPECT_EQ(std::accumulate(values->begin(), values->end(), 0.0), 10'000);
  }
  EXPECT_EQ(objects(), 1u); // The peer still has it pinned.
  kill_peer();
  EXPECT_TRUE(eventually([&] { return objects() == 0; })) << objects();
  auto values = read().get();
  ASSERT_FALSE(values);
  EXPECT_EQ(values.error().code(), node_errc::object_freed) << values.error().message();
}

} // namespace
} // namespace troupe::tests
