// An incoming message: bytes and mentions go in, values come out. Afterwards nothing of the message is left.
#include <troupe/framework/internal/link/incoming_message.hpp>

#include <algorithm>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include <troupe/framework/internal/link/value_decoder.hpp>
#include <troupe/serializers/describe.hpp>
#include <troupe/serializers/serialize.hpp>
#include <troupe/serializers/type_registry.hpp>

#include "lone_link.hpp"

namespace troupe::internal {
namespace {

struct reading_of {
  std::string sensor;
  double celsius = 0;
};
TROUPE_DESCRIBE(reading_of, sensor, celsius)

struct throws_when_made {
  throws_when_made() {
    if (throws)
      throw std::runtime_error{"no room"};
  }
  throws_when_made(const throws_when_made&) = default;

  static inline bool throws = false;
  int value = 0;
};
TROUPE_DESCRIBE(throws_when_made, value)

frame frame_of(std::uint64_t size_bytes) {
  return frame::copy_of(byte_vector(static_cast<std::size_t>(size_bytes), std::byte{0xff}));
}

class fake_finder final : public mention_finder {
public:
  std::expected<caf::strong_actor_ptr, node_error> find_actor(const actor_mention& which) override {
    if (which.number > 100)
      return std::unexpected{node_error{node_errc::protocol_violation, "nobody"}};
    actors += which.readers ? "own " : "theirs ";
    return nullptr;
  }
  std::expected<std::vector<object_source_ptr>, node_error>
  receive_objects(const std::vector<object_mention>& described) override {
    std::vector<object_source_ptr> sources;
    for (const auto& each : described)
      sources.push_back(std::make_shared<local_object>(frame_of(each.handle.size_bytes)));
    return sources;
  }
  std::expected<frame, node_error> receive_frame(const frame_descriptor& where) override {
    if (where.object_index == 0)
      return std::unexpected{node_error{node_errc::object_lost, "lost"}};
    return frame_of(where.size_bytes);
  }

  std::string actors;
};

class message_in : public testing::Test {
protected:
  message_in() {
    types_.add<reading_of>("reading");
    types_.add<throws_when_made>("never");
    accepted_.accept({"typed"});
    decoder_.open({.limits = limits{}, .types = &types_});
  }

  /// Defines the signature and returns it.
  const signature& signed_as(std::vector<std::string> aliases) {
    byte_vector body;
    append_signature(body, {.number = known_.signatures(), .aliases = std::move(aliases)});
    const auto added = known_.add_signature(body);
    EXPECT_TRUE(added);
    return **added;
  }
  template <class T>
  payload encoded(const T& value) {
    return *serialize(value, {.serializers = {"typed"}}, types_, families_);
  }
  /// Defines the header and returns its number.
  std::uint64_t header_of(const payload& what) {
    byte_vector body;
    append_header(body, {known_.headers() + 1, what.header.bytes()});
    EXPECT_TRUE(known_.add_header(body));
    return known_.headers();
  }
  /// Appends an element inside the packet. With `number` 0 it contains its header.
  static void append(byte_vector& out, const payload& what, std::uint64_t number,
                     std::vector<actor_mention> actors = {}, std::uint64_t objects = 0) {
    element_descriptor element{.header_number = number, .actors = std::move(actors), .objects = objects};
    if (number == 0)
      element.header = what.header.bytes();
    for (const auto& each : what.frames)
      element.frames.push_back({.size_bytes = each.size_bytes()});
    append_element(out, element);
    for (const auto& each : what.frames)
      out.insert(out.end(), each.bytes().begin(), each.bytes().end());
  }
  static void append_stored(byte_vector& out, const payload& what, frame_descriptor where) {
    append_element(out, {.header = what.header.bytes(), .frames = {where}});
  }
  std::expected<bytes_beside_packet, node_error> read(const byte_vector& packet, std::size_t count,
                                                      bool repeated = false) {
    packet_reader in{packet};
    return incoming_.read(in, count, repeated);
  }
  std::expected<void, node_error> describe(std::uint64_t size_bytes, bool is_repeated = false) {
    object_mention mention{.what = object_mention::kind::counted, .is_repeated = is_repeated};
    mention.handle.name = {.store = 7, .index = 1, .generation = 1};
    mention.handle.size_bytes = size_bytes;
    byte_vector body;
    append_object_mention(body, mention);
    return incoming_.describe(body);
  }

