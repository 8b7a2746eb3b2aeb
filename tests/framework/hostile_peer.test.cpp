// A peer that breaks the protocol loses its link, and nothing else happens.
#include <array>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <troupe/framework/internal/admin.hpp>
#include <troupe/framework/internal/packet.hpp>
#include <troupe/serializers/msgpack/described.hpp>

#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

using namespace internal;

/// Speaks the protocol by hand, well or badly.
class raw_peer {
public:
  explicit raw_peer(const std::string& address) : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un to{.sun_family = AF_UNIX, .sun_path = {}};
    auto name = address.substr(std::string_view{"unix://@"}.size());
    name.copy(to.sun_path + 1, sizeof(to.sun_path) - 1);
    auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    if (::connect(socket_, reinterpret_cast<const sockaddr*>(&to), size) != 0)
      throw std::runtime_error("cannot connect");
    timeval limit{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  }
  ~raw_peer() { ::close(socket_); }
  raw_peer(const raw_peer&) = delete;
  raw_peer& operator=(const raw_peer&) = delete;

  void write(bytes_view bytes) {
    while (!bytes.empty()) {
      auto written = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (written <= 0)
        return; // The node has closed already: what the test waits for.
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }

  void write_packet(packet_kind kind, std::uint8_t detail, bytes_view body) {
    byte_vector out;
    append_packet_head(out, {.body_bytes = static_cast<std::uint32_t>(body.size()), .kind = kind, .detail = detail});
    out.insert(out.end(), body.begin(), body.end());
    write(out);
  }

  template <class Admin>
  void write_admin(admin_op op, const Admin& what) {
    write_packet(packet_kind::admin, static_cast<std::uint8_t>(op), msgpack::encode_described(what));
  }

  void greet() { write(make_preamble()); }

  static hello honest_hello() {
    return {.version = protocol_version,
            .name = "raw",
            .process = 1,
            .host = std::string(40, 'a'),
            .serializers = {"typed", "msgpack"},
            .deserializers = {"typed", "msgpack"},
            .message_bytes = 1 << 20};
  }

  /// A correct handshake, and the number of what is published as `name`.
  std::uint64_t open_and_find(const std::string& name) {
    greet();
    write_admin(admin_op::hello, honest_hello());
    read_preamble();
    EXPECT_TRUE(read_admin<hello>(admin_op::hello));
    write_admin(admin_op::ready, ready{});
    write_admin(admin_op::find, find_query{1, name});
    auto answer = read_admin<found>(admin_op::found);
    return answer ? answer->actor : 0;
  }

  /// A message for `receiver` with one i32 whose header and body are given.
  void send_int(std::uint64_t receiver, bytes_view header, bytes_view body) {
    byte_vector signature;
    append_signature(signature, {.number = 0, .aliases = {"i32"}});
    write_packet(packet_kind::signature, 0, signature);
    byte_vector message;
    append_message_head(message, {.receiver = receiver, .signature = 0});
    append_element(message, {.header_number = 0, .header = header, .frames = {{.size_bytes = body.size()}}});
    message.insert(message.end(), body.begin(), body.end());
    write_packet(packet_kind::message, 0, message);
  }

  /// Reads packets until the node closes; gives the reason of its goodbye or refusal, or "closed" without one.
  std::string farewell() {
    std::string reason = "closed";
    read_preamble();
    for (;;) {
      std::array<std::byte, packet_head_bytes> head_bytes{};
      if (!read(head_bytes))
        return reason;
      auto head = read_packet_head(head_bytes);
      byte_vector body(head.body_bytes);
      if (!read(body))
        return reason;
      auto op = static_cast<admin_op>(head.detail);
      if (head.kind == packet_kind::admin && op == admin_op::goodbye)
        reason = msgpack::decode_described<goodbye>(body).value().reason;
      if (head.kind == packet_kind::admin && op == admin_op::refuse)
        reason = msgpack::decode_described<refuse>(body).value().reason;
    }
  }

private:
  /// The node writes it first; read once.
  void read_preamble() {
    std::array<std::byte, preamble_bytes> preamble{};
    if (!std::exchange(preamble_read_, true))
      read(preamble);
  }

  /// False at the end of the stream, and after ten seconds.
  bool read(std::span<std::byte> into) {
    while (!into.empty()) {
      auto count = ::recv(socket_, into.data(), into.size(), 0);
      if (count <= 0)
        return false;
      into = into.subspan(static_cast<std::size_t>(count));
    }
    return true;
  }

  template <class Admin>
  std::optional<Admin> read_admin(admin_op op) {
    std::array<std::byte, packet_head_bytes> head_bytes{};
    if (!read(head_bytes))
      return std::nullopt;
    auto head = read_packet_head(head_bytes);
    byte_vector body(head.body_bytes);
    if (!read(body) || head.kind != packet_kind::admin || head.detail != static_cast<std::uint8_t>(op))
      return std::nullopt;
    auto what = msgpack::decode_described<Admin>(body);
    return what ? std::optional{*what} : std::nullopt;
  }

  int socket_;
  bool preamble_read_ = false;
};

bytes_view bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text});
}

