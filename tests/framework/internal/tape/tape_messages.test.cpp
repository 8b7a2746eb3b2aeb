// Messages from the packets of tapes: whole ones, those of which parts are missing, and forged ones.
#include <troupe/framework/internal/tape/tape_messages.hpp>

#include <gtest/gtest.h>

#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/tape.hpp>
#include <troupe/serializers/serialize.hpp>

#include "tape_support.hpp"

namespace troupe::internal {
namespace {

struct weather {
  std::string place;
  double celsius = 0;
};
TROUPE_DESCRIBE(weather, place, celsius)

/// Writes packets as a link does, and takes them from the tape.
class tape_messages_test : public testing::Test {
protected:
  tape_messages_test() { types_.add<weather>("test.weather"); }

  template <class T>
  payload encoded(const T& value, const std::string& family = "typed") {
    auto done = serialize(value, {.serializers = {family}}, types_, families_);
    if (!done)
      throw std::runtime_error(done.error().message());
    return *std::move(done);
  }

  std::optional<tape_event> take(const tape_record& record) { return messages_.take(record, 1000); }

  std::optional<tape_event> packet(packet_kind kind, const byte_vector& body, tape_side writer = tape_side::recorder,
                                   std::uint8_t detail = 0, std::uint64_t at = 5) {
    return take(tape_packet{.link = 1, .writer = writer, .at = at, .kind = kind, .detail = detail, .body = body});
  }

  std::optional<tape_event> signature(std::uint64_t number, std::vector<std::string> aliases,
                                      tape_side writer = tape_side::recorder) {
    byte_vector body;
    append_signature(body, {.number = number, .aliases = std::move(aliases)});
    return packet(packet_kind::signature, body, writer);
  }

  std::optional<tape_event> header(std::uint64_t number, const payload& of, tape_side writer = tape_side::recorder) {
    byte_vector body;
    append_header(body, {number, of.header.bytes()});
    return packet(packet_kind::header, body, writer);
  }

  std::optional<tape_event> chunk(std::uint64_t transfer, std::uint64_t total, std::string_view bytes, bool first) {
    byte_vector body;
    append_chunk_head(body, {.transfer = transfer, .total_bytes = total}, first);
    const auto more = tests::bytes_of(bytes);
    body.insert(body.end(), more.begin(), more.end());
    return packet(packet_kind::chunk, body, tape_side::recorder, first ? chunk_flags::first : 0);
  }

  /// The body of a message with one element.
  static byte_vector message_body(message_head head, std::uint64_t header, const payload& content,
                                  std::vector<frame_descriptor> frames = {}) {
    byte_vector body;
    append_message_head(body, head);
    element_descriptor element{.header_number = header, .header = content.header.bytes()};
    if (frames.empty())
      for (const auto& each : content.frames)
        frames.push_back({.size_bytes = each.size_bytes()});
    element.frames = frames;
    append_element(body, element);
    for (std::size_t i = 0; i < frames.size(); ++i)
      if (frames[i].place == frame_place::inline_) {
        const auto bytes = content.frames[i].bytes();
        body.insert(body.end(), bytes.begin(), bytes.end());
      }
    return body;
  }

  tape_message sent(const byte_vector& body, std::uint8_t flags = 0, tape_side writer = tape_side::recorder,
                    std::uint64_t at = 5) {
    auto event = packet(packet_kind::message, body, writer, flags, at);
    EXPECT_TRUE(event && std::holds_alternative<tape_message>(*event)) << damage_in(event);
    return event && std::holds_alternative<tape_message>(*event) ? std::get<tape_message>(*event) : tape_message{};
  }

  static std::string damage_in(const std::optional<tape_event>& event) {
    const auto* damage = event ? std::get_if<tape_damage>(&*event) : nullptr;
    return damage != nullptr ? damage->what : "";
  }

