// Payloads within payloads: they are kept encoded, forwarded, and checked against every allow-list on the way.
#include <gtest/gtest.h>

#include <troupe/serializers/serialized.hpp>

#include "rich.hpp"

namespace {

using namespace troupe;

struct envelope {
  std::string to;
  serialized content;
};
TROUPE_DESCRIBE(envelope, to, content)

struct bundle {
  std::vector<serialized> parts;
  std::map<std::string, serialized> named;
};
TROUPE_DESCRIBE(bundle, parts, named)

class nested_payloads : public testing::TestWithParam<const char*> {
protected:
  nested_payloads() { types.add<envelope>("envelope").add<bundle>("bundle").add<rich::point>("point"); }

  template <class T>
  payload encoded(const T& value, std::vector<std::string> serializers) {
    auto made = serialize(value, {.serializers = std::move(serializers), .on_error = on_error::raise, .context = {}},
                          types, families);
    EXPECT_TRUE(made.has_value()) << made.error().message();
    return made ? *std::move(made) : payload{};
  }

  template <class T>
  std::expected<T, serialize_error> decoded(const payload& from, std::vector<std::string> deserializers) {
    return deserialize<T>(from, {.deserializers = std::move(deserializers), .context = {}}, types, families);
  }

  std::vector<std::string> outer() const { return {GetParam()}; }
  bool attaches() const { return GetParam() != std::string_view("json"); }

  type_registry types;
  family_set families;
};

INSTANTIATE_TEST_SUITE_P(, nested_payloads, testing::Values("typed", "msgpack", "json"),
                         [](const auto& of) { return of.param; });

TEST_P(nested_payloads, arrive_encoded_and_are_decoded_when_asked) {
  const auto sent = encoded(envelope{"me", to_serialize(rich::point{1, 2})}, outer());
  const auto back = decoded<envelope>(sent, outer());
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_TRUE(back->content.is_encoded());
  EXPECT_EQ(back->content.header()->family, GetParam());
  EXPECT_EQ(back->content.header()->type, "point");
  const auto value = back->content.get<rich::point>({.deserializers = outer(), .context = {}}, types, families);
  ASSERT_TRUE(value.has_value()) << value.error().message();
  EXPECT_EQ(*value, (rich::point{1, 2}));
  const auto wrong = back->content.get<std::string>({.deserializers = outer(), .context = {}}, types, families);
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().code(), serialize_errc::type_mismatch);
}

