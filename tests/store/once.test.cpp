// Objects that exist once per store: the process that makes one, the processes that wait for it, and the maker's death.
#include "spilling.hpp"
#include "support.hpp"

#include <troupe/store/internal/host/crash_point.hpp>
#include <troupe/store/internal/table/layout.hpp>

#include <cstring>

namespace troupe::store::test {

namespace {

using internal::crash_point;

constexpr auto origin = object_origin{7, 11};

/// Gets the object as any user does: makes it, or waits until another process has made it.
handle get(object_store& store, std::string_view text, std::atomic<int>& made) {
  for (;;) {
    auto once = store.create_once(origin, text.size());
    if (!once)
      return {};
    if (!once->sealed.empty())
      return once->sealed;
    if (once->building) {
      ++made;
      std::memcpy(once->building->bytes().data(), text.data(), text.size());
      return *std::move(*once->building).seal();
    }
    if (!store.wait_until([&] { return !store.is_being_written(once->being_written); }, 10s).value_or(false))
      return {};
  }
}

class once_test : public store_test {
protected:
  void expect_whole(const object_store& store) { EXPECT_TRUE(store.verify()) << message_of(store.verify()); }
};

TEST_F(once_test, others_see_whether_the_writer_goes_on) {
  auto store = open();
  auto made = store.create_once(origin, 5);
  ASSERT_TRUE(made && made->building) << message_of(made);
  const auto id = made->building->id();
  const auto before = store.progress_of(id);
  ASSERT_TRUE(before);
  EXPECT_EQ(store.progress_of(id), before);
  made->building->note_progress();
  EXPECT_NE(store.progress_of(id), before);
  const auto sealed = *std::move(*made->building).seal();
  EXPECT_EQ(store.progress_of(id), std::nullopt);
  expect_whole(store);
}

TEST_F(once_test, the_first_makes_it_and_the_others_find_it) {
  auto store = open();
  auto first = store.create_once(origin, 5);
  ASSERT_TRUE(first && first->building) << message_of(first);
  const auto id = first->building->id();
  const auto second = store.create_once(origin, 5);
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->building);
  EXPECT_TRUE(second->sealed.empty());
  EXPECT_EQ(second->being_written, id);
  EXPECT_EQ(second->writer, ::getpid());
  EXPECT_TRUE(store.is_being_written(id));
  const auto sealed = *std::move(*first->building).seal();
  EXPECT_FALSE(store.is_being_written(id));
  const auto third = store.create_once(origin, 5);
  ASSERT_TRUE(third);
  EXPECT_EQ(third->sealed.id(), id);
  EXPECT_EQ(store.find(origin)->sealed.id(), id);
  expect_whole(store);
}

TEST_F(once_test, other_origins_and_none_are_others) {
  auto store = open();
  const auto one = store.create_once(origin, 5);
  for (const auto& other : {object_origin{7, 12}, object_origin{8, 11}, object_origin{11, 7}}) {
    const auto made = store.create_once(other, 5);
    EXPECT_TRUE(made && made->building);
  }
  EXPECT_TRUE(store.create(5));
  const auto nothing = store.find(object_origin{1, 1});
  ASSERT_TRUE(nothing);
  EXPECT_TRUE(!nothing->building && nothing->sealed.empty() && nothing->being_written == object_id{});
}

TEST_F(once_test, a_dropped_builder_frees_the_origin_and_wakes_who_waits) {
  auto store = open();
  auto first = store.create_once(origin, 5);
  const auto id = store.create_once(origin, 5)->being_written;
  auto waiter = std::thread([&] {
    EXPECT_TRUE(store.wait_until([&] { return !store.is_being_written(id); }, 10s).value_or(false));
    const auto again = store.create_once(origin, 5);
    EXPECT_TRUE(again && again->building);
  });
  first->building.reset();
  waiter.join();
  expect_whole(store);
}

TEST_F(once_test, the_origin_goes_with_the_object) {
  auto store = open();
  auto made = std::atomic<int>{};
  auto object = get(store, "bytes", made);
  const auto old = object.id();
  object = {};
  EXPECT_TRUE(store.find(origin)->sealed.empty());
  object = get(store, "bytes", made);
  EXPECT_NE(object.id(), old);
  EXPECT_EQ(made, 2);
  expect_whole(store);
}

TEST_F(once_test, what_another_object_keeps_is_found) {
  auto store = open();
  auto made = std::atomic<int>{};
  auto inner = get(store, "inner", made);
  const auto id = inner.id();
  const auto outer = put(store, "outer", std::vector{id});
  inner = {};
  EXPECT_EQ(store.find(origin)->sealed.id(), id);
}

TEST_F(once_test, a_wait_has_an_end) {
  auto store = open();
  const auto first = store.create_once(origin, 5);
  const auto id = first->building->id();
  EXPECT_EQ(store.wait_until([&] { return !store.is_being_written(id); }, 20ms), false);
}

// Goal: if many processes need the same object at once, one of them makes it, and all get it.
TEST_F(once_test, of_many_processes_one_makes_it) {
  auto store = open();
  constexpr auto rounds = 50;
  constexpr auto processes = 6;
  auto made = shared<std::atomic<int>>{};
  auto ready = shared<std::atomic<int>>{};
  auto got = shared<std::array<std::array<object_id, processes>, rounds>>{};
  auto children = std::vector<child>{};
  for (auto which = 0; which < processes; ++which)
    children.emplace_back([&, which] {
      auto mine = open();
      auto kept = handle{};
      for (auto round = 0; round < rounds; ++round) {
        kept = {};
        ++*ready;
        if (!eventually([&] { return *ready >= (2 * round + 1) * processes; }))
          return 1;
        kept = get(mine, "the bytes", *made);
        (*got)[static_cast<std::size_t>(round)][static_cast<std::size_t>(which)] = kept.id();
        if (read(kept) != "the bytes")
          return 2;
        ++*ready;
        if (!eventually([&] { return *ready >= (2 * round + 2) * processes; }))
          return 3;
      }
      return 0;
    });
  for (auto& each : children)
    EXPECT_EQ(each.wait(), fine);
  EXPECT_EQ(*made, rounds);
  for (const auto& round : *got)
    EXPECT_EQ(std::ranges::count(round, round.front()), processes);
  (void)store.reap();
  EXPECT_EQ(store.summary()->objects, 0u);
  expect_whole(store);
}

// Goal: if the maker is killed, one of the waiting processes makes the object, without a call of reap().
TEST_F(once_test, a_killed_maker_is_replaced_by_one_of_those_who_wait) {
  auto store = open();
  auto made = shared<std::atomic<int>>{};
  auto ready = shared<std::atomic<int>>{};
  auto victim = child([&] {
    auto mine = open();
    const auto once = mine.create_once(origin, 9);
    if (!once || !once->building)
      return 1;
    ++*ready;
    ::pause();
    return 2;
  });
  ASSERT_TRUE(eventually([&] { return *ready == 1; }));
  auto others = std::vector<child>{};
  for (auto which = 0; which < 3; ++which)
    others.emplace_back([&] {
      auto mine = open();
      if (mine.create_once(origin, 9)->being_written == object_id{})
        return 1;
      ++*ready;
      const auto object = get(mine, "the bytes", *made);
      ++*ready;
      if (!eventually([&] { return *ready == 7; }))
        return 2;
      return read(object) == "the bytes" ? 0 : 3;
    });
  ASSERT_TRUE(eventually([&] { return *ready == 4; }));
  EXPECT_EQ(store.find(origin)->writer, victim.pid());
  victim.kill_and_wait();
  for (auto& each : others)
    EXPECT_EQ(each.wait(), fine);
  EXPECT_EQ(*made, 1);
  expect_whole(store);
}

class once_crash_test : public once_test, public ::testing::WithParamInterface<crash_point> {};

// Method: several origins stay all the time, so that chains and free rows are rebuilt around them.
TEST_P(once_crash_test, whoever_is_killed_here_leaves_a_whole_store_and_free_origins) {
  auto store = open();
  auto kept = std::vector<handle>{};
  for (auto which = 1u; which <= 9; ++which) {
    kept.push_back(*std::move(*store.create_once({which, 0}, 8)->building).seal());
    if (which % 3 == 0)
      kept.pop_back();
  }
  auto victim = child([&] {
    auto mine = open();
    internal::arm_crash_point(GetParam(), 2);
    for (auto round = 0; round < 3; ++round) {
      auto made = std::atomic<int>{};
      (void)mine.create_once(origin, 50);
      (void)get(mine, "text", made);
    }
    return 0;
  });
  ASSERT_EQ(victim.wait(), killed) << "the point was not met";
  EXPECT_EQ(store.find(object_origin{1, 0})->sealed.id(), kept.front().id()); // Rebuilds the table if it was locked.
  (void)store.reap();
  expect_whole(store);
  EXPECT_EQ(store.summary()->objects, kept.size());
  for (const auto& each : kept)
    EXPECT_TRUE(store.contains(each.id()));
  EXPECT_EQ(store.find(object_origin{4, 0})->sealed.id(), kept[2].id());
  EXPECT_EQ(store.find(object_origin{3, 0})->being_written, object_id{});
  EXPECT_TRUE(store.create_once(origin, 4)->building);
}

std::string name_of(const ::testing::TestParamInfo<crash_point>& at) {
  return std::string(internal::to_string(at.param));
}

INSTANTIATE_TEST_SUITE_P(every_point, once_crash_test,
                         ::testing::Values(crash_point::create_row_filled, crash_point::origin_filled,
                                           crash_point::origin_given, crash_point::create_published,
                                           crash_point::create_committed, crash_point::create_finished,
                                           crash_point::seal_published, crash_point::abort_marked,
                                           crash_point::release_cleared, crash_point::free_marked,
                                           crash_point::origin_dropped, crash_point::free_extent_returned,
                                           crash_point::free_finished),
                         name_of);

TEST_F(once_test, who_is_killed_while_rebuilding_origins_is_replaced) {
  auto store = open();
  auto made = std::atomic<int>{};
  const auto kept = get(store, "kept", made);
  auto first = child([&] {
    auto mine = open();
    internal::arm_crash_point(crash_point::origin_given);
    (void)mine.create_once({1, 1}, 5);
    return 0;
  });
  ASSERT_EQ(first.wait(), killed);
  auto second = child([&] {
    internal::arm_crash_point(crash_point::recover_rows_built);
    auto mine = open();
    return mine.find(origin) ? 0 : 1;
  });
  ASSERT_EQ(second.wait(), killed);
  EXPECT_EQ(store.find(origin)->sealed.id(), kept.id());
  EXPECT_TRUE(store.create_once({1, 1}, 5)->building);
  expect_whole(store);
}

TEST_F(once_test, origins_that_come_and_go_leave_chains_whole) {
  settings_.objects_max = 70'000;
  auto store = open();
  auto kept = std::vector<handle>{};
  for (auto which = 1u; which <= 30'000; ++which) {
    auto once = store.create_once({which % 7, which}, 0);
    ASSERT_TRUE(once && once->building) << message_of(once);
    kept.push_back(*std::move(*once->building).seal());
    if (which % 3 == 0)
      kept[which / 3] = {};
  }
  expect_whole(store);
  auto found = std::size_t{0};
  for (auto which = 1u; which <= 30'000; ++which) {
    const auto once = store.find(object_origin{which % 7, which});
    EXPECT_EQ(once->sealed.id(), kept[which - 1].id());
    found += once->sealed.empty() ? 0 : 1;
  }
  EXPECT_EQ(found, store.summary()->objects);
}

// Goal: the table of origins is bounded. If it is full, an object can still be created, but has no origin.
TEST_F(once_test, what_comes_when_all_origins_are_taken_has_none) {
  settings_.objects_max = internal::origins_max + 100;
  auto store = open();
  auto kept = std::vector<handle>{};
  for (auto which = 1u; which <= internal::origins_max; ++which) {
    auto once = store.create_once({0, which}, 0);
    ASSERT_TRUE(once && once->building) << message_of(once);
    kept.push_back(*std::move(*once->building).seal());
  }
  for (auto twice = 0; twice < 2; ++twice) {
    auto once = store.create_once(origin, 0);
    ASSERT_TRUE(once && once->building) << message_of(once);
    kept.push_back(*std::move(*once->building).seal());
  }
  EXPECT_EQ(store.find(object_origin{0, 17})->sealed.id(), kept[16].id());
  kept[16] = {};
  EXPECT_TRUE(store.create_once(origin, 0)->building);
  expect_whole(store);
}

TEST_F(once_test, a_forked_childs_calls_fail) {
  auto store = open();
  const auto once = store.create_once(origin, 5);
  auto forked = child([&] {
    const auto id = once->building->id();
    const auto waited = store.wait_until([] { return false; }, 10s);
    return code_of(store.create_once(origin, 5)) == store_errc::forked && code_of(waited) == store_errc::forked
                   && !store.is_being_written(id)
               ? 0
               : 1;
  });
  EXPECT_EQ(forked.wait(), fine);
}

class spilled_once_test : public spilling_test {
protected:
  void expect_whole(const object_store& store) { EXPECT_TRUE(store.verify()) << message_of(store.verify()); }
};

TEST_F(spilled_once_test, what_lies_on_disk_is_found) {
  auto store = open();
  auto once = store.create_once(origin, tenth);
  ASSERT_TRUE(once && once->building);
  std::memcpy(once->building->bytes().data(), content(1).data(), tenth);
  const auto object = *std::move(*once->building).seal();
  const auto others = put_many(store, 20);
  ASSERT_EQ(state_of(store, object.id()), object_state::spilled);
  const auto found = store.find(origin);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->sealed.id(), object.id());
  EXPECT_EQ(read(found->sealed), content(1));
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

// Goal: an origin is free as soon as nobody holds its object. From then on it finds only the new object.
TEST_F(spilled_once_test, an_origin_whose_object_cannot_be_freed_yet_goes_to_the_next_one) {
  auto store = open();
  const auto make = [&](int which) {
    auto once = store.create_once(origin, tenth);
    EXPECT_TRUE(once && once->building) << message_of(once);
    std::memcpy(once->building->bytes().data(), content(which).data(), tenth);
    return *std::move(*once->building).seal();
  };
  auto first = make(1);
  auto spiller = child([&] {
    auto mine = open();
    internal::arm_crash_point(crash_point::spill_file_written, 1, internal::crash_action::stop);
    const auto others = put_many(mine, 9);
    return eventually([&] { return mine.summary()->spilled_objects > 0; }) ? 0 : 1;
  });
  spiller.wait_until_stopped();
  ASSERT_EQ(state_of(store, first.id()), object_state::spilling);
  first = {};
  const auto second = make(2);
  EXPECT_EQ(store.find(origin)->sealed.id(), second.id());
  expect_whole(store);
  spiller.kill(SIGCONT);
  EXPECT_EQ(spiller.wait(), fine);
  EXPECT_EQ(store.find(origin)->sealed.id(), second.id());
  expect_whole(store);
}

TEST_F(spilled_once_test, what_is_larger_than_the_store_is_made_once_too) {
  auto store = open();
  auto once = store.create_once(origin, 3 * settings_.capacity_bytes);
  ASSERT_TRUE(once && once->building) << message_of(once);
  EXPECT_EQ(store.create_once(origin, 3 * settings_.capacity_bytes)->being_written, once->building->id());
  const auto object = *std::move(*once->building).seal();
  EXPECT_EQ(store.create_once(origin, 3 * settings_.capacity_bytes)->sealed.id(), object.id());
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

} // namespace

} // namespace troupe::store::test