  type_registry types_;
  family_set families_;
  tape_messages messages_{{}};
};

TEST_F(tape_messages_test, a_message_has_its_actors_its_types_and_its_values) {
  const auto value = encoded(weather{"roof", 21.5});
  EXPECT_FALSE(signature(0, {"test.weather"}));
  EXPECT_FALSE(header(1, value));
  EXPECT_FALSE(take(tape_actor_named{.link = 1, .exporter = tape_side::peer, .number = 12, .name = "cup"}));
  const auto body = message_body({.receiver = 12, .sender = 300}, 1, value);
  const auto message = sent(body);
  EXPECT_EQ(message.number, 1u);
  EXPECT_EQ(message.at.count(), 5);
  EXPECT_EQ(message.kind, tape_message_kind::plain);
  EXPECT_EQ(message.to.number, 12u);
  EXPECT_EQ(message.to.exporter, tape_side::peer);
  EXPECT_EQ(message.to.name, "cup");
  EXPECT_EQ(message.from.number, 300u);
  EXPECT_EQ(message.from.exporter, tape_side::recorder);
  EXPECT_EQ(message.wire_bytes, packet_head_bytes + body.size());
  EXPECT_EQ(message.missing, "");
  ASSERT_EQ(message.elements.size(), 1u);
  const auto& element = message.elements[0];
  EXPECT_EQ(element.type, "test.weather");
  EXPECT_EQ(element.family, "typed");
  EXPECT_EQ(element.missing, "");
  const auto back = deserialize<weather>(element.content, {}, types_, families_);
  ASSERT_TRUE(back) << back.error().message();
  EXPECT_EQ(back->place, "roof");
}

TEST_F(tape_messages_test, values_of_families_that_describe_themselves_are_read_without_their_type) {
  for (const auto* family : {"typed", "msgpack", "json"}) {
    const tape_element element{
        .type = "test.weather", .family = family, .content = encoded(weather{"roof", 21.5}, family)};
    const auto value = to_record(element);
    ASSERT_TRUE(value) << value.error().message();
    EXPECT_EQ(to_text(*value), R"({"place", "roof", "celsius", 21.5})") << family;
  }
  for (const auto* family : {"typed", "msgpack", "json"}) {
    const auto value = to_record({.type = "i32", .family = family, .content = encoded(std::int32_t{7}, family)});
    EXPECT_EQ(value ? to_text(*value) : value.error().message(), "7") << family;
    const auto text = to_record({.type = "str", .family = family, .content = encoded(std::string{"x"}, family)});
    EXPECT_EQ(text ? to_text(*text) : text.error().message(), R"("x")") << family;
  }
}

TEST_F(tape_messages_test, values_of_other_families_need_the_program) {
  const auto refused = to_record({.type = "test.weather", .family = "cereal", .content = encoded(weather{})});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), node_errc::undecodable);
  EXPECT_NE(refused.error().message().find("needs the program"), std::string::npos);
}

TEST_F(tape_messages_test, an_answer_is_matched_with_its_request) {
  const auto value = encoded(std::int32_t{7});
  for (const auto side : {tape_side::recorder, tape_side::peer}) {
    signature(0, {"i32"}, side);
    header(1, value, side);
  }
  const auto request =
      sent(message_body({.flags = message_flags::request, .receiver = 12, .sender = 3, .request_number = 9}, 1, value),
           message_flags::request);
  EXPECT_EQ(request.kind, tape_message_kind::request);
  EXPECT_EQ(request.request_number, 9u);
  const auto answer_body =
      message_body({.flags = message_flags::response, .receiver = 3, .sender = 12, .request_number = 9}, 1, value);
  const auto answer = sent(answer_body, message_flags::response, tape_side::peer, 50);
  EXPECT_EQ(answer.kind, tape_message_kind::answer);
  EXPECT_EQ(answer.answers, request.number);
  EXPECT_EQ(answer.asked_at, std::chrono::nanoseconds{5});
  const auto second = sent(answer_body, message_flags::response, tape_side::peer, 50);
  EXPECT_EQ(second.answers, 0u) << "a request has one answer";
  EXPECT_FALSE(second.asked_at);
}

TEST_F(tape_messages_test, a_frame_in_chunks_is_whole_again) {
  auto value = encoded(std::string{"hello"});
  signature(0, {"str"});
  header(1, value);
  const auto text = tests::text_of(value.frames[0].bytes());
  EXPECT_FALSE(chunk(4, text.size(), text.substr(0, 2), true));
  EXPECT_FALSE(chunk(4, 0, text.substr(2), false));
  const auto message =
      sent(message_body({}, 1, value, {{.place = frame_place::chunks, .size_bytes = text.size(), .transfer = 4}}));
  ASSERT_EQ(message.elements.size(), 1u);
  EXPECT_EQ(message.elements[0].missing, "");
  EXPECT_EQ(message.elements[0].frames[0].place, tape_frame_place::chunks);
  EXPECT_EQ(deserialize<std::string>(message.elements[0].content, {}, types_, families_), "hello");
}

