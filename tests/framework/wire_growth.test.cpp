// The parts of the protocol that let it grow: features in the hello, extension maps of messages, and numbers that tell
// a reader whether it has to understand an unknown part.
#include <atomic>
#include <filesystem>
#include <future>
#include <list>
#include <set>

#include <troupe/base/version.hpp>
#include <troupe/framework/internal/wire/message_extensions.hpp>
#include <troupe/serializers/record.hpp>

#include "raw_peer.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

using namespace internal;

class wire_growth : public two_nodes {
protected:
  void SetUp() override {
    publish("echo", far().system.spawn([]() -> caf::behavior { return {[](int value) { return value; }}; }));
    // Publishes the actors that it is sent.
    publish("keeper", far().system.spawn([this]() -> caf::behavior {
      return {[this](const caf::actor& kept) { EXPECT_TRUE(far().home->publish("kept", kept)); }};
    }));
  }

  static hello hello_with(std::vector<feature_offer> features) {
    auto mine = raw_peer::honest_hello();
    mine.features = std::move(features);
    return mine;
  }

  template <class T>
  payload encoded(const T& value, const std::string& alias) {
    type_registry own;
    own.add<T>(alias);
    auto made = serialize(value, {.serializers = {"typed"}}, own, far().families);
    EXPECT_TRUE(made);
    return *std::move(made);
  }

  static std::uint64_t find(raw_peer& by, const std::string& name) {
    by.write_admin(admin_op::find, find_query{1, name});
    while (auto packet = by.next_packet())
      if (packet->head.kind == packet_kind::admin && packet->head.detail == static_cast<std::uint8_t>(admin_op::found))
        return msgpack::decode_described<found>(packet->body).value().actor;
    return 0;
  }

  /// Sends a request by `by` and expects its answer.
  void expect_answer(raw_peer& by, std::uint8_t further_flags, bytes_view extensions = {}) {
    const auto four = encoded(4, "i32");
    by.define_signature({"i32"});
    by.write(raw_peer::message_packet({.flags = static_cast<std::uint8_t>(message_flags::request | further_flags),
                                       .receiver = find(by, "echo"),
                                       .sender = 9,
                                       .request_number = 1,
                                       .extensions = extensions},
                                      four.header.bytes(), four.frames[0].bytes()));
    const auto answer = next_message(by);
    ASSERT_TRUE(answer) << by.farewell();
    EXPECT_EQ(answer->flags, message_flags::response);
  }

  struct heard {
    std::uint8_t flags;
    byte_vector extensions;
  };
  static std::optional<heard> next_message(raw_peer& from) {
    while (auto packet = from.next_packet())
      if (packet->head.kind == packet_kind::message) {
        packet_reader in{packet->body};
        const auto head = read_message_head(in, packet->head.detail);
        return heard{head.flags, {head.extensions.begin(), head.extensions.end()}};
      }
    return std::nullopt;
  }

  /// Sends a message from `first` through far to `last`, with the map. Returns what `last` receives.
  std::optional<heard> forwarded(const hello& of_last, bytes_view map) {
    raw_peer last{address_, {}, {.process = 1}};
    last.open(of_last);
    last.define_signature({"caf.actor"});
    const auto handle = encoded(internal::actor_form{1}, "caf.actor");
    byte_vector message;
    append_message_head(message, {.receiver = find(last, "keeper"), .signature = 0});
    append_element(message, {.header_number = 0,
                             .header = handle.header.bytes(),
                             .frames = {{.size_bytes = handle.frames[0].size_bytes()}},
                             .actors = {{.number = 7}}});
    const auto body = handle.frames[0].bytes();
    message.insert(message.end(), body.begin(), body.end());
    last.write_packet(packet_kind::message, 0, message);

    raw_peer first{address_, {}, {.process = 2}};
    first.open(hello_with(offered_features()));
    std::uint64_t kept = 0;
    EXPECT_TRUE(eventually([&] { return (kept = find(first, "kept")) != 0; }));
    const auto four = encoded(4, "i32");
    first.define_signature({"i32"});
    first.write(raw_peer::message_packet({.flags = message_flags::extended, .receiver = kept, .extensions = map},
                                         four.header.bytes(), four.frames[0].bytes()));
    return next_message(last);
  }

