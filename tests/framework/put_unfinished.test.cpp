// Values that are put while objects that they refer to are on another host.
#include <future>
#include <numeric>

#include <troupe/framework/fetching.hpp>
#include <troupe/framework/internal/objects/stored_bytes.hpp>

#include "three_nodes.hpp"

namespace troupe::tests {
namespace {

using array_ref = object_ref<array<double>>;

struct album {
  std::string title;
  std::vector<array_ref> pictures;
};
TROUPE_DESCRIBE(album, title, pictures)
using album_ref = object_ref<album>;

struct album_shelf {
  std::vector<album_ref> albums;
};
TROUPE_DESCRIBE(album_shelf, albums)
using album_shelf_ref = object_ref<album_shelf>;

std::vector<double> values_of(std::size_t count = 100'000) {
  std::vector<double> values(count);
  std::iota(values.begin(), values.end(), 0.0);
  return values;
}

/// Keeps the last value that was sent to an actor.
template <class T>
class box {
public:
  void put(const T& value) {
    std::lock_guard guard{mutex_};
    value_ = value;
  }
  T take() {
    std::lock_guard guard{mutex_};
    return std::exchange(value_, T{});
  }

private:
  std::mutex mutex_;
  T value_;
};

template <class T>
caf::actor keeper_in(side& at, const std::shared_ptr<box<T>>& kept) {
  return at.system.spawn([kept](caf::event_based_actor* self) -> caf::behavior {
    self->set_default_handler(caf::drop);
    return {[kept](const T& ref) {
      kept->put(ref);
      return 1;
    }};
  });
}

/// Near has the pictures, far puts values that refer to the pictures, and third reads these values. Each node counts as
/// a host of its own.
class unfinished : public three_nodes {
protected:
  unfinished() {
    near_types_ = far_types_ = third_types_ = [](type_registry& types) {
      types.add<album>("test.album");
      types.add<album_ref>("test.ref_album");
      types.add<album_shelf>("test.shelf");
      types.add<album_shelf_ref>("test.ref_shelf");
    };
    near_options_.store.edit()->name = unique_name("near-host");
    far_options_.store.edit()->name = unique_name("far-host");
    third_options_.store.edit()->name = unique_name("third-host");
    far_options_.handle_grace = near_options_.handle_grace = third_options_.handle_grace = 10s;
  }

  /// Puts a picture at near. Returns far's handle to it.
  array_ref picture_at_far(std::size_t count = 100'000) {
    const auto kept = std::make_shared<box<array_ref>>();
    publish("keeper", keeper_in(far(), kept));
    const auto to = find("keeper");
    const auto ref = near().home->put(array<double>(values_of(count)));
    EXPECT_TRUE(ref) << ref.error().message();
    EXPECT_EQ(ask<int>(near().system, to, *ref), 1);
    return kept->take();
  }
  /// Like picture_at_far(), but closes the link, so that nothing can be fetched from near.
  array_ref picture_out_of_reach(std::size_t count = 100'000) {
    auto ref = picture_at_far(count);
    link_->close();
    link_.reset();
    EXPECT_TRUE(eventually([&] { return far().home->links().size() == (beyond_ ? 1 : 0); }));
    return ref;
  }

  template <class T>
  object_ref<T> put_at_far(const T& value) {
    auto ref = far().home->put(value);
    EXPECT_TRUE(ref) << ref.error().message();
    return ref ? *ref : object_ref<T>{};
  }
  static bool is_in_store(const internal::object_state_ptr& state) { return state->source->place().has_value(); }

  template <class T>
  object_ref<T> at_third(const object_ref<T>& ref) {
    const auto kept = std::make_shared<box<object_ref<T>>>();
    const auto name = unique_name("keeper");
    EXPECT_TRUE(third().home->publish(name, keeper_in(third(), kept)));
    const auto to = beyond_->find(name);
    EXPECT_TRUE(to);
    EXPECT_EQ(ask<int>(far().system, *to, ref), 1);
    return kept->take();
  }

