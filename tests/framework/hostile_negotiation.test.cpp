// Changes of the families with a peer that speaks the protocol by hand: the order of the answers, and the violations
// that end the link.
#include <future>

#include "raw_peer.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

using names = std::vector<std::string>;

class changing_peer : public two_nodes {
protected:
  void SetUp() override {
    publish("echo", far().system.spawn([]() -> caf::behavior { return {[](int value) { return value; }}; }));
    // Sends the requested number of messages, whether or not they are consumed.
    publish("source", far().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
      return {[self](int count) {
        for (int i = 0; i < count; ++i)
          self->send(caf::actor_cast<caf::actor>(self->current_sender()), i);
      }};
    }));
  }

  raw_peer& peer() {
    if (!peer_)
      peer_.emplace(address_);
    return *peer_;
  }
  /// Returns the far end of the only link, which may open a moment later.
  link far_link() {
    EXPECT_TRUE(eventually([this] { return !far().home->links().empty(); }));
    return far().home->links().at(0);
  }

  std::uint64_t find_actor(const std::string& name) {
    peer().write_admin(admin_op::find, find_query{1, name});
    auto answer = peer().hear<found>(admin_op::found);
    return answer ? answer->actor : 0;
  }

  /// Defines header 1 as an i32 by `family`, and signature 0.
  void define_int(const std::string& family) {
    const header_fields fields{.family = family, .type = "i32"};
    const auto header = make_header(fields);
    byte_vector body;
    append_header(body, {1, header.bytes()});
    peer().write_packet(packet_kind::header, 0, body);
    peer().define_signature({"i32"});
  }
  /// Sends an i32 with header 1, as a request if `request_number` is not 0.
  void send_int(std::uint64_t receiver, std::uint64_t request_number, std::uint8_t value) {
    const std::uint8_t flags = request_number > 0 ? message_flags::request : 0;
    byte_vector message;
    append_message_head(
        message,
        {.flags = flags, .receiver = receiver, .sender = 77, .request_number = request_number, .signature = 0});
    append_element(message, {.header_number = 1, .frames = {{.size_bytes = 1}}});
    message.push_back(std::byte{value});
    peer().write_packet(packet_kind::message, flags, message);
  }

  template <class Admin>
  std::optional<Admin> next_admin(admin_op op) {
    while (auto packet = peer().next_packet())
      if (packet->head.kind == packet_kind::admin && packet->head.detail == static_cast<std::uint8_t>(op)) {
        auto what = msgpack::decode_described<Admin>(packet->body);
        return what ? std::optional{*what} : std::nullopt;
      }
    return std::nullopt;
  }

  bool next_message_comes() {
    while (auto packet = peer().next_packet()) {
      if (packet->head.kind == packet_kind::message)
        return true;
      if (packet->head.kind == packet_kind::admin
          && packet->head.detail == static_cast<std::uint8_t>(admin_op::goodbye))
        return false;
    }
    return false;
  }

  auto change_far(const link_changes& changes) {
    return std::async(std::launch::async,
                      [over = far_link(), changes]() mutable { return over.reconfigure(changes, 20s); });
  }

  std::optional<raw_peer> peer_;
};

TEST_F(changing_peer, numbered_headers_pass_until_the_acknowledgement_and_are_refused_behind_it) {
  peer().open();
  auto echo = find_actor("echo");
  define_int("msgpack");
  auto changed = change_far({.deserializers = names{"typed"}});
  auto told = next_admin<family_change>(admin_op::reconfigure);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->number, 1u);
  EXPECT_EQ(told->deserializers, names{"typed"});
  send_int(echo, 1, 7); // The change is not acknowledged yet.
  EXPECT_TRUE(next_message_comes());
  peer().write_admin(admin_op::reconfigured, reconfigured{1, {}});
  EXPECT_TRUE(changed.get());
  EXPECT_EQ(far_link().deserializers(), names{"typed"});
  send_int(echo, 2, 7);
  expect_contains(peer().farewell(), "data serialized with msgpack but this link only accepts [typed]");
}