TEST_P(nested_payloads, are_passed_on_with_the_same_bytes_at_the_same_addresses) {
  const array<double> grid(std::vector<double>(10'000, 0.5));
  const serialized kept(encoded(grid, {"typed"}));
  const std::vector<std::byte> before(kept.encoded().frames[0].bytes().begin(), kept.encoded().frames[0].bytes().end());
  auto passed = encoded(envelope{"b", kept}, outer());
  for (int hop = 0; hop < 3; ++hop) { // Every hop encodes the envelope with another family.
    auto there = decoded<envelope>(passed, {"typed", "msgpack", "json"});
    ASSERT_TRUE(there.has_value()) << there.error().message();
    ASSERT_EQ(there->content.encoded().frames.size(), kept.encoded().frames.size());
    for (std::size_t i = 0; i < kept.encoded().frames.size(); ++i) {
      const auto is = there->content.encoded().frames[i].bytes();
      const auto was = kept.encoded().frames[i].bytes();
      EXPECT_TRUE(std::ranges::equal(is, was));
      if (attaches() && hop == 0) {
        EXPECT_EQ(is.data(), was.data());
      }
    }
    if (attaches() && hop == 0) {
      EXPECT_EQ(there->content.encoded().header.bytes().data(), kept.encoded().header.bytes().data());
    }
    passed = encoded(*there, {hop == 0 ? "msgpack" : "typed"});
  }
  const auto last = decoded<envelope>(passed, {"typed"});
  EXPECT_EQ(*last->content.get<array<double>>({}, types, families), grid);
  EXPECT_TRUE(std::ranges::equal(kept.encoded().frames[0].bytes(), before)) << "the input must not be changed";
}

TEST_P(nested_payloads, of_large_held_values_leave_without_a_copy) {
  if (!attaches())
    GTEST_SKIP() << "bytes lie in the body";
  const auto held = to_serialize(std::vector<double>(10'000, 0.5));
  const auto value = held.get<std::vector<double>>({}, types, families);
  ASSERT_TRUE(value.has_value());
  const auto sent = encoded(envelope{"b", held}, {"typed"});
  const auto largest = std::ranges::max(sent.frames, {}, &frame::size_bytes);
  EXPECT_EQ(largest.size_bytes(), 80'000U);
  EXPECT_NE(largest.owner(), nullptr);
  const auto again = encoded(envelope{"c", held}, {"typed"});
  EXPECT_EQ(std::ranges::max(again.frames, {}, &frame::size_bytes).bytes().data(), largest.bytes().data());
}

TEST_P(nested_payloads, of_a_family_that_is_not_accepted_are_refused_unread) {
  const serialized kept(encoded(rich::point{1, 2}, {"msgpack"}));
  const auto sent = encoded(envelope{"b", kept}, {"typed"});
  const auto refused = decoded<envelope>(sent, {"typed"});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), serialize_errc::refused_family);
  EXPECT_EQ(refused.error().message(),
            "typed: envelope.content: data serialized with msgpack but this link only accepts [typed]");
}

TEST_P(nested_payloads, are_held_to_the_list_at_every_depth) {
  const serialized innermost(encoded(rich::point{1, 2}, {"msgpack"}));
  const serialized middle(encoded(envelope{"in", innermost}, {"typed"}));
  const auto sent = encoded(envelope{"out", middle}, {"typed"});
  const auto back = decoded<envelope>(sent, {"typed"}); // So far, decoding shows only the outer levels.
  ASSERT_TRUE(back.has_value()) << back.error().message();
  const auto deeper =
      back->content.get<envelope>({.deserializers = {"typed", "msgpack"}, .context = {}}, types, families);
  ASSERT_FALSE(deeper.has_value()) << "the link accepted typed only, whatever the reader lists";
  EXPECT_EQ(deeper.error().code(), serialize_errc::refused_family);
}

TEST_P(nested_payloads, stand_in_containers_and_may_be_empty) {
  bundle sent;
  sent.parts = {to_serialize(1), serialized(), to_serialize(std::string("two"))};
  sent.named.emplace("three", to_serialize(rich::point{3, 3}));
  const auto back = decoded<bundle>(encoded(sent, outer()), outer());
  ASSERT_TRUE(back.has_value()) << back.error().message();
  ASSERT_EQ(back->parts.size(), 3U);
  EXPECT_TRUE(back->parts[1].empty());
  EXPECT_FALSE(back->parts[1].get<int>({}, types, families));
  const deserialize_options options{.deserializers = outer(), .context = {}};
  EXPECT_EQ(*back->parts[0].get<int>(options, types, families), 1);
  EXPECT_EQ(*back->parts[2].get<std::string>(options, types, families), "two");
  EXPECT_EQ(*back->named.at("three").get<rich::point>(options, types, families), (rich::point{3, 3}));
}

TEST_P(nested_payloads, of_types_without_an_alias_say_so) {
  const auto made = serialize(envelope{"b", to_serialize(rich::leaf{"x"})},
                              {.serializers = outer(), .on_error = on_error::raise, .context = {}}, types, families);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(
      made.error().message(),
      std::string(GetParam())
          + ": envelope.content: rich::leaf is marked by to_serialize() but not registered: types.add<...>(alias)");
}

TEST_P(nested_payloads, end_at_a_depth) {
  serialized value = to_serialize(1);
  for (int depth = 0; depth < 300; ++depth)
    value = to_serialize(envelope{"again", value});
  const auto made = serialize(envelope{"b", value},
                              {.serializers = outer(), .on_error = on_error::raise, .context = {}}, types, families);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code(), serialize_errc::limit_exceeded);
  const auto& why = made.error().message();
  EXPECT_TRUE(why.ends_with("payloads are nested too deep (limits::depth)")) << why;
  EXPECT_LT(why.size(), 2'100U);
  const auto prefix = std::string(GetParam()) + ": ";
  EXPECT_TRUE(why.starts_with(prefix + "b.content: again.content: ")
              || why.starts_with(prefix + "envelope.content: envelope.content: "))
      << why;
  EXPECT_EQ(why.find(prefix, 1), std::string::npos) << "the family is named once: " << why;
}

// Travels as a text that reduce() creates.
struct wordy {
  std::string text;
  [[nodiscard]] std::tuple<std::string> reduce() const { return {text + text}; }
  static wordy rebuild(std::string twice) { return {twice.substr(0, twice.size() / 2)}; }
};

struct speech {
  wordy words;
};
TROUPE_DESCRIBE(speech, words)

TEST(held_values, do_not_lend_what_was_made_for_the_way) {
  type_registry types;
  const family_set families;
  types.add<envelope>("envelope").add<speech>("speech");
  const speech said{{std::string(100'000, 'w')}};
  const auto sent = serialize(envelope{"b", to_serialize(said)}, {}, types, families);
  ASSERT_TRUE(sent.has_value()) << sent.error().message();
  const auto back = deserialize<envelope>(*sent, {}, types, families);
  EXPECT_EQ(back->content.get<speech>({}, types, families)->words.text, said.words.text);
}

TEST(held_values, are_given_as_they_are_in_this_process) {
  const type_registry types;
  const family_set families;
  const auto held = to_serialize(std::string("here"));
  EXPECT_FALSE(held.is_encoded());
  EXPECT_EQ(*held.get<std::string>({}, types, families), "here");
  const auto wrong = held.get<int>({}, types, families);
  ASSERT_FALSE(wrong.has_value());
  EXPECT_EQ(wrong.error().code(), serialize_errc::type_mismatch);
}

TEST(error_payloads, inside_others_are_told_when_somebody_asks) {
  type_registry types;
  const family_set families;
  types.add<envelope>("envelope").add<rich::everything>("everything");
  rich::everything nameless;
  nameless.paint = static_cast<rich::color>(200);
  const auto failed = serialize(nameless, {.on_error = on_error::message}, types, families);
  ASSERT_TRUE(failed.has_value());
  const auto sent = serialize(envelope{"b", serialized(*failed)}, {}, types, families);
  const auto back = deserialize<envelope>(*sent, {}, types, families);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  const auto value = back->content.get<rich::everything>({}, types, families);
  ASSERT_FALSE(value.has_value());
  EXPECT_EQ(value.error().code(), serialize_errc::sent_as_text);
}

// Goal: the cost of reading one header is not paid for each of the parts that share it.
TEST(shared_headers, that_are_large_are_not_read_for_more_parts_than_was_received) {
  type_registry types;
  types.add<std::vector<serialized>>("parts");
  const family_set families;
  const std::vector<std::byte> layout(60'000);
  const serialized part(payload{make_header({.family = "typed", .type = "text", .schema = layout, .extra = {}}),
                                {frame::copy_of(layout)}});
  const auto sent = serialize(std::vector<serialized>(4, part), {}, types, families);
  ASSERT_TRUE(sent) << sent.error().message();
  EXPECT_TRUE(deserialize<std::vector<serialized>>(*sent, {}, types, families));
  constexpr std::size_t many = 30'000;
  const auto flood = serialize(std::vector<serialized>(many, part), {}, types, families);
  ASSERT_TRUE(flood) << flood.error().message();
  // A peer could write it like this: each frame once, with a note in the header that says which frames repeat.
  std::vector<std::byte> again(3, std::byte{0});
  for (std::size_t i = 1; i < many; ++i)
    again.insert(again.end(), {std::byte{1}, std::byte{2}});
  auto fields = parse_header(flood->header.bytes());
  ASSERT_TRUE(fields);
  fields->frame_repeats = again;
  const payload received{make_header(*fields), {flood->frames[0], flood->frames[1], flood->frames[2]}};
  ASSERT_LT(received.size_bytes(), 1'000'000u);
  const auto refused = deserialize<std::vector<serialized>>(received, {}, types, families);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), serialize_errc::limit_exceeded);
}

} // namespace