  type_registry types_;
  const family_set families_;
  acceptance accepted_{types_, families_, limits{}, false, 1024};
  traffic_table counts_;
  received_dictionary known_{accepted_, &counts_};
  fake_finder finder_;
  frame_claims claims_{{.frame_bytes_max = 1000, .total_bytes_max = 1000}, finder_};
  incoming_message incoming_{limits{}, claims_, finder_};
  link_mutex mutex_;
  heard_admin_output admin_{mutex_};
  value_decoder decoder_{"near", accepted_, known_, &counts_, admin_};
};

TEST_F(message_in, elements_are_decoded_by_headers_with_and_without_a_number) {
  const auto& types = signed_as({"str", "reading"});
  const auto first = encoded(std::string{"oven"});
  const auto second = encoded(reading_of{"oven", 21.5});
  byte_vector packet;
  append(packet, first, header_of(first));
  append(packet, second, 0);
  incoming_message::reading reading{incoming_};
  ASSERT_TRUE(read(packet, 2));
  message_under_construction built{types, {}};
  const auto takes = decoder_.decode(incoming_.elements(), types, built);
  ASSERT_TRUE(takes) << takes.error().message();
  EXPECT_GT(*takes, 0u);
  reading.end();
  EXPECT_TRUE(incoming_.is_empty());
  const auto whole = std::move(built).finish(nullptr, caf::make_message_id());
  EXPECT_EQ(whole->content().get_as<std::string>(0), "oven");
  EXPECT_EQ(whole->content().get_as<reading_of>(1).celsius, 21.5);
}

TEST_F(message_in, one_plain_element_needs_no_list) {
  const auto& types = signed_as({"str"});
  const auto value = encoded(std::string{"oven"});
  byte_vector packet;
  append(packet, value, header_of(value));
  packet_reader in{packet};
  const auto plain = read_plain_element(in);
  ASSERT_TRUE(plain);
  message_under_construction built{types, {}};
  ASSERT_TRUE(decoder_.decode(std::span{&*plain, 1}, types, built));
  EXPECT_TRUE(incoming_.is_empty());
  EXPECT_EQ(counts_.of("typed", "str").totals().payloads, 1u);
}

TEST_F(message_in, nothing_is_left_of_a_message_wherever_it_breaks_off) {
  signed_as({"str", "str"});
  const auto value = encoded(std::string{"oven"});
  byte_vector packet;
  append(packet, value, 0, {{.number = 1}}, 1);
  append(packet, value, 0, {{.number = 2, .readers = true}});
  for (std::size_t size = 0; size < packet.size(); ++size) {
    ASSERT_TRUE(describe(10));
    incoming_message::reading reading{incoming_};
    EXPECT_FALSE(read({packet.begin(), packet.begin() + static_cast<std::ptrdiff_t>(size)}, 2));
    reading.end();
    EXPECT_TRUE(incoming_.is_empty()) << size;
  }
  ASSERT_TRUE(describe(10));
  incoming_message::reading reading{incoming_};
  EXPECT_TRUE(read(packet, 2));
}

TEST_F(message_in, an_actor_that_the_peer_may_not_name_ends_it) {
  byte_vector packet;
  append(packet, encoded(std::string{"oven"}), 0, {{.number = 1}, {.number = 101}});
  incoming_message::reading reading{incoming_};
  const auto refused = read(packet, 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(), "nobody");
  EXPECT_EQ(finder_.actors, "theirs ");
}

TEST_F(message_in, only_stand_ins_cost_memory) {
  byte_vector packet;
  append(packet, encoded(std::string{"oven"}), 0, {{.number = 1}, {.number = 2, .readers = true}}, 1);
  ASSERT_TRUE(describe(10));
  incoming_message::reading reading{incoming_};
  const auto beside = read(packet, 1);
  ASSERT_TRUE(beside);
  EXPECT_EQ(beside->mention_bytes, 2 * mention_cost_bytes) << "one actor of the peer's, one object";
}

TEST_F(message_in, objects_go_to_the_elements_that_mention_them) {
  byte_vector packet;
  append(packet, encoded(std::string{"oven"}), 0, {}, 2);
  append(packet, encoded(std::string{"oven"}), 0, {}, 1);
  for (const std::uint64_t size : {1, 2, 3})
    ASSERT_TRUE(describe(size, size == 3));
  EXPECT_TRUE(incoming_.is_described());
  incoming_message::reading reading{incoming_};
  const auto beside = read(packet, 2);
  ASSERT_TRUE(beside);
  EXPECT_FALSE(incoming_.is_described());
  EXPECT_EQ(beside->behind_handles.bytes, 3u) << "what is repeated counts already";
  EXPECT_EQ(beside->behind_handles.counted.size(), 2u);
  EXPECT_EQ(beside->behind_handles.repeated.size(), 1u);
  ASSERT_EQ(incoming_.elements()[0].objects.size(), 2u);
  ASSERT_EQ(incoming_.elements()[1].objects.size(), 1u);
  EXPECT_EQ(incoming_.elements()[1].objects[0]->size_bytes(), 3u);
  EXPECT_EQ(incoming_.named_objects().size(), 3u);
}

TEST_F(message_in, as_many_objects_are_mentioned_as_are_described) {
  byte_vector packet;
  append(packet, encoded(std::string{"oven"}), 0, {}, 2);
  ASSERT_TRUE(describe(1));
  incoming_message::reading reading{incoming_};
  const auto refused = read(packet, 1);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message(), "a message mentions 2 objects, and 1 are described");
}

TEST_F(message_in, descriptions_are_bounded_and_checked) {
  const std::byte garbage{0xff};
  EXPECT_FALSE(incoming_.describe(std::span{&garbage, 1}));
  incoming_.forget_described();
  EXPECT_TRUE(incoming_.is_empty());
  for (std::size_t i = 0; i < message_objects_max; ++i)
    ASSERT_TRUE(describe(1));
  EXPECT_FALSE(describe(1));
}

TEST_F(message_in, a_frame_that_came_in_chunks_counts_with_its_message) {
  const auto value = encoded(std::string{"oven"});
  const auto body = value.frames[0];
  byte_vector chunk;
  append_chunk_head(chunk, {5, body.size_bytes()}, true);
  chunk.insert(chunk.end(), body.bytes().begin(), body.bytes().end());
  ASSERT_TRUE(claims_.on_chunk(chunk_flags::first, chunk));
  byte_vector packet;
  append_element(packet, {.header = value.header.bytes(),
                          .frames = {{.place = frame_place::chunks, .size_bytes = body.size_bytes(), .transfer = 5}}});
  incoming_message::reading reading{incoming_};
  const auto beside = read(packet, 1);
  ASSERT_TRUE(beside);
  EXPECT_EQ(beside->chunk_bytes, body.size_bytes());
  EXPECT_EQ(claims_.living_bytes(), body.size_bytes());
  reading.end();
  EXPECT_EQ(claims_.living_bytes(), 0u);
}

TEST_F(message_in, chunks_are_checked) {
  EXPECT_FALSE(claims_.on_chunk(2, {})) << "a flag that binds";
  EXPECT_FALSE(claims_.on_chunk(chunk_flags::first, {}));
  byte_vector large;
  append_chunk_head(large, {5, 900}, true);
  large.resize(large.size() + chunk_bytes_max + 1);
  EXPECT_FALSE(claims_.on_chunk(chunk_flags::first, large));
}

TEST_F(message_in, a_frame_that_is_lost_is_nobodys_fault) {
  const auto& types = signed_as({"str"});
  byte_vector packet;
  append_stored(packet, encoded(std::string{"oven"}), {.place = frame_place::stored, .size_bytes = 9});
  incoming_.share_store(7);
  incoming_message::reading reading{incoming_};
  const auto beside = read(packet, 1);
  ASSERT_TRUE(beside);
  EXPECT_EQ(beside->behind_handles.bytes, 9u);
  message_under_construction built{types, {}};
  const auto decoded = decoder_.decode(incoming_.elements(), types, built);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code(), node_errc::undecodable);
  EXPECT_EQ(decoded.error().message(), "lost");
  const auto undecoded = incoming_.undecoded(types, {}, known_);
  ASSERT_TRUE(undecoded);
  EXPECT_FALSE(*undecoded) << "it cannot be passed on";
}

