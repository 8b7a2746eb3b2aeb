// Tests which messages leave, which wait, and which are refused for which reason.
#include <troupe/framework/internal/link/send_gate.hpp>

#include <thread>

#include <caf/actor_companion.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>

#include <troupe/framework/link_ready.hpp>

#include "way_out.hpp"

namespace troupe::internal {
namespace {

using namespace std::chrono_literals;

class at_the_gate : public way_out {
protected:
  using verdict = std::expected<admission, node_error>;

  at_the_gate() { options.block_timeout = {}; } // A sender without room is refused at once.

  verdict admit(std::uint64_t cost, message_head head = {.receiver = 3}, urgency how = urgency::ordinary) {
    auto held = mutex_.lock();
    return gate.admit(held, head, cost, {}, turned_out, how);
  }
  /// Sends like the way out.
  verdict send(std::uint64_t cost, message_head head = {.receiver = 3}, urgency how = urgency::ordinary) {
    auto held = mutex_.lock();
    auto admitted = gate.admit(held, head, cost, {}, turned_out, how);
    if (admitted == admission::leaves)
      gate.charge(held, head.receiver, cost, {});
    else if (admitted == admission::waits)
      wait(held, head, cost);
    return admitted;
  }
  void wait(const link_held& held, const message_head& head, std::uint64_t cost) {
    auto message = packed("waits", head.receiver, cost);
    message.asks = gate.asked_by(head);
    gate.wait(held, std::move(message));
  }
  void fill() {
    EXPECT_EQ(send(400), admission::leaves);
    EXPECT_EQ(send(200), admission::waits);
  }
  void consume(std::uint64_t bytes) {
    const auto held = mutex_.lock();
    EXPECT_TRUE(gate.credit(held, {.actor = 3, .bytes = bytes}));
    while (gate.next(held))
      ;
    gate.wake(held);
  }
  void end_link() {
    const auto held = mutex_.lock();
    life_.enter(held, link_state::closed);
    gate.wake(held);
  }
  void append_unread(std::size_t bytes) {
    const auto held = mutex_.lock();
    to->open_outbox(held)->append(std::vector<std::byte>(bytes));
  }

  static constexpr message_head answer{.flags = message_flags::response, .receiver = 3, .request_number = 1};
  static constexpr message_head question{.flags = message_flags::request, .receiver = 3, .request_number = 1};
  std::vector<packed_message> turned_out;
};

TEST_F(at_the_gate, messages_leave_until_the_window_is_full_and_then_wait) {
  EXPECT_EQ(send(300), admission::leaves);
  EXPECT_EQ(send(300), admission::leaves); // The one that reaches the bound.
  EXPECT_EQ(send(100), admission::waits);
  EXPECT_EQ(send(100, {.receiver = 4}), admission::leaves);
}

TEST_F(at_the_gate, only_messages_that_have_waited_are_counted_as_waits_and_only_once_they_leave) {
  fill(); // One leaves, and one waits.
  EXPECT_EQ(waits.stats().count, 0u);
  const auto from = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() < from + 2ms)
    ;
  consume(400);
  EXPECT_EQ(waits.stats().count, 1u);
  EXPECT_GE(waits.stats().max, 2ms);
}

TEST_F(at_the_gate, the_refused_are_told_how_full_it_is) {
  fill();
  const auto refused = send(100);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), node_errc::link_busy);
  EXPECT_EQ(refused.error().message(),
            "actor 3 at far has 400 of 400 bytes unconsumed and 200 of 200 waiting for it here, the link 400 of 1,000 "
            "and 200 of 500; send again after link_ready");
}

TEST_F(at_the_gate, what_somebody_else_bounds_waits_in_any_case) {
  fill();
  EXPECT_EQ(send(100, {.receiver = 3}, urgency::always_waits), admission::waits);
}

