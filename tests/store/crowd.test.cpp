// Very many objects, very many processes, and many processes that die at once.
#include "spilling.hpp"

#include <troupe/store/internal/host/crash_point.hpp>

#include <pthread.h>

#include <random>

namespace troupe::store::test {

namespace {

using internal::crash_point;

// --- Objects ---------------------------------------------------------------------------------------------------------

using many_objects_test = store_test;

// Goal: a million small objects are found, can be freed in any order, and leave all memory as one extent.
// Method: the test puts a million objects with TROUPE_LONG_TESTS=1, and otherwise a tenth of that.
TEST_F(many_objects_test, a_million_small_ones_are_found_and_leave_all_of_the_memory) {
  const auto* flag = std::getenv("TROUPE_LONG_TESTS");
  const auto count = flag != nullptr && std::string_view{flag} == "1" ? 1'000'000u : 100'000u;
  settings_.capacity_bytes = std::size_t{count} * 64;
  settings_.objects_max = count;
  auto store = open();
  auto all = std::vector<handle>{};
  all.reserve(count);
  for (auto which = 0u; which < count; ++which)
    all.push_back(put(store, std::to_string(which)));
  ASSERT_TRUE(store.verify()) << message_of(store.verify());
  EXPECT_EQ(store.summary()->bytes_in_use, settings_.capacity_bytes);
  auto random = std::minstd_rand{5};
  for (auto sample = 0; sample < 1000; ++sample) {
    const auto which = random() % count;
    const auto found = store.find(all[which].id());
    ASSERT_TRUE(found) << message_of(found);
    ASSERT_EQ(read(*found), std::to_string(which));
  }
  std::shuffle(all.begin(), all.end(), random);
  all.erase(all.begin() + count / 2, all.end());
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
  EXPECT_EQ(store.find(all[0].id())->id(), all[0].id());
  all.clear();
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
  EXPECT_TRUE(store.create(settings_.capacity_bytes));
}

// --- Processes -------------------------------------------------------------------------------------------------------

constexpr auto crowd_size = std::size_t{250};
constexpr auto objects_each = std::size_t{4};
constexpr auto large_bytes = std::size_t{16} << 10;

class crowd_test : public spilling_test {
protected:
  crowd_test() {
    settings_.capacity_bytes = 4u << 20;
    settings_.full_grace = 60s;
    settings_.lock_timeout = 60s; // Among so many, each process runs seldom.
  }

  [[nodiscard]] static std::string text_of_object(std::size_t who, std::size_t which) {
    return content(static_cast<int>(who * objects_each + which), large_bytes);
  }
};

/// The data that the processes exchange. They meet at a barrier, because polling would cause most of the load.
struct crowd_board {
  crowd_board() {
    auto attributes = pthread_barrierattr_t{};
    ::pthread_barrierattr_init(&attributes);
    ::pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    ::pthread_barrier_init(&barrier, &attributes, crowd_size);
    ::pthread_barrierattr_destroy(&attributes);
  }

  void meet() { ::pthread_barrier_wait(&barrier); }

  pthread_barrier_t barrier;
  std::array<std::array<object_id, objects_each>, crowd_size> ids;
  std::size_t spilled_bytes = 0;
};

// Goal: no process is kept from the table for so long that it assumes that the lock's owner is stopped.
// Method: all processes change the table continuously, until each of them has done so thirty thousand times.
TEST_F(crowd_test, that_changes_the_table_all_the_time_starves_none) {
  constexpr auto processes = std::size_t{64};
  constexpr auto enough = 30000;
  settings_.lock_timeout = 2s;
  auto have_enough = shared<std::atomic<std::size_t>>{};
  auto store = open();
  auto all = std::vector<child>{};
  for (auto number = std::size_t{0}; number < processes; ++number)
    all.emplace_back([&] {
      auto mine = open();
      for (auto made = 1; *have_enough < processes; ++made) {
        if (const auto one = mine.put(bytes_of("x")); !one) {
          std::cerr << one.error().message() << std::endl;
          *have_enough = processes;
          return 1;
        }
        if (made == enough)
          ++*have_enough;
      }
      return 0;
    });
  for (auto& each : all)
    EXPECT_EQ(each.wait(), fine);
}

// Goal: as many processes as a store admits share a store that holds a quarter of what they put.
// Method: each process puts its own objects, reads its neighbors' and its own, and leaves when all have done so.
TEST_F(crowd_test, two_hundred_and_fifty_processes_put_and_read_four_times_the_memory) {
  if (!may_fork_beside_threads)
    GTEST_SKIP() << "ThreadSanitizer cannot follow processes forked beside threads";
  auto board = shared<crowd_board>{};
  auto store = open();
  auto others = std::vector<child>{};
  for (auto who = std::size_t{0}; who < crowd_size; ++who)
    others.emplace_back([&, who] {
      auto mine = open();
      auto held = std::vector<handle>{};
      board->meet();
      for (auto which = std::size_t{0}; which < objects_each; ++which) {
        held.push_back(put(mine, text_of_object(who, which)));
        board->ids[who][which] = held.back().id();
      }
      board->meet();
      if (who == 0)
        board->spilled_bytes = mine.summary()->spilled_bytes;
      board->meet();
      for (auto from : {who, (who + 1) % crowd_size, (who + 101) % crowd_size})
        for (auto which = std::size_t{0}; which < objects_each; ++which)
          if (const auto found = mine.find(board->ids[from][which]);
              !found || read(*found) != text_of_object(from, which)) {
            std::cerr << (found ? read(*found).substr(0, 200) : message_of(found)) << std::endl;
            return 1;
          }
      board->meet();
      return 0;
    });
  for (auto& other : others)
    EXPECT_EQ(other.wait(), fine);
  EXPECT_GE(board->spilled_bytes, 2 * settings_.capacity_bytes);
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
  EXPECT_EQ(store.summary()->objects, 0u);
  EXPECT_EQ(store.summary()->processes, std::vector{::getpid()});
  EXPECT_TRUE(eventually([&] { return spill_files().empty(); }));
  EXPECT_TRUE(store.put(std::vector<std::byte>(settings_.capacity_bytes)));
}

// --- Deaths ----------------------------------------------------------------------------------------------------------

constexpr auto victims_count = std::size_t{60};
constexpr auto restorers_count = std::size_t{3};

struct victims_board {
  std::array<process_id, victims_count> who;
  std::array<std::array<object_id, 3>, victims_count> ids;
  std::array<std::atomic<int>, victims_count> step; // 1: ready; 2: work until stopped at the crash point.
};

/// Sixty processes, each with unfinished work: captured objects, objects handed over to the next process, builders, and
/// pins of the survivor's object. Three are stopped while they restore, three while they spill, and one while it holds
/// the lock.
class many_deaths_test : public crowd_test {
protected:
  many_deaths_test() { settings_.capacity_bytes = 2u << 20; }

