// The periodic work of a link's sending side.
#include <troupe/framework/internal/link/send_upkeep.hpp>

#include <caf/scoped_actor.hpp>

#include "way_out.hpp"

namespace troupe::internal {
namespace {

class upkeep_of_sending : public way_out {
protected:
  upkeep_of_sending() { upkeep_.open(*to); }

  bool takes_more() {
    const auto held = mutex_.lock();
    return to->open_outbox(held) != nullptr;
  }

  static constexpr auto unhurried = std::chrono::milliseconds::max();
  send_upkeep upkeep_{mutex_, gate, pump};
};

TEST_F(upkeep_of_sending, changes_nothing_where_nothing_is_due) {
  EXPECT_TRUE(upkeep_.run());
  EXPECT_FALSE(upkeep_.end_for_unread());
  EXPECT_TRUE(takes_more());
  EXPECT_EQ(appended(), "");
}

TEST_F(upkeep_of_sending, lets_leave_what_has_room) {
  {
    const auto held = mutex_.lock();
    gate.wait(held, packed("tea"));
  }
  EXPECT_TRUE(upkeep_.run());
  EXPECT_EQ(appended(), "tea");
}

TEST_F(upkeep_of_sending, lets_requests_leave_that_wait_for_answers_where_none_comes) {
  caf::scoped_actor asker{system_}; // The actor that waits for the answer.
  replies.set_bounds({.all = 1, .of_receiver = 1});
  {
    const auto held = mutex_.lock();
    asked.add({7, 1}, 3, {.who = caf::weak_actor_ptr{caf::actor_cast<caf::strong_actor_ptr>(asker).get()}});
    asked.left({7, 1}, 3, std::chrono::steady_clock::now());
    auto message = packed("tea");
    message.asks = asking::room;
    gate.wait(held, std::move(message));
  }
  EXPECT_EQ(upkeep_.pause(), unhurried);
  EXPECT_TRUE(upkeep_.run());
  EXPECT_EQ(appended(), "");
  EXPECT_EQ(upkeep_.pause(), std::chrono::seconds{1});
  EXPECT_TRUE(upkeep_.run());
  EXPECT_EQ(appended(), "tea");
  EXPECT_TRUE(upkeep_.run());
  EXPECT_EQ(upkeep_.pause(), unhurried);
}

TEST_F(upkeep_of_sending, ends_the_link_of_a_peer_that_asks_and_does_not_read) {
  {
    const auto held = mutex_.lock();
    const byte_vector body(packet_body_bytes_max, std::byte{1});
    for (int i = 0; i < 20; ++i)
      to->open_outbox(held)->append_packet(packet_kind::admin, 0, body);
  }
  options.unread_answer_bytes = 100;
  EXPECT_FALSE(upkeep_.run());
  EXPECT_FALSE(takes_more());
}

} // namespace
} // namespace troupe::internal
