// Goal: a thread's context belongs to one message, also when another message has its address.
#include <troupe/framework/internal/caf_port/context_in_force.hpp>

#include <array>
#include <memory>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

TEST(a_context_in_force, is_not_that_of_a_later_message_at_the_same_address) {
  alignas(16) std::array<std::byte, 16> place{};
  const auto* const message = reinterpret_cast<const caf::mailbox_element*>(place.data()); // Only its address counts.
  const auto first = std::make_shared<traced_hop>(trace_context::begin());
  const auto second = std::make_shared<traced_hop>(trace_context::begin());
  enter_context({.message = message, .actor = nullptr, .trace = first});
  EXPECT_TRUE(is_in_context(message, *first));
  EXPECT_TRUE(may_have_context());
  EXPECT_FALSE(is_in_context(message, *second)) << "the first message is gone, and was destroyed on another thread";
  enter_context({.message = message, .actor = nullptr, .trace = second});
  EXPECT_TRUE(is_in_context(message, *second));
  leave_context(message);
  EXPECT_FALSE(is_in_context(message, *second));
  EXPECT_FALSE(may_have_context());
}

} // namespace
} // namespace troupe::internal
