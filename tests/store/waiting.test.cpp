// Waiting for objects and for room, across processes.
#include "support.hpp"

namespace troupe::store::test {

namespace {

class waiting_test : public store_test {
protected:
  /// Builders of objects, whose ids are already known.
  [[nodiscard]] static std::vector<builder> build_many(object_store& store, int count) {
    auto building = std::vector<builder>{};
    for (auto number = 0; number < count; ++number)
      building.push_back(*store.create(100));
    return building;
  }

  [[nodiscard]] static std::vector<object_id> ids_of(const std::vector<builder>& building) {
    auto ids = std::vector<object_id>{};
    for (const auto& each : building)
      ids.push_back(each.id());
    return ids;
  }
};

TEST_F(waiting_test, what_is_there_is_given_at_once_in_order_and_not_more_than_asked_for) {
  auto store = open();
  const auto a = put(store, "a");
  const auto b = put(store, "b");
  const auto c = put(store, "c");
  EXPECT_EQ(*store.wait(std::vector{c.id(), a.id(), b.id()}, 2, 0ms), (std::vector{c.id(), a.id()}));
  EXPECT_EQ(*store.wait(std::vector{c.id(), a.id()}, 9, 10s), (std::vector{c.id(), a.id()})); // All that exist.
  EXPECT_EQ(*store.wait(std::vector{a.id(), a.id(), b.id()}, 3, 10s), (std::vector{a.id(), b.id()}));
  EXPECT_EQ(*store.wait({}, 1, 10s), std::vector<object_id>{});
}

TEST_F(waiting_test, ends_with_what_there_is_when_the_time_is_over) {
  auto store = open();
  const auto a = put(store, "a");
  auto building = build_many(store, 1);
  EXPECT_EQ(*store.wait(std::vector{building[0].id(), a.id()}, 2, 30ms), std::vector{a.id()});
}

TEST_F(waiting_test, wakes_when_another_process_seals) {
  auto store = open();
  auto ids = shared<std::array<object_id, 3>>{};
  auto step = shared<std::atomic<int>>{};
  auto writer = child([&] {
    auto mine = open();
    auto building = build_many(mine, 3);
    std::ranges::copy(ids_of(building), ids->begin());
    *step = 1;
    if (!eventually([&] { return *step == 2; }))
      return 1;
    auto made = std::vector<handle>{};
    for (auto& each : building)
      made.push_back(*std::move(each).seal());
    return eventually([&] { return *step == 3; }) ? 0 : 2;
  });
  ASSERT_TRUE(eventually([&] { return *step == 1; }));
  EXPECT_EQ(*store.wait(*ids, 3, 0ms), std::vector<object_id>{});
  *step = 2;
  EXPECT_EQ(store.wait(*ids, 3, 10s)->size(), 3u);
  *step = 3;
  EXPECT_EQ(writer.wait(), fine);
}

TEST_F(waiting_test, many_that_wait_for_one_object_all_wake) {
  auto store = open();
  auto building = build_many(store, 1);
  const auto ids = ids_of(building);
  auto ready = shared<std::atomic<int>>{};
  auto readers = std::vector<child>{};
  for (auto number = 0; number < 4; ++number)
    readers.emplace_back([&] {
      auto mine = open();
      ++*ready;
      return mine.wait(ids, 1, 10s)->size() == 1 ? 0 : 1;
    });
  ASSERT_TRUE(eventually([&] { return *ready == 4; }));
  const auto made = *std::move(building[0]).seal();
  for (auto& each : readers)
    EXPECT_EQ(each.wait(), fine);
}

// Goal: a seal wakes all waiters. Without the wake-up, they would find the object only at their next check, 100 ms
// after the last one.
// Method: the test measures the time until the last of four waiters has woken. It takes the median of several rounds,
// because a busy machine makes some rounds slow.
TEST_F(waiting_test, a_seal_wakes_all_that_wait_and_none_finds_it_by_looking_again) {
  using clock = std::chrono::steady_clock;
  constexpr auto rounds = 9;
  auto store = open();
  auto delays = std::vector<clock::duration>{};
  for (auto round = 0; round < rounds; ++round) {
    auto building = build_many(store, 1);
    const auto ids = ids_of(building);
    auto woken = std::array<clock::time_point, 4>{};
    auto waiting = std::vector<std::jthread>{};
    for (auto& at : woken)
      waiting.emplace_back([&] {
        EXPECT_EQ(store.wait(ids, 1, 10s)->size(), 1u);
        at = clock::now();
      });
    std::this_thread::sleep_for(30ms); // By then they sleep.
    const auto made = *std::move(building[0]).seal();
    const auto sealed = clock::now();
    waiting.clear();
    delays.push_back(*std::ranges::max_element(woken) - sealed);
  }
  std::ranges::sort(delays);
  EXPECT_LT(delays[rounds / 2], 50ms);
}

TEST_F(waiting_test, what_was_aborted_or_let_go_is_not_waited_for_successfully) {
  auto store = open();
  auto building = build_many(store, 1);
  const auto aborted = building[0].id();
  building.clear();
  const auto gone = put(store, "gone").id();
  EXPECT_EQ(*store.wait(std::vector{aborted, gone}, 1, 20ms), std::vector<object_id>{});
}

// --- Room ------------------------------------------------------------------------------------------------------------

class room_test : public waiting_test {
protected:
  room_test() { settings_.full_grace = 10s; }

