// If memory is full, objects that nobody reads go to disk and come back, whichever process dies meanwhile.
#include "spilling.hpp"

#include <troupe/store/internal/host/crash_point.hpp>

#include <fstream>

namespace troupe::store::test {

namespace {

using internal::crash_point;

TEST_F(spilling_test, three_times_the_memory_fits_and_all_of_it_is_read_again) {
  auto store = open();
  const auto all = put_many(store, 30);
  for (auto round = 0; round < 2; ++round)
    for (auto which = 0; which < 30; ++which)
      ASSERT_EQ(read(all[static_cast<std::size_t>(which)]), content(which)) << which;
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

TEST_F(spilling_test, metadata_and_captured_objects_come_along) {
  auto store = open();
  auto inner = put(store, content(1));
  const auto inner_id = inner.id();
  const auto outer = *store.put(bytes_of(content(2)), bytes_of("about it"), std::vector{inner_id});
  inner = {};
  const auto others = put_many(store, 20);
  EXPECT_EQ(state_of(store, outer.id()), object_state::spilled);
  const auto view = outer.pin();
  ASSERT_TRUE(view) << message_of(view);
  EXPECT_EQ(text_of(view->metadata()), "about it");
  EXPECT_EQ(text_of(view->bytes()), content(2));
  EXPECT_EQ(read(*store.find(inner_id)), content(1));
}

TEST_F(spilling_test, what_lies_on_disk_can_be_captured_and_names_what_it_captures) {
  auto store = open();
  const auto innermost = put(store, "innermost");
  auto inner = put(store, content(1), std::vector{innermost.id()});
  const auto inner_id = inner.id();
  auto building = store.create(1);
  const auto others = put_many(store, 20);
  ASSERT_EQ(state_of(store, inner_id), object_state::spilled);
  ASSERT_TRUE(building->capture(std::vector{inner_id}));
  EXPECT_EQ(inner.captured(), std::vector{innermost.id()});
  EXPECT_EQ(state_of(store, inner_id), object_state::spilled);
  inner = {};
  const auto outer = std::move(*building).seal();
  EXPECT_EQ(read(*store.find(outer->captured()->at(0))), content(1));
}

TEST_F(spilling_test, begins_at_four_fifths_without_anybody_asking) {
  auto store = open();
  const auto all = put_many(store, 9);
  EXPECT_TRUE(is_calm(store));
  EXPECT_EQ(state_of(store, all.back().id()), object_state::sealed);
  EXPECT_EQ(state_of(store, all.front().id()), object_state::spilled);
}

TEST_F(spilling_test, the_longest_unused_go_first) {
  auto store = open();
  auto all = put_many(store, 6);
  (void)store.find(all[0].id());      // Found again: used.
  { const auto view = all[1].pin(); } // Pinned meanwhile: used.
  const auto more = put_many(store, 4);
  EXPECT_TRUE(is_calm(store));
  EXPECT_EQ(state_of(store, all[0].id()), object_state::sealed);
  EXPECT_EQ(state_of(store, all[1].id()), object_state::sealed);
  EXPECT_EQ(state_of(store, all[2].id()), object_state::spilled);
}

TEST_F(spilling_test, thousands_that_cannot_go_do_not_hide_those_that_can) {
  settings_.objects_max = 16384;
  auto store = open();
  const auto empty = put_many(store, 5000, 0);
  const auto small = put_many(store, 5000, 1);
  auto views = std::vector<pin>{};
  for (const auto& each : small)
    views.push_back(*each.pin());
  const auto all = put_many(store, 20);
  EXPECT_EQ(read(all.front()), content(0));
}

TEST_F(spilling_test, thousands_that_were_all_read_can_go) {
  settings_.capacity_bytes = 4 * capacity;
  settings_.objects_max = 65536;
  settings_.full_grace = 1ms;
  auto store = open();
  const auto all = put_many(store, 50'000, 1); // Just under four fifths.
  for (const auto& each : all)
    ASSERT_TRUE(each.pin());
  EXPECT_TRUE(store.put(bytes_of(content(0, 3 * capacity))));
}

TEST_F(spilling_test, what_is_pinned_stays_where_it_is) {
  auto store = open();
  const auto all = put_many(store, 3);
  const auto view = *all[0].pin();
  const auto* const address = view.bytes().data();
  const auto more = put_many(store, 20);
  EXPECT_EQ(state_of(store, all[0].id()), object_state::sealed);
  EXPECT_EQ(view.bytes().data(), address);
  EXPECT_EQ(text_of(view.bytes()), content(0));
}

// Goal: no pin outlives its process, even if other processes hold the object.
TEST_F(spilling_test, what_a_killed_process_had_pinned_goes_to_disk_like_anything_else) {
  auto store = open();
  const auto all = put_many(store, 3);
  auto is_pinned = shared<std::atomic<bool>>{};
  auto other = child([&] {
    auto theirs = open();
    const auto view = *theirs.find(all[0].id())->pin();
    *is_pinned = true;
    std::this_thread::sleep_for(60s);
    return 1;
  });
  ASSERT_TRUE(eventually([&] { return is_pinned->load(); }));
  other.kill_and_wait();
  ASSERT_EQ(store.reap(), 1u);
  const auto more = put_many(store, 20);
  EXPECT_EQ(state_of(store, all[0].id()), object_state::spilled);
  EXPECT_EQ(read(all[0]), content(0));
}

TEST_F(spilling_test, when_all_is_pinned_the_store_is_full_and_says_so) {
  auto store = open();
  auto views = std::vector<pin>{};
  for (auto which = 0; which < 10; ++which)
    views.push_back(*put(store, content(which)).pin());
  const auto refused = store.put(bytes_of(content(10)));
  EXPECT_EQ(code_of(refused), store_errc::full);
  EXPECT_NE(message_of(refused).find("all other objects are held: "), std::string::npos) << message_of(refused);
  views.pop_back();
  EXPECT_TRUE(store.put(bytes_of(content(10))));
}

TEST_F(spilling_test, a_view_is_waited_for_no_longer_than_was_said) {
  settings_.full_grace = 60s;
  auto store = open();
  const auto first = put(store, content(0));
  auto views = std::vector<pin>{};
  for (auto which = 1; which <= 10; ++which)
    views.push_back(*put(store, content(which)).pin());
  ASSERT_TRUE(first.is_on_disk());
  for (const auto within : {0ms, 50ms}) {
    const auto began = std::chrono::steady_clock::now();
    const auto refused = first.pin(within);
    EXPECT_EQ(code_of(refused), store_errc::full);
    EXPECT_NE(message_of(refused).find("store has"), std::string::npos) << message_of(refused);
    EXPECT_LT(std::chrono::steady_clock::now() - began, 10s);
  }
  views.pop_back();
  const auto view = first.pin(0ms);
  ASSERT_TRUE(view) << message_of(view);
  EXPECT_EQ(text_of(view->bytes()), content(0));
  EXPECT_FALSE(first.is_on_disk());
}

TEST_F(spilling_test, an_object_of_the_whole_capacity_fits_after_any_churn) {
  auto store = open();
  auto all = put_many(store, 30);
  for (auto which = std::size_t{0}; which < all.size(); which += 2)
    all[which] = {};
  const auto large = content(77, capacity);
  const auto made = store.put(bytes_of(large));
  ASSERT_TRUE(made) << message_of(made);
  EXPECT_EQ(read(*made), large);
  EXPECT_EQ(read(all[1]), content(1)); // The large one goes to disk for it.
  EXPECT_EQ(read(*made), large);
}

TEST_F(spilling_test, files_go_with_the_last_object_in_them) {
  auto store = open();
  auto all = put_many(store, 30);
  EXPECT_TRUE(is_calm(store));
  EXPECT_FALSE(spill_files().empty());
  all.clear();
  EXPECT_TRUE(eventually([&] { return spill_files().empty(); }));
  EXPECT_EQ(store.summary()->objects, 0u);
}

TEST_F(spilling_test, small_objects_share_files) {
  settings_.objects_max = 100'000;
  auto store = open();
  auto all = std::vector<handle>{};
  for (auto which = 0; which < 20'000; ++which)
    all.push_back(put(store, content(which, 100)));
  EXPECT_LT(spill_files().size(), 200u);
  for (auto which = 0; which < 20'000; which += 97)
    ASSERT_EQ(read(all[static_cast<std::size_t>(which)]), content(which, 100));
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

// --- Several processes and threads -----------------------------------------------------------------------------------

TEST_F(spilling_test, what_one_process_spilled_another_reads_while_its_holder_is_gone) {
  auto store = open();
  auto id = shared<object_id>{};
  auto step = shared<std::atomic<int>>{};
  auto writer = child([&] {
    auto mine = open();
    const auto all = put_many(mine, 12);
    *id = all[0].id();
    *step = 1;
    return eventually([&] { return *step == 2; }) ? 0 : 1;
  });
  ASSERT_TRUE(eventually([&] { return *step == 1; }));
  EXPECT_EQ(state_of(store, *id), object_state::spilled);
  const auto found = *store.find(*id);
  *step = 2;
  EXPECT_EQ(writer.wait(), fine);
  EXPECT_EQ(read(found), content(0));
}

TEST_F(spilling_test, threads_that_pin_more_than_fits_all_get_their_bytes) {
  settings_.full_grace = 20s;
  auto store = open();
  const auto all = put_many(store, 30);
  auto wrong = std::atomic<int>{0};
  auto threads = std::vector<std::jthread>{};
  for (auto number = 0; number < 4; ++number)
    threads.emplace_back([&, number] {
      for (auto round = 0; round < 200; ++round) {
        const auto which = (round * 7 + number * 11) % 30;
        if (read(all[static_cast<std::size_t>(which)]) != content(which))
          ++wrong;
      }
    });
  threads.clear();
  EXPECT_EQ(wrong, 0);
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

TEST_F(spilling_test, who_waits_for_room_gets_it_when_a_view_is_dropped) {
  if (!may_fork_beside_threads)
    GTEST_SKIP() << "ThreadSanitizer cannot follow processes forked beside threads";
  settings_.full_grace = 20s;
  auto store = open();
  auto views = std::vector<pin>{};
  for (auto which = 0; which < 10; ++which)
    views.push_back(*put(store, content(which)).pin());
  auto waiting = shared<std::atomic<int>>{};
  auto other = child([&] {
    auto mine = open();
    *waiting = 1;
    return mine.put(bytes_of(content(10))) ? 0 : 1;
  });
  ASSERT_TRUE(eventually([&] { return *waiting == 1; }));
  std::this_thread::sleep_for(50ms); // It gets its room whether it already waits or not.
  views.pop_back();
  EXPECT_EQ(other.wait(), fine);
}

// --- Opening ---------------------------------------------------------------------------------------------------------

TEST_F(spilling_test, all_processes_spill_to_the_same_directory) {
  const auto store = open();
  auto other = settings_;
  other.spill_directory.clear();
  EXPECT_TRUE(object_store::open(other)); // An empty option accepts any directory.
  EXPECT_EQ(child([&] {
              auto elsewhere = settings_;
              elsewhere.spill_directory = "/tmp";
              const auto refused = object_store::open(elsewhere);
              return code_of(refused) == store_errc::options_differ
                             && message_of(refused).find("the options ask for \"/tmp\"") != std::string::npos
                         ? 0
                         : 1;
            }).wait(),
            fine);
}

TEST_F(spilling_test, a_process_that_always_has_something_to_spill_looks_for_the_dead_all_the_same) {
  if (!may_fork_beside_threads)
    GTEST_SKIP() << "ThreadSanitizer cannot follow processes forked beside threads";
  settings_.reap_interval = 50ms;
  auto store = open();
  auto id = shared<object_id>{};
  auto step = shared<std::atomic<int>>{};
  auto holder = child([&] {
    auto theirs = open();
    const auto made = put(theirs, "held");
    *id = made.id();
    *step = 1;
    ::pause();
    return 1;
  });
  ASSERT_TRUE(eventually([&] { return *step == 1; }));
  const auto all = put_many(store, 9);
  auto views = std::vector<pin>{};
  for (const auto& each : all)
    views.push_back(*each.pin());
  holder.kill_and_wait();
  EXPECT_TRUE(eventually([&] {
    (void)put(store, "x"); // Above four fifths: the store wants to spill, and cannot.
    return !store.contains(*id);
  }));
}

TEST_F(spilling_test, what_dead_processes_left_on_disk_is_swept_by_the_next_opener) {
  auto step = shared<std::atomic<int>>{};
  auto victim = child([&] {
    auto mine = open();
    const auto all = put_many(mine, 30);
    *step = 1;
    ::pause();
    return 0;
  });
  ASSERT_TRUE(eventually([&] { return *step == 1; }));
  victim.kill_and_wait();
  EXPECT_FALSE(spill_files().empty());
  auto other = settings_;
  other.spill_directory.clear(); // The leftover files say where it was.
  (void)open(other);
}

TEST_F(spilling_test, files_of_an_earlier_boot_are_swept) {
  std::filesystem::create_directories(settings_.spill_directory);
  const auto name = "troupe." + std::to_string(::geteuid()) + "." + settings_.name + ".0123456789abcdef.v3.spill.0.1";
  std::ofstream{settings_.spill_directory / name} << "old";
  std::ofstream{settings_.spill_directory / "somebody else's"} << "kept";
  { const auto store = open(); }
  EXPECT_EQ(spill_files(), std::vector<std::string>{"somebody else's"});
  std::filesystem::remove(settings_.spill_directory / "somebody else's");
}

TEST_F(spilling_test, stores_of_one_name_in_two_directories_do_not_touch_each_others_files) {
  auto other = settings_;
  other.directory = settings_.directory / ("troupe-spilling-" + settings_.name);
  std::filesystem::create_directory(other.directory);
  {
    auto store = open();
    const auto all = put_many(store, 20);
    {
      auto theirs = open(other);
      const auto more = put_many(theirs, 20);
      EXPECT_GT(theirs.summary()->spilled_objects, 0u);
      for (auto which = 0; which < 20; ++which)
        ASSERT_EQ(read(more[static_cast<std::size_t>(which)]), content(which));
    }
    EXPECT_GT(store.summary()->spilled_objects, 0u);
    for (auto which = 0; which < 20; ++which)
      ASSERT_EQ(read(all[static_cast<std::size_t>(which)]), content(which));
  }
  std::filesystem::remove_all(other.directory);
}

TEST_F(spilling_test, in_a_forked_child_nothing_is_spilled_and_nothing_hangs) {
  auto store = open();
  const auto all = put_many(store, 12); // The background thread runs.
  EXPECT_EQ(child([&] {
              auto copy = std::move(store); // In the child, the destructor finds no thread.
              return code_of(copy.put(bytes_of("x"))) == store_errc::forked ? 0 : 1;
            }).wait(),
            fine);
}

// --- Killed at every step --------------------------------------------------------------------------------------------

class spilling_crash_test : public spilling_test, public ::testing::WithParamInterface<crash_point> {};

// Method: the victim fills memory and pins half of its objects, three times. It dies when it reaches the point for the
// nth time.
TEST_P(spilling_crash_test, whoever_is_killed_here_leaves_a_whole_store) {
  for (auto nth : {1u, 2u, 3u}) {
    auto store = open();
    const auto kept = put_many(store, 6);
    auto victim = child([&] {
      auto mine = open();
      internal::arm_crash_point(GetParam(), nth);
      for (auto round = 0; round < 3; ++round) {
        const auto own = put_many(mine, 12);
        auto views = std::vector<pin>{};
        for (auto which = 0; which < 6; ++which)
          views.push_back(*own[static_cast<std::size_t>(which)].pin());
        for (auto tries = 0; tries < 2; ++tries)
          (void)mine.put(bytes_of(content(99, capacity)), {}, {}, 1ms); // Finds no room, and waits for it.
      }
      return 0;
    });
    ASSERT_EQ(victim.wait(), killed) << "the point was not met " << nth << " times";
    EXPECT_EQ(store.reap(), 1u);
    EXPECT_TRUE(store.verify()) << message_of(store.verify());
    const auto summary = store.summary();
    ASSERT_TRUE(summary) << message_of(summary);
    EXPECT_EQ(summary->objects, kept.size());
    EXPECT_TRUE(eventually([&] { return spill_files().size() == store.summary()->spill_files; }))
        << "a file in which nothing lies is left";
    for (auto which = 0; which < 6; ++which)
      EXPECT_EQ(read(kept[static_cast<std::size_t>(which)]), content(which));
    EXPECT_TRUE(store.put(bytes_of(content(0, capacity)))); // All memory can be made free.
    EXPECT_TRUE(store.verify()) << message_of(store.verify());
  }
}

std::vector<crash_point> points_of_spilling() {
  auto all = std::vector<crash_point>{};
  for (auto at = static_cast<int>(crash_point::spill_begun); at <= static_cast<int>(crash_point::waiter_removed); ++at)
    all.push_back(static_cast<crash_point>(at));
  std::erase(all, crash_point::own_file_given); // See own_file.test.cpp.
  std::erase(all, crash_point::own_file_made);
  return all;
}

INSTANTIATE_TEST_SUITE_P(every_point, spilling_crash_test, ::testing::ValuesIn(points_of_spilling()),
                         [](const auto& one) { return std::string(internal::to_string(one.param)); });

} // namespace

} // namespace troupe::store::test
