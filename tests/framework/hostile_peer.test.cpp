// A peer that breaks the protocol loses its link, and nothing else is affected.
#include <fstream>

#include "raw_peer.hpp"
#include "resident.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

using namespace internal;

class hostile_peer : public two_nodes {
protected:
  void SetUp() override {
    auto& accepted = far_options_.accepted_links;
    accepted.serializers = {"typed", "msgpack"};
    accepted.deserializers = {"typed"};
    accepted.connect_timeout = 2s;
    publish("echo", far().system.spawn([this]() -> caf::behavior {
      return {[this](int value) {
        ++delivered_;
        return value;
      }};
    }));
  }

  void TearDown() override {
    // Nothing else is affected: honest peers are served.
    connect({.serializers = {"typed"}});
    EXPECT_EQ(ask<int>(near().system, find("echo"), 5), 5);
    EXPECT_EQ(delivered_, 1);
  }

  frame header_of_int(std::string_view family) {
    header_fields fields{.family = family, .type = "i32"};
    return make_header(fields);
  }

  static std::uint64_t find_by(raw_peer& peer, const std::string& name) {
    peer.write_admin(admin_op::find, find_query{1, name});
    while (auto packet = peer.next_packet())
      if (packet->head.kind == packet_kind::admin && packet->head.detail == static_cast<std::uint8_t>(admin_op::found))
        return msgpack::decode_described<found>(packet->body).value().actor;
    return 0;
  }

  /// Returns a payload with an actor, which is the first that its element mentions.
  payload handle() {
    type_registry own;
    own.add<internal::actor_form>("caf.actor");
    return serialize(internal::actor_form{1}, {.serializers = {"typed"}}, own, far().families).value();
  }

  std::atomic<int> delivered_{0};
};

TEST_F(hostile_peer, other_protocols_are_turned_away) {
  raw_peer peer{address_};
  peer.write(bytes_of("GET / HTTP/1.1\r\nHost: here\r\n\r\n"));
  peer.farewell();
}

TEST_F(hostile_peer, another_version_is_turned_away) {
  const auto own = make_preamble();
  auto other = own;
  other[6] = std::byte{9};
  for (int i = 0; i < 20; ++i) { // Most of them write before the node has written anything.
    raw_peer peer{address_};
    peer.write(other);
    EXPECT_EQ(peer.everything(), byte_vector(own.begin(), own.end())) << "by which the peer knows both versions";
  }
}

TEST_F(hostile_peer, a_packet_too_large_for_somebody_unknown_is_refused_before_it_is_read) {
  raw_peer peer{address_};
  peer.write(make_preamble());
  byte_vector head;
  append_packet_head(head, {.body_bytes = unproven_body_bytes_max + 1, .kind = packet_kind::admin, .detail = 14});
  peer.write(head);
  expect_contains(peer.farewell(), "a packet of " + grouped(unproven_body_bytes_max + 1) + " bytes, limit ");
}

TEST_F(hostile_peer, a_handshake_out_of_order_is_refused) {
  for (auto op : {admin_op::hello, admin_op::ready, admin_op::prove, admin_op::opened, admin_op::find}) {
    raw_peer peer{address_};
    peer.write(make_preamble());
    peer.write_packet(packet_kind::admin, static_cast<std::uint8_t>(op), {});
    expect_contains(peer.farewell(), "out of place in the handshake");
  }
}

TEST_F(hostile_peer, a_peer_that_says_nothing_is_dropped_when_the_handshake_is_due) {
  raw_peer peer{address_};
  peer.farewell();
}

TEST_F(hostile_peer, a_packet_too_large_for_the_handshake_is_refused_before_it_is_read) {
  raw_peer peer{address_};
  peer.greet();
  byte_vector head;
  append_packet_head(head, {.body_bytes = greeting_body_bytes_max + 1, .kind = packet_kind::admin, .detail = 1});
  peer.write(head);
  expect_contains(peer.farewell(), "a packet of " + grouped(greeting_body_bytes_max + 1) + " bytes, limit ");
}

TEST_F(hostile_peer, a_message_before_the_handshake_is_over_ends_the_link) {
  raw_peer peer{address_};
  peer.write(make_preamble());
  peer.send_int(1, header_of_int("typed").bytes(), bytes_of("x"));
  expect_contains(peer.farewell(), "before the handshake was over");
}

