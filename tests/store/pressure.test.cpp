// Many processes want room at once: the order in which they get it, their time limits, and the objects that are spilled
// meanwhile.
#include "spilling.hpp"

#include <troupe/store/internal/host/crash_point.hpp>

#include <random>

namespace troupe::store::test {

namespace {

using internal::crash_point;

// --- The order -------------------------------------------------------------------------------------------------------

constexpr auto quarter = capacity / 4;

/// The order in which processes were served, and which of them may release their objects.
struct counter {
  std::atomic<std::size_t> served{0};
  std::array<std::atomic<std::size_t>, 8> order{};
  std::array<std::atomic<bool>, 8> may_go{};
};

class queue_test : public store_test {
protected:
  queue_test() {
    settings_.full_grace = 60s;
    for (auto number = 0; number < 4; ++number)
      held_.push_back(*store_->put(std::vector<std::byte>(quarter)));
  }

  void TearDown() override {
    waiting_.clear();
    held_.clear();
    store_.reset();
    tidy();
    store_test::TearDown();
  }

  /// Starts one more process behind the waiting ones. It wants a quarter of the memory, and keeps it until it may go.
  void let_one_more_wait() {
    const auto which = waiting_.size();
    waiting_.emplace_back([this, which] {
      auto mine = open();
      const auto made = mine.put(std::vector<std::byte>(quarter));
      if (!made)
        return 1;
      counter_->order[counter_->served++] = which;
      return eventually([&] { return counter_->may_go[which].load(); }, 60s) ? 0 : 2;
    });
    ASSERT_TRUE(eventually([&] { return store_->summary()->waiting == which + 1; }));
  }

  /// Returns true if exactly `count` processes have been served, and no further one within 20 ms.
  [[nodiscard]] bool served_are_just(std::size_t count) const {
    return eventually([&] { return counter_->served == count; })
           && !eventually([&] { return counter_->served > count; }, 20ms);
  }

  std::optional<object_store> store_{open()};
  std::vector<handle> held_;
  std::vector<child> waiting_;
  shared<counter> counter_;
};

TEST_F(queue_test, eight_that_wait_are_served_one_by_one_in_the_order_of_coming_and_each_once) {
  for (auto count = 0; count < 8; ++count)
    let_one_more_wait();
  for (auto served = std::size_t{0}; served < 8; ++served) {
    EXPECT_EQ(store_->summary()->waiting, 8 - served);
    if (served < 4)
      held_.pop_back();
    else
      counter_->may_go[served - 4] = true;
    ASSERT_TRUE(served_are_just(served + 1)) << counter_->served;
    EXPECT_EQ(counter_->order[served], served);
    EXPECT_EQ(store_->summary()->objects, 4u); // Each release admits one more.
  }
  for (auto& may_go : counter_->may_go)
    may_go = true;
  for (auto& each : waiting_)
    EXPECT_EQ(each.wait(), fine);
  EXPECT_EQ(store_->summary()->objects, 0u);
}

// Method: the store has room for the small object, but a larger one is ahead of it, and its caller does not wait.
TEST_F(queue_test, who_is_refused_because_others_came_before_is_told_so) {
  waiting_.emplace_back([this] {
    auto mine = open();
    return mine.put(std::vector<std::byte>(2 * quarter)) ? 0 : 1;
  });
  ASSERT_TRUE(eventually([&] { return store_->summary()->waiting == 1; }));
  held_.pop_back();
  const auto refused = store_->put(std::vector<std::byte>(100), {}, {}, 0ms);
  EXPECT_EQ(code_of(refused), store_errc::full);
  EXPECT_NE(message_of(refused).find("; an earlier request waits for "), std::string::npos) << message_of(refused);
  held_.pop_back();
  EXPECT_EQ(waiting_.front().wait(), fine);
}

TEST_F(queue_test, those_that_die_while_they_wait_leave_the_others_in_order) {
  for (auto count = 0; count < 6; ++count)
    let_one_more_wait();
  for (auto dead : {0u, 3u, 5u})
    waiting_[dead].kill_and_wait();
  EXPECT_TRUE(eventually([&] { return store_->summary()->waiting == 3; }));
  const auto alive = std::array<std::size_t, 3>{1, 2, 4};
  for (auto served = std::size_t{0}; served < alive.size(); ++served) {
    held_.pop_back();
    ASSERT_TRUE(served_are_just(served + 1)) << counter_->served;
    EXPECT_EQ(counter_->order[served], alive[served]);
  }
  for (auto which : alive) {
    counter_->may_go[which] = true;
    EXPECT_EQ(waiting_[which].wait(), fine);
  }
}

// --- During a spill --------------------------------------------------------------------------------------------------

/// Another process has begun to spill the only object that can be spilled, which takes half the memory. Then that
/// process was stopped: the bytes are on disk, but the table does not say so. That process also pins a quarter and
/// writes an eighth. The last eighth is free.
class stopped_spiller_test : public spilling_test {
protected:
  void start_spilling() {
    store_.emplace(open());
    spiller_.emplace([this] {
      auto mine = open();
      auto victim = put(mine, content(0, capacity / 2));
      *id_ = victim.id();
      const auto view = *put(mine, content(1, quarter)).pin();
      internal::arm_crash_point(crash_point::spill_file_written, 1, internal::crash_action::stop);
      const auto building = mine.create(capacity / 8); // Now more than four fifths are in use.
      return eventually([&] { return *step_ == 1; }, 60s) ? 0 : 1;
    });
    spiller_->wait_until_stopped();
    victim_ = *store_->find(*id_);
    ASSERT_EQ(state_of(*store_, *id_), object_state::spilling);
  }

