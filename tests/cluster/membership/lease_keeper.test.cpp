// Goal: a node has a lease as long as the directory says so, and knows for how long it is sure.
#include <atomic>

#include <gtest/gtest.h>

#include <troupe/framework/cluster/internal/membership/lease_keeper.hpp>

#include "../../eventually.hpp"
#include "../memory_directory.hpp"

namespace troupe::tests {
namespace {

using namespace std::chrono_literals;
using membership::boot_clock;
using membership::lease_keeper;

class a_lease_keeper : public testing::Test {
protected:
  std::unique_ptr<lease_keeper> keep(std::chrono::milliseconds time) {
    return std::make_unique<lease_keeper>(std::make_shared<memory_directory>(world_), time,
                                          [this](const auto&, const auto&) { ++changes_; });
  }

  const std::shared_ptr<memory_world> world_ = std::make_shared<memory_world>();
  std::atomic<int> changes_{0};
};

TEST_F(a_lease_keeper, grants_a_lease_that_is_sure_for_no_longer_than_its_time) {
  const auto before = boot_clock::now();
  const auto keeper = keep(10s);
  ASSERT_TRUE(eventually([&] { return changes_ == 1; }));
  const auto held = keeper->current();
  EXPECT_NE(held.id, 0u);
  EXPECT_GE(held.sure_until, before + 10s);
  EXPECT_LE(held.sure_until, boot_clock::now() + 10s);
  EXPECT_TRUE(held.is_sure(boot_clock::now()));
  EXPECT_FALSE(held.is_sure(held.sure_until));
}

TEST_F(a_lease_keeper, keeps_the_same_lease_alive) {
  const auto keeper = keep(30ms);
  ASSERT_TRUE(eventually([&] { return world_->keep_alives() > 5; }));
  EXPECT_EQ(world_->leases(), std::vector{keeper->current().id});
  EXPECT_EQ(changes_, 1);
}

TEST_F(a_lease_keeper, grants_another_lease_when_the_directory_says_that_it_is_gone) {
  const auto keeper = keep(30ms);
  ASSERT_TRUE(eventually([&] { return keeper->current().id != 0; }));
  const auto first = keeper->current().id;
  world_->expire(first);
  ASSERT_TRUE(eventually([&] { return keeper->current().id != 0 && keeper->current().id != first; }));
}

TEST_F(a_lease_keeper, keeps_an_unsure_lease_until_the_directory_answers_again) {
  const auto keeper = keep(60ms);
  ASSERT_TRUE(eventually([&] { return keeper->current().id != 0; }));
  const auto first = keeper->current().id;
  world_->fail(directory_errc::unavailable);
  ASSERT_TRUE(eventually([&] { return !keeper->current().is_sure(boot_clock::now()); }));
  EXPECT_TRUE(eventually([&] { return changes_ == 3; })); // The trouble, and that it is not sure any more.
  EXPECT_EQ(keeper->current().id, first);
  ASSERT_TRUE(keeper->trouble());
  EXPECT_EQ(keeper->trouble()->code(), directory_errc::unavailable);
  world_->fail(std::nullopt);
  ASSERT_TRUE(eventually([&] { return keeper->current().is_sure(boot_clock::now()); }));
  EXPECT_EQ(keeper->current().id, first);
  EXPECT_EQ(world_->leases().size(), 1u);
}

TEST_F(a_lease_keeper, grants_a_lease_once_the_directory_can_be_reached) {
  world_->fail(directory_errc::unavailable);
  const auto keeper = keep(10s);
  ASSERT_TRUE(eventually([&] { return keeper->trouble().has_value(); }));
  EXPECT_EQ(keeper->current().id, 0u);
  world_->fail(std::nullopt);
  EXPECT_TRUE(eventually([&] { return keeper->current().id != 0; }));
}

TEST_F(a_lease_keeper, revokes_its_lease_at_its_end) {
  auto keeper = keep(10s);
  ASSERT_TRUE(eventually([&] { return keeper->current().id != 0; }));
  const auto reader = keeper->reader();
  keeper.reset();
  EXPECT_TRUE(world_->leases().empty());
  EXPECT_EQ(reader().id, 0u);
}

} // namespace
} // namespace troupe::tests
