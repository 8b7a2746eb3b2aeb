// The number of links with unproven peers, including those that are about to end.
#include <troupe/framework/internal/node/unproven_links.hpp>

#include <deque>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

struct some_link {};

class links_without_proof : public testing::Test {
protected:
  std::shared_ptr<some_link> come() {
    links_.push_back(std::make_shared<some_link>());
    return all_.enter(links_.back(), {});
  }
  /// Adds a link. All but the first two displace another one.
  std::shared_ptr<some_link> come_and_displace() {
    auto displaced = come();
    EXPECT_TRUE(displaced);
    return displaced;
  }

  std::deque<std::shared_ptr<some_link>> links_; // Keeps the links' addresses stable.
  unproven_links<some_link> all_{2, [](std::size_t) { return std::size_t{0}; }};
};

TEST_F(links_without_proof, displace_each_other_from_their_bound_on) {
  EXPECT_FALSE(come());
  EXPECT_FALSE(come());
  EXPECT_EQ(come(), links_[0]);
  EXPECT_EQ(come(), links_[1]);
}

TEST_F(links_without_proof, are_not_accepted_while_many_are_about_to_end) {
  come();
  come();
  std::vector<std::shared_ptr<some_link>> displaced;
  while (all_.has_room())
    displaced.push_back(come_and_displace());
  EXPECT_EQ(displaced.size(), unproven_links<some_link>::leaving_max);
  all_.leave(displaced.back().get()); // It has ended, or its peer has proven itself.
  EXPECT_TRUE(all_.has_room());
  come_and_displace();
  EXPECT_FALSE(all_.has_room());
}

TEST_F(links_without_proof, count_as_about_to_end_where_their_descriptors_are_wanted) {
  EXPECT_FALSE(all_.displace());
  for (std::size_t i = 0; i < unproven_links<some_link>::leaving_max; ++i) {
    EXPECT_TRUE(all_.has_room());
    come();
    EXPECT_EQ(all_.displace(), links_.back());
  }
  EXPECT_FALSE(all_.has_room());
}

TEST_F(links_without_proof, are_not_displaced_once_they_have_left) {
  come();
  all_.leave(links_[0].get());
  EXPECT_FALSE(all_.displace());
  come();
  links_.back().reset(); // Gone without leaving.
  EXPECT_FALSE(all_.displace());
  EXPECT_TRUE(all_.has_room());
}

} // namespace
} // namespace troupe::internal
