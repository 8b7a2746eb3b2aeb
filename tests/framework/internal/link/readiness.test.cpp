// An actor that asks for room gets one notification, when there is room.
#include <troupe/framework/internal/link/readiness.hpp>

#include <gtest/gtest.h>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scoped_actor.hpp>

#include <troupe/framework/link_ready.hpp>

namespace troupe::internal {
namespace {

class room_again : public testing::Test {
protected:
  void ask(std::uint64_t receiver, const caf::scoped_actor& who) {
    const auto held = mutex_.lock();
    ready_.add(held, receiver, {.who = caf::actor_cast<caf::strong_actor_ptr>(who), .receiver = receiver_});
  }
  std::size_t tell_of(std::uint64_t with_room) {
    auto held = mutex_.lock();
    const auto due = ready_.take(held, [&](std::uint64_t receiver) { return receiver == with_room; });
    held.unlock();
    for (const auto& each : due)
      each.tell();
    return due.size();
  }
  bool anybody_waits() {
    const auto held = mutex_.lock();
    return ready_.anybody_waits(held);
  }

  caf::actor_system_config config_;
  caf::actor_system system_{config_};
  caf::scoped_actor ann_{system_};
  caf::scoped_actor bob_{system_};
  const caf::strong_actor_ptr receiver_ = caf::actor_cast<caf::strong_actor_ptr>(bob_);
  link_mutex mutex_;
  readiness ready_;
};

TEST_F(room_again, is_told_to_who_asked_for_that_receiver_only) {
  ask(3, ann_);
  ask(4, bob_);
  EXPECT_EQ(tell_of(3), 1u);
  ann_->receive(
      [&](const link_ready& said) { EXPECT_EQ(caf::actor_cast<caf::strong_actor_ptr>(said.receiver), receiver_); });
  EXPECT_FALSE(bob_->has_next_message());
  EXPECT_TRUE(anybody_waits());
}

TEST_F(room_again, is_told_once_for_each_time_that_somebody_asked) {
  ask(3, ann_);
  ask(3, ann_);
  EXPECT_EQ(tell_of(3), 2u);
  EXPECT_EQ(tell_of(3), 0u);
  EXPECT_FALSE(anybody_waits());
}

} // namespace
} // namespace troupe::internal