  static std::uint64_t objects_of(side& which) {
    const auto summary = store::object_store{*which.home->store()}.summary();
    return summary ? summary->objects : UINT64_MAX;
  }
  bool all_stores_empty() {
    return eventually(
        [&] { return objects_of(near()) == 0 && objects_of(far()) == 0 && (!third_ || objects_of(*third_) == 0); });
  }
};

TEST_F(unfinished, a_value_with_a_reference_to_another_host_is_put_at_once_and_finished_when_that_has_come) {
  connect();
  auto picture = picture_out_of_reach();
  auto ref = put_at_far(album{"a", {picture, picture}});
  EXPECT_FALSE(is_in_store(internal::state_of(ref)));
  const auto known = far().home->memory_summary();
  EXPECT_TRUE(known && std::ranges::any_of(known->objects, [&](const auto& each) {
                return each.state == "unfinished" && each.size_bytes == ref.size_bytes();
              }));
  auto value = ref.get();
  ASSERT_TRUE(value) << value.error().message();
  EXPECT_EQ(value->title, "a");
  EXPECT_EQ(value->pictures[0], value->pictures[1]);
  EXPECT_EQ(value->pictures[0].get().error().code(), node_errc::fetch_timed_out);
  connect();
  ASSERT_TRUE(eventually([&] { return is_in_store(internal::state_of(ref)); }));
  EXPECT_EQ(value->pictures[0].get(10s).value()[7], 7.0);
  EXPECT_EQ(ref.get().value().pictures[1].get().value()[7], 7.0);
  value->pictures.clear();
  picture = {};
  EXPECT_EQ(objects_of(far()), 2u); // The new object keeps the other one alive.
  ref = {};
  EXPECT_TRUE(all_stores_empty());
}

TEST_F(unfinished, it_may_be_sent_on_before_it_is_finished) {
  connect_all();
  auto picture = picture_out_of_reach();
  auto got = at_third(put_at_far(album{"a", {picture}}));
  picture = {};
  auto value = std::async(std::launch::async, [&] { return got.get(10s); });
  connect();
  auto album = value.get();
  ASSERT_TRUE(album) << album.error().message();
  EXPECT_EQ(album->pictures[0].get().value()[99'999], 99'999.0);
  EXPECT_TRUE(eventually([&] { return objects_of(far()) == 0; })); // Third depends on no other node.
  album->pictures.clear();
  got = {};
  EXPECT_TRUE(all_stores_empty());
}

TEST_F(unfinished, who_shares_the_store_gets_it_there_when_it_is_finished) {
  third_options_.store.edit()->name = (*far_options_.store)->name;
  connect_all();
  ASSERT_TRUE(beyond_->shares_store());
  const auto picture = picture_out_of_reach();
  const auto ref = put_at_far(album{"a", {picture}});
  const auto got = at_third(ref);
  EXPECT_EQ(got.get().error().code(), node_errc::fetch_timed_out);
  connect();
  const auto album = got.get(10s);
  ASSERT_TRUE(album) << album.error().message();
  EXPECT_EQ(album->pictures[0].get(10s).value()[5], 5.0);
  EXPECT_EQ(got, ref);
}

TEST_F(unfinished, objects_that_wait_may_refer_to_each_other) {
  connect_all();
  const auto picture = picture_out_of_reach();
  const auto here = far().home->put(array<double>(std::vector{1.0}));
  std::vector<album_ref> albums;
  for (int i = 0; i < 50; ++i)
    albums.push_back(put_at_far(album{std::to_string(i), {picture, *here}}));
  const auto ref = put_at_far(album_shelf{albums});
  const auto got = at_third(ref);
  connect();
  const auto value = got.get(10s);
  ASSERT_TRUE(value) << value.error().message();
  ASSERT_EQ(value->albums.size(), 50u);
  EXPECT_EQ(value->albums[49].get().value().title, "49");
  EXPECT_EQ(value->albums[49].get().value().pictures[1].get().value()[0], 1.0);
}

TEST_F(unfinished, a_handler_may_put_it) {
  connect();
  const auto picture = picture_out_of_reach();
  const auto made = std::make_shared<box<album_ref>>();
  const auto maker = far().system.spawn([&, made](caf::event_based_actor*) -> caf::behavior {
    return {[&, made](const array_ref& ref) -> caf::result<int> {
      auto put = far().home->put(album{"a", {ref}});
      if (!put)
        return to_caf_error(put.error());
      made->put(*put);
      return 1;
    }};
  });
  ASSERT_EQ(ask<int>(far().system, maker, picture), 1);
  connect();
  const auto ref = made->take();
  EXPECT_TRUE(eventually([&] { return is_in_store(internal::state_of(ref)); }));
}

TEST_F(unfinished, when_what_it_refers_to_is_lost_others_are_told_and_its_own_process_can_read_it) {
  far_options_.handle_grace = 100ms;
  connect_all();
  const auto picture = picture_out_of_reach();
  const auto ref = put_at_far(album{"a", {picture}});
  const auto got = at_third(ref);
  const auto lost = got.get(10s);
  ASSERT_FALSE(lost);
  EXPECT_EQ(lost.error().code(), node_errc::object_lost) << lost.error().message();
  const auto own = ref.get();
  ASSERT_TRUE(own) << own.error().message();
  EXPECT_EQ(own->pictures[0].get(10s).error().code(), node_errc::object_lost);
  const auto refused = far().home->put(album{"b", {picture}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), node_errc::object_lost);
}

TEST_F(unfinished, those_that_wait_take_half_of_the_stores_size_at_most) {
  connect();
  const auto picture = picture_out_of_reach();
  std::vector<album_ref> kept;
  std::optional<node_error> refused;
  for (int i = 0; i < 200 && !refused; ++i) {
    auto put = far().home->put(album{std::string(1 << 20, 'a'), {picture}});
    if (put)
      kept.push_back(*put);
    else
      refused = put.error();
  }
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->code(), node_errc::store_full);
  EXPECT_NE(refused->message().find("troupe::wait"), std::string::npos) << refused->message();
  EXPECT_GE(kept.size(), 30u);
  EXPECT_LE(kept.size(), 32u);
  connect();
  EXPECT_TRUE(eventually([&] { return is_in_store(internal::state_of(kept.back())); }));
  EXPECT_TRUE(far().home->put(album{std::string(1 << 20, 'a'), {picture}}));
}

TEST_F(unfinished, what_nobody_wants_is_not_finished) {
  near_options_.handle_grace = 300ms; // Near keeps exports for this long if far releases them while no link is up.
  connect();
  auto picture = picture_out_of_reach();
  (void)put_at_far(album{"a", {picture}});
  picture = {};
  connect();
  EXPECT_TRUE(all_stores_empty());
}

TEST_F(unfinished, a_node_may_end_with_it) {
  connect();
  const auto picture = picture_out_of_reach();
  const auto ref = put_at_far(album{"a", {picture}});
  far().home.reset();
  EXPECT_EQ(ref.get().value().title, "a");
}

} // namespace
} // namespace troupe::tests
