// The frozen rules and the text form of recordings, tested on the recordings themselves.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <span>
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
    for (const auto& link : read_conversation(file).links) {
      std::map<end, link_reader> readers;
      for (const auto& each : link) {
        auto said = readers[each.from].read(each);
        if (said.what == statement::sort::unknown)
          continue; // Sent as it is.
        for (auto& one : said.fields)
          one.is_readers = false;
        ASSERT_TRUE(body_for(said, {}) == each.body) << file << ": " << summary_of(said);
      }
    }
  }
}

TEST(recordings_test, release_all_that_they_mention) {
  for (const auto& file : recordings())
    EXPECT_EQ(unreleased(read_conversation(file).links.back()), 0) << file;
}

TEST(conversation_text, keeps_runs_of_bytes_short) {
  conversation what{.family = "typed", .troupe = "0", .protocol = "1.2", .links = {{credit_for(3)}}};
  auto& link = what.links[0];
  link.push_back({.from = end::acceptor, .kind = kind::chunk, .detail = 1, .body = bytes_of({1, 0xf0, 0xa2, 4})});
  link.back().body.resize(70'004, std::byte{'x'});
  const auto text = to_text(what);
  EXPECT_NE(text.find("01 f0 a2 04 78*70000\n"), std::string::npos) << text;
  EXPECT_EQ(from_text(text).links.at(0).at(1).body, link[1].body);
}

TEST(conversation_text, has_numbers_for_kinds_that_it_does_not_know) {
  const packet later{.from = end::acceptor, .kind = 200, .detail = 7, .body = bytes_of({1, 2})};
  const auto text = to_text({.family = "typed", .troupe = "0", .protocol = "1.9", .links = {{later}}});
  EXPECT_NE(text.find("acceptor 200 7"), std::string::npos) << text;
  const auto back = from_text(text).links.at(0).at(0);
  EXPECT_EQ(back.kind, 200);
  EXPECT_EQ(back.body, later.body);
}

TEST(conversation_text, keeps_links_and_packets_that_were_lost) {
  conversation what{.family = "typed", .subject = "lasting", .troupe = "0", .protocol = "1.4", .links = {}};
  what.links = {{credit_for(1), credit_for(2)}, {credit_for(3)}};
  what.links[0][1].is_lost = true;
  const auto back = from_text(to_text(what));
  EXPECT_EQ(back.subject, "lasting");
  ASSERT_EQ(back.links.size(), 2u);
  EXPECT_FALSE(back.links[0].at(0).is_lost);
  EXPECT_TRUE(back.links[0].at(1).is_lost);
  EXPECT_EQ(back.links[1].at(0).body, what.links[1][0].body);
}

TEST(conversation_text, names_the_line_that_cannot_be_read) {
  EXPECT_EQ(refusal_of("family typed\n"), "line 1: no packets");
  EXPECT_EQ(refusal_of("family typed\n  00\n"), "line 2: bytes before the first packet");
  EXPECT_EQ(refusal_of("listener admin 1\n"), "line 1: \"listener\" is no end of a link");
  EXPECT_EQ(refusal_of("dialer gossip 1\n"), "line 1: \"gossip\" is no kind of packets");
  EXPECT_EQ(refusal_of("dialer 256 1\n"), "line 1: \"256\" is no kind of packets");
  EXPECT_EQ(refusal_of("dialer admin\n"), "line 1: a packet needs a kind and a detail");
  EXPECT_EQ(refusal_of("dialer admin 256\n"), "line 1: a packet needs a kind and a detail");
  EXPECT_EQ(refusal_of("dialer admin 1 found\n"), "line 1: \"found\" says nothing about a packet");
  EXPECT_EQ(refusal_of("link 2\n"), "line 1: a link that is not the next one");
  EXPECT_EQ(refusal_of("dialer admin 1\nlink 3\n"), "line 2: a link that is not the next one");
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

/// A message without elements, with an extension map.
class extended_message : public testing::Test {
protected:
  static statement read(const bytes& map) {
    link_reader reader;
    static_cast<void>(reader.read({.kind = kind::signature, .detail = 0, .body = bytes_of({0, 0})}));
    auto body = bytes_of({5, 6, 0, static_cast<int>(map.size())});
    body.insert(body.end(), map.begin(), map.end());
    return reader.read({.kind = kind::message, .detail = 16, .body = body});
  }

  static bytes entry(int key, const bytes& value) {
    auto result = bytes_of({key, static_cast<int>(value.size())});
    result.insert(result.end(), value.begin(), value.end());
    return result;
  }
  static bytes text(std::string_view what) {
    bytes result;
    for (const auto each : what)
      result.push_back(static_cast<std::byte>(each));
    return result;
  }
  static bytes number(std::uint64_t value) {
    bytes result;
    for (unsigned shift = 0; shift < 64; shift += 8)
      result.push_back(static_cast<std::byte>(value >> shift & 0xff));
    return result;
  }

  static bytes traceparent(char trace, char span) {
    return entry(3, text("00-" + std::string(32, trace) + '-' + std::string(16, span) + "-01"));
  }
  static bytes identity(std::uint64_t caller, std::uint64_t age) {
    auto value = number(caller);
    for (const auto each : {caller, std::uint64_t{2}, std::uint64_t{1}, age})
      for (const auto byte : number(each))
        value.push_back(byte);
    return entry(7, value);
  }

  static std::string difference_of(const bytes& recorded, const bytes& live) {
    bindings known;
    return difference(read(recorded), read(live), known);
  }
};

TEST_F(extended_message, may_have_other_ids_that_are_always_the_same) {
  bindings known;
  EXPECT_EQ(difference(read(traceparent('1', '2')), read(traceparent('a', 'b')), known), "");
  known.begin_link();
  EXPECT_EQ(difference(read(traceparent('1', '2')), read(traceparent('a', 'b')), known), "");
  EXPECT_NE(difference(read(traceparent('1', '3')), read(traceparent('a', 'b')), known), "");
  auto own = read(traceparent('1', '2'));
  for (auto& each : own.fields)
    each.is_readers = false; // The receiver keeps its number.
  const auto now = body_for(own, known);
  const auto map = traceparent('a', 'b');
  EXPECT_TRUE(std::ranges::equal(std::span{now}.last(map.size()), map));
}

TEST_F(extended_message, has_ids_of_the_recorded_end_as_they_are) {
  bindings known;
  known.keep_ids(read(traceparent('1', '2')));
  EXPECT_EQ(difference(read(traceparent('1', '3')), read(traceparent('1', '4')), known), "");
  EXPECT_NE(difference(read(traceparent('1', '2')), read(traceparent('1', '5')), known), "");
  EXPECT_NE(difference(read(traceparent('1', '5')), read(traceparent('1', '2')), known), "") << "a span is used twice";
}

TEST_F(extended_message, may_have_other_times_but_no_other_units) {
  EXPECT_EQ(difference_of(entry(2, number(19'900'000)), entry(2, number(3'000'000))), "");
  EXPECT_NE(difference_of(entry(2, number(19'900'000)), entry(2, number(19'900))), "");
  EXPECT_NE(difference_of(entry(2, number(19'900'000)), entry(2, bytes_of({1, 2, 3, 4}))), "");
  constexpr std::uint64_t seconds = 1'800'000'000;
  EXPECT_EQ(difference_of(entry(6, number(seconds * 1'000'000)), entry(6, number((seconds + 5) * 1'000'000))), "");
  EXPECT_NE(difference_of(entry(6, number(seconds * 1'000'000)), entry(6, number(seconds * 1'000))), "");
  EXPECT_EQ(difference_of(identity(3, 100), identity(4, 90'000'000)), "");
  EXPECT_EQ(difference_of(identity(3, 100), identity(4, 0)), "extension[7].age is 0, recorded: 100");
  EXPECT_EQ(difference_of(identity(3, 0), identity(4, 1)), "extension[7].age is 1, recorded: 0");
}

TEST_F(extended_message, may_have_more_entries_in_ascending_order) {
  auto more = entry(1, bytes_of({90}));
  const auto tracestate = entry(4, text("a=1"));
  more.insert(more.end(), tracestate.begin(), tracestate.end());
  EXPECT_EQ(difference_of(tracestate, more), "");
  EXPECT_EQ(difference_of(more, tracestate), "") << "value_bytes is stated only if it has to be";
  EXPECT_EQ(difference_of(tracestate, entry(5, text("a=1"))), "extension[4] is missing");
  auto twice = tracestate;
  twice.insert(twice.end(), tracestate.begin(), tracestate.end());
  EXPECT_THROW(read(twice), std::runtime_error);
  EXPECT_THROW(read({}), std::runtime_error);
}

// Goal: the count of questions that find nothing depends on time.
TEST(recordings_test, have_no_repeated_questions_that_find_nothing) {
  const auto name_of_ledger = bytes_of({0xa4, 'n', 'a', 'm', 'e', 0xa1, 'x'});
  const auto find = [&](int query) {
    auto body = bytes_of({0x82, 0xa5, 'q', 'u', 'e', 'r', 'y', query});
    body.insert(body.end(), name_of_ledger.begin(), name_of_ledger.end());
    return packet{.from = end::dialer, .kind = kind::admin, .detail = op::find, .body = body};
  };
  const auto found = [&](int query, int actor) {
    return packet{.from = end::acceptor,
                  .kind = kind::admin,
                  .detail = op::found,
                  .body = bytes_of({0x82, 0xa5, 'q', 'u', 'e', 'r', 'y', query, 0xa5, 'a', 'c', 't', 'o', 'r', actor})};
  };
  const packets link{find(1), found(1, 7), find(2), find(3), found(2, 0), found(3, 0), find(4), found(4, 8), find(5)};
  std::vector<int> kept;
  for (const auto& each : without_polling(link))
    kept.push_back(std::to_integer<int>(each.body.at(7)));
  EXPECT_EQ(kept, (std::vector{1, 1, 2, 2, 4, 4}));
}

} // namespace
} // namespace troupe::tests::compat