TEST_F(changing_peer, headers_of_refused_families_cannot_be_defined_behind_the_acknowledgement) {
  peer().open();
  auto changed = change_far({.deserializers = names{"typed"}});
  ASSERT_TRUE(next_admin<family_change>(admin_op::reconfigure));
  peer().write_admin(admin_op::reconfigured, reconfigured{1, {}});
  EXPECT_TRUE(changed.get());
  define_int("msgpack");
  expect_contains(peer().farewell(), "data serialized with msgpack but this link only accepts [typed]");
}

TEST_F(changing_peer, numbered_headers_work_again_when_their_family_is_accepted_again) {
  peer().open();
  auto echo = find_actor("echo");
  define_int("msgpack");
  for (std::uint64_t number = 1; number <= 2; ++number) {
    auto changed = change_far({.deserializers = number == 1 ? names{"typed"} : names{"typed", "msgpack"}});
    ASSERT_TRUE(next_admin<family_change>(admin_op::reconfigure));
    peer().write_admin(admin_op::reconfigured, reconfigured{number, {}});
    EXPECT_TRUE(changed.get());
  }
  send_int(echo, 1, 7);
  EXPECT_TRUE(next_message_comes());
}

TEST_F(changing_peer, a_peer_that_refuses_leaves_everything_as_it_was) {
  peer().open();
  auto changed = change_far({.serializers = names{"msgpack"}, .deserializers = names{"typed"}, .spill_bytes = 1});
  ASSERT_TRUE(next_admin<family_change>(admin_op::reconfigure));
  peer().write_admin(admin_op::reconfigured, reconfigured{1, "for no\nreason"});
  auto result = changed.get();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), node_errc::nothing_in_common);
  EXPECT_EQ(result.error().message(), "raw refused the change, and nothing has changed: for no?reason");
  EXPECT_EQ(far_link().serializers(), (names{"typed", "msgpack"}));
  EXPECT_EQ(far_link().deserializers(), (names{"typed", "msgpack"}));
}

TEST_F(changing_peer, a_peer_that_goes_leaves_nobody_waiting) {
  peer().open();
  auto changed = change_far({.deserializers = names{"typed"}});
  ASSERT_TRUE(next_admin<family_change>(admin_op::reconfigure));
  peer().reset();
  auto result = changed.get();
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code(), node_errc::link_down);
}

TEST_F(changing_peer, is_refused_with_both_lists_when_nothing_would_be_in_common) {
  peer().open();
  peer().write_admin(admin_op::reconfigure, family_change{1, {"json"}, {"typed"}});
  auto answer = next_admin<reconfigured>(admin_op::reconfigured);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->number, 1u);
  EXPECT_EQ(answer->refusal, "no family in common: raw sends with [json], far accepts [typed, msgpack]; far sends with "
                             "[typed, msgpack], raw accepts [typed]");
  EXPECT_EQ(far_link().serializers(), (names{"typed", "msgpack"}));
  peer().write_admin(admin_op::reconfigure, family_change{2, {"msgpack"}, {"msgpack"}});
  answer = next_admin<reconfigured>(admin_op::reconfigured);
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->refusal, "");
  EXPECT_EQ(far_link().serializers(), names{"msgpack"});
}

TEST_F(changing_peer, that_changes_what_crosses_a_change_here_is_held_against_it) {
  peer().open();
  auto changed = change_far({.deserializers = names{"typed"}});
  ASSERT_TRUE(next_admin<family_change>(admin_op::reconfigure));
  peer().write_admin(admin_op::reconfigure, family_change{1, {"msgpack"}, {"msgpack"}}); // Both changes cross.
  auto answer = next_admin<reconfigured>(admin_op::reconfigured);
  ASSERT_TRUE(answer);
  expect_contains(answer->refusal, "raw sends with [msgpack], far accepts [typed]");
  peer().write_admin(admin_op::reconfigured, reconfigured{1, "the same here"});
  EXPECT_FALSE(changed.get());
}

