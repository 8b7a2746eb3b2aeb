#include <troupe/framework/internal/wire/features.hpp>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

std::string refusal(std::span<const feature_offer> theirs) {
  auto agreed = feature_set::agree(theirs);
  return agreed ? "" : agreed.error();
}

TEST(features, a_link_uses_what_both_ends_have) {
  EXPECT_TRUE(feature_set::agree(offered_features())->has(feature::extensions));
  EXPECT_FALSE(feature_set::agree({})->has(feature::extensions));
}

TEST(features, of_two_versions_the_lower_one_counts) {
  const auto own = offered_features().front().version;
  const feature_offer newer[]{{"extensions", own + 5}};
  EXPECT_EQ(feature_set::agree(newer)->version(feature::extensions), own);
}

TEST(features, unknown_ones_are_passed_over) {
  const feature_offer theirs[]{{"telepathy", 3}, {"extensions", 1}};
  EXPECT_TRUE(feature_set::agree(theirs)->has(feature::extensions));
}

TEST(features, a_list_that_cannot_be_one_is_refused_with_the_reason) {
  const feature_offer twice[]{{"x", 1}, {"x", 2}};
  EXPECT_EQ(refusal(twice), "the peer lists the feature \"x\" twice");
  const feature_offer none[]{{"", 1}};
  EXPECT_EQ(refusal(none), "the peer lists a feature whose name has 0 bytes; a name has 1 to 64");
  const feature_offer zero[]{{"x\n", 0}};
  EXPECT_EQ(refusal(zero), "the peer lists version 0 of the feature \"x?\"; versions begin at 1");
  std::vector<feature_offer> many;
  for (std::size_t i = 0; i <= features_max; ++i)
    many.push_back({std::to_string(i), 1});
  EXPECT_EQ(refusal(many), "the peer lists 257 features, limit 256");
}

} // namespace
} // namespace troupe::internal
