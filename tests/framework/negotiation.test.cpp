// Goal: after the peer has once failed to read a type, sending that type fails at the sender, with advice. A type that
// the peer reads in another version continues to pass.
#include "log_lines.hpp"
#include "raw_peer.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

// Versions of one type, under the same alias at both ends.
struct with_text {
  std::string sensor;
  std::string value;
};
TROUPE_DESCRIBE(with_text, sensor, value)
struct with_list {
  std::string sensor;
  std::vector<std::string> value;
};
TROUPE_DESCRIBE(with_list, sensor, value)
struct with_wide {
  std::int64_t value = 0;
};
TROUPE_DESCRIBE(with_wide, value)
struct with_narrow_and_more {
  std::int32_t value = 0;
  std::string more = "default";
};
TROUPE_DESCRIBE(with_narrow_and_more, value, more)

class type_negotiation : public two_nodes {
protected:
  type_negotiation() {
    near_types_ = [](type_registry& types) {
      types.add<secret>("test.secret");
      types.add<with_text>("test.measured");
      types.add<with_wide>("test.counted");
    };
    far_types_ = [](type_registry& types) {
      types.add<with_list>("test.measured");
      types.add<with_narrow_and_more>("test.counted");
    };
  }

  caf::actor taker(const link_options& options = {}) {
    publish("taker", far().system.spawn([]() -> caf::behavior {
      return {[](const secret& value) { return value.value; },
              [](const with_list& value) { return static_cast<int>(value.value.size()); },
              [](const with_narrow_and_more& value) { return value.more == "default" ? value.value : -1; },
              [](int value) { return value; }};
    }));
    connect(options);
    return find("taker");
  }

  std::uint64_t not_sent() { return link_->stats().unserializable; }
  std::uint64_t not_decoded() { return far().home->links().at(0).stats().undecodable; }

  /// Sends `value` twice: the peer refuses the first one, this node the second.
  template <class T>
  std::string refusal_of_the_second(const caf::actor& whom, const T& value) {
    auto first = ask<int>(near().system, whom, value);
    EXPECT_FALSE(first);
    EXPECT_EQ(not_decoded(), 1u);
    EXPECT_EQ(not_sent(), 0u);
    auto second = ask<int>(near().system, whom, value);
    EXPECT_FALSE(second);
    EXPECT_EQ(not_decoded(), 1u) << "the second was sent";
    EXPECT_EQ(not_sent(), 1u);
    if (!first && !second) {
      EXPECT_EQ(first.error().code(), second.error().code());
    }
    return text_of(second);
  }
};

TEST_F(type_negotiation, a_type_that_the_peer_does_not_have_fails_at_send) {
  auto remote = taker();
  auto text = refusal_of_the_second(remote, secret{5});
  expect_contains(text, "far has no type \"test.secret\" in its registry (fingerprint here ");
  expect_contains(text, "add it there with types.add<T>(\"test.secret\")");
  expect_contains(text, "near sends with [typed, msgpack], far accepts [typed, msgpack]");
  log_lines log{log_level::debug};
  caf::anon_send(remote, secret{6});
  EXPECT_EQ(not_sent(), 2u);
  EXPECT_EQ(log.with("warning: not sent to far: "), 0u) << "it was logged with the second message";
  EXPECT_EQ(ask<int>(near().system, remote, 7), 7) << "the link lives";
}

TEST_F(type_negotiation, a_version_that_the_peer_cannot_read_fails_at_send_with_both_fingerprints) {
  auto remote = taker();
  auto text = refusal_of_the_second(remote, with_text{"roof", "warm"});
  expect_contains(text, "far has another version of type \"test.measured\" (fingerprint there ");
  expect_contains(text, "test.measured.value: text at the sender, list at the receiver");
  expect_contains(text, "near sends with [typed, msgpack], far accepts [typed, msgpack]");
  EXPECT_EQ(ask<int>(near().system, remote, 7), 7);
}

TEST_F(type_negotiation,
       a_version_that_the_peer_cannot_read_fails_at_send_by_families_without_layouts_in_their_headers) {
  far_options_.accepted_links.serializers = {"msgpack"};
  auto remote = taker({.serializers = {"msgpack"}});
  expect_contains(refusal_of_the_second(remote, with_text{"roof", "warm"}),
                  "test.measured.value: text at the sender, list at the receiver");
}

TEST_F(type_negotiation, a_version_that_the_peer_can_read_passes_after_a_value_that_it_could_not) {
  for (const std::string family : {"typed", "msgpack"}) {
    far_options_.accepted_links.serializers = {family};
    auto remote = taker({.serializers = {family}});
    EXPECT_EQ(ask<int>(near().system, remote, with_wide{5}), 5);
    auto too_large = ask<int>(near().system, remote, with_wide{1LL << 40});
    ASSERT_FALSE(too_large);
    EXPECT_EQ(not_decoded(), 1u);
    EXPECT_EQ(ask<int>(near().system, remote, with_wide{6}), 6);
    EXPECT_EQ(not_sent(), 0u);
    link_.reset();
    near_.reset();
    far_.reset();
    address_ = far_options_.listen->front();
  }
}

