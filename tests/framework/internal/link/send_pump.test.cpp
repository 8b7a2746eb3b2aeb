// Waiting messages leave once there is room, and actors that wait for room are notified.
#include <troupe/framework/internal/link/send_pump.hpp>

#include <caf/scoped_actor.hpp>

#include <troupe/framework/link_ready.hpp>

#include "way_out.hpp"

namespace troupe::internal {
namespace {

class pumping : public way_out {
protected:
  void charge(std::uint64_t cost) {
    const auto held = mutex_.lock();
    EXPECT_FALSE(gate.charge(held, 3, cost, {}));
  }
  void wait(packed_message message) {
    const auto held = mutex_.lock();
    gate.wait(held, std::move(message));
  }
  void consume(std::uint64_t bytes) {
    auto held = mutex_.lock();
    EXPECT_TRUE(gate.credit(held, {.actor = 3, .bytes = bytes}));
    pump.run(held);
    EXPECT_FALSE(held.is_held());
  }
};

TEST_F(pumping, lets_what_waits_leave_in_order_as_far_as_there_is_credit) {
  charge(400);
  for (const auto* text : {"one", "two", "three"})
    wait(packed(text, 3, 200));
  consume(0);
  EXPECT_EQ(appended(), "");
  consume(400);
  EXPECT_TRUE(in_order(appended(), {"one", "two"}));
  EXPECT_FALSE(in_order(appended(), {"three"}));
  consume(200);
  EXPECT_TRUE(in_order(appended(), {"one", "two", "three"}));
}

TEST_F(pumping, what_is_large_goes_in_chunks_by_the_io_thread) {
  charge(400);
  auto message = packed("big");
  message.transfers.push_back({1, frame::copy_of(std::vector<std::byte>(100))});
  wait(std::move(message));
  consume(400);
  EXPECT_EQ(appended(), "");
  EXPECT_FALSE(leaving.empty(mutex_.lock()));
}

TEST_F(pumping, keeps_room_for_the_answer_once_the_question_leaves) {
  charge(400);
  auto message = packed("question");
  message.claims.begin(tables);
  {
    const auto held = mutex_.lock();
    message.claims.question(held, {7, 1}, 3, {});
  }
  wait(std::move(message));
  EXPECT_EQ(replies.bytes(), 0u);
  consume(400);
  EXPECT_EQ(replies.bytes(), reply_room::estimate_min);
}

TEST_F(pumping, tells_who_waits_for_room) {
  caf::scoped_actor ann{system_};
  charge(400);
  wait(packed("waits", 3, 200));
  gate.notify_when_ready(3, {.who = caf::actor_cast<caf::strong_actor_ptr>(ann), .receiver = nullptr});
  consume(0);
  EXPECT_FALSE(ann->has_next_message());
  consume(400);
  ann->receive([](const link_ready&) {});
}

TEST_F(pumping, lets_go_of_the_lock_where_nobody_waits) {
  auto held = mutex_.lock();
  pump.run_if_anybody_waits(held);
  EXPECT_FALSE(held.is_held());
}

TEST_F(pumping, leaves_what_waits_where_it_is_once_nothing_is_written_any_more) {
  charge(400);
  wait(packed("waits"));
  to->close({node_errc::link_down, "over"}, std::chrono::milliseconds{0});
  consume(400);
  EXPECT_EQ(gate.take_all(mutex_.lock()).size(), 1u);
}

} // namespace
} // namespace troupe::internal
