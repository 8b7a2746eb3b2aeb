// A peer that speaks the protocol by hand, correctly or incorrectly.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <troupe/framework/internal/trust/authentication.hpp>
#include <troupe/framework/internal/wire/admin.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/serializers/msgpack/described.hpp>

namespace troupe::tests {

using namespace internal;

/// The secret shared by both ends of a test's links.
inline const std::string test_secret = "a secret of at least 16 bytes";

inline bytes_view bytes_of(std::string_view text) {
  return std::as_bytes(std::span{text});
}

inline void expect_contains(const std::string& text, std::string_view part) {
  EXPECT_NE(text.find(part), std::string::npos) << text;
}

/// An IPv4 address of this host, 127.0.0.`last`.
inline sockaddr_in loopback(std::uint16_t port, std::uint32_t last = 1) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK - 1 + last);
  return at;
}

/// Returns a socket connected to "unix://@name", "tcp://127.0.0.1:port" or "tls://127.0.0.1:port".
/// For TCP and TLS, it connects from 127.0.0.`source`.
inline int connect_to(const std::string& address, std::uint32_t source = 1) {
  int made = -1;
  int failed = 0;
  if (address.starts_with("unix://@")) {
    made = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_un to{.sun_family = AF_UNIX, .sun_path = {}};
    auto name = address.substr(std::string_view{"unix://@"}.size());
    name.copy(to.sun_path + 1, sizeof(to.sun_path) - 1);
    auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    failed = ::connect(made, reinterpret_cast<const sockaddr*>(&to), size);
  } else {
    made = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    auto from = loopback(0, source);
    auto to = loopback(static_cast<std::uint16_t>(std::stoi(address.substr(address.rfind(':') + 1))));
    if (source != 1)
      failed = ::bind(made, reinterpret_cast<const sockaddr*>(&from), sizeof(from));
    if (failed == 0)
      failed = ::connect(made, reinterpret_cast<const sockaddr*>(&to), sizeof(to));
  }
  if (failed != 0)
    throw std::runtime_error("cannot connect to " + address);
  return made;
}

/// A listening TCP socket for link ends that are not nodes.
class raw_listener {
public:
  raw_listener() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    auto at = loopback(0);
    socklen_t size = sizeof(at);
    if (::bind(socket_, reinterpret_cast<const sockaddr*>(&at), size) != 0 || ::listen(socket_, 16) != 0
        || ::getsockname(socket_, reinterpret_cast<sockaddr*>(&at), &size) != 0)
      throw std::runtime_error("cannot listen");
    port_ = ntohs(at.sin_port);
  }
  ~raw_listener() { ::close(socket_); }
  raw_listener(const raw_listener&) = delete;
  raw_listener& operator=(const raw_listener&) = delete;

  [[nodiscard]] std::string address(const std::string& scheme = "tcp") const {
    return scheme + "://127.0.0.1:" + std::to_string(port_);
  }
  [[nodiscard]] int accept() const { return ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC); }

private:
  int socket_;
  std::uint16_t port_ = 0;
};

/// The identity that a raw peer claims.
struct raw_identity {
  std::uint32_t process = 1;
  std::string host = std::string(40, 'a');
};

class raw_peer {
public:
  /// Connects. With a secret, the peer proves that it knows the secret.
  explicit raw_peer(const std::string& address, std::string secret = {}, const raw_identity& me = {})
      : raw_peer(connect_to(address), link_side::dialer, std::move(secret), me) {}

  /// Takes over a connected socket, at either end.
  raw_peer(int connected, link_side side, std::string secret = {}, const raw_identity& me = {})
      : socket_(connected), side_(side), proofs_(side, me.process, me.host, std::move(secret), random_digest()) {
    timeval limit{.tv_sec = 60, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
  }
  ~raw_peer() {
    if (socket_ >= 0)
      ::close(socket_);
  }
  raw_peer(const raw_peer&) = delete;
  raw_peer& operator=(const raw_peer&) = delete;

  void write(bytes_view bytes) {
    while (!bytes.empty()) {
      auto written = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (written <= 0)
        return; // The node has already closed, which is what the test waits for.
      bytes = bytes.subspan(static_cast<std::size_t>(written));
    }
  }

  static byte_vector packet(packet_kind kind, std::uint8_t detail, bytes_view body) {
    byte_vector out;
    append_packet_head(out, {.body_bytes = static_cast<std::uint32_t>(body.size()), .kind = kind, .detail = detail});
    out.insert(out.end(), body.begin(), body.end());
    return out;
  }

  void write_packet(packet_kind kind, std::uint8_t detail, bytes_view body) { write(packet(kind, detail, body)); }

  template <class Admin>
  void write_admin(admin_op op, const Admin& what) {
    write_packet(packet_kind::admin, static_cast<std::uint8_t>(op), msgpack::encode_described(what));
  }

  /// Writes an admin packet with descriptors attached.
  template <class Admin>
  void write_admin_with(std::span<const int> descriptors, admin_op op, const Admin& what) {
    auto bytes = packet(packet_kind::admin, static_cast<std::uint8_t>(op), msgpack::encode_described(what));
    iovec piece{bytes.data(), bytes.size()};
    std::vector<std::byte> room(CMSG_SPACE(descriptors.size_bytes()));
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = room.data();
    message.msg_controllen = room.size();
    auto* const head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(head), descriptors.data(), descriptors.size_bytes());
    EXPECT_EQ(::sendmsg(socket_, &message, MSG_NOSIGNAL), static_cast<ssize_t>(bytes.size()));
  }

