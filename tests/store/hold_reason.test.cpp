// The reasons for which a process holds an object, counted beside its holds.
#include "support.hpp"

#include <random>

namespace troupe::store::test {

namespace {

constexpr auto reasons_of_handles =
    std::array{hold_reason::reference, hold_reason::view,     hold_reason::exchange,   hold_reason::message,
               hold_reason::exported,  hold_reason::imported, hold_reason::out_of_band};
static_assert(reasons_of_handles.size() + 1 == hold_counts::reasons); // The remaining reason is a builder's.

class hold_reasons : public store_test {
protected:
  static object_row row_of(object_store& store, const object_id& id) {
    const auto known = store.summary();
    const auto found = std::ranges::find(known->rows, id, &object_row::id);
    return found != known->rows.end() ? *found : object_row{};
  }

  static hold_counts counts_of(object_store& store, const handle& object) {
    return row_of(store, object.id()).own_holds;
  }

  static void expect_sum(const object_row& row) { EXPECT_EQ(row.own_holds.sum(), row.own_handles + row.own_pins); }
};

TEST_F(hold_reasons, a_copy_is_a_reference_and_what_is_moved_keeps_its_reason) {
  auto store = open();
  const auto object = *store.put(bytes_of("text"));
  auto kept = object.held_for(hold_reason::exchange);
  EXPECT_EQ(kept.id(), object.id());
  const auto moved = std::move(kept);
  const auto copy = moved;
  EXPECT_EQ(counts_of(store, object)[hold_reason::exchange], 1u);
  EXPECT_EQ(counts_of(store, object)[hold_reason::reference], 2u);
  auto assigned = object.held_for(hold_reason::exported);
  assigned = moved.held_for(hold_reason::message);
  EXPECT_EQ(counts_of(store, object)[hold_reason::exported], 0u);
  EXPECT_EQ(counts_of(store, object)[hold_reason::message], 1u);
  assigned = moved;
  EXPECT_EQ(counts_of(store, object)[hold_reason::message], 0u);
  EXPECT_EQ(counts_of(store, object)[hold_reason::reference], 3u);
  expect_sum(row_of(store, object.id()));
}

TEST_F(hold_reasons, a_hold_that_gets_another_reason_is_still_one) {
  auto store = open();
  auto object = *store.put(bytes_of("text"));
  const auto kept = std::move(object).held_for(hold_reason::imported);
  const auto counts = counts_of(store, kept);
  EXPECT_EQ(counts[hold_reason::imported], 1u);
  EXPECT_EQ(counts.sum(), 1u);
  EXPECT_TRUE(handle{}.held_for(hold_reason::message).empty());
  EXPECT_TRUE(handle{handle{}}.held_for(hold_reason::message).empty());
}

TEST_F(hold_reasons, what_is_sealed_is_not_unfinished) {
  auto store = open();
  const auto object = *store.put(bytes_of("text"));
  const auto copied = object.held_for(hold_reason::unfinished);
  const auto moved = handle{object}.held_for(hold_reason::unfinished);
  EXPECT_EQ(counts_of(store, object)[hold_reason::unfinished], 0u);
  EXPECT_EQ(counts_of(store, object)[hold_reason::reference], 3u);
  expect_sum(row_of(store, object.id()));
}

TEST_F(hold_reasons, builders_and_pins_have_reasons_of_their_own) {
  auto store = open();
  auto building = *store.create(4);
  EXPECT_EQ(row_of(store, building.id()).own_holds[hold_reason::unfinished], 1u);
  const auto object = *std::move(building).seal();
  EXPECT_EQ(counts_of(store, object)[hold_reason::unfinished], 0u);
  EXPECT_EQ(counts_of(store, object)[hold_reason::reference], 1u);
  {
    const auto view = *object.pin();
    const auto second = view;
    const auto from_view = second.object();
    EXPECT_EQ(counts_of(store, object)[hold_reason::view], 2u);
    EXPECT_EQ(counts_of(store, object)[hold_reason::reference], 2u);
    expect_sum(row_of(store, object.id()));
  }
  EXPECT_EQ(counts_of(store, object)[hold_reason::view], 0u);
  EXPECT_EQ(counts_of(store, object).sum(), 1u);
}

TEST_F(hold_reasons, nothing_stays_counted_when_a_row_is_used_again) {
  auto store = open();
  auto seen = std::size_t{0};
  auto first = std::optional<std::uint32_t>{};
  for (auto round = 0; round < 3; ++round) {
    const auto given_up = *store.create(4);
    const auto object = *store.put(bytes_of("text"));
    const auto kept = object.held_for(hold_reason::out_of_band);
    seen += first == object.id().index;
    first = object.id().index;
    EXPECT_EQ(counts_of(store, object).sum(), 2u);
    EXPECT_EQ(row_of(store, given_up.id()).own_holds.sum(), 1u);
  }
  EXPECT_GT(seen, 0u); // It was the same row.
}

TEST_F(hold_reasons, they_add_up_to_all_holds_once_the_threads_that_take_and_drop_them_are_done) {
  constexpr auto threads_count = 4u;
  constexpr auto held_max = 8u;
  auto store = open();
  const auto objects = std::array{*store.put(bytes_of("one")), *store.put(bytes_of("two"))};
  auto kept = std::array<std::vector<std::pair<handle, hold_reason>>, threads_count>{};
  auto running = std::atomic<unsigned>{threads_count};
  auto threads = std::vector<std::thread>{};
  for (auto which = 0u; which < threads_count; ++which)
    threads.emplace_back([&, which] {
      auto random = std::minstd_rand{which + 1};
      auto& mine = kept[which];
      for (auto round = 0; round < 20'000; ++round) {
        const auto& object = objects[random() % objects.size()];
        const auto why = reasons_of_handles[random() % reasons_of_handles.size()];
        if (random() % 4 == 0) {
          const auto view = object.pin();
          const auto copy = *view;
        }
        if (mine.size() < held_max)
          mine.emplace_back(object.held_for(why), why);
        auto& [held, for_what] = mine[random() % mine.size()];
        held = std::move(held).held_for(why);
        for_what = why;
        if (random() % 3 == 0) {
          std::swap(mine.back(), mine[random() % mine.size()]);
          mine.pop_back();
        }
      }
      --running;
    });
  while (running > 0) {
    const auto now = store.summary();
    for (const auto& row : now->rows)
      for (const auto count : row.own_holds.each)
        ASSERT_LE(count, threads_count * (held_max + 3) + 1); // A count below zero would be huge.
  }
  for (auto& thread : threads)
    thread.join();
  for (const auto& object : objects) {
    auto expected = hold_counts{};
    ++expected.each[static_cast<std::size_t>(hold_reason::reference)];
    for (const auto& mine : kept)
      for (const auto& [held, why] : mine)
        if (held.id() == object.id())
          ++expected.each[static_cast<std::size_t>(why)];
    const auto row = row_of(store, object.id());
    EXPECT_EQ(row.own_holds.each, expected.each);
    expect_sum(row);
  }
  kept = {};
  for (const auto& object : objects)
    EXPECT_EQ(counts_of(store, object).sum(), 1u);
}

TEST_F(hold_reasons, a_forked_child_counts_nothing) {
  auto store = open();
  auto object = *store.put(bytes_of("text"));
  EXPECT_EQ(child([&] {
              const auto kept = object.held_for(hold_reason::message);
              object = std::move(object).held_for(hold_reason::exchange);
              return 0;
            }).wait(),
            fine);
  EXPECT_EQ(counts_of(store, object)[hold_reason::reference], 1u);
  EXPECT_EQ(counts_of(store, object).sum(), 1u);
}

} // namespace

} // namespace troupe::store::test
