// Goal: the parts of a member withdraw while there is a reason, and learn each change once.
#include <atomic>
#include <memory>
#include <string>
#include <thread>

#include <gtest/gtest.h>

#include <troupe/framework/cluster/internal/draining/drainer.hpp>

namespace troupe::tests {
namespace {

using namespace membership;

class a_drainer : public testing::Test {
protected:
  drainer::part noting(const std::string& name) {
    return [this, name](bool withdraws) { told_ += name + (withdraws ? '-' : '+'); };
  }

  std::string told_;
  drainer drainer_;
};

TEST_F(a_drainer, tells_its_parts_each_change_in_their_order) {
  const drainer::enrolment first{drainer_, noting("a")};
  const drainer::enrolment second{drainer_, noting("b")};
  EXPECT_EQ(told_, "");
  drainer_.drain_for(drain_reason::call, true);
  EXPECT_EQ(told_, "a-b-");
  drainer_.drain_for(drain_reason::call, false);
  EXPECT_EQ(told_, "a-b-a+b+");
}

TEST_F(a_drainer, drains_while_it_has_either_reason) {
  const drainer::enrolment part{drainer_, noting("a")};
  drainer_.drain_for(drain_reason::order, true);
  drainer_.drain_for(drain_reason::order, true);
  drainer_.drain_for(drain_reason::call, true);
  EXPECT_EQ(told_, "a-");
  drainer_.drain_for(drain_reason::order, false);
  EXPECT_TRUE(drainer_.is_draining());
  EXPECT_FALSE(drainer_.has(drain_reason::order));
  EXPECT_TRUE(drainer_.has(drain_reason::call));
  EXPECT_EQ(told_, "a-");
  drainer_.drain_for(drain_reason::call, false);
  EXPECT_FALSE(drainer_.is_draining());
  EXPECT_EQ(told_, "a-a+");
}

TEST_F(a_drainer, tells_a_part_that_comes_later_at_once) {
  drainer_.drain_for(drain_reason::order, true);
  const drainer::enrolment part{drainer_, noting("late")};
  EXPECT_EQ(told_, "late-");
}

TEST_F(a_drainer, says_that_it_drains_before_it_tells_its_parts) {
  const drainer::enrolment part{drainer_, [this](bool withdraws) { EXPECT_EQ(drainer_.is_draining(), withdraws); }};
  drainer_.drain_for(drain_reason::call, true);
  drainer_.drain_for(drain_reason::call, false);
}

TEST_F(a_drainer, does_not_call_a_part_that_has_ended) {
  std::atomic<bool> stops{false};
  std::thread other{[&] {
    for (auto is_so = true; !stops; is_so = !is_so)
      drainer_.drain_for(drain_reason::call, is_so);
  }};
  for (auto i = 0; i < 1'000; ++i) {
    std::atomic<bool> is_over{false};
    {
      const drainer::enrolment part{drainer_, [&](bool) { EXPECT_FALSE(is_over); }};
      std::this_thread::yield();
    }
    is_over = true;
  }
  stops = true;
  other.join();
}

} // namespace
} // namespace troupe::tests
