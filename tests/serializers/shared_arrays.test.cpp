// Goal: arrays that share memory are in a payload once and arrive as one. The claims of the header about them are
// checked.
#include <algorithm>
#include <numeric>

#include <troupe/serializers/record.hpp>
#include <troupe/serializers/splitting.hpp>

#include "every_family.hpp"

namespace {

using namespace conformance;

struct album {
  std::string title;
  std::vector<array<double>> pages;
  std::optional<array<double>> cover;
  array<float> other;
  bool operator==(const album&) const = default;
};
TROUPE_DESCRIBE(album, title, pages, cover, other)

/// Another version of `album`.
struct older_album {
  std::vector<array<float>> pages;
};
TROUPE_DESCRIBE(older_album, pages)

/// A version of `album` with only the `cover` field.
struct only_cover {
  std::optional<array<double>> cover;
};
TROUPE_DESCRIBE(only_cover, cover)

struct counts {
  std::vector<array<std::int32_t>> pages;
};
TROUPE_DESCRIBE(counts, pages)

/// Another version of `counts`.
struct older_counts {
  std::vector<array<double>> pages;
};
TROUPE_DESCRIBE(older_counts, pages)

struct copies {
  std::vector<std::vector<double>> pages;
};
TROUPE_DESCRIBE(copies, pages)

array<double> page(double first = 0) {
  std::vector<double> values(1'000);
  std::iota(values.begin(), values.end(), first);
  return array<double>(std::move(values), {10, 100});
}

album shared_album() {
  const auto one = page();
  return {"a", std::vector<array<double>>(98, one), one, array<float>(std::vector<float>(2'000, 1.0F))};
}

class repeated_arrays : public every_family {
protected:
  repeated_arrays() {
    add_cereal<album>(types, "album");
    others.add<older_album>("album");
    lists.add<copies>("album");
  }

  [[nodiscard]] static bool shares() {
    return std::string_view(GetParam().name) == "typed" || std::string_view(GetParam().name) == "msgpack";
  }
  /// Returns true if arrays that share memory also share it on arrival.
  [[nodiscard]] static bool keeps_identity() { return std::string_view(GetParam().name) != "lines"; }
  /// Returns the payload as read from a socket: aligned frames become unaligned.
  [[nodiscard]] static payload arrived_anywhere(payload from) {
    for (auto& each : from.frames) {
      std::byte* into = nullptr;
      const auto block = frame::uninitialized(each.size_bytes() + 1, into);
      std::ranges::copy(each.bytes(), into + 1);
      each = block.slice(1, each.size_bytes());
    }
    return from;
  }
  [[nodiscard]] static payload with_note(const payload& from, std::initializer_list<unsigned char> note) {
    auto fields = *parse_header(from.header.bytes());
    fields.frame_repeats = std::as_bytes(std::span(note.begin(), note.size()));
    return {make_header(fields), from.frames};
  }
  [[nodiscard]] static payload arrived(payload from) {
    for (auto& each : from.frames)
      each = frame::copy_of(each.bytes());
    return from;
  }

  type_registry others;
  type_registry lists;
};

INSTANTIATE_TEST_SUITE_P(, repeated_arrays, testing::ValuesIn(all_families), name_of_row);

TEST_P(repeated_arrays, of_one_memory_travel_once_and_arrive_as_one) {
  const auto value = shared_album();
  const auto sent = encoded(value);
  const auto back = decoded<album>(arrived(sent));
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(*back, value);
  if (!shares())
    return;
  EXPECT_EQ(sent.frames.size(), 3u);
  EXPECT_LT(sent.size_bytes(), 20'000u);
  for (const auto& each : back->pages)
    EXPECT_EQ(each.data(), back->cover->data());
}

// The example of Ray: numpy.zeros(42), 99 times.
TEST_P(repeated_arrays, of_few_elements_arrive_as_one) {
  for (const std::size_t count : {1, 7, 42, 500, 511, 512, 513}) {
    const auto zeros = array<double>(std::vector<double>(count));
    const auto value = album{"zeros", std::vector<array<double>>(99, zeros), zeros, array<float>({1.0F, 2.0F})};
    const auto sent = encoded(value);
    const auto back = decoded<album>(arrived_anywhere(sent));
    ASSERT_TRUE(back.has_value()) << count << ": " << back.error().message();
    EXPECT_EQ(*back, value);
    if (!keeps_identity())
      continue;
    for (const auto& each : back->pages)
      EXPECT_EQ(each.data(), back->cover->data()) << count;
    EXPECT_LT(sent.size_bytes(), 99 * 30 + 40 * count + 1'000) << count;
  }
}

TEST_P(repeated_arrays, of_several_shapes_and_places_arrive_as_they_were) {
  const auto a = array<double>({1.0, 2.0, 3.0, 4.0});
  const auto b = array<double>({1.0, 2.0, 3.0, 4.0}); // Equal, but other memory.
  const auto large = page();
  const auto part = page().slice(1, 0, 100, 3); // Not contiguous.
  const auto column = *array<double>({7.0}).broadcast_to({50});
  const auto turned = page().slice(0, 0, 4).slice(1, 0, 5).transposed();
  const album value{"all",
                    {a, large, b, a, *a.reshaped({2, 2}), part, b, a.slice(0, 1, 3), large, part, column, turned,
                     column, turned, a.slice(0, 1, 3), array<double>(), array<double>()},
                    a,
                    array<float>({1.0F})};
  const auto back = decoded<album>(arrived_anywhere(encoded(value)));
  ASSERT_TRUE(back.has_value()) << back.error().message();
  ASSERT_EQ(*back, value);
  const auto& pages = back->pages;
  EXPECT_NE(pages[0].data(), pages[2].data());
  EXPECT_NE(pages[0].data(), pages[1].data());
  if (!keeps_identity())
    return;
  EXPECT_EQ(pages[0].data(), pages[3].data());
  EXPECT_EQ(pages[0].data(), back->cover->data());
  EXPECT_EQ(pages[2].data(), pages[6].data());
  EXPECT_EQ(pages[1].data(), pages[8].data());
  EXPECT_EQ(pages[10].data(), pages[12].data());
  EXPECT_EQ(pages[7].data(), pages[14].data());
  EXPECT_EQ(pages[5].data(), pages[9].data());
  EXPECT_EQ(pages[11].data(), pages[13].data());
}

TEST_P(repeated_arrays, in_another_order_or_with_gaps_arrive_as_one) {
  for (const std::size_t rows : {10, 1'000}) {
    std::vector<double> values(rows * 5);
    std::iota(values.begin(), values.end(), 0.0);
    std::vector<double> twice(rows * 10);
    std::iota(twice.begin(), twice.end(), 0.0);
    const array<double> fortran(values, {rows, 5}, memory_order::fortran);
    const auto turned = array<double>(values, {rows, 5}).transposed();
    const auto gaps = array<double>(twice, {2 * rows, 5}).slice(0, 0, PTRDIFF_MAX, 2);
    for (const auto& one : {fortran, turned, gaps}) {
      const album value{"all", std::vector<array<double>>(99, one), one, {}};
      const auto sent = encoded(value);
      const auto back = decoded<album>(arrived_anywhere(sent));
      ASSERT_TRUE(back.has_value()) << back.error().message();
      EXPECT_EQ(*back, value);
      if (!keeps_identity())
        continue;
      EXPECT_LT(sent.size_bytes(), 99 * 30 + 10 * values.size() + 1'000);
      EXPECT_EQ(back->cover->is_contiguous(memory_order::fortran), one.is_contiguous(memory_order::fortran));
      for (const auto& each : back->pages)
        EXPECT_EQ(each.data(), back->cover->data());
    }
  }
}

TEST_P(repeated_arrays, whose_type_of_element_changed_are_converted_once) {
  if (!GetParam().names_fields || !keeps_identity())
    return;
  types.add<counts>("counts");
  others.add<older_counts>("counts");
  std::vector<std::int32_t> values(2'000);
  std::iota(values.begin(), values.end(), 0);
  for (const auto order : {memory_order::c, memory_order::fortran}) {
    const array<std::int32_t> one(values, {500, 4}, order);
    const array<std::int32_t> turned(values, {4, 500}, order); // The same elements in another shape.
    counts value{std::vector<array<std::int32_t>>(300, one)};
    value.pages.push_back(turned);
    const auto back = deserialize<older_counts>(arrived_anywhere(encoded(value)), {.deserializers = {GetParam().name}},
                                                others, families);
    ASSERT_TRUE(back.has_value()) << back.error().message();
    ASSERT_EQ(back->pages.size(), 301u);
    EXPECT_EQ(back->pages[0].shape(), one.shape());
    EXPECT_TRUE(std::ranges::equal(back->pages[0], one));
    EXPECT_EQ(back->pages[0].is_contiguous(order), true);
    for (std::size_t i = 0; i < 300; ++i)
      EXPECT_EQ(back->pages[i].data(), back->pages[0].data());
    EXPECT_EQ(back->pages[300].shape(), turned.shape());
    EXPECT_TRUE(std::ranges::equal(back->pages[300], turned));
  }
}

// One receiver has no field for the first appearance of the array, and another has a field of another type for it.
TEST_P(repeated_arrays, of_few_elements_are_read_by_other_versions_and_as_records) {
  if (!GetParam().names_fields)
    return;
  const auto zeros = array<double>({1.0, 2.0});
  const album value{"all", {zeros, zeros}, zeros, {}};
  const auto sent = arrived_anywhere(encoded(value));
  const auto older = deserialize<older_album>(sent, {.deserializers = {GetParam().name}}, others, families);
  ASSERT_TRUE(older.has_value()) << older.error().message();
  EXPECT_EQ(older->pages[1].to_vector(), (std::vector{1.0F, 2.0F}));
  type_registry cover;
  cover.add<only_cover>("album");
  const auto last = deserialize<only_cover>(sent, {.deserializers = {GetParam().name}}, cover, families);
  ASSERT_TRUE(last.has_value()) << last.error().message();
  EXPECT_EQ(last->cover->to_vector(), (std::vector{1.0, 2.0}));
  type_registry none;
  const auto any = deserialize_any(sent, {.deserializers = {GetParam().name}}, none, families);
  ASSERT_TRUE(any.has_value()) << any.error().message();
}

TEST_P(repeated_arrays, are_never_more_frames_than_may_be) {
  ctx.limits.frames = 8;
  const auto zeros = array<double>({1.0, 2.0});
  const album value{"many", std::vector<array<double>>(99, zeros), zeros, {}};
  const auto back = decoded<album>(encoded(value));
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(*back, value);
}

TEST_P(repeated_arrays, that_are_merely_equal_stay_apart) {
  const auto sent = encoded(album{"a", {page(), page()}, {}, {}});
  EXPECT_TRUE(parse_header(sent.header.bytes())->frame_repeats.empty());
  const auto back = decoded<album>(sent);
  ASSERT_TRUE(back.has_value());
  EXPECT_NE(back->pages[0].data(), back->pages[1].data());
}

TEST_P(repeated_arrays, survive_compression_and_pieces) {
  ctx.compression = compression::lz4;
  const auto value = shared_album();
  const auto packed = decoded<album>(arrived(encoded(value)));
  ASSERT_TRUE(packed.has_value()) << packed.error().message();
  EXPECT_EQ(*packed, value);
  ctx.compression = compression::none;
  const auto split = split_frames(encoded(value), 1'000);
  ASSERT_TRUE(split.has_value());
  const auto back = decoded<album>(arrived(*split));
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(*back, value);
  if (shares()) {
    EXPECT_EQ(back->pages[0].data(), back->pages[97].data());
  }
}

TEST_P(repeated_arrays, are_read_by_other_versions_and_as_records) {
  if (!shares())
    return;
  const auto sent = arrived(encoded(shared_album()));
  const auto older = deserialize<older_album>(sent, {.deserializers = {GetParam().name}}, others, families);
  ASSERT_TRUE(older.has_value()) << older.error().message();
  EXPECT_EQ((older->pages[97][9, 99]), 999.0F);
  // A record holds the numbers one by one. Only received bytes earn memory for them.
  auto few = shared_album();
  few.pages.resize(5);
  type_registry none;
  auto any = deserialize_any(arrived(encoded(few)), {.deserializers = {GetParam().name}}, none, families);
  ASSERT_TRUE(any.has_value()) << any.error().message();
  EXPECT_NE(any->get<record>()->find("pages"), nullptr);
}

TEST_P(repeated_arrays, element_by_element) {
  ctx.compression = compression::none;
  types.add<std::vector<album>>("albums");
  types.add<std::vector<array<double>>>("pages");
  const auto one = page();
  const std::vector<array<double>> value(99, one);
  auto made = serialize(value, {.serializers = {"typed"}, .on_error = on_error::raise, .iterate = iterate::elements},
                        types, families);
  if (!made)
    return; // The type of the element has no alias of its own.
  EXPECT_LT(made->size_bytes(), 100'000u);
  const auto back =
      deserialize<std::vector<array<double>>>(arrived(*made), {.deserializers = {"typed"}}, types, families);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->front().data(), back->back().data());
}

TEST_P(repeated_arrays, notes_that_are_not_so_are_refused) {
  if (!shares())
    return;
  const auto sent = encoded(album{"a", {page(1), page(1)}, {}, array<float>(std::vector<float>(2'000))});
  const auto refused = [&](std::initializer_list<unsigned char> note) {
    return failure_of<album>(with_note(sent, note));
  };
  if (sent.frames.size() == 4) { // With msgpack the arrays are in the body, not in frames.
    EXPECT_EQ(refused({0, 0, 0, 0}), "");
    EXPECT_NE(refused({0, 0, 0}).find("frames are left over after"), std::string::npos) << refused({0, 0, 0});
    EXPECT_NE(refused({0, 0, 0, 0, 0}), "");
  }
  for (const auto note :
       {std::initializer_list<unsigned char>{1}, {0, 1}, {0, 0, 2}, {0, 0x80}, {0, 0, 0xff, 0xff, 0x7f}})
    EXPECT_NE(refused(note), "");
}

TEST_P(repeated_arrays, repeats_are_no_bytes_received_and_count_as_frames) {
  if (std::string_view(GetParam().name) != "typed")
    return;
  // A value with copies does not earn memory for two if the payload claims that they are one frame.
  const auto one = page();
  const auto many = std::vector<std::vector<double>>(1'000, std::vector<double>(100'000, 1.0));
  auto sent =
      serialize(copies{{many[0], many[1]}}, {.serializers = {"typed"}, .on_error = on_error::raise}, lists, families);
  ASSERT_TRUE(sent.has_value());
  sent->frames.pop_back();
  const auto doubled = with_note(*sent, {0, 0, 1});
  context tight;
  tight.limits.memory_ratio = 1;
  tight.limits.memory_free_bytes = 10'000;
  const auto back = deserialize<copies>(doubled, {.deserializers = {"typed"}, .context = tight}, lists, families);
  ASSERT_FALSE(back.has_value());
  EXPECT_EQ(back.error().code(), serialize_errc::limit_exceeded) << back.error().message();
  EXPECT_TRUE(deserialize<copies>(doubled, {.deserializers = {"typed"}}, lists, families).has_value());
  tight = {};
  tight.limits.frames = 2;
  EXPECT_EQ(
      deserialize<copies>(doubled, {.deserializers = {"typed"}, .context = tight}, lists, families).error().code(),
      serialize_errc::limit_exceeded);
}

class json_arrays : public testing::Test {
protected:
  json_arrays() { types.add<album>("album"); }

  std::expected<album, serialize_error> read(std::string_view text) {
    const payload sent{make_header({.family = "json", .type = "album"}),
                       {frame::copy_of(std::as_bytes(std::span(text)))}};
    return deserialize<album>(sent, {.deserializers = {"json"}}, types, families);
  }
  std::string refusal_of(std::string_view text) {
    const auto back = read(text);
    return back ? "" : back.error().message();
  }

  type_registry types;
  family_set families;
};

TEST_F(json_arrays, are_numbered_where_they_stand_first) {
  const auto two = array<double>({1.0, 2.0});
  const auto sent = serialize(album{"a", {two, two}, {}, {}}, {.serializers = {"json"}}, types, families);
  ASSERT_TRUE(sent.has_value());
  EXPECT_EQ(rich::text_of(sent->frames[0]),
            R"({"title":"a","pages":[{"$array":0,"shape":[2],"type":"f64","data":[1.0,2.0]},{"$array":0,"data":null}],)"
            R"("cover":null,"other":{"shape":[0],"type":"f32","data":[]}})");
}

TEST_F(json_arrays, may_be_spelled_by_hand) {
  const auto back = read(R"({"pages":[ { "$array" : 5 , "data" : [ 1 ] } , { "$array" : 5 , "data" : null } ]})");
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(back->pages[0].data(), back->pages[1].data());
}

TEST_F(json_arrays, that_refer_to_nothing_are_refused) {
  EXPECT_NE(refusal_of(R"({"pages":[{"$array":0,"data":null}]})").find("refers to array 0"), std::string::npos);
  EXPECT_NE(refusal_of(R"({"pages":[{"$array":0,"data":null},{"$array":0,"data":[1]}]})"), "");
  EXPECT_NE(refusal_of(R"({"pages":[{"$array":0}]})"), "");
  EXPECT_NE(refusal_of(R"({"pages":[{"$array":0,}]})"), "");
  EXPECT_NE(refusal_of(R"({"pages":[{"$array":-1,"data":[1]}]})"), "");
  EXPECT_NE(refusal_of(R"({"pages":[{"$array":"0","data":[1]}]})"), "");
  EXPECT_NE(refusal_of(R"({"x":{"$array":0}})"), "");
}

// Each reference to an array with another type reads it again, and each reading is charged.
TEST_F(json_arrays, that_are_read_again_and_again_are_paid_for) {
  std::string text = R"({"other":{"$array":0,"x":")" + std::string(100'000, 'x')
                     + R"(","data":[1]},"pages":[{"$array":0,"data":null})";
  for (int i = 0; i < 1'000; ++i)
    text += R"(,{"$array":0,"data":null})";
  EXPECT_EQ(refusal_of(text + "]}"), ""); // Read once for each type.
  std::string records = R"({"a":{"$array":0,"x":")" + std::string(100'000, 'x') + R"(","data":[1]},"b":[0)";
  for (int i = 0; i < 100'000; ++i)
    records += R"(,{"$array":0,"data":null})";
  const payload sent{make_header({.family = "json", .type = "unknown"}),
                     {frame::copy_of(std::as_bytes(std::span(records += "]}")))}};
  const auto back = deserialize_any(sent, {.deserializers = {"json"}}, types, families);
  ASSERT_FALSE(back.has_value());
  EXPECT_EQ(back.error().code(), serialize_errc::limit_exceeded) << back.error().message();
}

} // namespace
