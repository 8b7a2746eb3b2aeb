// The peer's numbered definitions, and the definitions that this end accepts: bytes go in, values come out.
#include <troupe/framework/internal/link/received_dictionary.hpp>

#include <string>

#include <gtest/gtest.h>

#include <troupe/serializers/describe.hpp>
#include <troupe/serializers/type_registry.hpp>

namespace troupe::internal {
namespace {

struct sighting {
  std::string what;
  int times = 0;
};
TROUPE_DESCRIBE(sighting, what, times)

class dictionary : public testing::Test {
protected:
  dictionary() {
    types_.add<sighting>("sighting");
    accepted_.accept({"typed", "msgpack"});
  }

  static byte_vector signature_body(std::uint64_t number, std::vector<std::string> aliases) {
    byte_vector body;
    append_signature(body, {.number = number, .aliases = std::move(aliases)});
    return body;
  }
  static byte_vector header_body(std::uint64_t number, const header_fields& fields) {
    const auto header = make_header(fields);
    byte_vector body;
    append_header(body, {number, header.bytes()});
    return body;
  }
  bool defines(std::uint64_t number, std::string_view family, std::string_view type = "str") {
    return received_.add_header(header_body(number, {.family = family, .type = type})).has_value();
  }
  std::string why_no_header(std::uint64_t number) {
    const auto found = received_.header(number);
    return found ? "" : found.error().message();
  }

  type_registry types_;
  family_set families_;
  acceptance accepted_{types_, families_, limits{}, false, 1024};
  traffic_table counts_;
  received_dictionary received_{accepted_, &counts_};
};

TEST_F(dictionary, signatures_are_numbered_from_0_without_a_gap) {
  EXPECT_EQ(received_.find_signature(0), nullptr);
  EXPECT_TRUE(received_.add_signature(signature_body(0, {"str"})));
  EXPECT_FALSE(received_.add_signature(signature_body(0, {"str"})));
  EXPECT_FALSE(received_.add_signature(signature_body(2, {"str"})));
  ASSERT_NE(received_.find_signature(0), nullptr);
  EXPECT_EQ(received_.find_signature(0)->aliases, std::vector<std::string>{"str"});
  EXPECT_EQ(received_.find_signature(1), nullptr);
}

TEST_F(dictionary, a_signature_of_an_unknown_type_says_which) {
  ASSERT_TRUE(received_.add_signature(signature_body(0, {"str", "nobody.knows"})));
  EXPECT_EQ(received_.find_signature(0)->unknown_alias, "nobody.knows");
}

TEST_F(dictionary, there_are_not_more_signatures_than_the_limit) {
  for (std::size_t i = 0; i < kept_definitions::signatures_max; ++i)
    ASSERT_TRUE(received_.add_signature(signature_body(i, {})));
  EXPECT_FALSE(received_.add_signature(signature_body(kept_definitions::signatures_max, {})));
}

TEST_F(dictionary, signatures_outlive_it_where_a_message_keeps_them) {
  auto other = std::make_unique<received_dictionary>(accepted_, nullptr);
  ASSERT_TRUE(other->add_signature(signature_body(0, {"str"})));
  const auto kept = other->signatures_kept();
  const auto* const types = other->find_signature(0);
  other.reset();
  EXPECT_EQ(types->aliases.size(), 1u);
}

TEST_F(dictionary, headers_are_numbered_from_1_without_a_gap) {
  EXPECT_TRUE(defines(1, "typed"));
  EXPECT_FALSE(defines(1, "typed"));
  EXPECT_FALSE(defines(3, "typed"));
  ASSERT_TRUE(received_.header(1));
  EXPECT_EQ((*received_.header(1))->fields.type, "str");
  EXPECT_EQ((*received_.header(1))->type.get(), types_.find(std::string_view{"str"}));
  EXPECT_FALSE(received_.header(0));
  EXPECT_FALSE(received_.header(2));
  EXPECT_EQ(why_no_header(2), "an element names header 2 of 1");
}

TEST_F(dictionary, a_header_with_a_number_says_nothing_of_single_frames) {
  const std::byte some{1};
  EXPECT_FALSE(
      received_.add_header(header_body(1, {.family = "typed", .type = "str", .frame_codecs = std::span{&some, 1}})));
}

TEST_F(dictionary, garbage_is_no_header) {
  byte_vector body;
  append_header(body, {1, std::as_bytes(std::span{"nonsense", 8})});
  EXPECT_FALSE(received_.add_header(body));
  EXPECT_FALSE(received_.admit({}));
}

TEST_F(dictionary, families_that_are_not_accepted_are_refused_before_anything_is_decoded) {
  EXPECT_FALSE(defines(1, "json"));
  const auto own = make_header({.family = "json", .type = "str"});
  const auto refused = received_.admit(own.bytes());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), node_errc::protocol_violation);
  EXPECT_EQ(refused.error().message(), "data serialized with json but this link only accepts [typed, msgpack]");
}

