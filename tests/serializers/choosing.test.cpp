// Tests which family encodes a value, which one is refused, and the text of the errors.
#include <stdexcept>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <troupe/serializers/serialized.hpp>

#include "rich.hpp"

namespace {

using namespace troupe;

// A family that supports nothing, and fails in every encode.
class awkward_family final : public family {
public:
  awkward_family(std::string name, serialize_errc code) : name_(std::move(name)), code_(code) {}
  [[nodiscard]] std::string_view name() const override { return name_; }
  [[nodiscard]] std::string unsupported(const type_entry&) const override { return "is not to its taste"; }
  [[nodiscard]] std::expected<void, serialize_error> encode(const type_entry& entry, const void*, const context&,
                                                            encode_output& output) const override {
    output.body().append(std::byte{1}); // A failed family's output must not reach the next family.
    output.attach(frame());
    if (code_ == serialize_errc::none)
      throw std::runtime_error("the codec lost its temper");
    return std::unexpected(serialize_error(code_, name_ + ": " + entry.alias() + ": is not to its taste"));
  }
  [[nodiscard]] std::expected<void, serialize_error> decode(const type_entry&, void*, const header_fields&,
                                                            std::span<const frame>, const context&) const override {
    ADD_FAILURE() << "decoded what should have been refused";
    return {};
  }

private:
  std::string name_;
  serialize_errc code_;
};

class choosing : public testing::Test {
protected:
  choosing() {
    types.add<rich::point>("point");
    families.add(std::make_unique<awkward_family>("picky", serialize_errc::not_supported));
    families.add(std::make_unique<awkward_family>("broken", serialize_errc::codec_failed));
    families.add(std::make_unique<awkward_family>("throwing", serialize_errc::none));
  }

  std::expected<payload, serialize_error> encoded(std::vector<std::string> serializers,
                                                  on_error policy = on_error::raise) {
    return serialize(value, {.serializers = std::move(serializers), .on_error = policy, .context = {}}, types,
                     families);
  }

  static std::string family_of(const std::expected<payload, serialize_error>& made) {
    if (!made)
      return made.error().message();
    return std::string(parse_header(made->header.bytes())->family);
  }

  type_registry types;
  family_set families;
  rich::point value{1, 2};
};

TEST_F(choosing, takes_the_first_family_that_supports_the_type) {
  EXPECT_EQ(family_of(encoded({"msgpack", "typed"})), "msgpack");
  EXPECT_EQ(family_of(encoded({"typed", "msgpack"})), "typed");
}

TEST_F(choosing, goes_on_to_the_next_when_one_does_not_support_the_type) {
  const auto made = encoded({"picky", "typed"});
  EXPECT_EQ(family_of(made), "typed");
  const auto back = deserialize<rich::point>(*made, {}, types, families);
  ASSERT_TRUE(back.has_value());
  EXPECT_EQ(*back, value);
}

TEST_F(choosing, stops_at_any_other_failure) {
  const auto made = encoded({"broken", "typed"});
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code(), serialize_errc::codec_failed);
}

TEST_F(choosing, turns_what_a_codec_throws_into_an_error) {
  const auto made = encoded({"throwing"});
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().message(), "throwing: point: a codec threw: the codec lost its temper");
}

TEST_F(choosing, names_type_families_and_reasons_when_none_supports_it) {
  const auto made = encoded({"picky"});
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code(), serialize_errc::not_supported);
  EXPECT_EQ(made.error().message(), "no family of [picky] can carry 'point': is not to its taste");
}

TEST_F(choosing, can_send_the_failure_as_a_text_instead) {
  const auto made = encoded({"picky"}, on_error::message);
  ASSERT_TRUE(made.has_value());
  const auto back = deserialize<rich::point>(*made, {}, types, families);
  ASSERT_FALSE(back.has_value());
  EXPECT_EQ(back.error().code(), serialize_errc::sent_as_text);
  EXPECT_EQ(back.error().message(),
            "the sender could not encode 'point': no family of [picky] can carry 'point': is not "
            "to its taste");
}

