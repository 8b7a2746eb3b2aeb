// Outgoing messages: a proxy's element goes in. Either the outbox gets it, or the waiting sender gets an error.
#include <troupe/framework/internal/link/message_sender.hpp>

#include <optional>
#include <string>
#include <vector>

#include <caf/actor_companion.hpp>
#include <caf/send.hpp>
#include <caf/system_messages.hpp>

#include <troupe/framework/internal/caf_port/builtin_types.hpp>
#include <troupe/framework/node_error.hpp>
#include <troupe/serializers/payload.hpp>
#include <troupe/serializers/serialize.hpp>

#include "way_out.hpp"

namespace troupe::internal {
namespace {

class sending_messages : public sending_way_out {
protected:
  sending_messages() {
    add_builtin_types(types);
    enough_bytes = 0;
    companion_ = system_.spawn<caf::actor_companion>();
    caf::actor_cast<caf::actor_companion*>(companion_)->on_enqueue([this](caf::mailbox_element_ptr what) {
      if (what->mid.is_response() && what->content().match_elements<caf::error>())
        told_.push_back(static_cast<node_errc>(what->content().get_as<caf::error>(0).code()));
    });
  }
  ~sending_messages() override { caf::anon_send_exit(companion_, caf::exit_reason::user_shutdown); }

  caf::strong_actor_ptr ann() { return caf::actor_cast<caf::strong_actor_ptr>(companion_); }

  template <class... Ts>
  void send(caf::message_id id, Ts... values) {
    out.send(3, element(ann(), id, std::move(values)...), nullptr);
  }

  const caf::message_id note = caf::make_message_id();
  const caf::message_id question = caf::make_message_id(12);
  std::vector<node_errc> told_;
  caf::actor companion_;
};

TEST_F(sending_messages, end_in_the_outbox) {
  send(note, std::string{"tea"});
  send(note, std::string{"milk"});
  EXPECT_EQ(messages_appended(), 2u);
  EXPECT_TRUE(in_order(appended(), {"tea", "milk"}));
  EXPECT_TRUE(not_sent.empty());
}

TEST_F(sending_messages, that_cannot_be_encoded_are_counted_and_whoever_asks_is_told) {
  renew({});
  send(note, std::string{"tea"});
  EXPECT_TRUE(told_.empty());
  send(question, std::string{"tea"});
  EXPECT_EQ(told_, std::vector{node_errc::refused_family});
  EXPECT_EQ(not_sent, (std::vector{node_errc::refused_family, node_errc::refused_family}));
  EXPECT_EQ(messages_appended(), 0u);
}

TEST_F(sending_messages, an_answer_that_cannot_be_sent_becomes_its_reason) {
  const auto refuse_large = [&] {
    auto agreed = terms_.now();
    agreed.peer.message_bytes = 200;
    lone_link::agree(std::move(agreed));
  };
  refuse_large();
  send(question.response_id(), std::string(1000, 'a'));
  EXPECT_EQ(not_sent, std::vector{node_errc::unserializable});
  EXPECT_EQ(messages_appended(), 1u);
  EXPECT_TRUE(in_order(appended(), {"far takes at most 200"}));
}

TEST_F(sending_messages, fail_once_the_link_is_down) {
  enter(link_state::closed);
  send(question, std::string{"tea"});
  EXPECT_EQ(told_, std::vector{node_errc::link_down});
  send(question.response_id(), std::string{"tea"});
  EXPECT_EQ(not_sent, (std::vector{node_errc::link_down, node_errc::link_down}));
}

TEST_F(sending_messages, of_sorts_that_do_not_cross_links_are_refused) {
  send(question, caf::down_msg{});
  send(question, caf::exit_msg{});
  send(note, caf::make_error(caf::sec::runtime_error));
  EXPECT_EQ(not_sent, (std::vector{node_errc::unsupported, node_errc::not_allowed, node_errc::not_allowed}));
  auto agreed = terms_.now();
  agreed.peer.takes_exits = true;
  lone_link::agree(std::move(agreed));
  send(note, caf::exit_msg{});
  EXPECT_EQ(messages_appended(), 1u);
}

TEST_F(sending_messages, are_encoded_anew_where_the_peer_has_changed_its_lists_meanwhile) {
  send(note, std::string{"tea"});               // Defines its header.
  EXPECT_TRUE(epochs.change_peer(1, families)); // The terms are still the old ones.
  send(note, std::string{"milk"});
  EXPECT_EQ(messages_appended(), 2u); // The second try makes the peer wait.
  EXPECT_TRUE(not_sent.empty());
}

TEST_F(sending_messages, that_came_over_another_link_wait_as_long_as_need_be) {
  while (messages_appended() == sent)
    send(note, std::string{"tea"});
  for (int i = 0; i < 5; ++i)
    out.forward_decoded(3, element(ann(), note, std::string{"passed"}), {}, {});
  EXPECT_TRUE(not_sent.empty());
  EXPECT_EQ(sent, messages_appended() + 6);
}

class sending_large_messages : public sending_messages {
protected:
  sending_large_messages() {
    enough_bytes = 1000;
    out.open(alive_);
    hold_up();
    bound_waiting(4000);
  }
  ~sending_large_messages() override { go_on(); } // While the encoder's jobs still find a link.

  void send_large(caf::message_id id, std::string text = large) {
    in_actor([&] { send(id, std::move(text)); });
  }

