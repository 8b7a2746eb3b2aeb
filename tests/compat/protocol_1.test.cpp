// The frozen rules and the text form of recordings, tested on the recordings themselves.
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <gtest/gtest.h>

#include "protocol_1.hpp"
#include "recordings.hpp"

namespace troupe::tests::compat {
namespace {

bytes bytes_of(std::initializer_list<int> values) {
  bytes result;
  for (const auto each : values)
    result.push_back(static_cast<std::byte>(each));
  return result;
}

std::string refusal_of(const std::string& text) {
  try {
    static_cast<void>(from_text(text));
    return "accepted";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

std::string refusal_of(const packet& what) {
  try {
    static_cast<void>(link_reader{}.read(what));
    return "accepted";
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

constexpr std::uint8_t credit_kind = kind::admin;

/// {"actor": number, "bytes": 300}
packet credit_for(std::uint8_t actor) {
  auto body = bytes_of({0x82, 0xa5, 'a', 'c', 't', 'o', 'r'});
  body.push_back(static_cast<std::byte>(actor));
  for (const auto each : bytes_of({0xa5, 'b', 'y', 't', 'e', 's', 0xcd, 1, 44}))
    body.push_back(each);
  return {.from = end::dialer, .kind = credit_kind, .detail = op::credit, .body = body};
}

TEST(recordings_test, read_and_write_the_same_text) {
  ASSERT_GE(recordings().size(), 5u);
  for (const auto& file : recordings()) {
    std::ostringstream text;
    text << std::ifstream{file}.rdbuf();
    EXPECT_TRUE(to_text(from_text(text.str())) == text.str()) << file;
  }
}

// Goal: replaying changes nothing but the numbers of the live end.
TEST(recordings_test, consist_of_their_fields) {
  for (const auto& file : recordings()) {
    const auto recorded = read_conversation(file);
    std::map<end, link_reader> readers;
    for (const auto& each : recorded.packets) {
      auto said = readers[each.from].read(each);
      if (said.what == statement::sort::unknown)
        continue; // Sent as it is.
      for (auto& one : said.fields)
        one.is_readers = false;
      ASSERT_TRUE(body_for(said, {}) == each.body) << file << ": " << summary_of(said);
    }
  }
}

TEST(recordings_test, release_all_that_they_mention) {
  for (const auto& file : recordings())
    EXPECT_EQ(unreleased(read_conversation(file)), 0) << file;
}

TEST(conversation_text, keeps_runs_of_bytes_short) {
  conversation what{.family = "typed", .troupe = "0", .protocol = "1.2", .packets = {credit_for(3)}};
  what.packets.push_back(
      {.from = end::acceptor, .kind = kind::chunk, .detail = 1, .body = bytes_of({1, 0xf0, 0xa2, 4})});
  what.packets.back().body.resize(70'004, std::byte{'x'});
  const auto text = to_text(what);
  EXPECT_NE(text.find("01 f0 a2 04 78*70000\n"), std::string::npos) << text;
  EXPECT_EQ(from_text(text).packets.at(1).body, what.packets[1].body);
}

TEST(conversation_text, has_numbers_for_kinds_that_it_does_not_know) {
  const packet later{.from = end::acceptor, .kind = 200, .detail = 7, .body = bytes_of({1, 2})};
  const auto text = to_text({.family = "typed", .troupe = "0", .protocol = "1.9", .packets = {later}});
  EXPECT_NE(text.find("acceptor 200 7"), std::string::npos) << text;
  const auto back = from_text(text).packets.at(0);
  EXPECT_EQ(back.kind, 200);
  EXPECT_EQ(back.body, later.body);
}

TEST(conversation_text, names_the_line_that_cannot_be_read) {
  EXPECT_EQ(refusal_of("family typed\n"), "line 1: no packets");
  EXPECT_EQ(refusal_of("family typed\n  00\n"), "line 2: bytes before the first packet");
  EXPECT_EQ(refusal_of("listener admin 1\n"), "line 1: \"listener\" is no end of a link");
  EXPECT_EQ(refusal_of("dialer gossip 1\n"), "line 1: \"gossip\" is no kind of packets");
  EXPECT_EQ(refusal_of("dialer 256 1\n"), "line 1: \"256\" is no kind of packets");
  EXPECT_EQ(refusal_of("dialer admin\n"), "line 1: a packet needs a kind and a detail");
  EXPECT_EQ(refusal_of("dialer admin 256\n"), "line 1: a packet needs a kind and a detail");
  for (const auto* word : {"1", "123", "zz", "00*", "100*2", "0x"})
    EXPECT_EQ(refusal_of(std::string{"dialer admin 1\n  00 "} + word + '\n'),
              std::string{"line 2: \""} + word + "\" is no byte");
}

TEST(frozen_rules, refuse_what_a_frozen_reader_refuses) {
  const auto message = [](std::initializer_list<int> body) {
    return packet{.from = end::dialer, .kind = kind::message, .detail = 0, .body = bytes_of(body)};
  };
  EXPECT_EQ(refusal_of(message({1, 2, 3})), "signature 3 is not defined");
  EXPECT_EQ(refusal_of(message({1})), "a packet ends too early");
  EXPECT_EQ(refusal_of(message({0x80, 0})), "receiver: a number that is not in its shortest form");
  auto longer = credit_for(1);
  longer.body.push_back(std::byte{0});
  EXPECT_EQ(refusal_of(longer), "a packet has bytes after its end");
  EXPECT_EQ(refusal_of(packet{.from = end::dialer, .kind = kind::signature, .detail = 0, .body = bytes_of({1, 0})}),
            "a signature that is not the next one");
}

TEST(frozen_rules, tell_numbers_of_the_live_end_from_values) {
  link_reader reader;
  const auto recorded = reader.read(credit_for(3));
  const auto live = reader.read(credit_for(90));
  bindings known;
  EXPECT_EQ(difference(recorded, live, known), "");
  EXPECT_EQ(known.live("actor", 3), 90u);
  EXPECT_EQ(difference(recorded, reader.read(credit_for(91)), known), "actor is 91, recorded: 3");
  EXPECT_EQ(difference(reader.read(credit_for(4)), live, known), "actor is 90, recorded: 4");
}

TEST(frozen_rules, put_the_live_ends_numbers_in_place_of_recorded_ones) {
  auto own = link_reader{}.read(credit_for(3));
  own.fields.at(1).is_readers = true;
  bindings known;
  EXPECT_THROW(static_cast<void>(body_for(own, known)), std::runtime_error);
  ASSERT_TRUE(known.bind("actor", 3, 90));
  EXPECT_EQ(body_for(own, known), credit_for(90).body);
}

// Goal: the first row of a store has the number 0, which is not "none" as for actors.
TEST(frozen_rules, know_objects_with_the_number_zero) {
  const auto described = [](int index) {
    return link_reader{}.read(
        {.from = end::dialer, .kind = kind::handles, .detail = 0, .body = bytes_of({1, 64, 9, index, 1})});
  };
  bindings known;
  EXPECT_EQ(difference(described(1), described(0), known), "");
  EXPECT_EQ(known.live("object/9/1/1.index", 1), 0u);
  auto own = described(0);
  for (auto& each : own.fields)
    each.is_readers = true;
  for (const auto& [part, value] : {std::pair{".store", 9u}, {".generation", 1u}})
    ASSERT_TRUE(known.bind(std::string{"object/9/0/1"} + part, value, value));
  ASSERT_TRUE(known.bind("object/9/0/1.index", 0, 5));
  EXPECT_EQ(body_for(own, known), bytes_of({1, 64, 9, 5, 1}));
}

TEST(frozen_rules, ask_for_each_recorded_field) {
  const auto recorded = link_reader{}.read(credit_for(3));
  auto live = recorded;
  live.fields.pop_back();
  bindings known;
  EXPECT_EQ(difference(recorded, live, known), "bytes is missing");
  EXPECT_EQ(difference(live, recorded, known), "") << "more fields are welcome";
}

} // namespace
} // namespace troupe::tests::compat