TEST_F(message_in, stored_frames_that_are_repeated_count_with_an_earlier_message) {
  byte_vector packet;
  append_stored(packet, encoded(std::string{"oven"}),
                {.place = frame_place::stored, .size_bytes = 9, .object_index = 3, .object_generation = 2});
  incoming_.share_store(7);
  incoming_message::reading reading{incoming_};
  const auto beside = read(packet, 1, true);
  ASSERT_TRUE(beside);
  EXPECT_EQ(beside->behind_handles.bytes, 0u);
  ASSERT_EQ(beside->behind_handles.repeated.size(), 1u);
  EXPECT_EQ(beside->behind_handles.repeated[0], (store::object_id{7, 3, 2}));
}

TEST_F(message_in, a_message_that_is_passed_on_has_the_same_bytes) {
  const auto& types = signed_as({"nobody.knows", "str"});
  auto unknown = encoded(std::string{"oven"});
  unknown.header = make_header({.family = "typed", .type = "nobody.knows"});
  const auto text = encoded(std::string{"cup"});
  const auto number = header_of(text);
  byte_vector packet;
  append(packet, unknown, 0, {{.number = 1}});
  append(packet, text, number);
  incoming_message::reading reading{incoming_};
  ASSERT_TRUE(read(packet, 2));
  const std::byte map{0};
  const auto whole = incoming_.undecoded(types, std::span{&map, 1}, known_);
  ASSERT_TRUE(whole && *whole);
  EXPECT_EQ((*whole)->extensions.size(), 1u);
  ASSERT_EQ((*whole)->elements.size(), 2u);
  const auto& first = (*whole)->elements[0];
  EXPECT_FALSE(first.comes_again);
  EXPECT_TRUE(std::ranges::equal(first.header, unknown.header.bytes()));
  EXPECT_TRUE(std::ranges::equal(first.frames[0].bytes(), unknown.frames[0].bytes()));
  EXPECT_EQ(first.actors.size(), 1u);
  EXPECT_TRUE((*whole)->elements[1].comes_again);
}