  void TearDown() override {
    if (spiller_) {
      spiller_->kill(SIGCONT);
      *step_ = 1;
      EXPECT_EQ(spiller_->wait(), fine);
    }
    victim_ = {};
    store_.reset();
    spilling_test::TearDown();
  }

  std::optional<object_store> store_;
  shared<object_id> id_;
  shared<std::atomic<int>> step_;
  std::optional<child> spiller_;
  handle victim_;
};

// Goal: if memory is full only until a spill ends, it is not reported as full, however short the grace period is.
TEST_F(stopped_spiller_test, who_needs_room_waits_for_a_spill_that_is_under_way_longer_than_its_grace) {
  start_spilling();
  auto result = shared<std::atomic<int>>{};
  auto creator = child([&] {
    auto mine = open();
    const auto made = mine.put(bytes_of(content(2, quarter)), {}, {}, 100ms);
    *result = made ? 1 : 2;
    return made && read(*made) == content(2, quarter) ? 0 : 1;
  });
  ASSERT_TRUE(eventually([&] { return store_->summary()->waiting == 1; }));
  EXPECT_FALSE(eventually([&] { return *result != 0; }, 500ms));
  spiller_->kill(SIGCONT);
  EXPECT_EQ(creator.wait(), fine);
  EXPECT_EQ(read(victim_), content(0, capacity / 2));
}

// Method: the object being spilled gets pinned, so that the spill ends without making room.
TEST_F(stopped_spiller_test, the_grace_begins_when_the_last_spill_has_ended) {
  settings_.full_grace = 700ms;
  start_spilling();
  const auto view = *victim_.pin();
  auto creator = child([&] {
    auto mine = open();
    return static_cast<int>(code_of(mine.put(bytes_of(content(2, quarter)))));
  });
  ASSERT_TRUE(eventually([&] { return store_->summary()->waiting == 1; }));
  std::this_thread::sleep_for(400ms);
  const auto ended = std::chrono::steady_clock::now();
  spiller_->kill(SIGCONT);
  EXPECT_EQ(creator.wait(), (ending{true, static_cast<int>(store_errc::full), 0}));
  EXPECT_GE(std::chrono::steady_clock::now() - ended, 700ms);
  EXPECT_LT(std::chrono::steady_clock::now() - ended, 10s);
}

TEST_F(stopped_spiller_test, what_gets_pinned_while_it_is_spilled_stays_where_it_is) {
  start_spilling();
  const auto theirs = child([&] { return read(*open().find(*id_)) == content(0, capacity / 2) ? 0 : 1; }).wait();
  EXPECT_EQ(theirs, fine); // A third process has pinned and released it meanwhile.
  auto view = *victim_.pin();
  const auto* const address = view.bytes().data();
  spiller_->kill(SIGCONT);
  EXPECT_TRUE(eventually([&] { return state_of(*store_, *id_) == object_state::sealed; }));
  EXPECT_EQ(view.bytes().data(), address);
  EXPECT_EQ(text_of(view.bytes()), content(0, capacity / 2));
  (void)store_->reap();
  EXPECT_EQ(spill_files().size(), 1u); // The copy is kept for the next spill.
  view = {};
  EXPECT_TRUE(store_->put(bytes_of(content(2, capacity / 2)))); // Now it can be evicted.
  EXPECT_EQ(state_of(*store_, *id_), object_state::spilled);
  EXPECT_EQ(read(victim_), content(0, capacity / 2));
}

class pressure_test : public spilling_test {};

TEST_F(pressure_test, what_another_process_pins_is_never_spilled) {
  auto store = open();
  auto all = put_many(store, 3);
  auto step = shared<std::atomic<int>>{};
  auto reader = child([&] {
    auto theirs = open();
    auto first = theirs.find(all[0].id())->pin();
    auto third = theirs.find(all[2].id())->pin();
    const auto* const address = first->bytes().data();
    *step = 1;
    if (!eventually([&] { return *step == 2; }) || first->bytes().data() != address)
      return 1;
    if (text_of(first->bytes()) != content(0) || text_of(third->bytes()) != content(2))
      return 2;
    first = third = pin{};
    *step = 3;
    return eventually([&] { return *step == 4; }) ? 0 : 3;
  });
  ASSERT_TRUE(eventually([&] { return *step == 1; }));
  const auto more = put_many(store, 30);
  EXPECT_EQ(state_of(store, all[0].id()), object_state::sealed);
  EXPECT_EQ(state_of(store, all[1].id()), object_state::spilled);
  EXPECT_EQ(state_of(store, all[2].id()), object_state::sealed);
  *step = 2;
  ASSERT_TRUE(eventually([&] { return *step == 3; }));
  const auto still_more = put_many(store, 30);
  EXPECT_EQ(state_of(store, all[0].id()), object_state::spilled);
  *step = 4;
  EXPECT_EQ(reader.wait(), fine);
}

// Goal: finding, pinning and creating end while all processes spill, and give the right bytes.
// Method: each of four processes uses at most two objects at a time, so that there is always room for one more.
TEST_F(pressure_test, processes_that_find_and_pin_what_others_spill_never_wait_for_each_other_for_ever) {
  if (!may_fork_beside_threads)
    GTEST_SKIP() << "ThreadSanitizer cannot follow processes forked beside threads";
  settings_.full_grace = 30s;
  auto store = open();
  const auto all = put_many(store, 30);
  auto others = std::vector<child>{};
  for (auto number = 1u; number <= 4; ++number)
    others.emplace_back([&, number] {
      auto mine = open();
      auto random = std::minstd_rand{number};
      for (auto round = 0; round < 250; ++round) {
        const auto first = random() % 30;
        const auto second = random() % 30;
        const auto one = mine.find(all[first].id())->pin();
        const auto two = round % 5 == 0 ? mine.put(bytes_of(content(static_cast<int>(second))))->pin()
                                        : mine.find(all[second].id())->pin();
        if (!one || !two) {
          std::cerr << message_of(one) << message_of(two) << std::endl;
          return 1;
        }
        if (text_of(one->bytes()) != content(static_cast<int>(first))
            || text_of(two->bytes()) != content(static_cast<int>(second)))
          return 2;
      }
      return 0;
    });
  for (auto& other : others)
    EXPECT_EQ(other.wait(), fine);
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
  EXPECT_EQ(store.summary()->objects, 30u);
}

// --- Out of memory ---------------------------------------------------------------------------------------------------

TEST_F(pressure_test, a_process_without_memory_leaves_no_object_half_way_to_or_from_disk) {
  auto store = open();
  auto all = put_many(store, 10);
  ASSERT_TRUE(eventually([&] { return state_of(store, all[0].id()) == object_state::spilled; }));
  ASSERT_TRUE(is_calm(store));
  internal::arm_crash_point(crash_point::restore_read, 1, internal::crash_action::run_out_of_memory);
  EXPECT_EQ(code_of(all[0].pin()), store_errc::system_failure);
  EXPECT_EQ(read(all[0]), content(0));
  internal::arm_crash_point(crash_point::spill_file_written, 1, internal::crash_action::run_out_of_memory);
  for (auto which = 10; which < 20; ++which) // The first thread to spill has no memory, in the background or not.
    if (auto made = store.put(bytes_of(content(which))))
      all.push_back(*std::move(made));
  EXPECT_TRUE(is_calm(store));
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
  for (const auto& each : all)
    EXPECT_EQ(read(each).size(), tenth);
}

// --- A stopped owner of the lock ------------------------------------------------------------------------------------

// Method: a process that could not record what it restored detaches. The lock's owner continues after that process has
// given up recording, and before it gives up detaching.
TEST_F(pressure_test, who_detaches_with_an_object_half_way_leaves_it_to_who_reaps_it) {
  if (!may_fork_beside_threads)
    GTEST_SKIP() << "ThreadSanitizer cannot follow processes forked beside threads";
  settings_.lock_timeout = 300ms;
  auto store = open();
  const auto all = put_many(store, 10);
  ASSERT_TRUE(eventually([&] { return state_of(store, all[0].id()) == object_state::spilled; }));
  ASSERT_TRUE(is_calm(store));
  auto step = shared<std::atomic<int>>{};
  auto reader = child([&] {
    {
      auto mine = open();
      const auto object = *mine.find(all[0].id());
      internal::arm_crash_point(crash_point::restore_read, 1, internal::crash_action::stop);
      if (code_of(object.pin()) != store_errc::busy)
        return 1;
      *step = 1;
    }
    *step = 2;
    ::pause();
    return 2;
  });
  reader.wait_until_stopped();
  auto owner = child([&] {
    auto mine = open();
    internal::arm_crash_point(crash_point::find_held, 1, internal::crash_action::stop);
    return mine.find(all[5].id()) ? 0 : 1;
  });
  owner.wait_until_stopped();
  reader.kill(SIGCONT);
  ASSERT_TRUE(eventually([&] { return *step == 1; }));
  std::this_thread::sleep_for(450ms); // Waiting less or more would test less.
  owner.kill(SIGCONT);
  EXPECT_EQ(owner.wait(), fine);
  ASSERT_TRUE(eventually([&] { return *step == 2; }));
  (void)store.reap();
  EXPECT_EQ(state_of(store, all[0].id()), object_state::spilled);
  EXPECT_EQ(read(all[0]), content(0));
}

// Goal: if a process is stopped while it holds the lock, other processes that spill and restore get `busy`, without
// lasting effects.
// Method: one process is stopped between writing a file and recording it, another one between reading a file and
// recording it, and a third one while it holds the lock. The first two continue and find it locked. Then the third one
// continues.
TEST_F(pressure_test, a_stopped_owner_of_the_lock_leaves_no_object_half_way_to_or_from_disk) {
  if (!may_fork_beside_threads)
    GTEST_SKIP() << "ThreadSanitizer cannot follow processes forked beside threads";
  settings_.lock_timeout = 200ms;
  settings_.full_grace = 10s;
  auto store = open();
  auto all = put_many(store, 10);
  ASSERT_TRUE(eventually([&] { return state_of(store, all[0].id()) == object_state::spilled; }));
  ASSERT_TRUE(is_calm(store));
  auto extra = put(store, "let go meanwhile");
  const auto extra_id = extra.id();
  auto step = shared<std::atomic<int>>{};
  auto busy_with = shared<std::array<std::array<char, 200>, 2>>{};
  const auto keep_text = [&](std::size_t which, const std::string& text) {
    std::ranges::copy_n(text.begin(), static_cast<std::ptrdiff_t>(std::min<std::size_t>(text.size(), 199)),
                        (*busy_with)[which].begin());
  };
  auto restorer = child([&] {
    auto mine = open();
    const auto object = *mine.find(all[0].id());
    internal::arm_crash_point(crash_point::restore_read, 1, internal::crash_action::stop);
    keep_text(0, message_of(object.pin()));
    ++*step;
    return eventually([&] { return *step == 3; }, 60s) && read(object) == content(0) ? 0 : 1;
  });
  restorer.wait_until_stopped();
  auto spiller = child([&] {
    auto mine = open();
    internal::arm_crash_point(crash_point::spill_file_written, 1, internal::crash_action::stop);
    keep_text(1, message_of(mine.put(bytes_of(content(50, capacity / 2)))));
    ++*step;
    return eventually([&] { return *step == 3; }, 60s) && mine.put(bytes_of(content(50, capacity / 2))) ? 0 : 1;
  });
  spiller.wait_until_stopped();
  auto owner = child([&] {
    auto mine = open();
    internal::arm_crash_point(crash_point::find_held, 1, internal::crash_action::stop);
    return mine.find(all[5].id()) ? 0 : 1;
  });
  owner.wait_until_stopped();
  restorer.kill(SIGCONT);
  spiller.kill(SIGCONT);
  ASSERT_TRUE(eventually([&] { return *step == 2; }));
  const auto named = "locked by process " + std::to_string(owner.pid());
  for (const auto& text : *busy_with)
    EXPECT_NE(std::string_view{text.data()}.find(named), std::string::npos) << text.data();
  extra = {};
  EXPECT_FALSE(store.contains(extra_id));
  owner.kill(SIGCONT);
  EXPECT_EQ(owner.wait(), fine);
  // From now on no process has to do anything for the others.
  EXPECT_TRUE(eventually([&] {
    const auto summary = store.summary();
    return summary && std::ranges::all_of(summary->rows, [](const object_row& row) {
             return row.state == object_state::sealed || row.state == object_state::spilled;
           });
  }));
  for (auto which = 0; which < 10; ++which) {
    EXPECT_EQ(child([&] {
                return read(*open().find(all[static_cast<std::size_t>(which)].id())) == content(which) ? 0 : 1;
              }).wait(),
              fine);
  }
  const auto began = std::chrono::steady_clock::now();
  *step = 3;
  EXPECT_EQ(restorer.wait(), fine);
  EXPECT_EQ(spiller.wait(), fine);
  EXPECT_LT(std::chrono::steady_clock::now() - began, 4s); // Nobody queues behind a place that was given up.
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
  all.clear();
  EXPECT_TRUE(eventually([&] { return spill_files().empty(); }));
  EXPECT_EQ(store.summary()->objects, 0u);
}

} // namespace

} // namespace troupe::store::test