  /// Writes half of a packet; the rest never follows.
  void write_half_a_packet() {
    auto whole = packet(packet_kind::admin, static_cast<std::uint8_t>(admin_op::hello), byte_vector(100));
    write(bytes_view{whole}.first(50));
  }

  /// Closes at once and discards bytes in flight, like a killed process.
  void reset() {
    linger at_once{.l_onoff = 1, .l_linger = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    ::close(std::exchange(socket_, -1));
  }

  // -- the handshake, step by step

  authentication& proofs() { return proofs_; }

  /// Writes a part of the handshake and adds it to the transcript.
  template <class Admin>
  void say(admin_op op, const Admin& what) {
    auto body = msgpack::encode_described(what);
    proofs_.said.add_packet(side_, head_of(op, body), body);
    write_packet(packet_kind::admin, static_cast<std::uint8_t>(op), body);
  }

  template <class Admin>
  std::optional<Admin> hear(admin_op op) {
    read_preamble();
    auto body = read_admin_body(op);
    if (!body)
      return std::nullopt;
    said_before_ = proofs_.said;
    proofs_.said.add_packet(other(side_), head_of(op, *body), *body);
    auto what = msgpack::decode_described<Admin>(*body);
    return what ? std::optional{*what} : std::nullopt;
  }

  void greet() {
    write(make_preamble());
    say(admin_op::greet, proofs_.my_greet());
  }

  static hello honest_hello() {
    return {.version = protocol_version,
            .name = "raw",
            .token = byte_vector(32, std::byte{1}),
            .serializers = {"typed", "msgpack"},
            .deserializers = {"typed", "msgpack"},
            .message_bytes = 1 << 20};
  }

  /// Runs the dialer's handshake up to the hellos.
  void prove_itself() {
    greet();
    EXPECT_TRUE(hear<struct greet>(admin_op::greet));
    proofs_.said.add_session({});
    if (!proofs_.asks_for_secret())
      return;
    say(admin_op::prove, prove{proofs_.my_proof(proof_of::secret)});
    auto theirs = hear<prove>(admin_op::prove);
    ASSERT_TRUE(theirs);
    EXPECT_TRUE(proofs_.peer_proves(proof_of::secret, theirs->proof, said_before_));
  }

  /// Returns a hello that proves that the process has opened `store`. Requires: the hello is the next message.
  template <class Store>
  hello hello_of(const Store& store) {
    auto mine = honest_hello();
    mine.store_number = store.number();
    mine.store_slot = store.self().slot;
    mine.store_nonce = store.self().nonce;
    const auto proof = make_store_proof(store.secret(), side_, mine.store_slot, mine.store_nonce, proofs_.said);
    mine.store_proof = {proof.begin(), proof.end()};
    return mine;
  }

  /// Sets the key by which nodes recognize this peer again. Takes effect if its hello lists the feature "node_key".
  void use_key(const node_key& key) { key_ = key; }

  /// Runs a correct handshake.
  void open(hello mine = honest_hello()) {
    prove_itself();
    const auto has_key = std::ranges::any_of(mine.features, [](const auto& offer) { return offer.name == "node_key"; });
    if (has_key)
      mine.token = {key_.public_part().begin(), key_.public_part().end()};
    say(admin_op::hello, mine);
    const auto greeting = hear<hello>(admin_op::hello);
    ASSERT_TRUE(greeting);
    byte_vector key_proof;
    if (has_key) {
      const auto shared = key_.shared_with(greeting->token);
      ASSERT_TRUE(shared);
      const auto proof = make_proof(bytes_view{*shared}, side_, proof_of::node_key, proofs_.said);
      key_proof = {proof.begin(), proof.end()};
    }
    say(admin_op::ready, ready{false, proofs_.my_proof(proof_of::agreement), key_proof});
    auto theirs = hear<opened>(admin_op::opened);
    ASSERT_TRUE(theirs);
    EXPECT_TRUE(proofs_.peer_proves(proof_of::agreement, theirs->proof, said_before_));
  }

  /// Runs a correct handshake, then returns the number of the actor published as `name`, or 0.
  std::uint64_t open_and_find(const std::string& name) {
    open();
    write_admin(admin_op::find, find_query{1, name});
    auto answer = hear<found>(admin_op::found);
    return answer ? answer->actor : 0;
  }

  // -- afterwards

  /// Requires: numbers count up from 0, each used once.
  void define_signature(std::vector<std::string> aliases, std::uint64_t number = 0) {
    byte_vector signature;
    append_signature(signature, {.number = number, .aliases = std::move(aliases)});
    write_packet(packet_kind::signature, 0, signature);
  }

  /// Returns the packet of a message of signature 0 with one value, which has the given header and body.
  static byte_vector message_packet(const message_head& head, bytes_view header, bytes_view body) {
    byte_vector message;
    append_message_head(message, head);
    append_element(message, {.header_number = 0, .header = header, .frames = {{.size_bytes = body.size()}}});
    message.insert(message.end(), body.begin(), body.end());
    return packet(packet_kind::message, head.flags, message);
  }

  /// Sends `receiver` a message with one i32 that has the given header and body.
  void send_int(std::uint64_t receiver, bytes_view header, bytes_view body) {
    define_signature({"i32"});
    write(message_packet({.receiver = receiver, .signature = 0}, header, body));
  }

  /// Reads packets until the node closes. Returns the reason in its goodbye or refusal, or "closed" if there was none.
  std::string farewell() {
    std::string reason = "closed";
    read_preamble();
    while (auto packet = next_packet()) {
      auto op = static_cast<admin_op>(packet->head.detail);
      if (packet->head.kind == packet_kind::admin && op == admin_op::goodbye)
        reason = msgpack::decode_described<goodbye>(packet->body).value().reason;
      if (packet->head.kind == packet_kind::admin && op == admin_op::refuse)
        reason = msgpack::decode_described<refuse>(packet->body).value().reason;
    }
    return reason;
  }

  struct read_packet {
    packet_head head;
    byte_vector body;
  };

  /// Returns nullopt if the node has closed.
  std::optional<read_packet> next_packet() {
    std::array<std::byte, packet_head_bytes> head_bytes{};
    if (!read(head_bytes))
      return std::nullopt;
    auto head = read_packet_head(head_bytes);
    read_packet result{head, byte_vector(head.body_bytes)};
    return read(result.body) ? std::optional{std::move(result)} : std::nullopt;
  }

  /// Returns all bytes that the node writes until it closes.
  byte_vector everything() {
    byte_vector all;
    std::array<std::byte, 4096> some;
    for (;;) {
      auto count = ::recv(socket_, some.data(), some.size(), 0);
      if (count <= 0)
        return all;
      all.insert(all.end(), some.begin(), some.begin() + count);
    }
  }

  /// Reads the preamble, which the node writes first. Does nothing if it has been read.
  void read_preamble() {
    std::array<std::byte, preamble_bytes> preamble{};
    if (!std::exchange(preamble_read_, true))
      read(preamble);
  }

  /// Returns false at the end of the stream or if nothing arrives within the socket's timeout of 60 seconds.
  bool read(std::span<std::byte> into) {
    while (!into.empty()) {
      auto count = ::recv(socket_, into.data(), into.size(), 0);
      if (count <= 0)
        return false;
      into = into.subspan(static_cast<std::size_t>(count));
    }
    return true;
  }

private:
  static packet_head head_of(admin_op op, bytes_view body) {
    return {.body_bytes = static_cast<std::uint32_t>(body.size()),
            .kind = packet_kind::admin,
            .detail = static_cast<std::uint8_t>(op)};
  }

  std::optional<byte_vector> read_admin_body(admin_op op) {
    auto packet = next_packet();
    if (!packet || packet->head.kind != packet_kind::admin || packet->head.detail != static_cast<std::uint8_t>(op))
      return std::nullopt;
    return std::move(packet->body);
  }

  int socket_;
  const link_side side_;
  authentication proofs_;
  transcript said_before_;
  node_key key_{sha256(bytes_of("a raw peer"))};
  bool preamble_read_ = false;
};

} // namespace troupe::tests