TEST_F(choosing, names_the_known_families_when_one_is_unknown) {
  const auto made = encoded({"typed", "tpyed"});
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().code(), serialize_errc::unknown_family);
  EXPECT_EQ(made.error().message(), "no family 'tpyed'; known are [typed, msgpack, json, picky, broken, throwing]");
}

TEST_F(choosing, refuses_what_is_not_listed_before_decoding_it) {
  const payload sent{make_header({.family = "cereal", .type = "point", .schema = {}, .extra = {}}),
                     {rich::frame_of("never looked at")}};
  const auto back = deserialize<rich::point>(sent, {}, types, families);
  ASSERT_FALSE(back.has_value());
  EXPECT_EQ(back.error().code(), serialize_errc::refused_family);
  EXPECT_EQ(back.error().message(), "data serialized with cereal but this link only accepts [typed, msgpack]");

  const payload known{make_header({.family = "picky", .type = "point", .schema = {}, .extra = {}}), {}};
  EXPECT_EQ(deserialize<rich::point>(known, {}, types, families).error().code(), serialize_errc::refused_family);
}

TEST_F(choosing, refuses_types_that_nobody_registered) {
  const auto made = serialize(rich::leaf{}, {}, types, families);
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().message(), "type rich::leaf is not registered; add it with types.add<T>(\"alias\")");
  auto sent = *encoded({"typed"});
  EXPECT_EQ(deserialize<std::string>(sent, {}, types, families).error().code(), serialize_errc::type_mismatch);
  sent.header = make_header({.family = "typed", .type = "elsewhere", .schema = {}, .extra = {}});
  EXPECT_EQ(deserialize_any(sent, {}, types, families).error().code(), serialize_errc::unknown_type);
}

TEST_F(choosing, finds_the_type_by_the_payloads_alias) {
  auto any = deserialize_any(*encoded({"typed"}), {}, types, families);
  ASSERT_TRUE(any.has_value()) << any.error().message();
  ASSERT_NE(any->get<rich::point>(), nullptr);
  EXPECT_EQ(*any->get<rich::point>(), value);
  EXPECT_EQ(any->get<int>(), nullptr);
}

TEST_F(choosing, keeps_a_payload_encoded_until_asked) {
  const serialized kept(*encoded({"msgpack"}));
  const serialized passed_on = kept;
  EXPECT_EQ(passed_on.encoded().frames[0].bytes().data(), kept.encoded().frames[0].bytes().data());
  EXPECT_EQ(*passed_on.get<rich::point>({}, types, families), value);
}

TEST(family_set, refuses_two_families_of_one_name) {
  family_set families;
  EXPECT_THAT([&] { families.add(std::make_unique<awkward_family>("typed", serialize_errc::none)); },
              testing::ThrowsMessage<registration_error>("two families are named 'typed'; load or add each once"));
  EXPECT_EQ(families.names(), (std::vector<std::string>{"typed", "msgpack", "json"}));
}

TEST(header, comes_back_with_the_codecs_own_fields_untouched) {
  const auto extra = rich::frame_of("f=forged");
  const auto made = make_header({.family = "typed", .type = "t", .schema = {}, .extra = extra.bytes()});
  const auto read = parse_header(made.bytes());
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->family, "typed");
  EXPECT_TRUE(std::ranges::equal(read->extra, extra.bytes()));
}

TEST(header, is_one_constant_per_family_and_type) {
  const type_registry types;
  const family_set families;
  const auto& entry = *types.find("i32");
  const auto first = standard_header(*families.find("typed"), entry);
  EXPECT_EQ(first.bytes().data(), standard_header(*families.find("typed"), entry).bytes().data());
  EXPECT_NE(first.bytes().data(), standard_header(*families.find("msgpack"), entry).bytes().data());
}

} // namespace
