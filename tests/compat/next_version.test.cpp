// A peer of a later version, in both roles: it says everything that a later version may say, and this version works
// with it. tests/framework/wire_growth.test.cpp has each such thing by itself.
#include <future>
#include <string>

#include <troupe/base/version.hpp>
#include <troupe/framework/internal/wire/message_extensions.hpp>

#include "../framework/log_lines.hpp"
#include "../framework/raw_peer.hpp"
#include "../framework/two_nodes.hpp"

namespace troupe::tests {
namespace {

using namespace internal;

constexpr std::uint8_t later_number = 250; // Of operations and packet kinds that may be skipped.
constexpr std::uint8_t later_flag = 0x80;
constexpr std::uint64_t later_key = 5'000;
constexpr std::uint64_t echo_number = 77;
constexpr std::uint16_t later_minor = 99;

/// Appends a field to a map of msgpack that has fewer than 255 fields.
byte_vector with_later_field(byte_vector map) {
  auto& count = std::to_integer<unsigned>(map[0]) == 0xde ? map[2] : map[0];
  count = static_cast<std::byte>(std::to_integer<unsigned>(count) + 1);
  constexpr std::string_view field = "\xa8zz_later\x92\x01\xa1x"; // "zz_later": [1, "x"]
  for (const auto each : bytes_of(field))
    map.push_back(each);
  return map;
}

std::array<std::byte, preamble_bytes> later_major_preamble() {
  auto result = make_preamble();
  result[preamble_bytes - 2] = static_cast<std::byte>(protocol_version + 1);
  return result;
}

class next_version : public two_nodes {
protected:
  void SetUp() override {
    far_options_.listen = {"tcp://127.0.0.1:0"};
    far_options_.accepted_links.credentials.secret = test_secret;
    publish("echo", far().system.spawn([]() -> caf::behavior { return {[](int value) { return value; }}; }));
  }

  static link_options with_secret() {
    link_options options;
    options.credentials.secret = test_secret;
    return options;
  }

  /// Says an admin message of the handshake with a field that this version does not know.
  template <class Admin>
  static void say_more(raw_peer& by, link_side side, admin_op op, const Admin& what) {
    const auto body = with_later_field(msgpack::encode_described(what));
    say_bytes(by, side, static_cast<std::uint8_t>(op), body);
  }
  static void say_bytes(raw_peer& by, link_side side, std::uint8_t op, bytes_view body) {
    by.proofs().said.add_packet(
        side, {.body_bytes = static_cast<std::uint32_t>(body.size()), .kind = packet_kind::admin, .detail = op}, body);
    by.write_packet(packet_kind::admin, op, body);
  }

  template <class Admin>
  static void write_more(raw_peer& by, admin_op op, const Admin& what) {
    by.write_packet(packet_kind::admin, static_cast<std::uint8_t>(op),
                    with_later_field(msgpack::encode_described(what)));
  }

  static hello later_hello() {
    auto mine = raw_peer::honest_hello();
    mine.features = offered_features();
    std::erase_if(mine.features, [](const auto& offer) { return offer.name == "node_key"; });
    for (auto& each : mine.features)
      ++each.version;
    mine.features.insert(mine.features.begin(), {"telepathy", 4});
    mine.minor = later_minor;
    mine.troupe = "99.1.0";
    return mine;
  }

  static void say_what_may_be_skipped(raw_peer& by) {
    by.write_packet(packet_kind::admin, later_number, bytes_of("of any form"));
    by.write_packet(static_cast<packet_kind>(later_number), 77, bytes_of("of any form"));
  }

  /// A dialer of a later version opens a link to far.
  void open_later_dialer(raw_peer& peer) {
    constexpr auto side = link_side::dialer;
    peer.write(make_preamble());
    say_more(peer, side, admin_op::greet, peer.proofs().my_greet());
    ASSERT_TRUE(peer.hear<greet>(admin_op::greet));
    peer.proofs().said.add_session({});
    say_more(peer, side, admin_op::prove, prove{peer.proofs().my_proof(proof_of::secret)});
    ASSERT_TRUE(peer.hear<prove>(admin_op::prove));
    say_bytes(peer, side, later_number, bytes_of("of any form"));
    say_more(peer, side, admin_op::hello, later_hello());
    ASSERT_TRUE(peer.hear<hello>(admin_op::hello));
    say_more(peer, side, admin_op::ready, ready{false, peer.proofs().my_proof(proof_of::agreement)});
    ASSERT_TRUE(peer.hear<opened>(admin_op::opened));
  }

  /// An acceptor of a later version takes the link of near.
  static void open_later_acceptor(raw_peer& peer) {
    constexpr auto side = link_side::acceptor;
    ASSERT_TRUE(peer.hear<greet>(admin_op::greet));
    peer.write(make_preamble());
    say_more(peer, side, admin_op::greet, peer.proofs().my_greet());
    peer.proofs().said.add_session({});
    ASSERT_TRUE(peer.hear<prove>(admin_op::prove));
    say_more(peer, side, admin_op::prove, prove{peer.proofs().my_proof(proof_of::secret)});
    ASSERT_TRUE(peer.hear<hello>(admin_op::hello));
    say_bytes(peer, side, later_number, bytes_of("of any form"));
    say_more(peer, side, admin_op::hello, later_hello());
    ASSERT_TRUE(peer.hear<ready>(admin_op::ready));
    say_more(peer, side, admin_op::opened, opened{peer.proofs().my_proof(proof_of::agreement)});
  }