TEST_F(hostile_peer, a_hello_with_nothing_in_common_is_refused_with_both_lists) {
  raw_peer peer{address_};
  peer.greet();
  auto mine = raw_peer::honest_hello();
  mine.serializers = {"msgpack"};
  peer.say(admin_op::hello, mine);
  expect_contains(peer.farewell(), "raw sends with [msgpack], far accepts [typed]");
}

TEST_F(hostile_peer, a_hello_that_is_no_map_is_refused) {
  raw_peer peer{address_};
  peer.greet();
  peer.write_packet(packet_kind::admin, 1, bytes_of("\x93\x01\x02\x03"));
  expect_contains(peer.farewell(), "admin message 1 of the handshake cannot be read");
}

TEST_F(hostile_peer, a_family_that_was_refused_in_the_handshake_ends_the_link_when_it_is_sent_anyway) {
  raw_peer peer{address_};
  auto echo = peer.open_and_find("echo");
  peer.send_int(echo, header_of_int("msgpack").bytes(), bytes_of("\x07"));
  expect_contains(peer.farewell(), "data serialized with msgpack but this link only accepts [typed]");
}

TEST_F(hostile_peer, a_family_that_needs_trust_ends_the_link_when_it_is_sent_without) {
  raw_peer peer{address_};
  auto echo = peer.open_and_find("echo");
  peer.send_int(echo, header_of_int("cereal").bytes(), bytes_of("\x01\x07\0\0\0"));
  expect_contains(peer.farewell(), "data serialized with cereal but this link only accepts [typed]");
}

TEST_F(hostile_peer, an_actor_that_was_never_exported_cannot_be_reached) {
  auto hidden = far().system.spawn([this]() -> caf::behavior { return {[this](int) { ++delivered_; }}; });
  raw_peer peer{address_};
  peer.open_and_find("echo");
  peer.send_int(hidden.id(), header_of_int("typed").bytes(), bytes_of("\x07"));
  expect_contains(peer.farewell(), "which it was never given");
}

TEST_F(hostile_peer, releasing_an_actor_more_often_than_it_was_sent_ends_the_link) {
  raw_peer peer{address_};
  auto echo = peer.open_and_find("echo");
  peer.write_admin(admin_op::release_actor, release_actor{echo, 2});
  expect_contains(peer.farewell(), "more than it was sent");
}

TEST_F(hostile_peer, releasing_an_object_without_a_shared_store_ends_the_link) {
  raw_peer peer{address_};
  peer.open_and_find("echo");
  peer.write_admin(admin_op::release_object, release_object{1, 1, 1});
  expect_contains(peer.farewell(), "no store is shared");
}

TEST_F(hostile_peer, naming_an_object_without_a_shared_store_ends_the_link) {
  raw_peer peer{address_};
  auto echo = peer.open_and_find("echo");
  byte_vector signature;
  append_signature(signature, {.number = 0, .aliases = {"i32"}});
  peer.write_packet(packet_kind::signature, 0, signature);
  byte_vector message;
  append_message_head(message, {.receiver = echo, .signature = 0});
  auto header = header_of_int("typed");
  append_element(
      message,
      {.header_number = 0,
       .header = header.bytes(),
       .frames = {{.place = frame_place::stored, .size_bytes = 4, .object_index = 1, .object_generation = 1}}});
  peer.write_packet(packet_kind::message, 0, message);
  expect_contains(peer.farewell(), "a store that this link does not share");
}

TEST_F(hostile_peer, monitoring_an_actor_that_was_never_exported_ends_the_link) {
  raw_peer peer{address_};
  peer.open_and_find("echo");
  peer.write_admin(admin_op::monitor, monitor{12345});
  expect_contains(peer.farewell(), "which it was never given");
}

TEST_F(hostile_peer, a_transfer_larger_than_this_end_takes_ends_the_link) {
  raw_peer peer{address_};
  peer.open_and_find("echo");
  byte_vector chunk;
  append_chunk_head(chunk, {.transfer = 1, .total_bytes = std::uint64_t{1} << 60}, true);
  peer.write_packet(packet_kind::chunk, chunk_flags::first, chunk);
  expect_contains(peer.farewell(), "limit 1,073,741,824");
}

TEST_F(hostile_peer, a_message_that_names_signatures_or_headers_that_were_not_sent_ends_the_link) {
  raw_peer peer{address_};
  auto echo = peer.open_and_find("echo");
  byte_vector message;
  append_message_head(message, {.receiver = echo, .signature = 3});
  peer.write_packet(packet_kind::message, 0, message);
  expect_contains(peer.farewell(), "names signature 3 of 0");
}

