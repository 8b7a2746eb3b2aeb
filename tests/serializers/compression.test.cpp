// Goal: large frames are compressed if that saves enough, and no others are. Compressed frames stay compressed when
// they are forwarded. Compressed input is decompressed within the limits, or refused.
#include <algorithm>
#include <random>
#include <thread>

#include <troupe/serializers/serialized.hpp>

#include "every_family.hpp"

namespace {

using namespace conformance;

struct report {
  std::string title;
  std::vector<std::string> lines; // In the body.
  std::vector<double> samples;    // Out of band.
  bool operator==(const report&) const = default;
};
TROUPE_DESCRIBE(report, title, lines, samples)

struct envelope {
  std::string to;
  serialized content;
};
TROUPE_DESCRIBE(envelope, to, content)

struct model {
  int epoch = 0;
  std::vector<double> weights;
  bool operator==(const model&) const = default;
};
TROUPE_DESCRIBE(model, epoch, weights)

std::vector<std::byte> noise(std::size_t size_bytes, unsigned seed = 42) {
  std::mt19937_64 source(seed);
  std::vector<std::byte> made(size_bytes);
  std::ranges::generate(made, [&] { return static_cast<std::byte>(source()); });
  return made;
}

std::vector<double> steps(std::size_t count) {
  std::vector<double> made(count);
  for (std::size_t i = 0; i < count; ++i)
    made[i] = static_cast<double>(i / 100);
  return made;
}

report large_report() {
  report made{.title = "large", .samples = steps(20'000)};
  for (int i = 0; i < 2'000; ++i)
    made.lines.push_back("line " + std::to_string(i) + " of the report");
  return made;
}

class compressed_by : public every_family {
protected:
  compressed_by() {
    add_cereal<report>(types, "report");
    add_cereal<envelope>(types, "envelope");
    types.register_generic<model>("model");
  }

  static context with(compression how) {
    context made;
    made.compression = how;
    return made;
  }

  template <class T>
  payload compressed(const T& value, compression how = compression::lz4) {
    auto made = made_of(value, with(how));
    EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().message());
    return made.value_or(payload{});
  }

  static bool is_compressed(const payload& of) { return !parse_header(of.header.bytes())->frame_codecs.empty(); }
};

INSTANTIATE_TEST_SUITE_P(, compressed_by, testing::ValuesIn(all_families), name_of_row);

TEST_P(compressed_by, large_values_arrive_and_take_less) {
  const auto value = large_report();
  const auto plain = encoded(value);
  for (const auto how : {compression::lz4, compression::zstd, compression::automatic}) {
    const auto sent = compressed(value, how);
    EXPECT_LT(sent.size_bytes(), plain.size_bytes() / 2) << to_string(how);
    EXPECT_EQ(sent.frames.size(), plain.frames.size());
    const auto back = decoded<report>(sent); // The receiver's own context says `none`.
    ASSERT_TRUE(back.has_value()) << to_string(how) << ": " << back.error().message();
    EXPECT_EQ(*back, value);
  }
}

TEST_P(compressed_by, small_values_have_the_same_bytes_as_without) {
  const report value{.title = "small", .lines = std::vector<std::string>(100, "line"), .samples = steps(1'000)};
  const auto plain = encoded(value);
  const auto sent = compressed(value);
  EXPECT_TRUE(std::ranges::equal(sent.header.bytes(), plain.header.bytes()));
  ASSERT_EQ(sent.frames.size(), plain.frames.size());
  for (std::size_t i = 0; i < sent.frames.size(); ++i)
    EXPECT_TRUE(std::ranges::equal(sent.frames[i].bytes(), plain.frames[i].bytes()));
}

TEST_P(compressed_by, nothing_is_compressed_where_a_store_is_shared) {
  auto sharing = with(compression::lz4);
  sharing.shared_store = true;
  const auto sent = made_of(large_report(), sharing);
  ASSERT_TRUE(sent.has_value());
  EXPECT_FALSE(is_compressed(*sent));
  EXPECT_EQ(sent->size_bytes(), encoded(large_report()).size_bytes());
}

TEST_P(compressed_by, anybody_reads_what_a_payload_says_of_itself) {
  const auto sent = compressed(large_report());
  auto any = deserialize_any(sent, {.deserializers = {GetParam().name}, .context = {}}, types, families);
  ASSERT_TRUE(any.has_value()) << any.error().message();
  ASSERT_NE(any->get<report>(), nullptr);
  EXPECT_EQ(*any->get<report>(), large_report());
}

TEST_P(compressed_by, many_threads_compress_and_decompress_at_once) {
  std::vector<std::jthread> threads;
  std::atomic<int> good = 0;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      auto value = large_report();
      value.title = std::to_string(i);
      for (int round = 0; round < 10; ++round) {
        const auto sent = made_of(value, with(round % 2 == 0 ? compression::lz4 : compression::zstd));
        const auto back = decoded<report>(*sent);
        good += back && *back == value ? 1 : 0;
      }
    });
  threads.clear();
  EXPECT_EQ(good, 40);
}

TEST_P(compressed_by, damage_is_refused_or_harmless) {
  const auto sent = compressed(large_report());
  ctx.limits.memory_free_bytes = 64_KiB;
  const auto granted = std::size_t{8} << 20U;
  for (std::size_t i = 0; i < sent.frames.size(); ++i) {
    const auto size = sent.frames[i].size_bytes();
    for (std::size_t at = 0; at < size; at += size / 40 + 1) {
      auto cut = sent;
      cut.frames[i] = sent.frames[i].slice(0, at);
      EXPECT_FALSE(decoded<report>(cut).has_value()) << "frame " << i << " cut at " << at;
      auto bytes = std::vector<std::byte>(sent.frames[i].bytes().begin(), sent.frames[i].bytes().end());
      bytes[at] ^= std::byte{0x10};
      auto flipped = sent;
      flipped.frames[i] = frame::adopt(std::move(bytes));
      const auto before = allocated_bytes.load();
      (void)decoded<report>(flipped);
      EXPECT_LT(allocated_bytes.load() - before, granted) << "frame " << i << " changed at " << at;
    }
  }
}

// -- which frames

class choice_of_frames : public testing::Test {
protected:
  choice_of_frames() {
    types.add<envelope>("envelope").add<std::vector<frame>>("frames").register_generic<model>("model");
  }

  template <class T>
  payload sent(const T& value, compression how = compression::lz4) {
    ctx.compression = how;
    auto made =
        serialize(value, {.serializers = {"typed"}, .on_error = on_error::raise, .iterate = through, .context = ctx},
                  types, families);
    EXPECT_TRUE(made.has_value()) << (made ? "" : made.error().message());
    return made.value_or(payload{});
  }

  /// Returns true if a frame of these bytes is sent compressed.
  bool is_compressed(std::vector<std::byte> bytes, compression how = compression::lz4) {
    const auto size = bytes.size();
    const auto made = sent(frame::adopt(std::move(bytes)), how);
    EXPECT_EQ(made.frames.size(), 2U);
    return made.frames[1].size_bytes() < size;
  }

  type_registry types;
  family_set families;
  context ctx;
  troupe::iterate through = iterate::automatic;
};

TEST_F(choice_of_frames, those_of_10_000_bytes_and_more) {
  EXPECT_FALSE(is_compressed(std::vector<std::byte>(9'999)));
  EXPECT_TRUE(is_compressed(std::vector<std::byte>(10'000)));
}

TEST_F(choice_of_frames, not_those_that_stay_above_seven_tenths) {
  for (const auto how : {compression::lz4, compression::zstd, compression::automatic}) {
    EXPECT_FALSE(is_compressed(noise(20'000), how));
    EXPECT_FALSE(is_compressed(noise(1'000'000), how));
    auto mixed = noise(20'000); // Three fifths of these cannot be compressed.
    std::fill(mixed.begin(), mixed.begin() + 8'000, std::byte{7});
    EXPECT_TRUE(is_compressed(mixed, how)) << to_string(how);
    mixed = noise(20'000);
    std::fill(mixed.begin(), mixed.begin() + 5'000, std::byte{7});
    EXPECT_FALSE(is_compressed(mixed, how)) << to_string(how);
  }
}

TEST_F(choice_of_frames, not_those_whose_samples_promise_nothing) {
  auto bytes = std::vector<std::byte>(1'000'000); // Zeros, except where samples are taken.
  const auto spoilt = noise(10'000);
  for (std::size_t i = 0; i < 5; ++i)
    std::ranges::copy(spoilt, bytes.begin() + static_cast<std::ptrdiff_t>(i * 247'500));
  EXPECT_FALSE(is_compressed(bytes));
  std::fill(bytes.begin() + 247'500, bytes.begin() + 257'500, std::byte{0});
  EXPECT_FALSE(is_compressed(bytes)) << "four of five cannot be made up for";
  std::fill(bytes.begin() + 495'000, bytes.begin() + 505'000, std::byte{0});
  EXPECT_TRUE(is_compressed(bytes)) << "three of five can";
}

TEST_F(choice_of_frames, not_those_that_do_not_keep_what_their_samples_promise) {
  auto bytes = noise(1'000'000);
  for (std::ptrdiff_t i = 0; i < 5; ++i)
    std::fill_n(bytes.begin() + i * 247'500, 10'000, std::byte{0});
  EXPECT_FALSE(is_compressed(bytes));
}

TEST_F(choice_of_frames, each_for_itself) {
  const std::vector<frame> frames{frame::adopt(noise(50'000)), frame::adopt(std::vector<std::byte>(50'000)),
                                  frame::adopt(std::vector<std::byte>(100))};
  const auto made = sent(frames);
  const auto plain = sent(frames, compression::none);
  ASSERT_EQ(made.frames.size(), plain.frames.size());
  EXPECT_EQ(made.frames[1].bytes().data(), frames[0].bytes().data()) << "left alone, it is not copied";
  EXPECT_LT(made.frames[2].size_bytes(), 1'000U);
  EXPECT_EQ(frames[1].size_bytes(), 50'000U) << "the value's own frames stay as they are";
  const auto back = deserialize<std::vector<frame>>(made, {}, types, families);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  for (std::size_t i = 0; i < frames.size(); ++i)
    EXPECT_TRUE(std::ranges::equal((*back)[i].bytes(), frames[i].bytes()));
}

TEST_F(choice_of_frames, no_receiver_with_the_same_limits_refuses_one) {
  for (const auto how : {compression::lz4, compression::zstd}) {
    const std::vector<frame> zeros{frame::adopt(std::vector<std::byte>(10'000)),
                                   frame::adopt(std::vector<std::byte>(30'000'000))};
    const auto made = sent(zeros, how); // zstd reduces the second to a thousand bytes.
    EXPECT_LT(made.size_bytes(), 200'000U);
    const auto back = deserialize<std::vector<frame>>(made, {}, types, families);
    EXPECT_TRUE(back.has_value()) << back.error().message();
  }
  ctx.limits.decompressed_bytes = 70'000;
  std::vector<frame> several;
  for (int i = 0; i < 3; ++i)
    several.push_back(frame::adopt(std::vector<std::byte>(30'000)));
  const auto made = sent(several);
  EXPECT_LT(made.frames[2].size_bytes(), 1'000U);
  EXPECT_EQ(made.frames[3].size_bytes(), 30'000U) << "the third would be too much";
  EXPECT_TRUE(deserialize<std::vector<frame>>(made, {.context = ctx}, types, families).has_value());
}

TEST_F(choice_of_frames, none_where_the_header_would_not_hold_what_there_is_to_say) {
  ctx.limits.header_bytes = 1'000;
  std::vector<frame> many(900, frame::adopt(std::vector<std::byte>(10'000)));
  EXPECT_EQ(sent(many).frames[1].size_bytes(), 10'000U);
  many.resize(100);
  EXPECT_LT(sent(many).frames[1].size_bytes(), 1'000U);
}

TEST_F(choice_of_frames, which_is_noted_in_the_header_as_its_format_says) {
  const auto made = sent(frame::adopt(std::vector<std::byte>(40'000)));
  const auto note = parse_header(made.header.bytes())->frame_codecs;
  const std::uint8_t golden[] = {0x00, 0x01, 0xc0, 0xb8, 0x02};
  EXPECT_TRUE(std::ranges::equal(note, std::as_bytes(std::span(golden))));
}

TEST_F(choice_of_frames, those_of_parts_are_the_affair_of_the_payload_around_them) {
  const model value{.epoch = 3, .weights = steps(20'000)};
  const auto made = sent(value);
  EXPECT_LT(made.size_bytes(), 40'000U);
  const auto back = deserialize<model>(made, {}, types, families);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(*back, value);
  through = iterate::elements;
  const std::vector<std::string> texts(3, std::string(20'000, 'x'));
  const auto elements = sent(texts);
  EXPECT_LT(elements.size_bytes(), 2'000U);
  EXPECT_EQ(*deserialize<std::vector<std::string>>(elements, {}, types, families), texts);
}

TEST_F(choice_of_frames, payloads_that_are_passed_on_stay_compressed_as_they_are) {
  // Zeros, which could be compressed a second time.
  const serialized kept(sent(array<double>(std::vector<double>(1'000'000)), compression::lz4));
  ASSERT_GT(kept.encoded().frames[1].size_bytes(), 10'000U);
  ASSERT_LT(kept.encoded().frames[1].size_bytes(), 80'000U);
  auto passed = sent(envelope{"b", kept}, compression::zstd);
  for (int hop = 0; hop < 3; ++hop) {
    const auto there = deserialize<envelope>(passed, {}, types, families);
    ASSERT_TRUE(there.has_value()) << there.error().message();
    const auto is = there->content.encoded().frames[1].bytes();
    EXPECT_EQ(is.data(), kept.encoded().frames[1].bytes().data());
    EXPECT_EQ(is.size(), kept.encoded().frames[1].size_bytes());
    const auto value = there->content.get<array<double>>({}, types, families);
    ASSERT_TRUE(value.has_value()) << value.error().message();
    EXPECT_EQ(value->size(), 1'000'000U);
    passed = sent(*there, hop == 0 ? compression::none : compression::lz4);
  }
}

TEST_F(choice_of_frames, what_to_serialize_marks_is_compressed_where_it_is_encoded) {
  const auto made = sent(envelope{"b", to_serialize(std::vector<double>(1'000'000))});
  const auto there = deserialize<envelope>(made, {}, types, families);
  ASSERT_TRUE(there.has_value()) << there.error().message();
  EXPECT_LT(there->content.encoded().size_bytes(), 80'000U);
  const auto value = there->content.get<std::vector<double>>({}, types, families);
  ASSERT_TRUE(value.has_value()) << value.error().message();
  EXPECT_EQ(*value, std::vector<double>(1'000'000));
}

TEST_F(choice_of_frames, arrays_lie_in_decompressed_frames_as_their_elements_need) {
  const auto made = sent(array<double>(steps(20'000)));
  const auto back = deserialize<array<double>>(made, {}, types, families);
  ASSERT_TRUE(back.has_value()) << back.error().message();
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(back->data()) % frame::alignment_bytes, 0U);
  EXPECT_TRUE(std::ranges::equal(std::span(back->data(), back->size()), steps(20'000)));
}

TEST(compression, has_the_names_that_configuration_files_use) {
  for (const auto each : {compression::none, compression::lz4, compression::zstd, compression::automatic})
    EXPECT_EQ(compression_named(to_string(each)), each);
  EXPECT_EQ(compression_named("gzip"), std::nullopt);
  EXPECT_EQ(compression_named(""), std::nullopt);
}

} // namespace