TEST_F(type_negotiation, an_answer_of_a_type_that_the_asker_does_not_have_is_the_reason_each_time) {
  std::swap(near_types_, far_types_); // Now the far end has test.secret.
  publish("keeper", far().system.spawn([]() -> caf::behavior { return {[](int value) { return secret{value}; }}; }));
  connect();
  auto remote = find("keeper");
  for (int i = 0; i < 3; ++i) {
    auto answer = ask<secret>(near().system, remote, i);
    ASSERT_FALSE(answer);
    expect_contains(text_of(answer), "\"test.secret\"");
  }
  EXPECT_EQ(link_->stats().undecodable, 1u);
  EXPECT_EQ(far().home->links().at(0).stats().unserializable, 2u);
}

TEST_F(type_negotiation, a_message_of_many_elements_is_refused_for_any_of_them) {
  publish("taker", far().system.spawn([]() -> caf::behavior { return {[](int, const secret&, int) { return 1; }}; }));
  connect();
  auto remote = find("taker");
  EXPECT_FALSE(ask<int>(near().system, remote, 1, secret{2}, 3));
  auto second = ask<int>(near().system, remote, 1, secret{2}, 3);
  expect_contains(text_of(second), "far has no type \"test.secret\"");
  EXPECT_EQ(not_sent(), 1u);
}

class told_by_a_raw_peer : public two_nodes {
protected:
  /// Publishes an actor at the far end that answers each int with a reading.
  std::uint64_t sensor() {
    publish("sensor", far().system.spawn([]() -> caf::behavior {
      return {[](int) { return reading{.sensor = "roof", .celsius = 1, .samples = {}}; }};
    }));
    return peer().open_and_find("sensor");
  }
  raw_peer& peer() {
    if (!peer_)
      peer_.emplace((far(), address_));
    return *peer_;
  }
  void ask_sensor(std::uint64_t sensor, std::uint64_t number) {
    const byte_vector body{std::byte{7}};
    if (number == 1)
      peer().define_signature({"i32"});
    header_fields fields{.family = "msgpack", .type = "i32"};
    auto header = make_header(fields);
    peer().write(raw_peer::message_packet(
        {.flags = message_flags::request, .receiver = sensor, .sender = 77, .request_number = number, .signature = 0},
        header.bytes(), body));
  }

  /// Returns the aliases of the signature packets until the next answer.
  std::vector<std::string> signatures_until_answered() {
    std::vector<std::string> aliases;
    while (auto packet = peer().next_packet()) {
      if (packet->head.kind == packet_kind::signature) {
        const auto definition = read_signature(packet->body);
        if (definition)
          aliases.insert(aliases.end(), definition->aliases.begin(), definition->aliases.end());
      }
      if (packet->head.kind == packet_kind::message)
        return aliases;
    }
    ADD_FAILURE() << "the link has ended";
    return aliases;
  }

  std::optional<raw_peer> peer_;
};

TEST_F(told_by_a_raw_peer, what_it_cannot_read_is_not_sent_to_it) {
  auto number = sensor();
  ask_sensor(number, 1);
  EXPECT_EQ(signatures_until_answered(), std::vector<std::string>{"test.reading"});
  peer().write_admin(admin_op::type_refused, type_refused{.alias = "test.reading"});
  ask_sensor(number, 2);
  EXPECT_EQ(signatures_until_answered(), std::vector<std::string>{"caf.error"});
  EXPECT_EQ(far().home->links().at(0).stats().unserializable, 1u);
}

TEST_F(told_by_a_raw_peer, nonsense_about_types_refuses_nothing) {
  auto number = sensor();
  for (int i = 0; i < 3'000; ++i)
    peer().write_admin(admin_op::type_refused, type_refused{.alias = "unheard.of." + std::to_string(i)});
  for (const std::string& contract :
       {std::string{}, std::string{"nonsense"}, std::string(100'000, 'x'),
        std::string{"troupe contract 1\ntype \"test.reading\": again 5\n"}, std::string{"troupe contract 2\n"}})
    peer().write_admin(admin_op::type_refused,
                       type_refused{.alias = "test.reading", .is_known = true, .fingerprint = 1, .contract = contract});
  ask_sensor(number, 1);
  EXPECT_EQ(signatures_until_answered(), std::vector<std::string>{"test.reading"});
}

TEST_F(told_by_a_raw_peer, each_type_is_told_once_and_only_so_many) {
  publish("echo", far().system.spawn([]() -> caf::behavior { return {[](int value) { return value; }}; }));
  const auto echo = peer().open_and_find("echo");
  header_fields fields{.family = "msgpack", .type = "unheard.of"};
  const auto header = make_header(fields);
  for (std::uint64_t number = 0; number < 3'000; ++number) { // Each alias twice.
    byte_vector body;
    append_signature(body, {.number = number, .aliases = {"unheard.of." + std::to_string(number / 2)}});
    peer().write_packet(packet_kind::signature, 0, body);
    peer().write(raw_peer::message_packet({.receiver = echo, .signature = number}, header.bytes(), bytes_of("\x07")));
  }
  peer().write_admin(admin_op::find, find_query{1, "echo"});
  int told = 0;
  while (auto packet = peer().next_packet()) {
    if (packet->head.detail == static_cast<std::uint8_t>(admin_op::found))
      break;
    if (packet->head.detail == static_cast<std::uint8_t>(admin_op::type_refused)) {
      auto what = msgpack::decode_described<type_refused>(packet->body);
      ASSERT_TRUE(what);
      EXPECT_EQ(what->alias, "unheard.of." + std::to_string(told));
      EXPECT_FALSE(what->is_known);
      ++told;
    }
  }
  EXPECT_EQ(told, 1'024);
}

} // namespace
} // namespace troupe::tests