TEST_F(hostile_peer, bytes_behind_a_message_end_the_link) {
  raw_peer peer{address_};
  auto echo = peer.open_and_find("echo");
  byte_vector signature;
  append_signature(signature, {.number = 0, .aliases = {}});
  peer.write_packet(packet_kind::signature, 0, signature);
  byte_vector message;
  append_message_head(message, {.receiver = echo, .signature = 0});
  message.push_back(std::byte{0});
  peer.write_packet(packet_kind::message, 0, message);
  expect_contains(peer.farewell(), "has 1 too many");
}

TEST_F(hostile_peer, an_element_behind_a_plain_one_ends_the_link) {
  raw_peer peer{address_};
  auto echo = peer.open_and_find("echo");
  auto header = header_of_int("typed");
  byte_vector definition;
  append_header(definition, {1, header.bytes()});
  peer.write_packet(packet_kind::header, 0, definition);
  peer.define_signature({"i32"});
  byte_vector message;
  append_message_head(message, {.receiver = echo, .signature = 0});
  for (int i = 0; i < 2; ++i) {
    append_element(message, {.header_number = 1, .header = {}, .frames = {{.size_bytes = 1}}});
    message.push_back(std::byte{7});
  }
  peer.write_packet(packet_kind::message, 0, message);
  expect_contains(peer.farewell(), "too many");
}

TEST_F(hostile_peer, unknown_packets_and_operations_end_the_link) {
  for (auto kind : {packet_kind{0}, packet_kind{77}}) {
    raw_peer peer{address_};
    peer.open_and_find("echo");
    peer.write_packet(kind, 0, {});
    expect_contains(peer.farewell(), "is mandatory, and this version does not know it");
  }
  raw_peer peer{address_};
  peer.open_and_find("echo");
  peer.write_packet(packet_kind::admin, 99, {});
  expect_contains(peer.farewell(), "admin message 99 is mandatory");
}

TEST_F(hostile_peer, a_request_that_was_never_asked_is_not_forwarded_to_anybody) {
  raw_peer peer{address_};
  auto echo = peer.open_and_find("echo");
  byte_vector signature;
  append_signature(signature, {.number = 0, .aliases = {}});
  peer.write_packet(packet_kind::signature, 0, signature);
  byte_vector message;
  message_head head{.flags = message_flags::request | message_flags::returned, .receiver = echo, .sender = echo};
  head.request_number = 7;
  append_message_head(message, head);
  peer.write_packet(packet_kind::message, head.flags, message);
  EXPECT_TRUE(eventually([&] {
    auto links = far().home->links();
    return links.size() == 1 && links[0].stats().undelivered == 1;
  }));
}

// Goal: a peer cannot send in the name of an actor whose handle it was given, neither plain messages nor answers.
TEST_F(hostile_peer, a_message_in_the_name_of_an_actor_that_has_sent_nothing_has_no_sender) {
  std::atomic<int> with_sender = 0;
  std::atomic<int> without = 0;
  publish("victim", far().system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    return {[self, &with_sender, &without](int) { ++(self->current_sender() ? with_sender : without); }};
  }));
  raw_peer peer{address_};
  const auto echo = peer.open_and_find("echo");
  const auto victim = find_by(peer, "victim");
  auto four = serialize(4, {.serializers = {"typed"}}, far().types, far().families);
  ASSERT_TRUE(four);
  peer.define_signature({"i32"});
  for (const auto sender : {echo, victim})
    peer.write(raw_peer::message_packet({.flags = message_flags::returned, .receiver = victim, .sender = sender},
                                        four->header.bytes(), four->frames[0].bytes()));
  EXPECT_TRUE(eventually([&] { return without == 2; })) << with_sender << " with a sender";
  EXPECT_EQ(with_sender, 0);
}

// Goal: a message that this link has carried may come back with its sender, but only as often as it was carried.
/// This peer sends received messages back in the sender's name, more often than it received them.
class returning_peer : public hostile_peer {
protected:
  /// An actor greets the peer `greetings` times, and the peer returns `returned` messages. Returns for each returned
  /// message whether it arrived with a sender.
  std::vector<bool> senders_of_returned(int greetings, int returned);
};

class returning_peer_of_a_full_link : public returning_peer {
protected:
  returning_peer_of_a_full_link() {
    far_options_.accepted_links.actor_window_bytes = 400;
    far_options_.accepted_links.actor_queue_bytes = 100;
    far_options_.accepted_links.when_full = when_full::drop_oldest;
  }
};

