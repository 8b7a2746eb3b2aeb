// Objects in one process: create, seal, put, find, pin, capture, full.
#include "support.hpp"

#include <troupe/store/internal/host/crash_point.hpp>
#include <troupe/store/internal/table/layout.hpp>

#include <fcntl.h>

#include <cstddef>

namespace troupe::store::test {

namespace {

using object_store_test = store_test;

TEST_F(object_store_test, what_is_put_is_found_and_reads_the_same) {
  auto store = open();
  const auto made = put(store, "hello");
  const auto found = store.find(made.id());
  ASSERT_TRUE(found) << message_of(found);
  EXPECT_EQ(read(*found), "hello");
  EXPECT_EQ(found->size_bytes(), 5u);
  EXPECT_EQ(found->id(), made.id());
  EXPECT_TRUE(store.contains(made.id()));
  EXPECT_EQ(made.id().store, store.number());
}

TEST_F(object_store_test, parts_become_one_object_with_its_metadata) {
  auto store = open();
  const auto parts = std::vector{bytes_of("one "), bytes_of(""), bytes_of("two")};
  const auto made = store.put(parts, bytes_of("text/plain"));
  ASSERT_TRUE(made) << message_of(made);
  const auto view = made->pin();
  ASSERT_TRUE(view);
  EXPECT_EQ(text_of(view->bytes()), "one two");
  EXPECT_EQ(text_of(view->metadata()), "text/plain");
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(view->bytes().data()) % 64, 0u);
}

TEST_F(object_store_test, an_empty_object_is_an_object) {
  auto store = open();
  const auto made = store.put(std::span<const std::byte>{});
  ASSERT_TRUE(made) << message_of(made);
  EXPECT_TRUE(store.contains(made->id()));
  EXPECT_EQ(read(*made), "");
  EXPECT_EQ(store.summary()->bytes_in_use, 0u);
}

TEST_F(object_store_test, an_object_being_written_is_not_found) {
  auto store = open();
  auto building = store.create(10);
  ASSERT_TRUE(building);
  EXPECT_EQ(code_of(store.find(building->id())), store_errc::unsealed);
  EXPECT_FALSE(store.contains(building->id()));
  EXPECT_TRUE(std::move(*building).seal());
}

TEST_F(object_store_test, a_builder_cannot_be_sealed_twice) {
  auto store = open();
  auto building = store.create(10);
  ASSERT_TRUE(building);
  const auto made = std::move(*building).seal();
  ASSERT_TRUE(made);
  EXPECT_TRUE(building->bytes().empty());
  EXPECT_EQ(code_of(std::move(*building).seal()), store_errc::empty);
  EXPECT_EQ(code_of(building->capture(std::vector{made->id()})), store_errc::empty);
  EXPECT_TRUE(store.contains(made->id()));
}

TEST_F(object_store_test, a_dropped_builder_frees_its_bytes) {
  auto store = open();
  auto id = object_id{};
  {
    const auto building = store.create(1000);
    ASSERT_TRUE(building);
    id = building->id();
    EXPECT_EQ(store.summary()->bytes_in_use, 1024u);
  }
  EXPECT_EQ(code_of(store.find(id)), store_errc::not_found);
  EXPECT_EQ(store.summary()->bytes_in_use, 0u);
}

TEST_F(object_store_test, a_moved_builder_owns_and_the_old_one_does_not) {
  auto store = open();
  auto building = store.create(100);
  ASSERT_TRUE(building);
  auto moved = std::move(*building);
  EXPECT_EQ(building->id(), object_id{});
  *building = std::move(moved);
  EXPECT_TRUE(std::move(*building).seal());
}

TEST_F(object_store_test, a_shrunk_builder_keeps_its_first_bytes_and_frees_the_rest) {
  auto store = open();
  auto building = store.create(100'000, bytes_of("meta"));
  ASSERT_TRUE(building);
  std::ranges::copy(bytes_of("short"), building->bytes().begin());
  building->shrink(5);
  const auto made = std::move(*building).seal();
  ASSERT_TRUE(made) << message_of(made);
  EXPECT_EQ(read(*made), "short");
  EXPECT_EQ(text_of(made->pin()->metadata()), "meta");
  EXPECT_EQ(store.summary()->bytes_in_use, 128u);
  EXPECT_TRUE(store.verify());
}

TEST_F(object_store_test, shrinking_to_more_changes_nothing) {
  auto store = open();
  auto building = store.create(100);
  ASSERT_TRUE(building);
  building->shrink(200);
  EXPECT_EQ(building->bytes().size(), 100u);
}

TEST_F(object_store_test, the_last_handle_or_pin_frees_the_object) {
  auto store = open();
  auto first = put(store, "kept");
  const auto id = first.id();
  auto second = first;
  auto view = second.pin();
  ASSERT_TRUE(view);
  first = {};
  second = {};
  EXPECT_TRUE(store.contains(id));
  EXPECT_EQ(text_of(view->bytes()), "kept");
  auto copy = *view;
  *view = {};
  EXPECT_EQ(text_of(copy.bytes()), "kept");
  copy = {};
  EXPECT_FALSE(store.contains(id));
  EXPECT_EQ(store.summary()->objects, 0u);
  EXPECT_EQ(store.summary()->high_water_bytes, 64u);
}

TEST_F(object_store_test, a_row_that_is_used_again_does_not_answer_to_the_old_id) {
  auto store = open();
  const auto old = put(store, "old").id();
  const auto made = put(store, "new");
  EXPECT_EQ(made.id().index, old.index);
  EXPECT_NE(made.id().generation, old.generation);
  EXPECT_EQ(code_of(store.find(old)), store_errc::not_found);
}

TEST_F(object_store_test, ids_that_were_made_up_are_not_found) {
  auto store = open();
  const auto made = put(store, "real");
  for (auto id :
       {object_id{}, object_id{store.number(), 4'000'000'000u, 1}, object_id{store.number(), 17, 0},
        object_id{store.number() + 1, made.id().index, made.id().generation}, object_id{store.number(), 4096, 1}}) {
    EXPECT_EQ(code_of(store.find(id)), store_errc::not_found) << to_string(id);
    EXPECT_EQ(code_of(store.adopt(id, store.self(), 0)), store_errc::not_found) << to_string(id);
    EXPECT_FALSE(store.contains(id));
  }
}

TEST_F(object_store_test, full_says_how_much_was_wanted_and_how_much_is_there) {
  auto store = open();
  const auto held = store.create((1u << 20) - 65'536);
  ASSERT_TRUE(held);
  const auto refused = store.create(91'203);
  ASSERT_EQ(code_of(refused), store_errc::full);
  EXPECT_EQ(message_of(refused),
            "object of 91,203 bytes, store has 65,536 free of 1,048,576 (longest free piece 65,536); "
            "all other objects are held: drop some handles, or raise capacity_bytes");
  EXPECT_EQ(code_of(store.create(std::size_t{1} << 63)), store_errc::full);
  EXPECT_EQ(code_of(store.create(SIZE_MAX)), store_errc::full);
}

TEST_F(object_store_test, after_any_churn_an_object_of_the_whole_capacity_fits) {
  auto store = open();
  for (auto round = 0; round < 3; ++round) {
    auto held = std::vector<handle>{};
    for (auto size = std::size_t{1}; size < 30'000; size = size * 3 / 2 + 1)
      held.push_back(put(store, std::string(size, 'x')));
    for (auto at = std::size_t{0}; at < held.size(); at += 2)
      held[at] = {};
    EXPECT_TRUE(store.verify()) << message_of(store.verify());
    for (auto size : {100u, 5'000u, 20'000u})
      held.push_back(put(store, std::string(size, 'y')));
    EXPECT_TRUE(store.verify()) << message_of(store.verify());
  }
  const auto whole = store.create(1u << 20);
  EXPECT_TRUE(whole) << message_of(whole);
}

TEST_F(object_store_test, the_lowest_free_bytes_are_used_first) {
  auto store = open();
  auto low = put(store, std::string(1000, 'a'));
  const auto high = put(store, "b");
  const auto* const before = low.pin()->bytes().data();
  low = {};
  const auto again = put(store, std::string(900, 'c'));
  EXPECT_EQ(again.pin()->bytes().data(), before);
  EXPECT_LT(before, high.pin()->bytes().data());
}

TEST_F(object_store_test, a_captured_object_lives_as_long_as_the_outer_one) {
  auto store = open();
  auto inner = put(store, "inner");
  const auto inner_id = inner.id();
  auto middle = put(store, "middle", std::vector{inner_id});
  auto outer = put(store, "outer", std::vector{middle.id(), inner_id});
  inner = {};
  middle = {};
  EXPECT_EQ(read(*store.find(inner_id)), "inner");
  EXPECT_EQ(store.summary()->objects, 3u);
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
  outer = {};
  EXPECT_FALSE(store.contains(inner_id));
  EXPECT_EQ(store.summary()->objects, 0u);
}

TEST_F(object_store_test, a_dropped_builder_lets_go_what_it_captured) {
  auto store = open();
  auto inner = put(store, "inner");
  const auto id = inner.id();
  {
    const auto building = store.create(1, {}, std::vector{id});
    inner = {};
    EXPECT_TRUE(store.contains(id));
  }
  EXPECT_FALSE(store.contains(id));
}

TEST_F(object_store_test, a_builder_that_another_one_is_moved_into_lets_its_object_go) {
  auto store = open();
  auto building = *store.create(1);
  building = *store.create(2);
  EXPECT_EQ(store.summary()->objects, 1u);
  EXPECT_EQ(std::move(building).seal()->size_bytes(), 2u);
  EXPECT_EQ(store.summary()->objects, 0u);
}

TEST_F(object_store_test, only_sealed_objects_of_this_store_can_be_captured) {
  auto store = open();
  const auto building = store.create(1);
  EXPECT_EQ(code_of(store.create(1, {}, std::vector{building->id()})), store_errc::unsealed);
  EXPECT_EQ(code_of(store.create(1, {}, std::vector{object_id{}})), store_errc::not_found);
  EXPECT_EQ(store.summary()->objects, 1u);
}

TEST_F(object_store_test, what_an_object_captures_is_listed_in_the_order_in_which_it_was_given) {
  auto store = open();
  const auto first = put(store, "first");
  const auto second = put(store, "second");
  const auto given = std::vector{second.id(), first.id(), second.id(), first.id(), first.id()};
  const auto outer = put(store, "outer", given);
  EXPECT_EQ(outer.captured(), given);
  EXPECT_EQ(store.find(outer.id())->captured(), given);
  EXPECT_EQ(store.summary()->rows[2].captures, given);
  EXPECT_EQ(first.captured(), std::vector<object_id>{});
}

TEST_F(object_store_test, what_an_object_captures_can_be_held_by_whoever_holds_it) {
  auto store = open();
  auto first = put(store, "first");
  auto second = put(store, "second");
  const auto given = std::vector{second.id(), first.id(), second.id()};
  auto outer = put(store, "outer", given);
  first = second = {};
  auto held = outer.hold_captured();
  ASSERT_TRUE(held) << message_of(held);
  outer = {};
  ASSERT_EQ(held->size(), 3u);
  for (auto which = std::size_t{0}; which < 3; ++which)
    EXPECT_EQ((*held)[which].id(), given[which]);
  EXPECT_EQ(store.summary()->objects, 2u);
  held->clear();
  EXPECT_EQ(store.summary()->objects, 0u);
  EXPECT_EQ(code_of(outer.hold_captured()), store_errc::empty);
}

TEST_F(object_store_test, as_many_as_an_object_can_capture_are_listed_in_order) {
  auto store = open();
  auto inner = std::vector<handle>{};
  auto given = std::vector<object_id>{};
  for (auto which = 0; which < 1024; ++which) {
    inner.push_back(put(store, "inner"));
    given.push_back(inner.back().id());
  }
  const auto outer = put(store, "outer", given);
  std::ranges::reverse(given);
  const auto other = put(store, "other", given);
  EXPECT_EQ(other.captured(), given);
  std::ranges::reverse(given);
  EXPECT_EQ(outer.captured(), given);
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

TEST_F(object_store_test, an_object_captures_at_most_1024_others) {
  auto store = open();
  const auto inner = put(store, "inner");
  const auto refused = store.put(bytes_of("x"), {}, std::vector(1025, inner.id()));
  EXPECT_EQ(code_of(refused), store_errc::invalid_argument);
  EXPECT_EQ(message_of(refused), "1,025 captured ids, limit 1,024");
  EXPECT_TRUE(store.put(bytes_of("x"), {}, std::vector(1024, inner.id())));
  EXPECT_EQ(store.summary()->objects, 1u);
}

TEST_F(object_store_test, a_builder_captures_more_behind_what_create_was_given) {
  auto store = open();
  auto first = put(store, "first");
  auto second = put(store, "second");
  const auto given = std::vector{second.id(), first.id(), second.id(), first.id(), second.id()};
  auto building = store.create(100, bytes_of("meta"), std::span{given}.first(2));
  ASSERT_TRUE(building);
  ASSERT_TRUE(building->capture(std::span{given}.subspan(2, 2)));
  ASSERT_TRUE(building->capture({}));
  building->shrink(1);
  ASSERT_TRUE(building->capture(std::span{given}.last(1)));
  first = {};
  second = {};
  EXPECT_TRUE(store.contains(given[0]));
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
  auto outer = *std::move(*building).seal();
  EXPECT_EQ(outer.captured(), given);
  EXPECT_EQ(read(*store.find(given[1])), "first");
  EXPECT_EQ(store.summary()->objects, 3u);
  outer = {};
  EXPECT_EQ(store.summary()->objects, 0u);
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

TEST_F(object_store_test, a_dropped_builder_lets_go_what_it_captured_later) {
  auto store = open();
  auto inner = put(store, "inner");
  const auto id = inner.id();
  {
    auto building = store.create(1);
    ASSERT_TRUE(building->capture(std::vector{id}));
    inner = {};
    EXPECT_TRUE(store.contains(id));
  }
  EXPECT_FALSE(store.contains(id));
  EXPECT_EQ(store.summary()->objects, 0u);
}

TEST_F(object_store_test, a_builder_captures_all_or_none) {
  auto store = open();
  const auto inner = put(store, "inner");
  const auto gone = put(store, "gone").id();
  const auto unfinished = store.create(1);
  auto building = store.create(1, {}, std::vector{inner.id()});
  const auto try_with = [&](const object_id& id) { return code_of(building->capture(std::vector{inner.id(), id})); };
  EXPECT_EQ(try_with(gone), store_errc::not_found);
  EXPECT_EQ(try_with(object_id{}), store_errc::not_found);
  EXPECT_EQ(try_with(unfinished->id()), store_errc::unsealed);
  EXPECT_EQ(try_with(building->id()), store_errc::unsealed);
  const auto refused = building->capture(std::vector(1024, inner.id()));
  EXPECT_EQ(code_of(refused), store_errc::invalid_argument);
  EXPECT_EQ(message_of(refused), "1,025 captured ids, limit 1,024");
  EXPECT_EQ(store.summary()->rows[2].captures, std::vector{inner.id()});
  EXPECT_TRUE(building->capture(std::vector(1023, inner.id())));
  EXPECT_EQ(code_of(building->capture(std::vector{inner.id()})), store_errc::invalid_argument);
  EXPECT_EQ((*std::move(*building).seal()).captured(), std::vector(1024, inner.id()));
}

TEST_F(object_store_test, the_table_of_captured_ids_has_an_end_and_says_so) {
  auto store = open();
  const auto inner = put(store, "inner");
  auto outer = std::vector<handle>{};
  for (auto which = 0; which < 1023; ++which)
    outer.push_back(put(store, "outer", std::vector(1024, inner.id())));
  auto building = store.create(1, {}, std::vector(1023, inner.id()));
  ASSERT_TRUE(building);
  auto other = store.create(1);
  const auto refused = other->capture(std::vector(2, inner.id()));
  EXPECT_EQ(code_of(refused), store_errc::table_full);
  EXPECT_EQ(message_of(refused), "the store's table of captured ids is full: limit 1,048,576");
  EXPECT_TRUE(other->capture(std::vector{inner.id()}));
  EXPECT_EQ(code_of(building->capture(std::vector{inner.id()})), store_errc::table_full);
  outer.pop_back();
  EXPECT_TRUE(building->capture(std::vector{inner.id()}));
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

TEST_F(object_store_test, an_object_longer_than_one_piece_of_committed_pages_reads_the_same) {
  settings_.capacity_bytes = 64u << 20;
  auto store = open();
  auto text = std::string(40u << 20, 'x');
  for (auto at = std::size_t{0}; at < text.size(); at += 4096)
    text[at] = static_cast<char>(at >> 12);
  const auto made = put(store, text);
  EXPECT_TRUE(read(made) == text);
  EXPECT_GE(store.summary()->committed_bytes, text.size());
}

// Goal: no id is ever assigned twice, not even after 2^32 - 1 objects in one row.
// Method: the test writes the last but one generation into the table, as if the row had just been freed with it.
TEST_F(object_store_test, a_row_whose_generations_are_used_up_is_retired) {
  auto store = open();
  const auto row = put(store, "x").id().index;
  auto offset = std::uint64_t{0};
  const auto file = ::open(file_ending_in(".control").c_str(), O_RDWR);
  ASSERT_EQ(::pread(file, &offset, sizeof(offset),
                    offsetof(internal::control_header, objects) + offsetof(internal::growing_table, file_offset)),
            static_cast<ssize_t>(sizeof(offset)));
  const auto last_but_one = internal::generation_max - 1;
  ASSERT_EQ(::pwrite(file, &last_but_one, sizeof(last_but_one),
                     static_cast<off_t>(offset + row * sizeof(internal::object_row_entry))),
            static_cast<ssize_t>(sizeof(last_but_one)));
  ::close(file);
  auto last = put(store, "last");
  const auto id = last.id();
  EXPECT_EQ(id.index, row);
  EXPECT_EQ(id.generation, internal::generation_max);
  EXPECT_EQ(read(last), "last");
  last = {};
  const auto next = put(store, "next");
  EXPECT_NE(next.id().index, row);
  EXPECT_EQ(code_of(store.find(id)), store_errc::not_found);
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
  auto victim = child([&] { // Its death makes another process rebuild the table.
    auto mine = open();
    internal::arm_crash_point(internal::crash_point::create_row_filled);
    (void)put(mine, "y");
    return 0;
  });
  ASSERT_EQ(victim.wait(), killed);
  EXPECT_NE(put(store, "z").id().index, row);
  EXPECT_EQ(store.reap(), 1u);
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

TEST_F(object_store_test, the_table_of_objects_has_an_end_and_says_so) {
  settings_.objects_max = 10;
  auto store = open();
  auto held = std::vector<handle>{};
  for (auto count = 0; count < 10; ++count)
    held.push_back(put(store, "x"));
  const auto refused = store.put(bytes_of("x"));
  EXPECT_EQ(code_of(refused), store_errc::table_full);
  EXPECT_EQ(message_of(refused),
            "the store's table of objects is full: limit 10; drop some handles, or raise objects_max");
  held.pop_back();
  EXPECT_TRUE(store.put(bytes_of("x")));
}

TEST_F(object_store_test, handles_and_pins_outlive_the_store_variable) {
  auto view = pin{};
  {
    auto store = open();
    view = *put(store, "still here").pin();
  }
  EXPECT_EQ(text_of(view.bytes()), "still here");
  EXPECT_EQ(files().size(), 3u);
}

TEST_F(object_store_test, empty_handles_say_that_they_are_empty) {
  auto store = open();
  auto made = put(store, "x");
  const auto moved = std::move(made);
  EXPECT_TRUE(made.empty());
  EXPECT_EQ(code_of(made.pin()), store_errc::empty);
  EXPECT_EQ(code_of(made.captured()), store_errc::empty);
  EXPECT_EQ(code_of(made.hand_over(store.self(), 1)), store_errc::empty);
  EXPECT_EQ(made.id(), object_id{});
  EXPECT_EQ(made.size_bytes(), 0u);
}

TEST_F(object_store_test, the_summary_says_why_each_object_is_kept) {
  auto store = open();
  const auto inner = put(store, "inner");
  const auto outer = store.put(bytes_of("outer"), bytes_of("m"), std::vector{inner.id()});
  const auto view = inner.pin();
  ASSERT_TRUE(outer->hand_over(store.self(), 7));
  const auto summary = store.summary();
  ASSERT_TRUE(summary);
  ASSERT_EQ(summary->rows.size(), 2u);
  const auto& first = summary->rows[0];
  EXPECT_EQ(first.id, inner.id());
  EXPECT_EQ(first.state, object_state::sealed);
  EXPECT_EQ(first.creator, ::getpid());
  EXPECT_EQ(first.holders, std::vector{::getpid()});
  EXPECT_EQ(first.pinned_by, std::vector{::getpid()});
  EXPECT_EQ(first.captured_by, std::vector{outer->id()});
  EXPECT_GE(first.age, 0ns);
  const auto& second = summary->rows[1];
  EXPECT_EQ(second.metadata_bytes, 1u);
  EXPECT_EQ(second.captures, std::vector{inner.id()});
  ASSERT_EQ(second.in_flight.size(), 1u);
  EXPECT_EQ(second.in_flight[0].channel, 7u);
  EXPECT_EQ(second.in_flight[0].count, 1u);
  EXPECT_EQ(summary->processes, std::vector{::getpid()});
  EXPECT_EQ(summary->bytes_in_use, 192u);
  EXPECT_EQ(summary->capacity_bytes, 1u << 20);
  EXPECT_EQ(summary->name, settings_.name);
}

TEST_F(object_store_test, thousands_of_objects_are_as_good_as_one) {
  settings_.capacity_bytes = 16u << 20;
  settings_.objects_max = 60'000;
  auto store = open();
  auto held = std::vector<handle>{};
  for (auto count = 0; count < 50'000; ++count)
    held.push_back(put(store, std::to_string(count)));
  for (auto at = std::size_t{0}; at < held.size(); at += 777)
    EXPECT_EQ(read(held[at]), std::to_string(at));
  for (auto at = std::size_t{0}; at < held.size(); at += 3)
    held[at] = {};
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
  held.clear();
  EXPECT_EQ(store.summary()->bytes_in_use, 0u);
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

} // namespace

} // namespace troupe::store::test