TEST_F(dictionary, headers_of_a_family_that_is_accepted_no_more_are_refused_until_it_is_again) {
  ASSERT_TRUE(defines(1, "typed"));
  ASSERT_TRUE(defines(2, "msgpack"));
  accepted_.accept({"msgpack"});
  received_.review();
  EXPECT_EQ(why_no_header(1), "data serialized with typed but this link only accepts [msgpack]");
  EXPECT_TRUE(received_.header(2));
  accepted_.accept({"typed"});
  received_.review();
  EXPECT_TRUE(received_.header(1));
  EXPECT_FALSE(received_.header(2));
}

TEST_F(dictionary, what_is_defined_is_bounded_together) {
  const std::vector<std::string> large(signature_aliases_max, std::string(alias_bytes_max, 'x'));
  std::uint64_t taken = 0;
  while (received_.add_signature(signature_body(taken, large)))
    ++taken;
  EXPECT_GE(taken, 50u);
  EXPECT_LT(taken, 64u) << "each takes a quarter of a MiB and more";
  EXPECT_FALSE(defines(1, "typed")) << "headers count with signatures";
}

TEST_F(dictionary, payloads_are_counted_with_the_family_and_the_type_where_both_are_known) {
  ASSERT_TRUE(defines(1, "typed"));
  ASSERT_TRUE(defines(2, "typed", "nobody.knows"));
  EXPECT_EQ((*received_.header(1))->counted_as, &counts_.of("typed", "str"));
  EXPECT_EQ((*received_.header(2))->counted_as, nullptr);
  EXPECT_EQ((*received_.header(2))->type, nullptr);
}

TEST_F(dictionary, a_type_that_cannot_be_read_is_refused_once) {
  const auto first = accepted_.refuse("sighting", types_.find(std::string_view{"sighting"}));
  ASSERT_TRUE(first);
  EXPECT_TRUE(first->is_known);
  EXPECT_NE(first->fingerprint, 0u);
  EXPECT_FALSE(first->contract.empty());
  EXPECT_FALSE(accepted_.refuse("sighting", nullptr));
  const auto unknown = accepted_.refuse("", nullptr);
  ASSERT_TRUE(unknown) << "the unknown one may be the empty text";
  EXPECT_FALSE(unknown->is_known);
  EXPECT_TRUE(unknown->contract.empty());
}

TEST_F(dictionary, the_peer_is_told_of_so_many_types_only) {
  for (std::size_t i = 0; i < refused_types_max; ++i)
    ASSERT_TRUE(accepted_.refuse("type" + std::to_string(i), nullptr));
  EXPECT_FALSE(accepted_.refuse("one more", nullptr));
}

TEST_F(dictionary, objects_are_read_later_with_what_was_accepted_when_they_came) {
  const auto before = accepted_.objects();
  accepted_.accept({"json"});
  EXPECT_EQ(before->deserializers, (std::vector<std::string>{"typed", "msgpack"}));
  EXPECT_EQ(accepted_.objects()->deserializers, std::vector<std::string>{"json"});
  EXPECT_EQ(before->circles, accepted_.objects()->circles) << "circles are counted for the link";
}

} // namespace
} // namespace troupe::internal