TEST_F(returning_peer, may_pass_on_what_it_was_sent_with_its_sender_once) {
  EXPECT_EQ(senders_of_returned(1, 2), (std::vector<bool>{true, false}));
}

// Method: two or three messages leave, one waits for credit, and the others are dropped.
TEST_F(returning_peer_of_a_full_link, may_not_pass_on_what_was_dropped_before_it_left) {
  EXPECT_LT(std::ranges::count(senders_of_returned(10, 10), true), 6);
}

std::vector<bool> returning_peer::senders_of_returned(int greetings, int returned) {
  std::vector<bool> has_sender;
  std::mutex mutex;
  const auto heard = [&] {
    std::lock_guard guard{mutex};
    return has_sender;
  };
  publish("noting", far().system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    return {[self, &has_sender, &mutex](int) {
      std::lock_guard guard{mutex};
      has_sender.push_back(self->current_sender() != nullptr);
    }};
  }));
  auto has_greeted = std::make_shared<std::atomic<bool>>(false);
  publish("greeter", far().system.spawn([=](caf::event_based_actor* self) -> caf::behavior {
    return {[=](const caf::actor& whom) {
      for (int i = 0; i < greetings; ++i)
        self->send(whom, 1);
      *has_greeted = true;
    }};
  }));
  raw_peer peer{address_};
  peer.open();
  const auto noting = find_by(peer, "noting");
  const auto greeter = find_by(peer, "greeter");
  peer.define_signature({"i32"});
  peer.define_signature({"caf.actor"}, 1);
  const auto mention = handle();
  byte_vector message;
  append_message_head(message, {.receiver = greeter, .signature = 1});
  append_element(message, {.header_number = 0,
                           .header = mention.header.bytes(),
                           .frames = {{.size_bytes = mention.frames[0].size_bytes()}},
                           .actors = {{.number = 7}}});
  const auto body = mention.frames[0].bytes();
  message.insert(message.end(), body.begin(), body.end());
  peer.write_packet(packet_kind::message, 0, message);
  while (auto packet = peer.next_packet())
    if (packet->head.kind == packet_kind::message)
      break;
  EXPECT_TRUE(eventually([&] { return has_greeted->load(); }));
  const auto four = *serialize(4, {.serializers = {"typed"}}, far().types, far().families);
  for (int i = 0; i < returned; ++i) { // Each one fits the window.
    peer.write(raw_peer::message_packet(
        {.flags = message_flags::returned, .receiver = noting, .sender = greeter, .signature = 0}, four.header.bytes(),
        four.frames[0].bytes()));
    EXPECT_TRUE(eventually([&] { return heard().size() == static_cast<std::size_t>(i) + 1; }));
  }
  return heard();
}

// Goal: the lists of a message with many frames are freed with the message.
// Method: 16 messages of 64 elements; in each, four other elements have the maximum number of frames.
TEST_F(hostile_peer, messages_of_many_frames_leave_no_memory_behind) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer keeps what is freed";
#endif
  constexpr std::size_t elements = 64;
  constexpr std::size_t large_at_once = 4;
  raw_peer peer{address_};
  peer.open();
  const auto victim = find_by(peer, "echo");
  peer.define_signature(std::vector<std::string>(elements, "i32"));
  const auto header = header_of_int("typed");
  const auto before = resident_bytes();
  for (std::size_t first = 0; first < elements; first += large_at_once) {
    byte_vector message;
    append_message_head(message, {.receiver = victim, .signature = 0});
    for (std::size_t i = 0; i < elements; ++i) {
      const auto is_large = i >= first && i < first + large_at_once;
      append_element(message,
                     {.header = header.bytes(), .frames = {is_large ? limits{}.frames : 1, frame_descriptor{}}});
    }
    ASSERT_LE(message.size(), packet_body_bytes_max);
    peer.write_packet(packet_kind::message, 0, message);
  }
  EXPECT_TRUE(eventually([&] { return far().home->links().at(0).stats().undecodable == elements / large_at_once; }));
  const auto after = resident_bytes();
  EXPECT_LT(after, before + 32_MiB) << "it was " << before; // 295 MB if the lists stay.
}

TEST_F(hostile_peer, a_request_number_that_would_be_a_flag_ends_the_link) {
  raw_peer peer{address_};
  auto echo = peer.open_and_find("echo");
  byte_vector signature;
  append_signature(signature, {.number = 0, .aliases = {}});
  peer.write_packet(packet_kind::signature, 0, signature);
  byte_vector message;
  append_message_head(message, {.flags = message_flags::request,
                                .receiver = echo,
                                .sender = 0,
                                .request_number = 0x8000'0000'0000'0007,
                                .signature = 0});
  peer.write_packet(packet_kind::message, message_flags::request, message);
  expect_contains(peer.farewell(), "cannot read the head of a message packet");
}