  /// Puts an object of that size as soon as there is room.
  [[nodiscard]] child putting(std::size_t size_bytes, std::atomic<int>& is_done) {
    return child([&, size_bytes] {
      auto mine = open();
      const auto made = mine.put(std::vector<std::byte>(size_bytes));
      is_done = 1;
      return made ? 0 : 1;
    });
  }

  /// Four objects that take all of the memory.
  [[nodiscard]] static std::vector<handle> fill(object_store& store) {
    auto held = std::vector<handle>{};
    for (auto number = 0; number < 4; ++number)
      held.push_back(*store.put(std::vector<std::byte>(1u << 18)));
    return held;
  }

  /// Starts putting an object of that size, and waits until it queues behind `others` puts.
  [[nodiscard]] child waiting_for(std::size_t size_bytes, object_store& store, std::size_t others) {
    auto made = putting(size_bytes, *done_[others]);
    EXPECT_TRUE(eventually([&] { return store.summary()->waiting == others + 1; }));
    return made;
  }

  std::array<shared<std::atomic<int>>, 2> done_;
};

TEST_F(room_test, is_waited_for_as_long_as_it_takes_where_for_ever_is_asked_for) {
  settings_.full_grace = std::chrono::milliseconds::max();
  auto store = open();
  auto held = fill(store);
  auto waiting = waiting_for(1u << 18, store, 0);
  held.pop_back();
  EXPECT_EQ(waiting.wait(), fine);
}

// Goal: small objects that would fit do not overtake a large one for ever.
// Method: everything is held. The large object waits first, then a small one. The first release makes room only for the
// small one, and the next release for both.
TEST_F(room_test, comes_in_the_order_of_asking) {
  auto store = open();
  auto held = fill(store);
  auto large = waiting_for(3u << 18, store, 0);
  auto small = waiting_for(1u << 10, store, 1);
  held.pop_back();
  EXPECT_FALSE(eventually([&] { return *done_[1] != 0; }, 300ms)); // It would fit, but it is not its turn.
  held.clear();
  EXPECT_EQ(large.wait(), fine);
  EXPECT_EQ(small.wait(), fine);
}

// Method: the large object waits for longer than a stopped process would keep its place.
TEST_F(room_test, keeps_its_order_however_long_the_first_one_waits) {
  settings_.full_grace = std::chrono::milliseconds::max();
  auto store = open();
  auto held = fill(store);
  auto large = waiting_for(3u << 18, store, 0);
  std::this_thread::sleep_for(6s);
  auto small = waiting_for(1u << 10, store, 1);
  held.pop_back();
  EXPECT_FALSE(eventually([&] { return *done_[1] != 0; }, 300ms)); // It would fit, but it is not its turn.
  held.clear();
  EXPECT_EQ(large.wait(), fine);
  EXPECT_EQ(small.wait(), fine);
}

TEST_F(room_test, of_who_waits_and_dies_goes_to_the_next) {
  auto store = open();
  auto held = fill(store);
  auto large = waiting_for(4u << 18, store, 0);
  auto small = waiting_for(1u << 10, store, 1);
  held.pop_back();
  large.kill_and_wait();
  EXPECT_EQ(small.wait(), fine);
}

TEST_F(room_test, who_does_not_want_to_wait_is_told_at_once_also_behind_others) {
  auto store = open();
  auto held = fill(store);
  auto large = waiting_for(4u << 18, store, 0);
  held.pop_back();
  EXPECT_EQ(code_of(store.put(bytes_of("small"), {}, {}, 0ms)), store_errc::full);
  large.kill_and_wait();
  EXPECT_TRUE(eventually([&] { return store.put(bytes_of("small"), {}, {}, 0ms).has_value(); }));
}

TEST_F(room_test, that_never_comes_is_waited_for_once) {
  auto store = open();
  const auto held = fill(store);
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(code_of(store.put(bytes_of("x"), {}, {}, 1s)), store_errc::full);
  EXPECT_GE(std::chrono::steady_clock::now() - began, 1s);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 1900ms);
}

TEST_F(room_test, of_a_dead_process_is_found_by_who_waits) {
  auto store = open();
  auto step = shared<std::atomic<int>>{};
  auto holder = child([&] {
    auto mine = open();
    const auto all = mine.put(std::vector<std::byte>(1u << 20));
    *step = 1;
    ::pause();
    return 0;
  });
  ASSERT_TRUE(eventually([&] { return *step == 1; }));
  auto waiter = waiting_for(1u << 20, store, 0);
  holder.kill_and_wait();
  EXPECT_EQ(waiter.wait(), fine);
}

} // namespace

} // namespace troupe::store::test