  enum class ending { waits, spills, restores, locks };

  [[nodiscard]] static ending ending_of(std::size_t which) {
    return which < restorers_count ? ending::restores
           : which < 6             ? ending::spills
           : which < 7             ? ending::locks
                                   : ending::waits;
  }

  int be_a_victim(std::size_t which, const process_id& survivor, const object_id& kept) {
    auto mine = open();
    auto own = std::vector<handle>{};
    own.push_back(put(mine, text_of_object(which, 0)));
    own.push_back(put(mine, text_of_object(which, 1), std::vector{own[0].id(), kept}));
    own.push_back(put(mine, text_of_object(which, 2)));
    for (auto at = std::size_t{0}; at < own.size(); ++at)
      board_->ids[which][at] = own[at].id();
    board_->who[which] = mine.self();
    const auto view = mine.find(kept)->pin();
    const auto building = mine.create(1000);
    const auto sent = own[2].hand_over(survivor, 1);
    const auto sent_on = which == 0 ? sent : own[0].hand_over(board_->who[which - 1], 1);
    if (!view || !building || !sent || !sent_on)
      return 1;
    board_->step[which] = 1;
    if (!eventually([&] { return board_->step[which] == 2; }, 60s))
      return 2;
    die_half_way(mine, which);
    ::pause();
    return 3;
  }

  /// Works until it is stopped at its crash point.
  void die_half_way(object_store& mine, std::size_t which) {
    using internal::arm_crash_point;
    const auto how = ending_of(which);
    if (how == ending::spills) {
      arm_crash_point(crash_point::spill_file_written, 1, internal::crash_action::stop);
      for (auto held = std::vector<handle>{};;) // The background thread spills and blocks no other process.
        if (auto made = mine.put(bytes_of(std::string(large_bytes, 'x')), {}, {}, 1ms))
          held.push_back(std::move(*made));
    }
    if (how == ending::restores) {
      arm_crash_point(crash_point::restore_read, 1, internal::crash_action::stop);
      for (;;)
        for (auto at = which; at < victims_count; at += restorers_count) // Otherwise one would wait for another.
          (void)mine.find(board_->ids[at][2])->pin();
    }
    if (how == ending::locks) {
      arm_crash_point(crash_point::create_row_filled, 1, internal::crash_action::stop);
      (void)mine.put(bytes_of("x"));
    }
  }

