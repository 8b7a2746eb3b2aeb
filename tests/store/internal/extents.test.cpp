// Free extents, compared with a model that is simple enough to be surely right. No hint may get lost.
#include <troupe/store/internal/table/extents.hpp>
#include <troupe/store/internal/table/hints.hpp>

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <random>
#include <set>
#include <thread>
#include <vector>

namespace troupe::store::internal {

namespace {

constexpr auto unit = alignment_bytes;
constexpr auto units = std::uint64_t{512};

/// A control file's header and nodes in ordinary memory.
class extents_test : public ::testing::Test {
protected:
  extents_test() : memory_(sizeof(control_header) / sizeof(extent_node) + 2 + units) {
    // Nodes are 48 bytes and the header is aligned to 64, so both are kept in one array of nodes.
    auto address = reinterpret_cast<void*>(memory_.data());
    auto space = memory_.size() * sizeof(extent_node);
    auto* base = std::align(64, sizeof(control_header), address, space);
    auto* header = new (base) control_header{};
    header->capacity_bytes = units * unit;
    header->nodes_offset = round_up(sizeof(control_header), 64);
    header->objects.committed.store(static_cast<std::uint32_t>(units - 2));
    view_ = control_view{base};
    extents_ = std::make_unique<extent_map>(table_held::vouched_for(view_));
    extents_->clear();
  }

  /// Returns the start of the lowest run of `length` free units in the model, or nullopt.
  [[nodiscard]] std::optional<std::uint64_t> lowest(std::uint64_t length) const {
    auto run = std::uint64_t{0};
    for (auto at = std::uint64_t{0}; at < units; ++at) {
      run = used_[at] ? 0 : run + 1;
      if (run == length)
        return at + 1 - length;
    }
    return std::nullopt;
  }

  void mark(std::uint64_t offset, std::uint64_t length, bool used) {
    for (auto at = offset; at < offset + length; ++at)
      used_[at] = used;
  }

  std::vector<extent_node> memory_;
  control_view view_;
  std::unique_ptr<extent_map> extents_;
  std::vector<bool> used_ = std::vector<bool>(units, false);
};

TEST_F(extents_test, the_lowest_piece_that_is_long_enough_is_taken_after_any_history) {
  auto random = std::minstd_rand{7};
  auto taken = std::map<std::uint64_t, std::uint64_t>{};
  for (auto step = 0; step < 60'000; ++step) {
    if (random() % 2 == 0) {
      const auto length = random() % (random() % 20 + 1) + 1;
      const auto expected = lowest(length);
      const auto got = extents_->allocate(length * unit);
      ASSERT_EQ(got.has_value(), expected.has_value()) << "step " << step;
      if (!got)
        continue;
      ASSERT_EQ(*got, *expected * unit) << "step " << step;
      mark(*expected, length, true);
      taken[*expected] = length;
    } else if (!taken.empty()) {
      const auto chosen = std::next(taken.begin(), static_cast<std::ptrdiff_t>(random() % taken.size()));
      extents_->release(chosen->first * unit, chosen->second * unit);
      mark(chosen->first, chosen->second, false);
      taken.erase(chosen);
    }
  }
  for (const auto& [offset, length] : taken)
    extents_->release(offset * unit, length * unit);
  EXPECT_EQ(view_.header().data_top, 0u);
  EXPECT_EQ(extents_->longest(), units * unit);
}

TEST_F(extents_test, many_pieces_of_one_length_do_not_make_a_deep_tree) {
  auto offsets = std::vector<std::uint64_t>{};
  for (auto at = std::uint64_t{0}; at < units; ++at)
    offsets.push_back(*extents_->allocate(unit));
  for (auto at = std::size_t{0}; at < offsets.size(); at += 2)
    extents_->release(offsets[at], unit);
  auto depth = std::size_t{0};
  for (const auto* node = view_.header().extents.parent.get(); node != nullptr; node = node->left.get())
    ++depth;
  EXPECT_LT(depth, 40u); // For 256 pieces.
}

TEST_F(extents_test, what_is_named_as_occupied_leaves_the_gaps_free) {
  extents_->occupy(2 * unit, unit);
  extents_->occupy(5 * unit, 3 * unit);
  EXPECT_EQ(extents_->allocate(2 * unit), 0u);
  EXPECT_EQ(extents_->allocate(2 * unit), 3 * unit);
  EXPECT_EQ(extents_->allocate(unit), 8 * unit);
  extents_->release(0, 2 * unit);
  EXPECT_EQ(extents_->allocate(unit), 0u);
}

TEST(hints, each_one_given_is_taken_once) {
  const auto hints = std::make_unique<hint_words>();
  auto given = std::set<std::uint32_t>{0, 1, 63, 64, 4'095, 4'096, 262'143, 262'144, objects_limit - 1};
  for (auto index : given)
    give_hint(*hints, index);
  EXPECT_TRUE(any_hint(*hints));
  EXPECT_FALSE(take_hints(*hints, objects_limit, [&](std::uint32_t index) { EXPECT_EQ(given.erase(index), 1u); }));
  EXPECT_TRUE(given.empty());
  EXPECT_FALSE(any_hint(*hints));
}

TEST(hints, what_a_bounded_taker_leaves_is_still_there) {
  const auto hints = std::make_unique<hint_words>();
  for (auto index = std::uint32_t{0}; index < 10'000; ++index)
    give_hint(*hints, index);
  auto taken = 0;
  while (take_hints(*hints, 64, [&](std::uint32_t) { ++taken; })) {
  }
  EXPECT_EQ(taken, 10'000);
}

TEST(hints, one_that_a_visit_gives_at_a_lower_word_is_said_to_be_left) {
  const auto hints = std::make_unique<hint_words>();
  give_hint(*hints, objects_limit - 1);
  EXPECT_TRUE(take_hints(*hints, 64, [&](std::uint32_t) { give_hint(*hints, 3); }));
  auto taken = std::vector<std::uint32_t>{};
  EXPECT_FALSE(take_hints(*hints, 64, [&](std::uint32_t index) { taken.push_back(index); }));
  EXPECT_EQ(taken, std::vector<std::uint32_t>{3});
}

TEST(hints, none_is_lost_between_givers_and_a_taker) {
  const auto hints = std::make_unique<hint_words>();
  constexpr auto rows = std::uint32_t{6'000};
  // A row's flag is raised before its hint is given, so a taker of the hint sees the flag or gets a later hint.
  auto raised = std::vector<std::atomic<int>>(rows);
  auto seen = std::vector<int>(rows, 0);
  auto done = std::atomic<int>{0};
  auto givers = std::vector<std::thread>{};
  for (auto which = std::uint32_t{0}; which < 2; ++which)
    givers.emplace_back([&, which] {
      for (auto round = 0; round < 10; ++round)
        for (auto index = which; index < rows; index += 2) {
          raised[index].fetch_add(1);
          give_hint(*hints, index);
        }
      ++done;
    });
  const auto take = [&] { return take_hints(*hints, 64, [&](std::uint32_t index) { seen[index] = raised[index]; }); };
  while (done < 2)
    (void)take();
  for (auto& giver : givers)
    giver.join();
  while (take()) {
  }
  for (auto index = std::uint32_t{0}; index < rows; ++index)
    ASSERT_EQ(seen[index], 10) << index;
}

} // namespace

} // namespace troupe::store::internal
