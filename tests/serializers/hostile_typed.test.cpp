// Goal: as in hostile.test.cpp, for the family typed: counts, references, the sender's layouts, and types that the body
// names.
#include <gmock/gmock.h>

#include "hostile.hpp"

namespace {

using namespace hostile;
using namespace std::literals;
using enum serialize_errc;

class hostile_typed : public testing::TestWithParam<attack> {};

TEST_P(hostile_typed, is_repelled) {
  expect_repelled(GetParam());
}

template <class T>
attack typed(std::string name, serialize_errc expected, const std::string& value, std::vector<frame> frames = {},
             std::size_t allocated_max = 64_KiB) {
  return by<T>("typed", std::move(name), expected, value, std::move(frames), allocated_max);
}

std::string text(std::string_view value) {
  return varint(value.size() * 2) + std::string(value);
}

std::string array_head(std::uint64_t rank, unsigned form) {
  return varint(rank << 2 | form);
}
std::string doubles(std::size_t count) {
  return varint(count * 2) + std::string(count * sizeof(double), '\0');
}

std::vector<attack> on_values() {
  const auto none = bytes({0});
  return {
      typed<std::string>("text_longer_than_the_rest", malformed, bytes({0x7e, 'a'})),
      typed<std::string>("text_of_2_to_the_62", malformed, varint(std::uint64_t{1} << 63)),
      typed<std::string>("number_in_more_bytes_than_needed", malformed, bytes({0x82, 0x00, 'a'})),
      typed<std::string>("number_in_eleven_bytes", malformed, repeated("\xff", 10) + bytes({1})),
      typed<std::string>("number_without_an_end", malformed, repeated("\xff", 1000)),
      typed<std::string>("number_cut", malformed, bytes({0x80})),
      typed<std::string>("frame_that_is_not_there", malformed, bytes({3})),
      typed<std::string>("frame_of_another_size", malformed, bytes({5}), {rich::frame_of("abc")}),
      typed<std::string>("frames_behind", malformed, none, {frame()}),
      typed<std::string>("bytes_behind", malformed, bytes({0, 0})),
      typed<std::vector<double>>("numbers_of_2_to_the_61", malformed, varint(std::uint64_t{1} << 62)),
      typed<std::vector<double>>("frame_of_half_a_number", malformed, bytes({3}), {rich::frame_of("abcd")}),
      typed<std::vector<rich::point>>("more_elements_than_bytes", malformed, varint(UINT32_MAX)),
      typed<std::vector<roomy>>("million_large_elements_of_a_byte", limit_exceeded,
                                varint(1'000'000) + repeated("\0"sv, 1'000'000)),
      typed<std::vector<nothing>>("two_billion_empty_structures", limit_exceeded, varint(std::uint64_t{1} << 31)),
      typed<std::vector<nothing>>("all_empty_structures_there_are", limit_exceeded, varint(UINT64_MAX)),
      typed<std::vector<frame>>("two_billion_frames", limit_exceeded, varint(std::uint64_t{1} << 31)),
      typed<std::vector<frame>>("a_frame_too_few", malformed, bytes({2}), {frame()}),
      typed<array<double>>("shape_that_is_not_that_of_the_data", malformed,
                           array_head(2, 0) + bytes({3, 3}) + doubles(2)),
      typed<array<double>>("shape_that_overflows", malformed,
                           array_head(2, 0) + varint(std::uint64_t{1} << 63) + bytes({2, 0})),
      typed<array<double>>("shape_in_fortran_order_that_overflows", malformed,
                           array_head(2, 1) + varint(std::uint64_t{1} << 63) + bytes({2, 0})),
      typed<array<double>>("shape_in_fortran_order_of_more", malformed, array_head(2, 1) + bytes({3, 3}) + doubles(8)),
      typed<array<double>>("repeated_eight_trillion_times", limit_exceeded,
                           array_head(2, 2) + varint(1 << 20) + varint(1 << 23) + bytes({1, 1}) + doubles(1)),
      typed<array<double>>("repeated_beyond_all_numbers", malformed,
                           array_head(2, 2) + repeated(varint(std::uint64_t{1} << 40), 2) + bytes({1, 1}) + doubles(1)),
      typed<array<double>>("repeats_of_another_length", malformed,
                           array_head(1, 2) + bytes({5}) + bytes({2}) + doubles(2)),
      typed<array<double>>("repeats_of_nothing", malformed, array_head(1, 2) + bytes({5}) + bytes({0}) + doubles(0)),
      typed<array<double>>("strides_beyond_the_data", malformed,
                           array_head(1, 3) + bytes({3}) + bytes({4, 0}) + doubles(4)),
      typed<array<double>>("strides_ahead_of_the_data", malformed,
                           array_head(1, 3) + bytes({3}) + bytes({1, 1}) + doubles(3)),
      typed<array<double>>("strides_that_overflow", malformed,
                           array_head(2, 3) + bytes({3, 3}) + repeated(varint(UINT64_MAX - 1), 2) + bytes({0})
                               + doubles(3)),
      typed<array<double>>("first_beyond_the_data", malformed,
                           array_head(1, 3) + bytes({1}) + bytes({0}) + varint(std::uint64_t{1} << 61) + doubles(1)),
      typed<array<double>>("strides_of_nothing_that_repeat_eight_trillion_times", limit_exceeded,
                           array_head(1, 3) + varint(std::uint64_t{1} << 43) + bytes({0, 0}) + doubles(1)),
      typed<array<double>>("strides_cut", malformed, array_head(3, 3) + bytes({1, 1, 1, 2})),
      typed<array<double>>("four_billion_dimensions", malformed, varint(std::uint64_t{UINT32_MAX} << 2)),
      typed<array<double>>("a_million_dimensions", limit_exceeded,
                           array_head(1'000'000, 0) + repeated("\x02", 1'000'000) + none, {}, 64_MiB),
      typed<flag>("boolean_of_two", malformed, bytes({2})),
      typed<painted>("unknown_enum_value", malformed, bytes({3})),
      typed<choice>("unknown_alternative", malformed, bytes({2, 0})),
      typed<choice>("alternative_of_2_to_the_63", malformed, varint(std::uint64_t{1} << 63)),
      typed<by_number>("key_twice", malformed, bytes({2, 1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0})),
      typed<numbers_once>("element_twice", malformed, bytes({2, 1, 0, 0, 0, 1, 0, 0, 0})),
      typed<leaves>("reference_forward", malformed, bytes({1, 2})),
      typed<leaves>("reference_beyond", malformed, bytes({2, 1, 0, 3})),
      typed<leaves>("reference_to_the_last_number", malformed, bytes({1}) + varint(UINT64_MAX)),
      typed<mixed>("reference_of_another_type", malformed, bytes({1, 0, 2})),
      typed<lateness>("reference_into_what_is_under_construction", malformed, bytes({1, 2})),
      typed<rich::tree>("two_million_deep_in_pointers", limit_exceeded, repeated("\0\0\0\0\0\x01"sv, 350'000), {},
                        128_KiB),
      typed<rich::tree>("two_million_deep_in_lists", limit_exceeded, repeated("\0\0\0\0\x01"sv, 400'000), {}, 128_KiB),
      typed<record>("two_million_deep_in_a_record", limit_exceeded, repeated("\x07\x01", 1'000'000), {}, 128_KiB),
      typed<record>("unknown_alternative_of_a_record", malformed, bytes({99})),
  };
}
INSTANTIATE_TEST_SUITE_P(values, hostile_typed, testing::ValuesIn(on_values()), name_of_attack);

// -- layouts that the sender claims to have

// The header has the forged layout and the body has its fingerprint, so the receiver accepts the layout.
template <class T>
attack forged(std::string name, serialize_errc expected, const std::string& layout, const std::string& value,
              std::size_t allocated_max = 2_MiB) {
  const auto schema = as_bytes(layout);
  auto made = typed<T>("layout_" + std::move(name), expected, "", {}, allocated_max);
  made.sent.header =
      make_header({.family = "typed", .type = types().find<T>()->alias(), .schema = schema, .extra = {}});
  made.sent.frames[0] = rich::frame_of(typed_prelude(schema) + value);
  return made;
}

std::string structure_of(std::size_t fields) {
  return bytes({24}) + varint(fields);
}
std::string named(std::string_view name) {
  return varint(name.size()) + std::string(name);
}

// Returns a structure with two fields, both of the same next structure, and so on: 2 to the power of `levels` values
// without any bytes.
std::string doubling_layout(int levels) {
  std::string layout;
  for (int level = 0; level < levels; ++level)
    layout += structure_of(2) + named("a");
  layout += structure_of(0);
  for (int level = levels; level > 0; --level)
    layout += named("b") + bytes({25}) + varint(static_cast<std::uint64_t>(level));
  return layout;
}

std::string fields_of_nothing(std::size_t count) {
  return structure_of(count) + repeated("\0\x0d"sv, count);
}

std::string enum_of(std::size_t count) {
  auto layout = bytes({26, 7}) + varint(count); // An enum of u16.
  for (std::size_t i = 0; i < count; ++i)
    layout += named("e") + varint(i);
  return layout;
}

// Returns nested structures of one field each.
std::string nested_structures(std::size_t levels, const std::string& innermost) {
  return repeated(structure_of(1) + named("n"), levels) + innermost;
}

std::string fixed(std::size_t count) {
  return bytes({18}) + varint(count);
}

std::vector<attack> on_layouts() {
  const auto one_field = structure_of(1) + named("x");
  const auto none = bytes({0});
  return {
      forged<unaware>("empty_is_no_layout", layout_mismatch, "", ""),
      forged<unaware>("of_an_unknown_part", malformed, bytes({200}), ""),
      forged<unaware>("of_a_part_that_cannot_travel", malformed, bytes({28}), ""),
      forged<unaware>("of_an_unknown_number", malformed, bytes({21, 99}), ""),
      forged<unaware>("that_goes_on_behind", malformed, bytes({1, 1}), bytes({1})),
      forged<unaware>("cut", malformed, structure_of(3) + named("x"), ""),
      forged<unaware>("of_four_billion_fields", malformed, structure_of(UINT32_MAX), ""),
      forged<unaware>("of_four_billion_enum_values", malformed, bytes({26, 7}) + varint(UINT32_MAX), ""),
      forged<unaware>("that_refers_to_no_structure", malformed, one_field + bytes({25, 9}), ""),
      forged<unaware>("60000_lists_deep", malformed, repeated("\x16", 60'000), ""),
      forged<unaware>("of_60000_parts", limit_exceeded, bytes({17}) + varint(60'000) + repeated("\x0d", 60'000), "",
                      8_MiB),
      forged<unaware>("that_contains_itself", limit_exceeded, one_field + bytes({25, 0}), ""),
      forged<unaware>("that_doubles_with_every_level", limit_exceeded, doubling_layout(60), ""),
      forged<record>("that_doubles_with_every_level_as_a_record", limit_exceeded, doubling_layout(60), "", 4_MiB),
      forged<unaware>("of_many_structures_of_many_fields", limit_exceeded,
                      one_field + bytes({22}) + fields_of_nothing(15'000), varint(500'000), 8_MiB),
      forged<unaware>("of_a_list_of_nothing_without_end", limit_exceeded, one_field + bytes({22, 13}),
                      varint(UINT64_MAX)),
      forged<unaware>("of_a_fixed_length_without_end", limit_exceeded,
                      one_field + bytes({18}) + varint(UINT64_MAX) + bytes({13}), ""),
      forged<unaware>("of_a_block_of_bytes_without_end", malformed,
                      one_field + bytes({18}) + varint(UINT64_MAX) + bytes({6}), "x"),
      forged<names>("of_a_fixed_length_of_texts_without_end", limit_exceeded,
                    bytes({18}) + varint(UINT64_MAX) + bytes({12}), repeated("\0"sv, 1000)),
      forged<unaware>("of_a_map_of_nothing_without_end", limit_exceeded, one_field + bytes({23, 13, 13}),
                      varint(UINT64_MAX)),
      // Sixty million structures without any bytes. The bytes that follow pay for a million.
      forged<unaware>("of_fixed_lengths_of_nothing", limit_exceeded,
                      structure_of(2) + named("x") + fixed(600) + fixed(1000) + nested_structures(100, structure_of(0))
                          + named("pad") + bytes({12}),
                      text(std::string(1'000'000, 'x'))),
      forged<unaware>("of_bytes_within_a_hundred_structures", limit_exceeded,
                      one_field + bytes({22}) + nested_structures(100, bytes({1})),
                      varint(1'000'000) + repeated("\x01", 1'000'000)),
      forged<unaware>("of_bytes_within_structures", serialize_errc::none,
                      one_field + bytes({22}) + nested_structures(3, bytes({1})),
                      varint(1'000'000) + repeated("\x01", 1'000'000)),
      forged<unaware>("of_many_enum_values", malformed, one_field + bytes({22}) + enum_of(13'000),
                      varint(500'000) + repeated("\xc7\x32", 500'000) + none, 8_MiB),
      forged<unaware>("of_an_enum_without_the_value", malformed, one_field + enum_of(3), bytes({7, 0})),
      forged<unaware>("of_a_variant_without_the_alternative", malformed,
                      one_field + bytes({16, 1}) + named("i8") + bytes({2}), bytes({1, 0})),
      forged<unaware>("of_a_form_that_is_named_by_itself", malformed, one_field + bytes({30}),
                      bytes({1, 0, 2, 30}) + repeated("\x02", 1'000'000)),
      forged<unaware>("of_a_form_that_is_not_named", malformed, one_field + bytes({30}), none),
      forged<unaware>("of_another_unit", malformed,
                      structure_of(1) + named("known") + bytes({27}) + named("1/1") + bytes({4}), bytes({1, 0, 0, 0})),
      forged<unaware>("of_a_field_twice", malformed,
                      structure_of(2) + named("known") + bytes({4}) + named("known") + bytes({4}),
                      bytes({1, 0, 0, 0, 2, 0, 0, 0})),
      forged<unaware>("with_a_value_that_is_cut", malformed, structure_of(1) + named("known") + bytes({4}), bytes({1})),
  };
}
INSTANTIATE_TEST_SUITE_P(layouts, hostile_typed, testing::ValuesIn(on_layouts()), name_of_attack);

TEST(hostile_layouts, of_which_the_error_says_how_large_they_may_be) {
  const auto message = [](const std::string& layout) {
    const auto attack = forged<unaware>("", none, layout, std::string(1'000'000, 'x')); // The bytes pay for the layout.
    return attack.decode(attack.sent, {}).message;
  };
  EXPECT_THAT(message(bytes({17}) + varint(60'000) + repeated("\x0d", 60'000)),
              testing::HasSubstr("more than 16,384 parts, the limit for reading another version: use one version at "
                                 "both ends, or divide the type"));
  EXPECT_THAT(message(repeated("\x16", 60'000)), testing::HasSubstr("types nested more than 128 deep"));
}

// -- types that the body names

// Returns the class of a pointer's object, named for the first time.
std::string as_class(std::string_view alias, std::string_view layout) {
  return bytes({1}) + text(alias) + text(layout);
}

std::vector<attack> on_named_types() {
  const auto schema = types().find<disc>()->schema();
  const std::string layout(reinterpret_cast<const char*>(schema.data()), schema.size());
  const auto object = bytes({0}) + repeated("\0"sv, 8); // Empty label, zero radius.
  const auto one = bytes({1, 1});                       // One owned object, which is present.
  const auto with_label = structure_of(1) + named("label") + bytes({12});
  const auto again = repeated(bytes({1, 2}), 100'000); // Objects of the type that was named first.
  const auto many = [](std::size_t count, const std::string& each) { return varint(count) + repeated(each, count); };
  return {
      typed<drawing>("a_type_that_was_not_named", malformed, one + bytes({5})),
      typed<drawing>("a_type_of_the_last_number", malformed, one + varint(UINT64_MAX)),
      typed<drawing>("an_alias_that_is_none", unknown_type, one + as_class("none", layout)),
      typed<drawing>("an_alias_that_is_empty", unknown_type, one + as_class("", layout)),
      typed<drawing>("an_alias_of_a_megabyte", unknown_type, one + as_class(std::string(1'000'000, 'x'), layout)),
      typed<drawing>("a_class_that_does_not_derive", malformed, one + as_class("stranger", layout)),
      typed<drawing>("a_class_that_is_a_number", malformed, one + as_class("i32", layout)),
      typed<drawing>("alias_and_layout_that_are_cut", malformed, one + bytes({1, 8, 'd'})),
      typed<drawing>("a_layout_that_is_nonsense", malformed, one + as_class("disc", "\xff") + object),
      typed<drawing>("a_layout_that_is_empty", malformed, one + as_class("disc", "") + object),
      typed<drawing>("a_layout_of_a_million_lists", malformed, one + as_class("disc", repeated("\x16", 1'000'000))),
      typed<drawing>("a_layout_of_a_million_parts", limit_exceeded,
                     one + as_class("disc", bytes({17}) + varint(1'000'000) + repeated("\x0d", 1'000'000)), {}, 16_MiB),
      typed<drawing>("a_layout_of_a_million_enum_values", malformed,
                     one + as_class("disc", bytes({26, 7}) + varint(1'000'000) + repeated("\0\0"sv, 1'000'000)), {},
                     32_MiB),
      typed<drawing>("a_layout_named_over_and_over", malformed,
                     many(50'000, bytes({1}) + as_class("disc", layout) + object), {}, 64 * 50'000 * 64),
      typed<drawing>("another_versions_layout_named_over_and_over", limit_exceeded,
                     many(50'000, bytes({1}) + as_class("disc", with_label) + bytes({0})), {}, 64 * 50'000 * 25),
      typed<drawing>("a_large_layout_of_many_objects", limit_exceeded,
                     varint(100'001) + bytes({1}) + as_class("disc", fields_of_nothing(15'000)) + again, {}, 32_MiB),
      typed<drawing>("a_doubling_layout", limit_exceeded, one + as_class("disc", doubling_layout(60)), {}, 2_MiB),
      typed<boxes>("a_form_that_is_not_named", malformed, bytes({1, 0})),
      typed<boxes>("a_form_that_was_not_named_before", malformed, bytes({1, 7})),
      typed<boxes>("a_form_that_is_nonsense", malformed, bytes({1, 1, 0, 2, 0xff})),
      typed<boxes>("a_form_named_over_and_over", malformed, varint(50'001) + repeated(bytes({1, 0, 2, 12, 0}), 50'000),
                   {}, 64 * 50'000 * 5),
      typed<boxes>("another_form_named_over_and_over", limit_exceeded,
                   many(50'000, bytes({1, 0}) + text(bytes({14, 12})) + bytes({1, 0})), {}, 64 * 50'000 * 8),
  };
}
INSTANTIATE_TEST_SUITE_P(named_types, hostile_typed, testing::ValuesIn(on_named_types()), name_of_attack);

// -- all layouts one bit away from the real one

TEST(hostile_layouts, of_which_any_bit_is_flipped) {
  const auto sent = *serialize(rich::full(), {}, types(), families());
  const auto schema = types().find<rich::everything>()->schema();
  const auto body = sent.frames[0].bytes().subspan(5);
  const std::string value(reinterpret_cast<const char*>(body.data()), body.size());
  for (std::size_t bit = 0; bit < schema.size() * 8; ++bit) {
    std::vector<std::byte> layout(schema.begin(), schema.end());
    layout[bit / 8] ^= std::byte{1} << (bit % 8);
    auto damaged = sent;
    damaged.frames[0] = rich::frame_of(typed_prelude(layout) + value);
    damaged.header = make_header({.family = "typed", .type = "everything", .schema = layout, .extra = {}});
    const auto result = decode<rich::everything>(damaged);
    EXPECT_LT(result.allocated, 2_MiB) << "bit " << bit;
    EXPECT_LT(result.seconds, seconds_max) << "bit " << bit;
  }
}

TEST(hostile_paths, pay_for_the_parts_that_they_keep) {
  rich::everything value;
  for (int i = 0; i < 3000; ++i)
    value.where += "a/";
  for (const auto* family : {"typed", "msgpack", "json"}) {
    const auto sent = *serialize(value, {.serializers = {family}, .context = {}}, types(), families());
    deserialize_options options{.deserializers = {family}, .context = {}};
    EXPECT_TRUE(deserialize<rich::everything>(sent, options, types(), families())) << family;
    options.context.limits.memory_bytes = 256_KiB;
    const auto before = allocated_bytes.load();
    const auto back = deserialize<rich::everything>(sent, options, types(), families());
    EXPECT_LT(allocated_bytes.load() - before, 64_KiB) << family;
    ASSERT_FALSE(back.has_value()) << family;
    EXPECT_EQ(back.error().code(), limit_exceeded) << family;
  }
}

} // namespace
