// Goal: a sender that claims that a frame is compressed cannot make the receiver take more memory than the limits
// grant: bombs, wrong sizes, unknown codecs.
#include <cstring>

#include <zstd.h>

#include <troupe/serializers/compressed.hpp>
#include <troupe/serializers/internal/payload/part_payloads.hpp>
#include <troupe/serializers/msgpack/described.hpp>

#include "hostile.hpp"

namespace {

using namespace hostile;

/// Returns a payload whose header has `note` as its frame codecs.
payload noted(const std::string& note, std::vector<frame> frames) {
  const auto fields = *parse_header(header_by<frame>("typed").bytes());
  return {make_header({.family = fields.family,
                       .type = fields.type,
                       .schema = fields.schema,
                       .frame_codecs = std::as_bytes(std::span(note))}),
          std::move(frames)};
}

std::string lz4(std::uint64_t original_bytes) {
  return "\x01" + varint(original_bytes);
}

std::string zstd(std::uint64_t original_bytes) {
  return "\x02" + varint(original_bytes);
}

const std::string as_it_is(1, '\0');

/// Returns the payload of a frame of 50,000 zeros, as an honest sender makes it.
payload honest(compression how) {
  context ctx;
  ctx.compression = how;
  const auto value = frame::adopt(std::vector<std::byte>(50'000));
  return *serialize(value, {.serializers = {"typed"}, .context = ctx}, types(), families());
}

/// Returns the frames of `honest()`, with another note.
payload changed(const std::string& note, compression how = compression::lz4) {
  return noted(note, honest(how).frames);
}

frame zstd_of_zeros(std::size_t size_bytes) {
  const std::vector<std::byte> zeros(1 << 20);
  std::string made(64 << 10, '\0');
  ZSTD_outBuffer to{made.data(), made.size(), 0};
  auto* stream = ZSTD_createCCtx();
  ZSTD_CCtx_setPledgedSrcSize(stream, size_bytes);
  for (std::size_t done = 0; done < size_bytes; done += zeros.size()) {
    ZSTD_inBuffer from{zeros.data(), zeros.size(), 0};
    const auto last = done + zeros.size() >= size_bytes;
    while (ZSTD_compressStream2(stream, &to, &from, last ? ZSTD_e_end : ZSTD_e_continue) != 0
           && (last || from.pos < from.size))
      ;
  }
  ZSTD_freeCCtx(stream);
  return rich::frame_of(std::string_view(made.data(), to.pos));
}

/// Returns the lz4 block that expands most: one literal, then an endless match.
frame lz4_without_end(std::size_t size_bytes) {
  auto made = bytes({0x1f, 0, 1, 0}) + std::string(size_bytes - 5, '\xff') + std::string(1, '\0');
  return rich::frame_of(made);
}

frame body() {
  return honest(compression::lz4).frames[0];
}

struct claim {
  std::string name;
  serialize_errc expected;
  payload sent;
  std::string saying;
  std::size_t allocated_max = 64_KiB;
};

std::vector<claim> claims() {
  using enum serialize_errc;
  const auto bomb = zstd_of_zeros(1_GiB);
  const auto packed = honest(compression::lz4).frames[1].size_bytes();
  std::vector<claim> all{
      {"a_bomb_of_zstd", limit_exceeded, noted(as_it_is + zstd(1_GiB), {body(), bomb}),
       "states an original size of 1,073,741,824, limit 256 times as much (limits::decompression_ratio)"},
      {"a_bomb_that_denies_it", malformed, noted(as_it_is + zstd(1'000'000), {body(), bomb}), "which is wrong"},
      {"a_bomb_that_says_it_is_lz4", malformed, noted(as_it_is + lz4(1'000'000), {body(), bomb}),
       "cannot be decompressed to 1,000,000", 1'100'000},
      {"a_bomb_of_lz4", limit_exceeded, noted(as_it_is + lz4(1_GiB), {body(), lz4_without_end(32'768)}),
       "(limits::decompression_ratio)"},
      {"lz4_that_goes_on_for_longer_than_it_says", malformed,
       noted(as_it_is + lz4(1'000'000), {body(), lz4_without_end(32'768)}), "cannot be decompressed to 1,000,000",
       1'100'000},
      {"a_bomb_in_the_body", limit_exceeded, noted(zstd(1_GiB) + as_it_is, {bomb, body()}), "frame 0 (the body) of "},
      {"a_size_that_is_too_small", malformed, changed(as_it_is + lz4(49'999)), "cannot be decompressed to 49,999",
       128_KiB},
      {"a_size_that_is_too_large", malformed, changed(as_it_is + lz4(50'001)), "cannot be decompressed to 50,001",
       128_KiB},
      {"a_size_of_zstd_that_is_too_small", malformed, changed(as_it_is + zstd(49'999), compression::zstd),
       "which is wrong"},
      {"a_size_of_zstd_that_is_too_large", malformed, changed(as_it_is + zstd(50'001), compression::zstd),
       "which is wrong"},
      {"a_size_of_nothing", malformed, changed(as_it_is + lz4(0)), "which is wrong"},
      {"the_greatest_size_there_is", limit_exceeded, changed(as_it_is + lz4(UINT64_MAX)), "(limits::frame_bytes)"},
      {"a_size_that_is_not_there", malformed, changed(as_it_is + "\x01"), "does not state its original size"},
      {"a_size_without_end", malformed, changed(as_it_is + "\x01" + std::string(11, '\xff')),
       "does not state its original size"},
      {"an_unknown_codec", malformed, changed(as_it_is + "\x07" + varint(50'000)),
       "frame 1 is compressed by codec 7, known are 1 (lz4) and 2 (zstd)"},
      {"the_other_codec", malformed, changed(as_it_is + zstd(50'000)), "which is wrong"},
      {"too_few_entries", malformed, changed(as_it_is), "how 1 frames are compressed, but there are 2"},
      {"too_many_entries", malformed, changed(as_it_is + lz4(50'000) + as_it_is),
       "how 3 frames are compressed, but there are 2"},
      {"entries_without_frames", malformed, noted(lz4(50'000), {}), "how 1 frames are compressed, but there are 0"},
      {"an_empty_frame", limit_exceeded, noted(as_it_is + lz4(50'000), {body(), frame()}),
       "(limits::decompression_ratio)"},
      {"more_after_the_end", malformed,
       noted(as_it_is + lz4(50'000),
             {body(), rich::frame_of(rich::text_of(honest(compression::lz4).frames[1]) + "more")}),
       "cannot be decompressed to 50,000", 128_KiB},
      {"a_frame_that_is_not_compressed", malformed,
       noted(as_it_is + lz4(50'000), {body(), rich::frame_of(std::string(1'000, 'x'))}),
       "cannot be decompressed to 50,000", 128_KiB},
  };
  EXPECT_LT(bomb.size_bytes(), 40'000U);
  EXPECT_GT(packed, 100U);
  std::string note;
  std::vector<frame> frames;
  for (int i = 0; i < 200; ++i) {
    note += lz4(8'000'000);
    frames.push_back(lz4_without_end(32'768));
  }
  all.push_back({"many_small_bombs", limit_exceeded, noted(note, frames),
                 "compressed frames of 1,600,000,000 bytes, limit 1,073,741,824 (limits::decompressed_bytes)"});
  return all;
}

TEST(compressed_frames, that_are_not_what_they_claim_are_refused_within_the_budget) {
  for (const auto& each : claims()) {
    SCOPED_TRACE(each.name);
    const auto done = decode<frame>(each.sent);
    EXPECT_EQ(done.code, each.expected) << done.message;
    EXPECT_NE(done.message.find(each.saying), std::string::npos) << done.message;
    EXPECT_LT(done.allocated, each.allocated_max) << done.message;
    EXPECT_LT(done.seconds, seconds_max) << done.message;
  }
}

TEST(compressed_frames, of_a_part_by_itself_are_refused) {
  const auto part = honest(compression::lz4);
  const auto header = part.header.bytes();
  const detail::payload_parts parts{
      .names = {""}, .headers = {{header.begin(), header.end()}}, .parts = {{.name = 0, .header = 0, .frames = 2}}};
  const payload whole{make_header({.family = "elements", .type = types().find<std::vector<frame>>()->alias()}),
                      {frame::adopt(msgpack::encode_described(parts)), part.frames[0], part.frames[1]}};
  const auto done = decode<std::vector<frame>>(whole);
  EXPECT_EQ(done.code, serialize_errc::malformed);
  EXPECT_NE(done.message.find("a part that is compressed, in pieces or repeats frames by itself"), std::string::npos)
      << done.message;
}

TEST(compressed_frames, are_worth_no_more_than_they_claim_to_be) {
  const auto worth = [](const std::string& note) { return decompressed_bytes(std::as_bytes(std::span(note))); };
  EXPECT_EQ(worth(""), 0U);
  EXPECT_EQ(worth(as_it_is + lz4(50'000) + zstd(7)), 50'007U);
  EXPECT_EQ(worth(lz4(50'000) + "\x07"), 0U) << "nothing of it is decompressed";
  EXPECT_EQ(worth(lz4(UINT64_MAX) + lz4(UINT64_MAX)), std::uint64_t{1} << 48);
}

TEST(compressed_frames, that_are_honest_arrive) {
  for (const auto how : {compression::lz4, compression::zstd})
    EXPECT_EQ(decode<frame>(honest(how)).code, serialize_errc::none);
}

TEST(compressed_frames, are_held_to_each_limit_as_they_were) {
  const auto sent = honest(compression::lz4);
  context ctx;
  const auto code = [&] { return decode<frame>(sent, ctx).code; };
  for (auto* limit : {&ctx.limits.decompressed_bytes, &ctx.limits.frame_bytes}) {
    const auto before = *limit;
    *limit = 50'000;
    EXPECT_EQ(code(), serialize_errc::none);
    *limit = 49'999;
    EXPECT_EQ(code(), serialize_errc::limit_exceeded);
    *limit = before;
  }
  ctx.limits.memory_bytes = 49'999;
  EXPECT_EQ(code(), serialize_errc::limit_exceeded);
  ctx.limits = {.decompressed_bytes = 0};
  EXPECT_EQ(code(), serialize_errc::limit_exceeded) << "0 refuses all";
  ctx.limits = {.decompression_ratio = 10};
  EXPECT_EQ(code(), serialize_errc::limit_exceeded);
}

TEST(compressed_frames, of_a_family_that_is_not_accepted_are_not_decompressed) {
  const auto sent = honest(compression::lz4);
  const auto before = allocated_bytes.load();
  const auto refused = deserialize<frame>(sent, {.deserializers = {"msgpack"}}, types(), families());
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code(), serialize_errc::refused_family);
  EXPECT_LT(allocated_bytes.load() - before, 10'000U);
}

TEST(compressed_frames, take_from_the_memory_that_decoding_has) {
  context ctx;
  ctx.compression = compression::lz4;
  const std::vector<std::string> texts(2'000, "the same text again and again, twice");
  const auto sent = serialize(texts, {.serializers = {"msgpack"}, .context = ctx}, types(), families());
  ASSERT_TRUE(sent.has_value());
  ctx.limits.memory_bytes = 1_MiB;
  EXPECT_EQ(decode<std::vector<std::string>>(*sent, ctx).code, serialize_errc::none);
  ctx.limits.memory_bytes = 100'000; // Enough for the body, not for the decoded value.
  EXPECT_EQ(decode<std::vector<std::string>>(*sent, ctx).code, serialize_errc::limit_exceeded);
}

TEST(compressed_frames, take_what_they_were_beside_what_is_made_of_them) {
  const std::vector<std::string> texts(2'000, "the same text again and again, twice");
  const auto sent = [&](compression how) {
    context ctx;
    ctx.compression = how;
    return serialize(texts, {.serializers = {"msgpack"}, .context = ctx}, types(), families()).value();
  };
  const auto least_memory_for = [](const payload& from) {
    std::size_t refused = 0;
    std::size_t enough = 1_MiB;
    while (enough - refused > 1) {
      context ctx;
      ctx.limits.memory_bytes = refused + (enough - refused) / 2;
      const auto is_enough = decode<std::vector<std::string>>(from, ctx).code == serialize_errc::none;
      (is_enough ? enough : refused) = ctx.limits.memory_bytes;
    }
    return enough;
  };
  const auto plain = sent(compression::none);
  ASSERT_EQ(plain.frames.size(), 1U);
  EXPECT_EQ(least_memory_for(sent(compression::lz4)), least_memory_for(plain) + plain.frames[0].size_bytes());
}

} // namespace
