// The life of an object from create to the last release: ids, sizes, the order of deletion, holders, and no remains.
#include "spilling.hpp"

#include <troupe/store/internal/host/crash_point.hpp>
#include <troupe/store/internal/table/layout.hpp>

#include <fcntl.h>

#include <cstddef>
#include <numeric>
#include <random>

namespace troupe::store::test {

namespace {

using lifecycle_test = store_test;

/// Expects that no object is left in memory, on disk or in the table.
void expect_empty(object_store& store) {
  const auto summary = store.summary();
  ASSERT_TRUE(summary) << message_of(summary);
  EXPECT_EQ(summary->objects, 0u);
  EXPECT_EQ(summary->bytes_in_use, 0u);
  EXPECT_EQ(summary->spilled_objects, 0u);
  EXPECT_EQ(summary->disk_bytes, 0u);
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

// --- Ids -------------------------------------------------------------------------------------------------------------

// Goal: no id names two objects, even if several processes reuse each other's rows.
// Method: each process keeps only its last few objects, so that rows change owners all the time.
TEST_F(lifecycle_test, ids_of_several_processes_that_create_and_drop_at_once_all_differ) {
  constexpr auto each = std::size_t{2000};
  auto ids = shared<std::array<std::array<object_id, each>, 4>>{};
  auto start = shared<std::atomic<bool>>{};
  auto others = std::vector<child>{};
  const auto store = open();
  for (auto& own : *ids)
    others.emplace_back([&] {
      auto mine = open();
      auto kept = std::array<handle, 7>{};
      if (!eventually([&] { return start->load(); }))
        return 1;
      for (auto at = std::size_t{0}; at < each; ++at) {
        kept[at % kept.size()] = put(mine, "x");
        own[at] = kept[at % kept.size()].id();
      }
      return 0;
    });
  *start = true;
  for (auto& other : others)
    EXPECT_EQ(other.wait(), fine);
  auto all = std::vector<object_id>{};
  for (const auto& own : *ids)
    all.insert(all.end(), own.begin(), own.end());
  std::ranges::sort(all);
  EXPECT_EQ(std::ranges::adjacent_find(all), all.end()) << to_string(*std::ranges::adjacent_find(all));
  EXPECT_LT(all.back().index, 1000u) << "rows were not used again, so nothing was tried";
}

TEST_F(lifecycle_test, an_object_is_contained_from_its_seal_to_its_last_release_also_for_others) {
  auto store = open();
  auto id = shared<object_id>{};
  auto step = shared<std::atomic<int>>{};
  auto other = child([&] {
    auto mine = open();
    auto building = *mine.create(10);
    *id = building.id();
    *step = 1;
    if (!eventually([&] { return *step == 2; }))
      return 1;
    auto made = *std::move(building).seal();
    *step = 3;
    if (!eventually([&] { return *step == 4; }))
      return 2;
    made = {};
    *step = 5;
    return eventually([&] { return *step == 6; }) ? 0 : 3;
  });
  ASSERT_TRUE(eventually([&] { return *step == 1; }));
  EXPECT_FALSE(store.contains(*id));
  *step = 2;
  ASSERT_TRUE(eventually([&] { return *step == 3; }));
  EXPECT_TRUE(store.contains(*id));
  *step = 4;
  ASSERT_TRUE(eventually([&] { return *step == 5; }));
  EXPECT_FALSE(store.contains(*id));
  EXPECT_EQ(code_of(store.find(*id)), store_errc::not_found);
  *step = 6;
  EXPECT_EQ(other.wait(), fine);
}

// --- Nothing stays behind --------------------------------------------------------------------------------------------

TEST_F(lifecycle_test, ten_thousand_aborted_objects_leave_no_byte_and_no_row) {
  auto store = open();
  auto inner = put(store, "inner");
  for (auto round = 0u; round < 10'000; ++round) {
    auto building = store.create(round * 97 % 50'000, bytes_of("meta"), std::vector{inner.id()});
    ASSERT_TRUE(building) << message_of(building);
    if (round % 3 == 0)
      building->shrink(round % 10);
    EXPECT_LT(building->id().index, 100u);
  }
  EXPECT_EQ(store.summary()->objects, 1u);
  inner = {};
  expect_empty(store);
}

TEST_F(lifecycle_test, ten_thousand_deleted_objects_leave_no_byte_and_no_row) {
  auto store = open();
  for (auto round = 0u; round < 10'000; ++round) {
    auto building = store.create(round * 89 % 50'000, bytes_of("meta"));
    ASSERT_TRUE(building) << message_of(building);
    if (round % 3 == 0)
      building->shrink(round % 10);
    const auto made = std::move(*building).seal();
    ASSERT_TRUE(made) << message_of(made);
    EXPECT_LT(made->id().index, 100u);
  }
  expect_empty(store);
  EXPECT_TRUE(store.create(settings_.capacity_bytes));
}

/// Drops the objects one by one in a pseudo-random order. The remaining ones read the same all the time.
void drop_in_random_order(object_store& store, std::vector<handle>& all, std::uint32_t seed, auto expected_of) {
  auto order = std::vector<std::size_t>(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::shuffle(order.begin(), order.end(), std::minstd_rand{seed});
  for (auto at = std::size_t{0}; at < order.size(); ++at) {
    all[order[at]] = {};
    if (at % 500 != 0 || at + 1 == order.size())
      continue;
    ASSERT_TRUE(store.verify()) << message_of(store.verify()) << " after " << at;
    const auto left_now = order.size() - at - 1; // An object being spilled is freed once that ends.
    ASSERT_TRUE(eventually([&] { return store.summary()->objects == left_now; })) << store.summary()->objects;
    for (auto left = at + 1; left < order.size(); left += 97)
      ASSERT_EQ(read(all[order[left]]), expected_of(order[left]));
  }
}

TEST_F(lifecycle_test, thousands_that_go_in_random_order_leave_nothing) {
  settings_.capacity_bytes = 8u << 20;
  settings_.objects_max = 6000;
  auto store = open();
  auto all = std::vector<handle>{};
  const auto text = [](std::size_t which) { return std::string(which * 31 % 2000, static_cast<char>(which % 128)); };
  for (auto which = std::size_t{0}; which < 5000; ++which)
    all.push_back(put(store, text(which)));
  drop_in_random_order(store, all, 17, text);
  expect_empty(store);
  EXPECT_TRUE(store.create(settings_.capacity_bytes));
}

/// The store's own count. A summary would reap and reclaim first.
[[nodiscard]] std::uint64_t bytes_in_use(const std::filesystem::path& control) {
  auto bytes = std::uint64_t{0};
  const auto file = ::open(control.c_str(), O_RDONLY);
  EXPECT_EQ(::pread(file, &bytes, sizeof(bytes), offsetof(internal::control_header, bytes_in_use)),
            static_cast<ssize_t>(sizeof(bytes)));
  ::close(file);
  return bytes;
}

TEST_F(lifecycle_test, the_last_release_frees_the_bytes_at_once) {
  auto store = open();
  const auto control = file_ending_in(".control");
  auto first = put(store, std::string(1000, 'x'));
  auto second = first;
  auto view = *first.pin();
  EXPECT_EQ(bytes_in_use(control), 1024u);
  first = {};
  second = {};
  EXPECT_EQ(bytes_in_use(control), 1024u);
  view = {};
  EXPECT_EQ(bytes_in_use(control), 0u);
}

// --- Views -----------------------------------------------------------------------------------------------------------

// Goal: deletion waits for the last view, and for nothing else.
// Method: another process has only a pin. The maker releases its handle and leaves the store. Then the pin is released.
TEST_F(lifecycle_test, what_another_process_still_pins_is_deleted_with_that_pin) {
  auto store = open();
  const auto control = file_ending_in(".control");
  auto mine = put(store, "pinned elsewhere");
  const auto id = mine.id();
  auto step = shared<std::atomic<int>>{};
  auto other = child([&] {
    auto theirs = open();
    auto view = *theirs.find(id)->pin();
    *step = 1;
    if (!eventually([&] { return *step == 2; }) || text_of(view.bytes()) != "pinned elsewhere")
      return 1;
    view = {};
    *step = 3;
    return eventually([&] { return *step == 4; }) ? 0 : 2;
  });
  ASSERT_TRUE(eventually([&] { return *step == 1; }));
  mine = {};
  EXPECT_TRUE(store.contains(id));
  EXPECT_EQ(bytes_in_use(control), 64u);
  EXPECT_EQ(store.summary()->rows.at(0).holders, std::vector{other.pid()});
  EXPECT_EQ(store.summary()->rows.at(0).pinned_by, std::vector{other.pid()});
  *step = 2;
  ASSERT_TRUE(eventually([&] { return *step == 3; }));
  EXPECT_FALSE(store.contains(id));
  EXPECT_EQ(bytes_in_use(control), 0u);
  *step = 4;
  EXPECT_EQ(other.wait(), fine);
}

// Goal: if a process has a store open twice and closes one reference, the other reference loses nothing.
// Method: the slot's byte is a lock that closing any descriptor of the file would drop. Another process checks that
// this process still counts as alive.
TEST_F(lifecycle_test, closing_one_of_two_references_keeps_the_process_attached_for_others) {
  auto first = std::make_optional(open());
  auto second = std::make_optional(open());
  const auto kept = put(*first, "kept");
  const auto self = first->self();
  const auto others_see_us = [&] {
    return child([&] {
             auto theirs = open();
             return theirs.reap() == 0 && theirs.shares_with(self) && theirs.contains(kept.id()) ? 0 : 1;
           })
        .wait();
  };
  EXPECT_EQ(others_see_us(), fine);
  first.reset();
  EXPECT_EQ(others_see_us(), fine);
  first = second;
  second.reset();
  EXPECT_EQ(others_see_us(), fine);
  first.reset(); // The handle alone keeps the attachment.
  EXPECT_EQ(others_see_us(), fine);
  EXPECT_EQ(read(kept), "kept");
}

class lifecycle_on_disk_test : public spilling_test {};

TEST_F(lifecycle_on_disk_test,
       a_view_outlives_its_handle_and_its_store_and_stays_where_it_is_while_others_fill_memory) {
  auto view = pin{};
  {
    auto store = open();
    view = *put(store, content(0)).pin();
  }
  const auto* const address = view.bytes().data();
  EXPECT_EQ(child([&] {
              auto theirs = open();
              const auto all = put_many(theirs, 30);
              return read(*theirs.find(view.id())) == content(0) ? 0 : 1;
            }).wait(),
            fine);
  EXPECT_EQ(view.bytes().data(), address);
  EXPECT_EQ(text_of(view.bytes()), content(0));
}

// Method: the oldest objects go to disk, except those that another process has found or pinned since.
TEST_F(lifecycle_on_disk_test, what_another_process_has_used_goes_to_disk_later) {
  auto store = open();
  const auto all = put_many(store, 6);
  EXPECT_EQ(child([&] {
              auto theirs = open();
              (void)theirs.find(all[0].id());
              return read(*theirs.find(all[2].id())) == content(2) ? 0 : 1;
            }).wait(),
            fine);
  const auto more = put_many(store, 4);
  EXPECT_TRUE(is_calm(store));
  EXPECT_EQ(state_of(store, all[0].id()), object_state::sealed);
  EXPECT_EQ(state_of(store, all[1].id()), object_state::spilled);
  EXPECT_EQ(state_of(store, all[2].id()), object_state::sealed);
  EXPECT_EQ(state_of(store, all[3].id()), object_state::spilled);
}

TEST_F(lifecycle_on_disk_test, thousands_that_go_in_random_order_leave_nothing_on_disk_either) {
  settings_.objects_max = 6000;
  auto store = open();
  auto all = std::vector<handle>{};
  const auto text = [](std::size_t which) { return content(static_cast<int>(which), which * 31 % 2000); };
  for (auto which = std::size_t{0}; which < 4000; ++which)
    all.push_back(put(store, text(which)));
  EXPECT_GT(store.summary()->spilled_objects, 2000u);
  drop_in_random_order(store, all, 23, text);
  ASSERT_TRUE(eventually([&] { return store.summary()->objects == 0; }));
  expect_empty(store);
  EXPECT_TRUE(eventually([&] { return spill_files().empty(); }));
  EXPECT_TRUE(store.create(capacity));
}

TEST_F(lifecycle_on_disk_test, the_last_release_of_what_lies_on_disk_removes_its_file) {
  auto store = open();
  auto first = put(store, content(0, capacity / 2)); // Large enough for a file of its own.
  const auto others = put_many(store, 2, capacity / 2);
  ASSERT_TRUE(eventually([&] { return state_of(store, first.id()) == object_state::spilled; }));
  ASSERT_TRUE(is_calm(store));
  const auto before = spill_files().size();
  first = {};
  EXPECT_TRUE(eventually([&] { return spill_files().size() < before; }, 5s)) << "nobody else has asked for anything";
}

// --- Sizes -----------------------------------------------------------------------------------------------------------

struct shape {
  std::size_t size_bytes;
  std::size_t metadata_bytes;
};

[[nodiscard]] std::vector<shape> shapes() {
  constexpr auto page = std::size_t{4096};
  auto all = std::vector<shape>{};
  for (auto size : {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65}, page - 1, page,
                    page + 1, std::size_t{100'000}})
    for (auto metadata : {std::size_t{0}, std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{65}, page + 1})
      all.push_back({size, metadata});
  for (auto metadata : {std::size_t{0}, std::size_t{1}, std::size_t{64}, std::size_t{65}, page + 1})
    all.push_back({capacity - (metadata + 63) / 64 * 64, metadata}); // All memory, to the last byte.
  return all;
}

// Goal: objects of any size read the same with their metadata, in this process and in another one, before, while and
// after they lie on disk.
// Method: all objects together are several times the size of the memory, and the last ones take all of the memory. So
// each object is on disk once.
TEST_F(lifecycle_on_disk_test, every_size_and_its_metadata_read_the_same_everywhere) {
  settings_.full_grace = 10s;
  auto store = open();
  const auto all = shapes();
  const auto is_whole = [&](const handle& object, std::size_t which) {
    const auto view = object.pin();
    return view && text_of(view->bytes()) == content(static_cast<int>(which), all[which].size_bytes)
           && text_of(view->metadata()) == content(-static_cast<int>(which), all[which].metadata_bytes);
  };
  auto held = std::vector<handle>{};
  for (auto which = std::size_t{0}; which < all.size(); ++which) {
    auto made = store.put(bytes_of(content(static_cast<int>(which), all[which].size_bytes)),
                          bytes_of(content(-static_cast<int>(which), all[which].metadata_bytes)));
    ASSERT_TRUE(made) << message_of(made);
    EXPECT_TRUE(is_whole(*made, which)) << all[which].size_bytes << " + " << all[which].metadata_bytes;
    held.push_back(std::move(*made));
  }
  EXPECT_EQ(child([&] {
              auto theirs = open();
              for (auto which = std::size_t{0}; which < all.size(); ++which)
                if (!is_whole(*theirs.find(held[which].id()), which))
                  return static_cast<int>(which) + 1;
              return 0;
            }).wait(),
            fine);
  for (auto which = std::size_t{0}; which < all.size(); ++which)
    EXPECT_TRUE(is_whole(held[which], which)) << all[which].size_bytes << " + " << all[which].metadata_bytes;
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
  held.clear();
  expect_empty(store);
}

// Method: another process is stopped while it writes the object to disk. Meanwhile no other process may free the
// object.
TEST_F(lifecycle_on_disk_test, what_is_let_go_while_it_is_written_to_disk_is_deleted_behind_that) {
  auto store = open();
  auto object = put(store, content(0));
  auto spiller = child([&] {
    auto mine = open();
    internal::arm_crash_point(internal::crash_point::spill_file_written, 1, internal::crash_action::stop);
    const auto others = put_many(mine, 9);
    return eventually([&] { return is_calm(mine); }) ? 0 : 1;
  });
  spiller.wait_until_stopped();
  ASSERT_EQ(state_of(store, object.id()), object_state::spilling);
  object = {};
  spiller.kill(SIGCONT);
  EXPECT_EQ(spiller.wait(), fine);
  expect_empty(store);
}

// --- Dying with others' objects --------------------------------------------------------------------------------------

using internal::crash_point;

class reader_crash_test : public spilling_test, public ::testing::WithParamInterface<crash_point> {};

// Goal: if a process dies while it finds, pins or restores another process's object, it costs that other process
// nothing.
// Method: the object lies on disk. The victim does all three with it, and dies at the crash point.
TEST_P(reader_crash_test, whoever_is_killed_here_leaves_the_object_to_its_owner) {
  auto store = open();
  const auto all = put_many(store, 10);
  ASSERT_TRUE(eventually([&] { return state_of(store, all[0].id()) == object_state::spilled; }));
  ASSERT_TRUE(is_calm(store));
  auto victim = child([&] {
    auto mine = open();
    internal::arm_crash_point(GetParam());
    { const auto view = mine.find(all[0].id())->pin(); }
    return 0;
  });
  ASSERT_EQ(victim.wait(), killed);
  for (auto which = std::size_t{0}; which < all.size(); ++which)
    EXPECT_EQ(read(all[which]), content(static_cast<int>(which)));
  (void)store.reap();
  const auto summary = *store.summary();
  EXPECT_EQ(summary.objects, all.size());
  for (const auto& row : summary.rows)
    EXPECT_EQ(row.holders, std::vector{::getpid()});
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

INSTANTIATE_TEST_SUITE_P(every_point, reader_crash_test,
                         ::testing::Values(crash_point::find_held, crash_point::pin_marked, crash_point::restore_placed,
                                           crash_point::restore_begun, crash_point::restore_read,
                                           crash_point::restore_published, crash_point::restore_finished,
                                           crash_point::unpin_cleared, crash_point::release_cleared),
                         [](const auto& one) { return std::string(internal::to_string(one.param)); });

} // namespace

} // namespace troupe::store::test
