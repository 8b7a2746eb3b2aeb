// A process is killed at every step of every mutation. The store that it leaves must be consistent.
#include "support.hpp"

#include <troupe/store/internal/host/crash_point.hpp>

#include <new>

namespace troupe::store::test {

namespace {

using internal::crash_point;

/// Performs every mutation of a living process at least twice, so that each point can be reached a first and a second
/// time.
int do_everything(object_store& store, process_id witness) {
  for (auto round = 0; round < 2; ++round) {
    auto inner = put(store, "inner");
    auto outer = put(store, "outer", std::vector{inner.id(), inner.id()});
    auto building = store.create(5'000, bytes_of("meta"));
    if (!building->capture(std::vector{outer.id(), inner.id()}))
      return 3;
    building->shrink(100);
    auto shrunk = *std::move(*building).seal();
    (void)store.create(300); // Dropped at once.
    auto once = store.create_once({7, 7}, 50);
    if (!once || !once->building)
      return 4;
    auto only = *std::move(*once->building).seal();
    auto found = *store.find(outer.id());
    auto view = *found.pin();
    if (!outer.hand_over(store.self(), 1) || !store.adopt(outer.id(), store.self(), 1))
      return 1;
    if (!inner.hand_over(witness, 1) || !inner.hand_over(witness, 1))
      return 2;
    inner.take_back(witness, 1);
    store.abandon(witness, 1);
    inner = {};
  }
  return 0;
}

class crash_test : public store_test, public ::testing::WithParamInterface<crash_point> {
protected:
  /// Checks the conditions that hold after any kill, as a process sees them that held `kept` throughout.
  void check_that_only_this_is_left(object_store& store, std::vector<object_id> kept) {
    const auto started = std::chrono::steady_clock::now();
    (void)store.reap();
    EXPECT_TRUE(store.verify()) << message_of(store.verify());
    const auto summary = store.summary();
    ASSERT_TRUE(summary) << message_of(summary);
    auto left = std::vector<object_id>{};
    for (const auto& row : summary->rows)
      left.push_back(row.id);
    std::ranges::sort(left);
    std::ranges::sort(kept);
    EXPECT_EQ(left, kept);
    EXPECT_EQ(summary->processes, std::vector{::getpid()});
    EXPECT_EQ(summary->bytes_in_use, 64 * kept.size());
    EXPECT_TRUE(store.put(bytes_of("new")));
    EXPECT_LT(std::chrono::steady_clock::now() - started, 1s);
  }
};

std::string name_of(const ::testing::TestParamInfo<crash_point>& info) {
  return std::string(internal::to_string(info.param));
}

std::vector<crash_point> points(crash_point first, crash_point last) {
  auto all = std::vector<crash_point>{};
  for (auto at = static_cast<int>(first); at <= static_cast<int>(last); ++at)
    all.push_back(static_cast<crash_point>(at));
  return all;
}

// --- Mutations -------------------------------------------------------------------------------------------------------

class mutation_crash_test : public crash_test {};

TEST_P(mutation_crash_test, whoever_is_killed_here_leaves_a_whole_store) {
  auto store = open();
  const auto inner = put(store, "inner");
  const auto outer = put(store, "outer", std::vector{inner.id()});
  for (auto nth : {1u, 2u}) {
    const auto witness = store.self();
    auto victim_id = shared<process_id>{};
    auto victim = child([&] {
      auto mine = open();
      *victim_id = mine.self();
      internal::arm_crash_point(GetParam(), nth);
      return do_everything(mine, witness);
    });
    ASSERT_EQ(victim.wait(), killed) << "the point was not met " << nth << " times";
    EXPECT_TRUE(store.find(inner.id())); // Rebuilds the table if the victim held its lock.
    (void)store.reap();
    const auto summary = store.summary();
    for (const auto& row : summary->rows) // Objects in flight to this process are left for it to adopt.
      EXPECT_TRUE(row.id == inner.id() || row.id == outer.id() || !row.in_flight.empty() || !row.captured_by.empty());
    store.abandon(*victim_id, 1);
    check_that_only_this_is_left(store, {inner.id(), outer.id()});
    EXPECT_EQ(read(inner), "inner");
    EXPECT_EQ(read(outer), "outer");
  }
}

/// All except `release_hinted`: a release gives a hint only if another process holds the lock; see lock_owner_test.
std::vector<crash_point> points_of_mutations() {
  auto all = points(crash_point::create_extent_taken, crash_point::flight_dropped);
  std::erase(all, crash_point::release_hinted);
  return all;
}

INSTANTIATE_TEST_SUITE_P(every_point, mutation_crash_test, ::testing::ValuesIn(points_of_mutations()), name_of);

class capture_crash_test : public crash_test {};

// Goal: after a kill during a capture, the builder's object and each object that it captures are whole or gone.
// Method: the victim is killed at the first and at the second edge, and one of the captured objects is its own. The
// rows have been used before, so they are not in order.
TEST_P(capture_crash_test, who_is_killed_while_a_builder_captures_leaves_a_whole_store) {
  auto store = open();
  const auto first = put(store, "first");
  const auto second = put(store, "second");
  const auto given = std::vector{second.id(), first.id(), second.id()};
  auto gone = std::vector{put(store, "gone", std::span{given}.first(2)), put(store, "gone", std::span{given}.last(1))};
  for (auto& object : gone)
    object = {};
  const auto outer = put(store, "outer", given);
  for (auto nth : {1u, 2u}) {
    auto victim = child([&] {
      auto mine = open();
      auto building = mine.create(100, {}, std::vector{first.id()});
      const auto own = put(mine, "the victim's own");
      internal::arm_crash_point(GetParam(), nth);
      if (!building->capture(std::vector{own.id(), second.id()}) || !building->capture(std::vector{own.id()}))
        return 1;
      return 2;
    });
    ASSERT_EQ(victim.wait(), killed) << "the point was not met " << nth << " times";
    EXPECT_EQ(outer.captured(), given);
    EXPECT_TRUE(store.verify()) << message_of(store.verify());
    check_that_only_this_is_left(store, {first.id(), second.id(), outer.id()});
    EXPECT_EQ(outer.captured(), given);
  }
}

INSTANTIATE_TEST_SUITE_P(every_point, capture_crash_test,
                         ::testing::Values(crash_point::create_edge_filled, crash_point::create_edge_counted,
                                           crash_point::create_edge_written, crash_point::capture_finished),
                         name_of);

// --- Opening ---------------------------------------------------------------------------------------------------------

class open_crash_test : public crash_test {};

TEST_P(open_crash_test, a_first_opener_killed_here_does_not_stop_the_next) {
  auto victim = child([&] {
    internal::arm_crash_point(GetParam());
    auto mine = open();
    return 0;
  });
  ASSERT_EQ(victim.wait(), killed);
  auto store = open();
  const auto kept = put(store, "kept");
  check_that_only_this_is_left(store, {kept.id()});
}

TEST_P(open_crash_test, a_later_opener_killed_here_harms_nobody) {
  auto store = open();
  const auto kept = put(store, "kept");
  auto victim = child([&] {
    internal::arm_crash_point(GetParam());
    auto mine = open();
    return 0;
  });
  const auto makes_files =
      GetParam() == crash_point::open_data_linked || GetParam() == crash_point::open_control_linked;
  EXPECT_EQ(victim.wait(), makes_files ? fine : killed);
  EXPECT_EQ(child([&] { return open().contains(kept.id()) ? 0 : 1; }).wait(), fine);
  check_that_only_this_is_left(store, {kept.id()});
}

INSTANTIATE_TEST_SUITE_P(every_point, open_crash_test,
                         ::testing::ValuesIn(points(crash_point::open_locked, crash_point::open_slot_attached)),
                         name_of);

// --- Closing ---------------------------------------------------------------------------------------------------------

class close_crash_test : public crash_test {};

TEST_P(close_crash_test, a_last_closer_killed_here_leaves_nothing_that_the_next_opener_keeps) {
  auto victim = child([&] {
    auto mine = open();
    (void)put(mine, "x");
    internal::arm_crash_point(GetParam());
    mine = open({.name = settings_.name + "b"}); // Drops the last reference.
    return 0;
  });
  ASSERT_EQ(victim.wait(), killed);
  {
    auto store = open();
    check_that_only_this_is_left(store, {});
  }
  (void)open({.name = settings_.name + "b"});
}

INSTANTIATE_TEST_SUITE_P(every_point, close_crash_test,
                         ::testing::ValuesIn(points(crash_point::close_marked, crash_point::close_lock_removed)),
                         name_of);

class shared_close_crash_test : public crash_test {};

TEST_P(shared_close_crash_test, a_closer_killed_here_harms_nobody_who_stays) {
  auto store = open();
  const auto kept = put(store, "kept");
  auto ready = shared<std::atomic<int>>{};
  auto victim_id = shared<process_id>{};
  auto victim = child([&] {
    auto mine = std::make_optional(open());
    *victim_id = mine->self();
    *ready = 1;
    if (!eventually([&] { return *ready == 2; }))
      return 1;
    internal::arm_crash_point(GetParam());
    mine.reset();
    return 0;
  });
  ASSERT_TRUE(eventually([&] { return *ready == 1; }));
  ASSERT_TRUE(put(store, "undelivered").hand_over(*victim_id, 1));
  *ready = 2;
  ASSERT_EQ(victim.wait(), killed);
  EXPECT_EQ(child([&] { return open().contains(kept.id()) ? 0 : 1; }).wait(), fine);
  check_that_only_this_is_left(store, {kept.id()});
  EXPECT_EQ(files().size(), 3u);
}

INSTANTIATE_TEST_SUITE_P(every_point, shared_close_crash_test,
                         ::testing::Values(crash_point::close_marked, crash_point::close_slot_freed), name_of);

// --- Recovering and reaping ------------------------------------------------------------------------------------------

class recover_crash_test : public crash_test {};

TEST_P(recover_crash_test, who_is_killed_while_rebuilding_is_replaced) {
  auto store = open();
  const auto inner = put(store, "inner");
  const auto outer = put(store, "outer", std::vector{inner.id()});
  auto first = child([&] {
    auto mine = open();
    internal::arm_crash_point(crash_point::create_row_filled);
    return do_everything(mine, mine.self());
  });
  ASSERT_EQ(first.wait(), killed);
  auto second = child([&] {
    internal::arm_crash_point(GetParam());
    auto mine = open();
    return mine.find(inner.id()) ? 0 : 1;
  });
  ASSERT_EQ(second.wait(), killed);
  EXPECT_TRUE(store.find(outer.id()));
  check_that_only_this_is_left(store, {inner.id(), outer.id()});
}

INSTANTIATE_TEST_SUITE_P(every_point, recover_crash_test,
                         ::testing::ValuesIn(points(crash_point::recover_started, crash_point::recover_finished)),
                         name_of);

using memory_test = store_test;

TEST_F(memory_test, who_has_no_memory_to_rebuild_leaves_it_to_the_next) {
  auto store = open();
  auto kept = put(store, "kept");
  auto also = put(store, "also kept");
  auto victim = child([&] {
    auto mine = open();
    internal::arm_crash_point(crash_point::create_row_filled);
    (void)put(mine, "x");
    return 0;
  });
  ASSERT_EQ(victim.wait(), killed);
  internal::arm_crash_point(crash_point::recover_started, 1, internal::crash_action::run_out_of_memory);
  EXPECT_EQ(message_of(store.put(bytes_of("y"))), "out of memory");
  internal::arm_crash_point(crash_point::recover_started, 1, internal::crash_action::run_out_of_memory);
  also = {}; // Releasing takes the lock only if it is free, and does not throw.
  EXPECT_TRUE(store.put(bytes_of("y")));
  EXPECT_EQ(store.summary()->objects, 1u);
  EXPECT_EQ(read(kept), "kept");
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

TEST_F(memory_test, an_open_that_throws_does_not_keep_the_next_one_waiting) {
  internal::arm_crash_point(crash_point::open_locked, 1, internal::crash_action::run_out_of_memory);
  EXPECT_THROW((void)object_store::open(settings_), std::bad_alloc);
  EXPECT_TRUE(object_store::open(settings_));
}

class reap_crash_test : public crash_test {};

// Method: there are three dead processes, and more rows than one batch has. So the reaper is killed between batches and
// between slots.
TEST_P(reap_crash_test, who_is_killed_while_reaping_is_replaced) {
  auto store = open();
  const auto kept = put(store, "kept");
  auto ready = shared<std::atomic<int>>{};
  auto holders = std::vector<child>{};
  for (auto which = 0; which < 3; ++which)
    holders.emplace_back([&] {
      auto mine = open();
      const auto found = mine.find(kept.id());
      auto own = std::vector<handle>{};
      for (auto count = 0; count < 500; ++count)
        own.push_back(put(mine, "own", std::vector{kept.id()}));
      const auto building = mine.create(100);
      if (!own[0].hand_over(mine.self(), 1))
        return 1;
      ++*ready;
      ::pause();
      return 2;
    });
  ASSERT_TRUE(eventually([&] { return *ready == 3; }));
  ASSERT_GT(store.summary()->objects, 1024u);
  holders.clear();
  auto reaper = child([&] {
    internal::arm_crash_point(GetParam());
    (void)open().reap();
    return 0;
  });
  ASSERT_EQ(reaper.wait(), killed);
  check_that_only_this_is_left(store, {kept.id()});
}

INSTANTIATE_TEST_SUITE_P(every_point, reap_crash_test,
                         ::testing::ValuesIn(points(crash_point::reap_marked, crash_point::reap_slot_freed)), name_of);

// --- The lock's owner ------------------------------------------------------------------------------------------------

using lock_owner_test = store_test;

TEST_F(lock_owner_test, a_stopped_one_makes_others_busy_with_its_name_and_releasing_still_works) {
  settings_.lock_timeout = 100ms;
  auto store = open();
  auto kept = put(store, "kept");
  const auto id = kept.id();
  auto owner = child([&] {
    auto mine = open();
    internal::arm_crash_point(crash_point::create_published, 1, internal::crash_action::stop);
    (void)put(mine, "x");
    return 0;
  });
  owner.wait_until_stopped();
  const auto refused = store.put(bytes_of("y"));
  EXPECT_EQ(code_of(refused), store_errc::busy);
  EXPECT_EQ(message_of(refused), "the store's table has been locked by process " + std::to_string(owner.pid())
                                     + " for more than 100 ms; is it stopped?");
  EXPECT_EQ(code_of(store.summary()), store_errc::busy);
  kept = {};
  EXPECT_FALSE(store.contains(id));
  owner.kill(SIGCONT);
  EXPECT_EQ(owner.wait(), fine);
  EXPECT_TRUE(store.put(bytes_of("y")));
}

TEST_F(lock_owner_test, a_stopped_one_keeps_a_builder_from_capturing_until_it_goes_on) {
  settings_.lock_timeout = 100ms;
  auto store = open();
  const auto inner = put(store, "inner");
  auto building = store.create(10);
  auto owner = child([&] {
    auto mine = open();
    internal::arm_crash_point(crash_point::create_published, 1, internal::crash_action::stop);
    (void)put(mine, "x");
    return 0;
  });
  owner.wait_until_stopped();
  EXPECT_EQ(code_of(building->capture(std::vector{inner.id()})), store_errc::busy);
  EXPECT_EQ(code_of(inner.captured()), store_errc::busy);
  owner.kill(SIGCONT);
  EXPECT_EQ(owner.wait(), fine);
  ASSERT_TRUE(building->capture(std::vector{inner.id()}));
  EXPECT_EQ((*std::move(*building).seal()).captured(), std::vector{inner.id()});
}

TEST_F(lock_owner_test, who_is_killed_while_it_lets_go_behind_a_stopped_one_leaves_a_whole_store) {
  auto store = open();
  auto ready = shared<std::atomic<bool>>{};
  auto is_stopped = shared<std::atomic<bool>>{};
  auto victim = child([&] {
    auto mine = open();
    auto object = put(mine, "the victim's");
    *ready = true;
    if (!eventually([&] { return is_stopped->load(); }))
      return 1;
    internal::arm_crash_point(crash_point::release_hinted);
    object = {};
    return 2;
  });
  ASSERT_TRUE(eventually([&] { return ready->load(); }));
  auto owner = child([&] {
    auto mine = open();
    internal::arm_crash_point(crash_point::create_published, 1, internal::crash_action::stop);
    (void)put(mine, "x");
    return 0;
  });
  owner.wait_until_stopped();
  *is_stopped = true;
  EXPECT_EQ(victim.wait(), killed);
  owner.kill(SIGCONT);
  EXPECT_EQ(owner.wait(), fine);
  (void)store.reap();
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
  EXPECT_EQ(store.summary()->objects, 0u);
}

// Goal: a call waits for a stopped owner once, however many steps the call has.
TEST_F(lock_owner_test, a_stopped_one_costs_one_wait_per_call) {
  settings_.lock_timeout = 300ms;
  auto store = std::make_optional(open());
  auto ready = shared<std::atomic<int>>{};
  auto dead = std::vector<child>{};
  for (auto which = 0; which < 6; ++which)
    dead.emplace_back([&] {
      auto mine = open();
      ++*ready;
      ::pause();
      return 0;
    });
  ASSERT_TRUE(eventually([&] { return *ready == 6; }));
  auto owner = child([&] {
    auto mine = open();
    internal::arm_crash_point(crash_point::create_published, 1, internal::crash_action::stop);
    (void)put(mine, "x");
    return 0;
  });
  owner.wait_until_stopped();
  dead.clear();
  const auto time_of = [](auto call) {
    const auto started = std::chrono::steady_clock::now();
    call();
    return std::chrono::steady_clock::now() - started;
  };
  EXPECT_LT(time_of([&] { EXPECT_EQ(store->reap(), 0u); }), 900ms);
  EXPECT_LT(time_of([&] { EXPECT_EQ(code_of(store->summary()), store_errc::busy); }), 900ms);
  EXPECT_LT(time_of([&] { store.reset(); }), 900ms);
  owner.kill(SIGCONT);
  EXPECT_EQ(owner.wait(), fine);
}

TEST_F(lock_owner_test, whoever_waits_without_limit_gets_the_lock_when_its_owner_goes_on) {
  settings_.lock_timeout = std::chrono::milliseconds::max();
  auto store = open();
  auto owner = child([&] {
    auto mine = open();
    internal::arm_crash_point(crash_point::create_published, 1, internal::crash_action::stop);
    (void)put(mine, "x");
    return 0;
  });
  owner.wait_until_stopped();
  auto waker = std::thread([&] {
    std::this_thread::sleep_for(50ms);
    owner.kill(SIGCONT);
  });
  const auto made = store.put(bytes_of("y"));
  EXPECT_TRUE(made) << message_of(made);
  waker.join();
  EXPECT_EQ(owner.wait(), fine);
}

TEST_F(lock_owner_test, a_stopped_opener_makes_the_next_one_busy_with_its_name) {
  settings_.lock_timeout = 100ms;
  auto owner = child([&] {
    internal::arm_crash_point(crash_point::open_locked, 1, internal::crash_action::stop);
    auto mine = open();
    return 0;
  });
  owner.wait_until_stopped();
  const auto refused = object_store::open(settings_);
  EXPECT_EQ(code_of(refused), store_errc::busy);
  EXPECT_NE(message_of(refused).find("process " + std::to_string(owner.pid()) + " "), std::string::npos);
  owner.kill(SIGCONT);
  EXPECT_EQ(owner.wait(), fine);
  tidy();
}

TEST_F(lock_owner_test, a_stopped_one_does_not_keep_others_from_leaving) {
  settings_.lock_timeout = 50ms;
  auto owner = child([&] {
    auto mine = open();
    internal::arm_crash_point(crash_point::create_published, 1, internal::crash_action::stop);
    (void)put(mine, "x");
    return 0;
  });
  owner.wait_until_stopped();
  { const auto store = open(); }
  owner.kill(SIGCONT);
  EXPECT_EQ(owner.wait(), fine);
}

} // namespace

} // namespace troupe::store::test