class hostile_peer : public two_nodes {
protected:
  void SetUp() override {
    far_options_.accepted_links = {
        .serializers = {"typed", "msgpack"}, .deserializers = {"typed"}, .connect_timeout = 2s};
    publish("echo", far().system.spawn([this]() -> caf::behavior {
      return {[this](int value) {
        ++delivered_;
        return value;
      }};
    }));
  }

  void TearDown() override {
    // Nothing else has happened: honest peers are served.
    connect({.serializers = {"typed"}});
    EXPECT_EQ(ask<int>(near().system, find("echo"), 5), 5);
    EXPECT_EQ(delivered_, 1);
  }

  frame header_of_int(std::string_view family) {
    header_fields fields{.family = family, .type = "i32"};
    return make_header(fields);
  }

  static void expect_contains(const std::string& text, std::string_view part) {
    EXPECT_NE(text.find(part), std::string::npos) << text;
  }

  std::atomic<int> delivered_{0};
};

TEST_F(hostile_peer, other_protocols_are_turned_away) {
  raw_peer peer{address_};
  peer.write(bytes_of("GET / HTTP/1.1\r\nHost: here\r\n\r\n"));
  peer.farewell();
}

TEST_F(hostile_peer, another_version_is_turned_away) {
  raw_peer peer{address_};
  auto preamble = make_preamble();
  preamble[6] = std::byte{9};
  peer.write(preamble);
  peer.farewell();
}

TEST_F(hostile_peer, a_peer_that_says_nothing_is_dropped_when_the_handshake_is_due) {
  raw_peer peer{address_};
  peer.farewell();
}

TEST_F(hostile_peer, a_packet_too_large_for_the_handshake_is_refused_before_it_is_read) {
  raw_peer peer{address_};
  peer.greet();
  byte_vector head;
  append_packet_head(head, {.body_bytes = packet_body_bytes_max, .kind = packet_kind::admin, .detail = 1});
  peer.write(head);
  peer.farewell();
}

TEST_F(hostile_peer, a_message_before_the_handshake_is_over_ends_the_link) {
  raw_peer peer{address_};
  peer.greet();
  peer.send_int(1, header_of_int("typed").bytes(), bytes_of("x"));
  expect_contains(peer.farewell(), "before the handshake was over");
}

TEST_F(hostile_peer, a_hello_with_nothing_in_common_is_refused_with_both_lists) {
  raw_peer peer{address_};
  peer.greet();
  auto mine = raw_peer::honest_hello();
  mine.serializers = {"msgpack"};
  peer.write_admin(admin_op::hello, mine);
  expect_contains(peer.farewell(), "raw sends with [msgpack], far accepts [typed]");
}

TEST_F(hostile_peer, a_hello_that_is_no_map_is_refused) {
  raw_peer peer{address_};
  peer.greet();
  peer.write_packet(packet_kind::admin, 1, bytes_of("\x93\x01\x02\x03"));
  expect_contains(peer.farewell(), "the hello cannot be read");
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

TEST_F(hostile_peer, unknown_packets_and_operations_end_the_link) {
  for (auto kind : {packet_kind{0}, packet_kind{77}}) {
    raw_peer peer{address_};
    peer.open_and_find("echo");
    peer.write_packet(kind, 0, {});
    expect_contains(peer.farewell(), "unknown packet kind");
  }
  raw_peer peer{address_};
  peer.open_and_find("echo");
  peer.write_packet(packet_kind::admin, 99, {});
  expect_contains(peer.farewell(), "is not known");
}

TEST_F(hostile_peer, forwarding_a_request_that_was_never_asked_ends_the_link) {
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
  expect_contains(peer.farewell(), "which was not asked");
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
  expect_contains(peer.farewell(), "cannot be read");
}

TEST_F(hostile_peer, a_bare_error_does_not_end_the_actor_that_gets_it) {
  // Sent by an honest node, as a hostile one would: TearDown asks the same actor afterwards.
  connect({.serializers = {"typed"}});
  caf::anon_send(find("echo"), caf::error{caf::exit_reason::kill});
  EXPECT_TRUE(eventually([&] { return far().home->links().at(0).stats().undelivered == 1; }));
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

} // namespace
} // namespace troupe::tests