  static std::optional<raw_peer::read_packet> next(raw_peer& from, packet_kind kind, int detail = -1) {
    while (auto packet = from.next_packet())
      if (packet->head.kind == kind && (detail < 0 || packet->head.detail == detail))
        return packet;
    return std::nullopt;
  }

  static message_head head_in(const raw_peer::read_packet& packet) {
    packet_reader in{packet.body};
    return read_message_head(in, packet.head.detail);
  }

  /// A message with the integer 4 and everything that a reader may skip.
  static byte_vector later_message(message_head head) {
    type_registry types;
    family_set families;
    const auto four = serialize(4, {.serializers = {"typed"}}, types, families);
    byte_vector map;
    append_extension(map, later_key, bytes_of("nobody knows this key"));
    head.flags |= message_flags::extended | later_flag;
    head.extensions = map;
    return raw_peer::message_packet(head, four->header.bytes(), four->frames[0].bytes());
  }

  /// Finds "echo" for the dialer and answers its request with 4.
  static void serve_once(raw_peer& peer) {
    const auto asked = next(peer, packet_kind::admin, static_cast<int>(admin_op::find));
    ASSERT_TRUE(asked);
    const auto query = msgpack::decode_described<find_query>(asked->body);
    ASSERT_TRUE(query);
    write_more(peer, admin_op::found, found{.query = query->query, .actor = echo_number, .interface = {}});
    const auto request = next(peer, packet_kind::message);
    ASSERT_TRUE(request);
    const auto head = head_in(*request);
    EXPECT_EQ(head.receiver, echo_number);
    peer.define_signature({"i32"});
    peer.write(later_message({.flags = message_flags::response,
                              .receiver = head.sender,
                              .sender = echo_number,
                              .request_number = head.request_number}));
  }
};

TEST_F(next_version, dials_this_version) {
  raw_peer peer{address_, test_secret};
  open_later_dialer(peer);
  say_what_may_be_skipped(peer);
  write_more(peer, admin_op::find, find_query{1, "echo"});
  const auto answer = next(peer, packet_kind::admin, static_cast<int>(admin_op::found));
  ASSERT_TRUE(answer);
  const auto echo = msgpack::decode_described<found>(answer->body).value().actor;
  peer.define_signature({"i32"});
  peer.write(later_message({.flags = message_flags::request, .receiver = echo, .sender = 9, .request_number = 1}));
  const auto answered = next(peer, packet_kind::message);
  ASSERT_TRUE(answered) << peer.farewell();
  EXPECT_EQ(head_in(*answered).flags & message_flags::response, message_flags::response);
  EXPECT_EQ(far().home->links().at(0).peer_version().protocol_minor, later_minor);
}

TEST_F(next_version, is_dialed_by_this_version) {
  const raw_listener elsewhere;
  auto serving = std::async(std::launch::async, [&] {
    raw_peer peer{elsewhere.accept(), link_side::acceptor, test_secret, {2}};
    open_later_acceptor(peer);
    say_what_may_be_skipped(peer);
    serve_once(peer);
    EXPECT_TRUE(next(peer, packet_kind::admin, static_cast<int>(admin_op::goodbye)));
  });
  auto connected = near().home->connect(elsewhere.address(), with_secret());
  ASSERT_TRUE(connected) << connected.error().message();
  link_.emplace(*std::move(connected));
  EXPECT_EQ(ask<int>(near().system, find("echo"), 4), 4);
  EXPECT_EQ(to_string(link_->peer_version()), "Troupe 99.1.0, protocol 1.99");
  const link_feature unknown{.name = "telepathy", .version = 4, .in_use = false};
  EXPECT_EQ(link_->peer_features().at(0), unknown);
  link_->close();
  serving.get();
}

TEST_F(next_version, says_what_the_dialing_end_has_to_understand_and_is_told_so) {
  const raw_listener elsewhere;
  auto farewell = std::async(std::launch::async, [&] {
    raw_peer peer{elsewhere.accept(), link_side::acceptor, test_secret, {2}};
    open_later_acceptor(peer);
    peer.write_packet(packet_kind::admin, first_skippable_number - 1, {});
    return peer.farewell();
  });
  auto connected = near().home->connect(elsewhere.address(), with_secret());
  ASSERT_TRUE(connected) << connected.error().message();
  expect_contains(farewell.get(), "admin message 127 is mandatory");
  EXPECT_TRUE(eventually([&] { return !connected->is_open(); }));
}

TEST_F(next_version, of_another_major_version_is_refused_by_the_dialing_end_which_names_both) {
  const raw_listener elsewhere;
  auto closed = std::async(std::launch::async, [&] {
    raw_peer peer{elsewhere.accept(), link_side::acceptor, test_secret, {2}};
    peer.write(later_major_preamble());
    return peer.farewell();
  });
  const auto connected = near().home->connect(elsewhere.address(), with_secret());
  ASSERT_FALSE(connected);
  expect_contains(connected.error().message(),
                  "the peer speaks version 2 of the link protocol, this node version 1: upgrade the older of the two");
  EXPECT_EQ(connected.error().code(), node_errc::version_mismatch);
  closed.get();
}

TEST_F(next_version, of_another_major_version_is_refused_by_the_listening_end_which_names_both) {
  const log_lines log{log_level::info};
  raw_peer peer{address_, test_secret};
  peer.write(later_major_preamble());
  const auto preamble = make_preamble();
  EXPECT_EQ(peer.everything(), byte_vector(preamble.begin(), preamble.end())) << "which states its own version";
  EXPECT_TRUE(eventually([&] {
    return log.with("the peer speaks version 2 of the link protocol, this node version 1") > 0;
  })) << log.text();
}

} // namespace
} // namespace troupe::tests