TEST_F(at_the_gate, nothing_passes_after_the_end) {
  end_link();
  const auto refused = send(1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), node_errc::link_down);
  EXPECT_EQ(refused.error().message(), "the link to far is down");
}

TEST_F(at_the_gate, answers_wait_for_no_credit_but_for_a_peer_that_reads) {
  fill();
  options.unread_answer_bytes = 100;
  EXPECT_EQ(send(500, answer), admission::leaves);
  append_unread(1101); // More than the window plus these 100.
  const auto refused = send(1, answer);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), node_errc::link_busy);
  EXPECT_EQ(send(1, answer, urgency::answers_anyway), admission::leaves);
}

TEST_F(at_the_gate, a_peer_that_asks_and_never_reads_is_in_excess) {
  options.unread_answer_bytes = 100;
  append_unread(1100);
  EXPECT_FALSE(gate.excess_of_unread());
  append_unread(2 * packet_body_bytes_max + 1);
  const auto why = gate.excess_of_unread();
  ASSERT_TRUE(why);
  EXPECT_EQ(why->code(), node_errc::link_down);
}

TEST_F(at_the_gate, requests_need_room_for_their_answers_and_tasks_do_not) {
  caf::scoped_actor asker{system_}; // The actor that waits for the answer.
  replies.set_bounds({.all = 1, .of_receiver = 1});
  {
    const auto held = mutex_.lock();
    asked.add({7, 1}, 3, {.who = caf::weak_actor_ptr{caf::actor_cast<caf::strong_actor_ptr>(asker).get()}});
    gate.expect_answer(held, {7, 1}, 3);
  }
  EXPECT_EQ(send(200, question), admission::waits);
  const auto refused = admit(100, question);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(),
            "the link to far expects answers of 256 bytes, limit 1; ask again after link_ready, or raise window_bytes");
  auto task = question;
  task.receiver = 99;
  EXPECT_EQ(admit(100, task), admission::leaves);
}

TEST_F(at_the_gate, requests_that_are_passed_back_need_no_room_for_answers) {
  caf::scoped_actor asker{system_};
  replies.set_bounds({.all = 1, .of_receiver = 1});
  {
    const auto held = mutex_.lock();
    asked.add({7, 1}, 3, {.who = caf::weak_actor_ptr{caf::actor_cast<caf::strong_actor_ptr>(asker).get()}});
    gate.expect_answer(held, {7, 1}, 3);
  }
  EXPECT_EQ(send(100, question), admission::waits);
  auto passed_back = question;
  passed_back.flags |= message_flags::returned;
  EXPECT_EQ(send(100, passed_back), admission::leaves);
}

TEST_F(at_the_gate, no_room_is_kept_for_what_asks_nothing_or_a_task) {
  const auto held = mutex_.lock();
  gate.expect_answer(held, {}, 3);
  asked.add({7, 1}, 99, {});
  gate.expect_answer(held, {7, 1}, 99);
  EXPECT_EQ(replies.bytes(), 0u);
}

TEST_F(at_the_gate, the_oldest_makes_room_where_the_policy_says_so) {
  options.when_full = when_full::drop_oldest;
  fill();
  EXPECT_EQ(send(150), admission::waits);
  ASSERT_EQ(turned_out.size(), 1u);
  EXPECT_EQ(turned_out[0].cost, 200u);
}

TEST_F(at_the_gate, who_asked_what_is_dropped_is_told) {
  auto asker = system_.spawn<caf::actor_companion>();
  int told = 0;
  caf::actor_cast<caf::actor_companion*>(asker)->on_enqueue(
      [&](caf::mailbox_element_ptr what) { told += what->mid.is_response() ? 1 : 0; });
  auto message = packed("question");
  message.claims.begin(tables);
  {
    const auto held = mutex_.lock();
    message.claims.sender(held, 7);
    message.claims.question(held, {7, 1}, 3,
                            {.who = caf::weak_actor_ptr{caf::actor_cast<caf::strong_actor_ptr>(asker).get()}});
  }
  gate.drop(std::move(message));
  EXPECT_EQ(told, 1);
  EXPECT_EQ(dropped, 1u);
  EXPECT_EQ(asked.size(), 0u);
  caf::anon_send_exit(asker, caf::exit_reason::user_shutdown);
}

