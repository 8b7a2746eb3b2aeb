// Creating and finding many objects with one call.
#include "spilling.hpp"

#include <numeric>

namespace troupe::store::test {

namespace {

class batch_test : public store_test {};

/// Returns index, size and state of every object, sorted, but without creation times, because these differ.
std::vector<std::tuple<std::uint32_t, std::size_t, object_state>> rows_of(object_store& store) {
  auto rows = std::vector<std::tuple<std::uint32_t, std::size_t, object_state>>{};
  const auto summary = store.summary();
  for (const auto& row : summary->rows)
    rows.emplace_back(row.id.index, row.size_bytes, row.state);
  std::ranges::sort(rows);
  return rows;
}

TEST_F(batch_test, creating_many_at_once_is_like_one_after_the_other) {
  auto sizes = std::vector<std::size_t>(300);
  for (auto at = std::size_t{0}; at < sizes.size(); ++at)
    sizes[at] = at * 7 % 1000; // Includes empty ones.
  auto other = settings_;
  other.name += "_singles";
  auto together = open();
  auto singles = open(other);
  auto many = together.create_all(sizes);
  ASSERT_TRUE(many) << message_of(many);
  ASSERT_EQ(many->size(), sizes.size());
  auto ones = std::vector<builder>{};
  for (const auto size : sizes)
    ones.push_back(*singles.create(size));
  EXPECT_EQ(rows_of(together), rows_of(singles));
  EXPECT_EQ(together.summary()->bytes_in_use, singles.summary()->bytes_in_use);
  auto handles = std::vector<handle>{};
  for (auto at = std::size_t{0}; at < sizes.size(); ++at) {
    auto& made = (*many)[at];
    ASSERT_EQ(made.bytes().size(), sizes[at]);
    std::ranges::fill(made.bytes(), static_cast<std::byte>(at));
    handles.push_back(*std::move(made).seal());
  }
  for (auto at = std::size_t{0}; at < sizes.size(); ++at)
    EXPECT_EQ(read(handles[at]), std::string(sizes[at], static_cast<char>(at)));
  EXPECT_TRUE(together.verify()) << message_of(together.verify());
}

TEST_F(batch_test, creating_gives_all_or_none) {
  auto store = open();
  const auto half = store.put(bytes_of(std::string(settings_.capacity_bytes / 2, 'x')));
  const auto sizes = std::vector<std::size_t>(9, settings_.capacity_bytes / 16);
  const auto refused = store.create_all(sizes);
  EXPECT_EQ(code_of(refused), store_errc::full);
  EXPECT_EQ(store.summary()->objects, 1u);
  EXPECT_TRUE(store.create_all(std::span{sizes}.first(8)));
  EXPECT_EQ(store.summary()->objects, 1u); // Dropped at once.
  const auto never = store.create_all(std::vector<std::size_t>(17, settings_.capacity_bytes / 16));
  EXPECT_EQ(code_of(never), store_errc::full);
  EXPECT_NE(message_of(never).find("one of 17 objects that do not fit together"), std::string::npos) << message_of(never);
  EXPECT_TRUE(store.create_all({})->empty());
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

TEST_F(batch_test, creating_more_rows_than_the_table_has_is_an_error_and_leaves_nothing) {
  auto store = open();
  EXPECT_EQ(code_of(store.create_all(std::vector<std::size_t>(settings_.objects_max + 1, 1))), store_errc::table_full);
  EXPECT_EQ(store.summary()->objects, 0u);
  EXPECT_EQ(store.create_all(std::vector<std::size_t>(settings_.objects_max, 1))->size(), settings_.objects_max);
}

TEST_F(batch_test, finding_many_at_once_answers_each_in_order) {
  auto store = open();
  auto ids = std::vector<object_id>{};
  auto handles = std::vector<handle>{};
  for (auto which = 0; which < 200; ++which) {
    handles.push_back(put(store, std::to_string(which)));
    ids.push_back(handles.back().id());
  }
  const auto building = store.create(1);
  ids[77] = building->id();
  handles[111] = {};
  auto unknown = ids[5];
  unknown.generation += 9;
  ids[5] = unknown;
  const auto found = store.find_all(ids);
  ASSERT_EQ(found.size(), ids.size());
  for (auto at = std::size_t{0}; at < ids.size(); ++at) {
    const auto expected = at == 77               ? store_errc::unsealed
                          : at == 5 || at == 111 ? store_errc::not_found
                                                 : store_errc::none;
    EXPECT_EQ(code_of(found[at]), expected) << at;
    if (found[at]) {
      EXPECT_EQ(read(*found[at]), std::to_string(at));
    }
  }
  EXPECT_TRUE(store.find_all({}).empty());
}

class batch_on_disk_test : public spilling_test {};

TEST_F(batch_on_disk_test, creating_waits_for_what_has_to_be_spilled) {
  auto store = open();
  const auto before = put_many(store, 9);
  auto many = store.create_all(std::vector<std::size_t>(8, tenth));
  ASSERT_TRUE(many) << message_of(many);
  for (auto which = 0; which < 9; ++which)
    EXPECT_EQ(code_of(before[static_cast<std::size_t>(which)].pin()), store_errc::none);
  many->clear();
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

TEST_F(batch_on_disk_test, what_was_read_back_is_not_written_again) {
  auto store = open();
  const auto first = put(store, content(1, capacity / 2));
  const auto make_room = [&] { EXPECT_TRUE(store.create(capacity)); };
  make_room();
  ASSERT_EQ(state_of(store, first.id()), object_state::spilled);
  const auto files = spill_files();
  ASSERT_EQ(files.size(), 1u);
  const auto written = std::filesystem::last_write_time(settings_.spill_directory / files[0]);
  for (auto round = 0; round < 3; ++round) {
    EXPECT_EQ(read(first), content(1, capacity / 2));
    EXPECT_EQ(state_of(store, first.id()), object_state::sealed);
    EXPECT_TRUE(store.verify()) << message_of(store.verify());
    make_room();
    EXPECT_EQ(state_of(store, first.id()), object_state::spilled);
    EXPECT_TRUE(store.verify()) << message_of(store.verify());
  }
  EXPECT_EQ(spill_files(), files);
  EXPECT_EQ(std::filesystem::last_write_time(settings_.spill_directory / files[0]), written);
}

} // namespace

} // namespace troupe::store::test