  static byte_vector some_map() {
    byte_vector map;
    append_extension(map, 5'000, bytes_of("nobody knows this key"));
    append_extension(map, 70'000, bytes_of("nor this one"));
    return map;
  }
};

TEST_F(wire_growth, a_hello_lists_features) {
  raw_peer peer{address_};
  peer.prove_itself();
  peer.say(admin_op::hello, raw_peer::honest_hello());
  const auto theirs = peer.hear<hello>(admin_op::hello);
  ASSERT_TRUE(theirs);
  EXPECT_EQ(theirs->features.size(), known_features.size());
}

TEST_F(wire_growth, a_hello_with_features_of_a_later_version_is_welcome) {
  raw_peer peer{address_};
  peer.open(hello_with({{"telepathy", 4}, {"extensions", 9}}));
  expect_answer(peer, 0);
}

TEST_F(wire_growth, a_link_shows_version_and_features_of_its_peer) {
  auto later = hello_with({{"telepathy", 4}, {"extensions", 9}});
  later.minor = 12;
  later.troupe = "9.8.7";
  raw_peer peer{address_};
  peer.open(later);
  const auto link = far().home->links().at(0);
  const node_version stated{.troupe = "9.8.7", .protocol = 1, .protocol_minor = 12};
  EXPECT_EQ(link.peer_version(), stated);
  const std::vector<link_feature> features{{.name = "telepathy", .version = 4, .in_use = false},
                                           {.name = "extensions", .version = 9, .in_use = true}};
  EXPECT_EQ(link.peer_features(), features);
}

TEST_F(wire_growth, nodes_state_the_version_that_they_run) {
  const auto link = connect({});
  EXPECT_EQ(link.peer_version().troupe, TROUPE_VERSION);
  EXPECT_EQ(to_string(link.peer_version()), "Troupe " TROUPE_VERSION ", protocol 1.4");
  EXPECT_EQ(link.peer_features().size(), known_features.size());
}

TEST_F(wire_growth, a_peer_that_does_not_state_its_version_is_welcome) {
  raw_peer peer{address_};
  peer.open(hello_with({}));
  const auto link = far().home->links().at(0);
  EXPECT_EQ(to_string(link.peer_version()), "an unstated version of Troupe, protocol 1.0");
  EXPECT_TRUE(link.peer_features().empty());
  expect_answer(peer, 0);
}

TEST_F(wire_growth, a_hello_with_a_long_version_is_refused) {
  auto mine = hello_with({});
  mine.troupe.assign(65, '1');
  raw_peer peer{address_};
  peer.prove_itself();
  peer.say(admin_op::hello, mine);
  expect_contains(peer.farewell(), "states a version of Troupe of 65 bytes, limit 64");
}

TEST_F(wire_growth, a_hello_that_lists_a_feature_twice_is_refused) {
  raw_peer peer{address_};
  peer.prove_itself();
  peer.say(admin_op::hello, hello_with({{"x", 1}, {"x", 1}}));
  expect_contains(peer.farewell(), "lists the feature \"x\" twice");
}

TEST_F(wire_growth, unknown_keys_of_an_extension_map_are_skipped) {
  raw_peer peer{address_};
  peer.open(hello_with(offered_features()));
  expect_answer(peer, message_flags::extended, some_map());
}

struct nothing {};
TROUPE_DESCRIBE(nothing)

// Goal: the window also limits values that take more memory than their messages state, whatever their type.
// Method: 30 messages of at most 130 kB go to an actor that keeps them waiting. The values of each message take 1 MB or
// more. The window is 4 MiB. Memory that the messages do not state has an additional bound of twice the window.
class understated : public wire_growth {
protected:
  understated() {
    far_types_ = [](type_registry& types) {
      types.add<std::multiset<std::uint8_t>>("bag").add<std::list<nothing>>("nothings");
      types.add<std::vector<std::filesystem::path>>("paths");
    };
  }

  template <class T>
  void expect_bounded(const T& value, const std::string& alias, const std::string& family = "typed") {
    std::promise<void> gate;
    const auto handled = std::make_shared<std::atomic<std::uint64_t>>(0);
    const auto stuck = far().system.spawn<caf::detached>(
        [handled, opens = gate.get_future().share()](caf::event_based_actor*) -> caf::behavior {
          return {[handled, opens](const T&) {
            opens.wait_for(20s);
            ++*handled;
          }};
        });
    publish("stuck", stuck);
    auto mine = hello_with(offered_features());
    mine.window_bytes = mine.actor_window_bytes = 4_MiB;
    raw_peer peer{address_};
    peer.open(mine);
    const auto receiver = find(peer, "stuck");
    const auto sent = serialize(value, {.serializers = {family}}, far().types, far().families);
    ASSERT_TRUE(sent) << sent.error().message();
    ASSERT_EQ(sent->frames.size(), 1u);
    ASSERT_LT(sent->size_bytes(), 130_KiB);
    peer.define_signature({alias});
    const auto stats = [&] { return far().home->links().at(0).stats(); };
    const auto send = [&] {
      peer.write(raw_peer::message_packet({.receiver = receiver}, sent->header.bytes(), sent->frames[0].bytes()));
    };
    constexpr std::uint64_t count = 30;
    for (std::uint64_t i = 0; i < count; ++i)
      send();
    EXPECT_TRUE(eventually([&] { return stats().messages_received == count; }));
    gate.set_value();
    EXPECT_TRUE(eventually([&] { return *handled + stats().undecodable == count; })) << *handled;
    const auto refused = stats().undecodable;
    EXPECT_GE(refused, 3u);
    EXPECT_LT(refused, count);
    send(); // Consumed messages make room.
    EXPECT_TRUE(eventually([&] { return *handled == count - refused + 1; })) << *handled;
    caf::anon_send_exit(stuck, caf::exit_reason::kill);
  }
};

TEST_F(understated, texts_are_held_to_the_window) {
  expect_bounded(std::vector<std::string>(32'000), "list<str>");
}
TEST_F(understated, sets_are_held_to_the_window) {
  std::multiset<std::uint8_t> bag;
  for (int i = 0; i < 60'000; ++i)
    bag.insert(7);
  expect_bounded(bag, "bag");
}
TEST_F(understated, lists_are_held_to_the_window) {
  expect_bounded(std::list<nothing>(60'000), "nothings", "msgpack");
}
TEST_F(understated, records_are_held_to_the_window) {
  expect_bounded(record(record::list(20'000)), "record", "msgpack");
}
TEST_F(understated, paths_are_held_to_the_window) {
  std::string path;
  for (int i = 0; i < 1'000; ++i)
    path += "a/";
  expect_bounded(std::vector<std::filesystem::path>(6, path), "paths");
}

TEST_F(wire_growth, an_extension_map_on_a_link_without_the_feature_ends_it) {
  raw_peer peer{address_};
  peer.open();
  const auto four = encoded(4, "i32");
  const auto map = some_map();
  peer.define_signature({"i32"});
  peer.write(raw_peer::message_packet({.flags = message_flags::extended, .receiver = 1, .extensions = map},
                                      four.header.bytes(), four.frames[0].bytes()));
  expect_contains(peer.farewell(), "not agreed on the feature \"extensions\"");
}

TEST_F(wire_growth, an_extension_map_goes_untouched_to_the_actor_of_a_third_node) {
  const auto map = some_map();
  const auto got = forwarded(hello_with(offered_features()), map);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->flags, message_flags::extended);
  EXPECT_EQ(got->extensions, map);
}

// Method: the last link does not accept the family, so the node in between decodes and re-encodes the message.
TEST_F(wire_growth, an_extension_map_survives_a_change_of_the_family) {
  auto mine = hello_with(offered_features());
  mine.deserializers = {"msgpack"};
  const auto map = some_map();
  const auto got = forwarded(mine, map);
  ASSERT_TRUE(got);
  EXPECT_EQ(got->extensions, map);
}

TEST_F(wire_growth, a_third_node_without_the_feature_gets_the_message_without_the_map) {
  const auto got = forwarded(raw_peer::honest_hello(), some_map());
  ASSERT_TRUE(got);
  EXPECT_EQ(got->flags, 0);
}

TEST_F(wire_growth, what_need_not_be_understood_is_skipped) {
  raw_peer peer{address_};
  peer.prove_itself();
  peer.say(static_cast<admin_op>(200), ping{}); // In the handshake, and part of the proof.
  peer.say(admin_op::hello, raw_peer::honest_hello());
  EXPECT_TRUE(peer.hear<hello>(admin_op::hello));
  peer.say(admin_op::ready, ready{false, peer.proofs().my_proof(proof_of::agreement)});
  EXPECT_TRUE(peer.hear<opened>(admin_op::opened));
  peer.write_packet(packet_kind::admin, 255, bytes_of("of any form")); // A number above all that this version knows.
  peer.write_packet(static_cast<packet_kind>(255), 77, bytes_of("of any form"));
  expect_answer(peer, 0x40 | 0x80);
}

TEST_F(wire_growth, what_has_to_be_understood_ends_the_link_and_is_named) {
  {
    raw_peer peer{address_};
    peer.open();
    peer.write_packet(packet_kind::admin, first_skippable_number - 1, {});
    expect_contains(peer.farewell(), "admin message 127 is mandatory");
  }
  {
    raw_peer peer{address_};
    peer.open();
    peer.write_packet(static_cast<packet_kind>(first_skippable_number - 1), 0, {});
    expect_contains(peer.farewell(), "a packet of kind 127 is mandatory");
  }
  raw_peer peer{address_};
  peer.open();
  peer.write_packet(packet_kind::message, 32, {});
  expect_contains(peer.farewell(), "a message has flags 32, which are mandatory");
}

} // namespace
} // namespace troupe::tests