TEST_F(hostile_peer, a_bare_error_does_not_end_the_actor_that_gets_it) {
  raw_peer peer{address_};
  auto echo = peer.open_and_find("echo");
  const caf::error kill{caf::exit_reason::kill};
  auto error = serialize(kill, {.serializers = {"typed"}}, far().types, far().families);
  ASSERT_TRUE(error) << error.error().message();
  peer.define_signature({"caf.error"});
  peer.write(
      raw_peer::message_packet({.receiver = echo, .signature = 0}, error->header.bytes(), error->frames[0].bytes()));
  EXPECT_TRUE(eventually([&] { return far().home->links().at(0).stats().undelivered == 1; }));
  peer.write_packet(packet_kind::admin, 99, {});
  peer.farewell(); // TearDown asks the same actor afterwards.
}

TEST_F(hostile_peer, an_honest_node_sends_no_bare_error_without_consent) {
  connect({.serializers = {"typed"}});
  auto before = link_->stats().messages_sent;
  caf::anon_send(find("echo"), caf::error{caf::exit_reason::kill});
  EXPECT_EQ(link_->stats().messages_sent, before);
}

TEST_F(hostile_peer, a_body_that_does_not_decode_is_not_delivered_and_the_link_lives) {
  raw_peer peer{address_};
  auto echo = peer.open_and_find("echo");
  peer.send_int(echo, header_of_int("typed").bytes(), {});
  EXPECT_TRUE(eventually([&] {
    auto links = far().home->links();
    return links.size() == 1 && links[0].stats().undecodable == 1;
  }));
  peer.write_packet(packet_kind::admin, 99, {});
  peer.farewell();
}

TEST_F(hostile_peer, a_value_beside_the_bytes_of_a_socket_ends_the_link) {
  raw_peer peer{address_};
  auto echo = peer.open_and_find("echo");
  byte_vector body;
  append_message_head(body, {.receiver = echo, .signature = 0});
  append_varint(body, 4);
  peer.write_packet(packet_kind::value, 0, body);
  expect_contains(peer.farewell(), "or the link is not in-process");
}

TEST_F(hostile_peer, credit_for_what_was_never_sent_ends_the_link) {
  raw_peer peer{address_};
  auto echo = peer.open_and_find("echo");
  peer.write_admin(admin_op::credit, credit{echo, 1});
  expect_contains(peer.farewell(), "the peer reports 1 consumed bytes");
}

TEST_F(hostile_peer, down_messages_have_no_name_on_a_link) {
  raw_peer peer{address_};
  auto echo = peer.open_and_find("echo");
  peer.define_signature({"down_msg"});
  header_fields fields{.family = "typed", .type = "down_msg"};
  auto header = make_header(fields);
  peer.write(raw_peer::message_packet({.receiver = echo, .signature = 0}, header.bytes(), bytes_of("xxxx")));
  EXPECT_TRUE(eventually([&] {
    auto links = far().home->links();
    return links.size() == 1 && links[0].stats().undecodable == 1;
  }));
}

/// An exit message without a source.
struct forged_exit {
  internal::actor_form source;
  internal::error_form reason;
};
TROUPE_DESCRIBE(forged_exit, source, reason)

TEST_F(hostile_peer, an_exit_message_that_is_not_allowed_ends_the_link) {
  raw_peer peer{address_};
  auto echo = peer.open_and_find("echo");
  peer.define_signature({"caf.exit"});
  type_registry own;
  own.add<forged_exit>("caf.exit");
  auto exit = serialize(forged_exit{{}, {.code = 1, .category = "exit", .context = {}}}, {.serializers = {"typed"}},
                        own, far().families);
  ASSERT_TRUE(exit) << exit.error().message();
  peer.write(
      raw_peer::message_packet({.receiver = echo, .signature = 0}, exit->header.bytes(), exit->frames[0].bytes()));
  expect_contains(peer.farewell(), "the peer sends an exit message, which this link does not allow");
}

TEST_F(hostile_peer, an_exit_message_that_is_not_allowed_does_not_leave_its_node) {
  connect({.serializers = {"typed"}});
  caf::anon_send_exit(find("echo"), caf::exit_reason::kill);
  EXPECT_EQ(link_->stats().refused_by_policy, 1u);
}

} // namespace
} // namespace troupe::tests