  std::shared_ptr<int> alive_ = std::make_shared<int>();
};

TEST_F(sending_large_messages, the_encoder_sends_them_in_order_with_those_behind) {
  bound({.window = 9000, .actor_window = 9000, .queue = 500, .actor_queue = 200});
  send_large(note);
  send_large(note, "small");
  EXPECT_EQ(messages_appended(), 0u);
  go_on();
  EXPECT_EQ(messages_appended(), 2u);
  EXPECT_TRUE(in_order(appended(), {"LLLLL", "small"}));
}

/// Adds up the consumed costs.
class summed_consumption final : public consumption {
public:
  explicit summed_consumption(std::uint64_t& sum) : consumption(0, nullptr), sum_(sum) {}
  void consumed(std::uint64_t cost) noexcept override { sum_ += cost; }

private:
  std::uint64_t& sum_;
};

TEST_F(sending_large_messages, what_came_over_another_link_is_owed_there_until_the_encoder_has_sent_it) {
  bound({.window = 90'000, .actor_window = 90'000, .queue = 500, .actor_queue = 200});
  options.when_full = when_full::drop_oldest;
  std::uint64_t consumed = 0;
  const consumption_ptr<summed_consumption> other_link{new summed_consumption{consumed}};
  const auto pass_on = [&](std::string text) {
    in_actor([&] { out.forward_decoded(3, element(ann(), note, std::move(text)), other_link->issue(10), {}); });
  };
  send_large(note);
  pass_on(large); // They need no room here.
  pass_on(large);
  pass_on("last");
  send_large(question); // This one needs room; only the first can make any.
  EXPECT_EQ(told_, std::vector{node_errc::link_busy});
  EXPECT_EQ(dropped, 1u);
  EXPECT_EQ(consumed, 0u);
  go_on();
  EXPECT_EQ(messages_appended(), 3u);
  EXPECT_TRUE(in_order(appended(), {"LLLLL", "LLLLL", "last"}));
  EXPECT_EQ(consumed, 30u);
}

TEST_F(sending_large_messages, whoever_asks_is_told_what_does_not_fit) {
  send_large(note);
  send_large(note);
  send_large(question);
  EXPECT_EQ(not_sent, std::vector{node_errc::link_busy});
  EXPECT_EQ(told_, std::vector{node_errc::link_busy});
}

TEST_F(sending_large_messages, whoever_asks_is_told_what_made_room) {
  options.when_full = when_full::drop_oldest;
  send_large(question);
  send_large(note);
  send_large(note);
  EXPECT_EQ(dropped, 1u);
  EXPECT_EQ(told_, std::vector{node_errc::link_busy});
  EXPECT_TRUE(not_sent.empty());
}

TEST_F(sending_large_messages, they_fail_at_the_links_end) {
  send_large(question);
  enter(link_state::closed);
  out.end();
  EXPECT_EQ(told_, std::vector{node_errc::link_down});
}

TEST_F(sending_large_messages, they_fail_where_the_link_ends_before_their_turn) {
  send_large(question);
  enter(link_state::closed);
  go_on();
  EXPECT_EQ(told_, std::vector{node_errc::link_down});
  EXPECT_EQ(messages_appended(), 0u);
}

TEST_F(sending_large_messages, jobs_of_a_link_that_is_gone_do_nothing) {
  send_large(note);
  alive_.reset();
  out.end(); // Without this, it would wait for ever.
  go_on();
  EXPECT_EQ(messages_appended(), 0u);
}

class forwarding_messages : public sending_messages {
protected:
  forwarding_messages() {
    element_.fields = &fields_;
    element_.header = text_.header.bytes();
    element_.frames = text_.frames;
    message_.types = &signature_;
    message_.elements.push_back(element_);
    fields_ = *parse_header(text_.header.bytes());
  }
  bool forward() { return out.forward(3, message_, ann(), note, owed_); }

  const payload text_ = *serialize(std::string{"forwarded"}, {.serializers = {"typed"}}, types, known_families);
  header_fields fields_;
  forwarded_element element_;
  const signature signature_{.aliases = {"not known here"}};
  forwarded_message message_;
  receipt owed_;
};

TEST_F(forwarding_messages, pass_as_they_came_whatever_their_types) {
  EXPECT_TRUE(forward());
  EXPECT_EQ(messages_appended(), 1u);
  EXPECT_TRUE(in_order(appended(), {"not known here", "forwarded"}));
}

TEST_F(forwarding_messages, pass_only_by_families_that_the_peer_accepts) {
  renew({"msgpack"});
  EXPECT_FALSE(forward());
  EXPECT_EQ(messages_appended(), 0u);
  EXPECT_TRUE(not_sent.empty());
}

TEST_F(forwarding_messages, that_the_peer_cannot_read_fail) {
  auto agreed = terms_.now();
  agreed.peer.header_bytes = 1;
  lone_link::agree(std::move(agreed));
  EXPECT_TRUE(forward());
  EXPECT_EQ(not_sent, std::vector{node_errc::unserializable});
  EXPECT_EQ(messages_appended(), 0u);
}

TEST_F(forwarding_messages, do_not_pass_what_is_being_encoded_of_the_same_pair) {
  offloaded_message waiting{.receiver = 3, .what = {}, .size_bytes = 100, .sender = ann().get()};
  EXPECT_EQ(encoding.add(waiting, true, 1000), encoding_lane<unencoded_message>::entry::wakes);
  EXPECT_FALSE(forward());
}

} // namespace
} // namespace troupe::internal