TEST_F(message_in, a_payload_of_another_type_than_the_signature_says_ends_the_link) {
  const auto& types = signed_as({"reading"});
  byte_vector packet;
  append(packet, encoded(std::string{"oven"}), 0);
  incoming_message::reading reading{incoming_};
  ASSERT_TRUE(read(packet, 1));
  message_under_construction built{types, {}};
  const auto decoded = decoder_.decode(incoming_.elements(), types, built);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code(), node_errc::protocol_violation);
  EXPECT_EQ(decoded.error().message(), "a payload of type \"str\" was sent, but the signature says \"reading\"");
  EXPECT_EQ(incoming_.undecoded(types, {}, known_).error().message(), decoded.error().message());
}

TEST_F(message_in, an_unknown_type_is_told_once) {
  const auto& types = signed_as({"str", "nobody.knows"});
  byte_vector packet;
  append(packet, encoded(std::string{"oven"}), 0);
  append(packet, encoded(std::string{"oven"}), 0);
  incoming_message::reading reading{incoming_};
  ASSERT_TRUE(read(packet, 2));
  for (int i = 0; i < 2; ++i) {
    message_under_construction built{types, {}};
    const auto decoded = decoder_.decode(incoming_.elements(), types, built);
    ASSERT_FALSE(decoded);
    EXPECT_EQ(decoded.error().message(),
              "near has no type \"nobody.knows\" in its registry; add it there with types.add<T>(\"nobody.knows\")");
  }
  const auto told = admin_.hear<type_refused>(admin_op::type_refused);
  ASSERT_TRUE(told);
  EXPECT_EQ(told->alias, "nobody.knows");
  EXPECT_TRUE(admin_.is_silent());
}

TEST_F(message_in, a_constructor_that_throws_fails_the_message_only) {
  const auto& types = signed_as({"never"});
  auto value = encoded(std::string{"oven"});
  value.header = make_header({.family = "typed", .type = "never"});
  byte_vector packet;
  append(packet, value, 0);
  incoming_message::reading reading{incoming_};
  ASSERT_TRUE(read(packet, 1));
  message_under_construction built{types, {}};
  throws_when_made::throws = true;
  const auto decoded = decoder_.decode(incoming_.elements(), types, built);
  throws_when_made::throws = false;
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code(), node_errc::undecodable);
  EXPECT_EQ(decoded.error().message(), "type \"never\" cannot be made: no room");
}

TEST_F(message_in, a_damaged_value_fails_the_message_only) {
  const auto& types = signed_as({"reading"});
  auto value = encoded(reading_of{"oven", 21.5});
  value.frames[0] = frame_of(1);
  byte_vector packet;
  append(packet, value, 0);
  incoming_message::reading reading{incoming_};
  ASSERT_TRUE(read(packet, 1));
  message_under_construction built{types, {}};
  const auto decoded = decoder_.decode(incoming_.elements(), types, built);
  ASSERT_FALSE(decoded);
  EXPECT_EQ(decoded.error().code(), node_errc::undecodable);
  EXPECT_TRUE(admin_.is_silent()) << "it was the value, not the type";
}

} // namespace
} // namespace troupe::internal