TEST_F(tape_messages_test, a_missing_chunk_costs_its_frame_only) {
  auto value = encoded(std::string{"hello"});
  signature(0, {"str"});
  header(1, value);
  const auto size = value.frames[0].size_bytes();
  const auto in_chunks = [&](std::uint64_t transfer) {
    return message_body({}, 1, value, {{.place = frame_place::chunks, .size_bytes = size, .transfer = transfer}});
  };
  chunk(4, 0, "lo", false);             // The first one is missing.
  chunk(5, size, "h", true);            // The last one is missing.
  chunk(6, size, "far too long", true); // Longer than it says.
  for (const auto transfer : {4, 5, 6, 7}) {
    const auto message = sent(in_chunks(static_cast<std::uint64_t>(transfer)));
    ASSERT_EQ(message.elements.size(), 1u);
    EXPECT_NE(message.elements[0].missing.find("on the tape"), std::string::npos);
    EXPECT_FALSE(message.elements[0].frames[0].is_recorded);
    EXPECT_EQ(message.elements[0].frames[0].size_bytes, size);
    EXPECT_FALSE(to_record(message.elements[0]));
  }
  EXPECT_EQ(sent(message_body({}, 1, value)).elements[0].missing, "");
}

TEST_F(tape_messages_test, a_frame_in_the_shared_store_has_its_size) {
  auto value = encoded(std::string{"hello"});
  signature(0, {"str"});
  header(1, value);
  const auto message =
      sent(message_body({}, 1, value, {{.place = frame_place::stored, .size_bytes = 1'000'000, .object_index = 3}}));
  ASSERT_EQ(message.elements[0].frames.size(), 1u);
  EXPECT_EQ(message.elements[0].frames[0].place, tape_frame_place::store);
  EXPECT_EQ(message.elements[0].frames[0].size_bytes, 1'000'000u);
  EXPECT_NE(message.elements[0].missing.find("in the store"), std::string::npos);
}

TEST_F(tape_messages_test, a_message_without_its_definitions_is_read_as_far_as_it_goes) {
  const auto value = encoded(weather{"roof", 1});
  const auto no_signature = sent(message_body({.receiver = 1, .signature = 7}, 0, value));
  EXPECT_EQ(no_signature.missing, "signature 7 is not on the tape");
  ASSERT_EQ(no_signature.elements.size(), 1u);
  EXPECT_EQ(no_signature.elements[0].type, "test.weather") << "its own header has it";
  EXPECT_TRUE(to_record(no_signature.elements[0]));
  signature(0, {"test.weather"});
  const auto no_header = sent(message_body({.receiver = 1}, 9, value));
  ASSERT_EQ(no_header.elements.size(), 1u);
  EXPECT_EQ(no_header.elements[0].type, "test.weather");
  EXPECT_EQ(no_header.elements[0].missing, "header 9 is not on the tape");
}

TEST_F(tape_messages_test, a_value_that_was_passed_within_the_process_has_its_size) {
  byte_vector body;
  append_message_head(body, {.receiver = 4});
  append_varint(body, 1234);
  const auto event = packet(packet_kind::value, body);
  ASSERT_TRUE(event && std::holds_alternative<tape_message>(*event));
  EXPECT_EQ(std::get<tape_message>(*event).value_bytes, 1234u);
}

TEST_F(tape_messages_test, a_returned_message_comes_from_an_actor_of_its_reader) {
  const auto value = encoded(std::int32_t{7});
  signature(0, {"i32"});
  const auto message = sent(message_body({.flags = message_flags::returned, .receiver = 2, .sender = 3}, 0, value),
                            message_flags::returned);
  EXPECT_EQ(message.from.exporter, tape_side::peer);
}

TEST_F(tape_messages_test, definitions_may_come_again_but_not_with_another_content) {
  EXPECT_FALSE(signature(0, {"i32"}));
  EXPECT_FALSE(signature(0, {"i32"}));
  EXPECT_EQ(damage_in(signature(0, {"i64"})),
            "in the block that begins here: signature 0 comes again with other types");
  EXPECT_FALSE(header(1, encoded(std::int32_t{7})));
  EXPECT_NE(damage_in(header(1, encoded(std::int64_t{7}))).find("comes again with another content"), std::string::npos);
}