TEST_F(at_the_gate, a_thread_of_the_users_own_waits_for_credit) {
  options.block_timeout = 60s;
  fill();
  std::jthread peer{[this] { consume(400); }};
  EXPECT_EQ(send(100), admission::leaves);
}

TEST_F(at_the_gate, waiting_for_credit_has_an_end) {
  options.block_timeout = 1ms;
  fill();
  EXPECT_EQ(send(100).error().code(), node_errc::link_busy);
}

TEST_F(at_the_gate, a_blocked_thread_wakes_when_the_link_ends) {
  options.block_timeout = 60s;
  fill();
  std::jthread peer{[this] { end_link(); }};
  EXPECT_EQ(send(100).error().code(), node_errc::link_down);
}

TEST_F(at_the_gate, more_credit_than_was_sent_is_a_violation) {
  EXPECT_EQ(send(100), admission::leaves);
  const auto held = mutex_.lock();
  const auto taken = gate.credit(held, {.actor = 3, .bytes = 101});
  ASSERT_FALSE(taken);
  EXPECT_EQ(taken.error().code(), node_errc::protocol_violation);
  EXPECT_EQ(taken.error().message(),
            "the peer reports 101 consumed bytes for actor 3, which has 100 unconsumed, and 0 behind handles, of 0");
}

TEST_F(at_the_gate, there_is_room_again_once_half_of_it_is_free) {
  EXPECT_TRUE(gate.is_ready(3));
  fill();
  EXPECT_FALSE(gate.is_ready(3));
  EXPECT_TRUE(gate.is_ready(4));
  consume(400);
  EXPECT_TRUE(gate.is_ready(3));
  end_link();
  EXPECT_FALSE(gate.is_ready(3));
}

TEST_F(at_the_gate, there_is_no_room_behind_what_is_being_encoded) {
  encoding_lane<unencoded_message>::waiting large{.receiver = 3, .what = {}, .size_bytes = 100};
  EXPECT_EQ(encoding.add(large, true, 1000), encoding_lane<unencoded_message>::entry::wakes);
  EXPECT_FALSE(gate.is_ready(3));
  EXPECT_TRUE(gate.is_ready(4));
}

TEST_F(at_the_gate, who_asks_for_room_is_told_at_once_or_when_there_is_some) {
  caf::scoped_actor ann{system_};
  const readiness::notice ask{.who = caf::actor_cast<caf::strong_actor_ptr>(ann),
                              .receiver = caf::actor_cast<caf::strong_actor_ptr>(ann)};
  gate.notify_when_ready(3, ask);
  ann->receive([](const link_ready&) {});
  fill();
  gate.notify_when_ready(3, ask);
  EXPECT_FALSE(ann->has_next_message());
  EXPECT_TRUE(gate.take_ready(mutex_.lock()).empty());
  consume(400);
  EXPECT_EQ(gate.take_ready(mutex_.lock()).size(), 1u);
}

TEST_F(at_the_gate, all_who_asked_are_taken_out_at_the_end) {
  caf::scoped_actor ann{system_};
  fill();
  gate.notify_when_ready(3, {.who = caf::actor_cast<caf::strong_actor_ptr>(ann), .receiver = nullptr});
  EXPECT_TRUE(gate.anybody_is_to_be_told(mutex_.lock()));
  end_link();
  EXPECT_EQ(gate.take_ready(mutex_.lock()).size(), 1u);
  EXPECT_EQ(gate.take_all(mutex_.lock()).size(), 1u);
}

} // namespace
} // namespace troupe::internal