  shared<victims_board> board_;
};

// Goal: one survivor reclaims everything that sixty processes held when they were killed at once, within 5 seconds.
TEST_F(many_deaths_test, one_survivor_clears_up_after_sixty_killed_at_once) {
  if (!may_fork_beside_threads)
    GTEST_SKIP() << "ThreadSanitizer cannot follow processes forked beside threads";
  auto store = open();
  auto kept = put(store, "kept");
  const auto view = *kept.pin();
  auto victims = std::vector<child>{};
  for (auto which = std::size_t{0}; which < victims_count; ++which) {
    victims.emplace_back(
        [&, which, survivor = store.self(), id = kept.id()] { return be_a_victim(which, survivor, id); });
    ASSERT_TRUE(eventually([&] { return board_->step[which] == 1; }));
  }
  for (auto which = std::size_t{0}; ending_of(which) != ending::waits; ++which) {
    board_->step[which] = 2;
    ASSERT_NO_FATAL_FAILURE(victims[which].wait_until_stopped());
  }
  for (auto& victim : victims)
    victim.kill();
  for (auto& victim : victims)
    EXPECT_EQ(victim.wait(), killed);
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(store.reap() + store.reap(), victims_count);
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
  EXPECT_LT(std::chrono::steady_clock::now() - began, 5s);
  EXPECT_EQ(store.summary()->processes, std::vector{::getpid()});
  EXPECT_EQ(store.summary()->objects, 1 + victims_count); // Ours, and the objects in flight to this process.
  for (auto which = std::size_t{0}; which < victims_count; ++which) {
    const auto adopted = store.adopt(board_->ids[which][2], board_->who[which], 1);
    ASSERT_TRUE(adopted) << message_of(adopted);
    EXPECT_EQ(read(*adopted), text_of_object(which, 2)) << which;
  }
  const auto summary = *store.summary();
  ASSERT_EQ(summary.rows.size(), 1u);
  EXPECT_EQ(summary.rows[0].holders, std::vector{::getpid()});
  EXPECT_EQ(summary.rows[0].pinned_by, std::vector{::getpid()});
  EXPECT_TRUE(summary.rows[0].captured_by.empty());
  EXPECT_EQ(text_of(view.bytes()), "kept");
  EXPECT_EQ(summary.bytes_in_use, 64u);
  EXPECT_TRUE(eventually([&] { return spill_files().empty(); }));
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

// Goal: recovery and reaping remove the holds of the dead process, but none of the living processes' holds.
// Method: one object is held by one process, pinned by another, and in flight between two. A fourth process also holds,
// pins and sends it, and dies while it holds the lock.
TEST_F(crowd_test, recovery_lets_go_what_the_dead_one_held_and_nothing_of_the_living) {
  auto store = open();
  auto made = put(store, "shared");
  const auto id = made.id();
  auto selves = shared<std::array<process_id, 3>>{};
  auto step = shared<std::atomic<int>>{};
  const auto living = [&](std::size_t which, auto body) {
    auto process = child([&, which, body] {
      auto mine = open();
      (*selves)[which] = mine.self();
      return body(mine);
    });
    EXPECT_TRUE(eventually([&] { return *step == static_cast<int>(which) + 1; }));
    return process;
  };
  const auto until_the_end = [&](int ready) {
    *step = ready;
    return eventually([&] { return *step == 9; }, 30s);
  };
  auto receiver = living(0, [&](object_store& mine) {
    if (!until_the_end(1))
      return 1;
    const auto adopted = mine.adopt(id, (*selves)[1], 5);
    return adopted && read(*adopted) == "shared" ? 0 : 2;
  });
  auto holder = living(1, [&](object_store& mine) {
    const auto held = *mine.find(id);
    return held.hand_over((*selves)[0], 5) && until_the_end(2) && read(held) == "shared" ? 0 : 1;
  });
  auto pinner = living(2, [&](object_store& mine) {
    const auto view = *mine.find(id)->pin();
    return until_the_end(3) && text_of(view.bytes()) == "shared" ? 0 : 1;
  });
  made = {};
  auto victim = child([&] {
    auto mine = open();
    const auto view = *mine.find(id)->pin();
    const auto outer = put(mine, "outer", std::vector{id});
    if (!view.object().hand_over(mine.self(), 5))
      return 1;
    internal::arm_crash_point(crash_point::create_row_filled);
    (void)put(mine, "x", std::vector{id});
    return 2;
  });
  ASSERT_EQ(victim.wait(), killed);
  ASSERT_TRUE(store.put(bytes_of("y"))); // Rebuilds the table.
  const auto summary = *store.summary();
  ASSERT_EQ(summary.rows.size(), 1u);
  const auto& row = summary.rows[0];
  EXPECT_EQ(row.id, id);
  auto holders = row.holders;
  std::ranges::sort(holders);
  EXPECT_EQ(holders, (std::vector{std::min(holder.pid(), pinner.pid()), std::max(holder.pid(), pinner.pid())}));
  EXPECT_EQ(row.pinned_by, std::vector{pinner.pid()});
  EXPECT_TRUE(row.captured_by.empty());
  ASSERT_EQ(row.in_flight.size(), 1u);
  EXPECT_EQ(row.in_flight[0].from, holder.pid());
  EXPECT_EQ(row.in_flight[0].to, receiver.pid());
  EXPECT_EQ(row.in_flight[0].count, 1u);
  *step = 9;
  for (auto* each : {&receiver, &holder, &pinner})
    EXPECT_EQ(each->wait(), fine);
  EXPECT_FALSE(store.contains(id));
  EXPECT_EQ(store.summary()->objects, 0u);
}

} // namespace

} // namespace troupe::store::test