TEST_F(tape_messages_test, packets_that_cannot_be_read_are_damage_and_end_nothing) {
  EXPECT_NE(damage_in(packet(packet_kind::admin, {})), "");
  EXPECT_NE(damage_in(packet(packet_kind::message, {})), "");
  EXPECT_NE(damage_in(packet(packet_kind::chunk, {})), "");
  EXPECT_NE(damage_in(packet(packet_kind::signature, {})), "");
  EXPECT_NE(damage_in(packet(packet_kind::header, {})), "");
  EXPECT_NE(damage_in(packet(packet_kind::value, {})), "");
  EXPECT_NE(damage_in(packet(packet_kind::handles, tests::from_hex("ff"))), "");
  const auto value = encoded(std::int32_t{7});
  signature(0, {"i32"});
  auto body = message_body({}, 0, value);
  const auto whole = body;
  for (std::size_t size = 5; size < whole.size(); ++size) {
    body.assign(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
    const auto message = sent(body);
    EXPECT_NE(message.missing, "") << size;
  }
  EXPECT_EQ(sent(whole).missing, "");
}

TEST_F(tape_messages_test, more_than_the_bounds_allow_is_not_kept) {
  tape_messages few{{.links = 2, .frame_bytes = 100, .open_frame_bytes = 150}};
  const auto event_of = [&](std::uint64_t link) {
    return few.take(tape_link_began{.link = link, .peer_name = "b"}, 0);
  };
  EXPECT_TRUE(std::holds_alternative<tape_link>(*event_of(1)));
  EXPECT_TRUE(std::holds_alternative<tape_link>(*event_of(2)));
  EXPECT_TRUE(std::holds_alternative<tape_damage>(*event_of(3)));
  EXPECT_TRUE(few.take(tape_link_ended{.link = 1}, 0));
  EXPECT_TRUE(std::holds_alternative<tape_link>(*event_of(3)));
}

TEST_F(tape_messages_test, only_the_oldest_open_requests_are_forgotten) {
  tape_messages few{{.open_requests = 2}};
  const auto value = encoded(std::int32_t{7});
  const auto take_one = [&](std::uint8_t flags, std::uint64_t number) {
    const auto is_answer = flags == message_flags::response;
    const auto body = message_body(
        {.flags = flags, .receiver = is_answer ? 3u : 12u, .sender = is_answer ? 12u : 3u, .request_number = number}, 0,
        value);
    auto event = few.take(tape_packet{.link = 1,
                                      .writer = is_answer ? tape_side::peer : tape_side::recorder,
                                      .kind = packet_kind::message,
                                      .detail = flags,
                                      .body = body},
                          0);
    return std::get<tape_message>(*event).answers;
  };
  for (std::uint64_t number = 1; number <= 3; ++number)
    take_one(message_flags::request, number);
  EXPECT_EQ(take_one(message_flags::response, 1), 0u);
  EXPECT_EQ(take_one(message_flags::response, 2), 2u);
  EXPECT_EQ(take_one(message_flags::response, 3), 3u);
  for (std::uint64_t number = 10; number < 100; ++number) { // Answered ones leave nothing behind.
    take_one(message_flags::request, number);
    EXPECT_NE(take_one(message_flags::response, number), 0u);
  }
}

TEST_F(tape_messages_test, a_link_that_begins_again_with_another_content_is_told) {
  const tape_link_began first{.link = 1, .peer_name = "b", .sends = {"typed"}};
  auto again = first;
  EXPECT_TRUE(std::holds_alternative<tape_link>(*take(first)));
  EXPECT_FALSE(take(again));
  again.is_repeated = true;
  again.at = 7;
  EXPECT_FALSE(take(again)) << "as at the beginning of each file";
  again.sends = {"json"};
  const auto told = take(again);
  ASSERT_TRUE(told);
  EXPECT_NE(std::get<tape_damage>(*told).what.find("link 1 begins again, with another content"), std::string::npos);
}

// -- the public face

class tape_test : public tape_messages_test {
protected:
  /// A tape of two files with one message each.
  std::vector<std::string> two_files() {
    auto writer = tape_writer::open(
        {.directory = folder_.path(), .file_bytes_max = tape_file_bytes_min, .codec = tape_codec::none},
        {.node = "kitchen", .software = "0.1.0", .started_at = 1'000'000'000});
    EXPECT_TRUE(writer) << writer.error().message();
    const auto value = encoded(std::string(40'000, 'x'));
    tests::add(*writer, tape_link_began{.link = 1, .recorder_name = "kitchen", .peer_name = "b"});
    byte_vector body;
    append_signature(body, {.number = 0, .aliases = {"str"}});
    tests::add(*writer, tape_packet{.link = 1, .kind = packet_kind::signature, .body = body});
    body.clear();
    append_header(body, {1, value.header.bytes()});
    tests::add(*writer, tape_packet{.link = 1, .kind = packet_kind::header, .body = body});
    for (std::uint64_t at = 1; at <= 2; ++at) {
      body = message_body({.receiver = 4}, 1, value);
      tests::add(*writer, tape_packet{.link = 1, .at = at, .kind = packet_kind::message, .body = body});
      writer->flush(at);
    }
    writer->close(9);
    return folder_.files();
  }

  static std::vector<std::string> texts_of(tape& from) {
    std::vector<std::string> texts;
    struct visitor {
      std::string operator()(const tape_link& of) const { return "link to " + of.peer_name; }
      std::string operator()(const tape_message& of) const {
        const auto value =
            of.elements.empty() ? std::unexpected{node_error{node_errc::none, "empty"}} : to_record(of.elements[0]);
        return "message " + std::to_string(of.number) + " at " + std::to_string(of.at.count()) + ' '
               + (value ? std::to_string(value->text()->size()) : value.error().message());
      }
      std::string operator()(const tape_drop&) const { return "drop"; }
      std::string operator()(const tape_link_end&) const { return "link end"; }
      std::string operator()(const tape_damage& of) const { return "damage " + of.what; }
      std::string operator()(const tape_end& of) const { return "end " + std::to_string(static_cast<int>(of.how)); }
    };
    while (const auto event = from.next())
      texts.push_back(std::visit(visitor{}, *event));
    return texts;
  }

  const tests::scratch_folder folder_;
};

TEST_F(tape_test, each_file_of_a_recording_can_be_read_alone) {
  const auto files = two_files();
  ASSERT_EQ(files.size(), 2u);
  auto first = tape::open(files[0]);
  ASSERT_TRUE(first) << first.error().message();
  EXPECT_EQ(texts_of(*first), (std::vector<std::string>{"link to b", "message 1 at 1 40000", "end 2"}));
  EXPECT_EQ(first->info().node, "kitchen");
  EXPECT_EQ(first->info().software, "0.1.0");
  EXPECT_EQ(first->info().began, std::chrono::system_clock::time_point{std::chrono::seconds{1}});
  auto second = tape::open(files[1]);
  ASSERT_TRUE(second);
  EXPECT_EQ(texts_of(*second), (std::vector<std::string>{"link to b", "message 1 at 2 40000", "end 1"}));
  EXPECT_EQ(second->info().file, 1u);
}

TEST_F(tape_test, the_files_of_a_recording_can_be_read_one_after_the_other) {
  const auto files = two_files();
  auto both = tape::open(files[0]);
  ASSERT_TRUE(both);
  texts_of(*both);
  ASSERT_TRUE(both->go_on(files[1]));
  EXPECT_EQ(texts_of(*both), (std::vector<std::string>{"message 2 at 2 40000", "end 1"}));
  EXPECT_EQ(both->go_on(files[0]).error().code(), node_errc::unreadable) << "in the wrong order";
}

TEST_F(tape_test, a_file_that_is_cut_or_flipped_anywhere_is_read_or_refused_and_never_wrong) {
  const auto content = tests::content_of(two_files()[0]);
  for (std::size_t size = 0; size < content.size(); size += size < 1000 ? 1 : 997) {
    auto cut = tape::read(bytes_view{content}.first(size));
    if (cut)
      EXPECT_EQ(texts_of(*cut).back(), "end 4") << size;
    else
      EXPECT_NE(cut.error().message().find("at byte "), std::string::npos);
  }
  for (std::size_t at = 0; at < content.size(); at += at < 1000 ? 1 : 997) {
    auto bytes = content;
    bytes[at] ^= std::byte{0x10};
    auto flipped = tape::read(bytes);
    if (!flipped)
      continue;
    const auto texts = texts_of(*flipped);
    EXPECT_TRUE(std::ranges::any_of(texts, [](const auto& each) { return each.starts_with("damage"); })) << at;
  }
}

} // namespace
} // namespace troupe::internal