/// A peer that has room for one message at a time.
class starved_peer : public changing_peer {
protected:
  void open_and_let_wait() {
    auto mine = raw_peer::honest_hello();
    mine.window_bytes = mine.actor_window_bytes = 1;
    peer().open(mine);
    source_ = find_actor("source");
    define_int("msgpack");
    send_int(source_, 0, 3);
    next_message();
    ASSERT_TRUE(eventually([&] { return far_link().stats().waiting_bytes > 0; }));
  }
  /// Reads the next message. Records its cost and its header's family.
  void next_message() {
    while (auto packet = peer().next_packet()) {
      if (packet->head.kind == packet_kind::header) {
        const auto definition = read_header(packet->body);
        ASSERT_TRUE(definition);
        const auto fields = parse_header(definition->header);
        ASSERT_TRUE(fields);
        families_.emplace_back(fields->family);
      }
      if (packet->head.kind == packet_kind::admin
          && packet->head.detail == static_cast<std::uint8_t>(admin_op::reconfigured))
        story_.emplace_back("acknowledged");
      if (packet->head.kind != packet_kind::message)
        continue;
      packet_reader in{packet->body};
      static_cast<void>(read_message_head(in, packet->head.detail));
      auto element = read_plain_element(in);
      ASSERT_TRUE(element);
      ASSERT_LE(element->header_number, families_.size());
      story_.push_back(families_[element->header_number - 1]);
      cost_ = packet->body.size() + 128;
      return;
    }
    FAIL() << "the link has ended";
  }
  void consume() { peer().write_admin(admin_op::credit, credit{77, cost_}); }

  names families_; // Indexed by the number of the header.
  names story_;
  std::uint64_t source_ = 0;
  std::uint64_t cost_ = 0;
};

TEST_F(starved_peer, is_acknowledged_behind_what_had_waited_by_the_older_list) {
  open_and_let_wait();
  peer().write_admin(admin_op::reconfigure, family_change{1, {"msgpack"}, {"msgpack"}});
  ASSERT_TRUE(eventually([&] { return far_link().serializers() == names{"msgpack"}; }));
  send_int(source_, 0, 1); // One more message, with the new list.
  for (int i = 0; i < 3; ++i) {
    consume();
    next_message();
    if (HasFatalFailure())
      return;
  }
  EXPECT_EQ(story_, (names{"typed", "typed", "typed", "acknowledged", "msgpack"}));
}

TEST_F(starved_peer, that_changes_again_before_it_is_answered_loses_its_link) {
  open_and_let_wait();
  peer().write_admin(admin_op::reconfigure, family_change{1, {"msgpack"}, {"msgpack"}});
  peer().write_admin(admin_op::reconfigure, family_change{2, {"msgpack"}, {"typed"}});
  expect_contains(peer().farewell(), "before the last change is answered");
}

TEST_F(changing_peer, that_answers_what_it_was_not_told_loses_its_link) {
  peer().open();
  peer().write_admin(admin_op::reconfigured, reconfigured{1, {}});
  expect_contains(peer().farewell(), "answers change 1 of the families, which was never sent");
}

TEST_F(changing_peer, that_counts_its_changes_wrongly_loses_its_link) {
  peer().open();
  peer().write_admin(admin_op::reconfigure, family_change{2, {"typed"}, {"typed"}});
  expect_contains(peer().farewell(), "out of turn");
}

TEST_F(changing_peer, that_lists_too_much_loses_its_link) {
  for (const auto& list : {names(65, "typed"), names{"typed", std::string(2'000, 'x')}}) {
    peer_.reset();
    peer().open();
    peer().write_admin(admin_op::reconfigure, family_change{1, list, {"typed"}});
    expect_contains(peer().farewell(), "more than 64 families");
  }
}

TEST_F(changing_peer, may_change_often_and_costs_nothing_that_stays) {
  peer().open();
  for (std::uint64_t number = 1; number <= 2'000; ++number) {
    peer().write_admin(admin_op::reconfigure,
                       family_change{number, {"typed"}, {number % 2 == 0 ? "typed" : "msgpack"}});
    auto answer = next_admin<reconfigured>(admin_op::reconfigured);
    ASSERT_TRUE(answer);
    ASSERT_EQ(answer->number, number);
    ASSERT_EQ(answer->refusal, "");
  }
  auto echo = find_actor("echo");
  define_int("msgpack");
  send_int(echo, 1, 7);
  EXPECT_TRUE(next_message_comes()) << "what this end accepts has not changed";
}

} // namespace
} // namespace troupe::tests
