// Goal: decoding a damaged payload gives an error or a value that can be encoded again, and takes no more memory than
// the limits grant.
// Method: the payload is cut at every byte, and every bit is flipped, in body and header.
#include <random>

#include "every_family.hpp"

namespace {

using namespace conformance;

class damaged : public every_family {
protected:
  damaged() { rich::add_to(types); }

  /// Returns the memory that decoding may allocate: the limits' share, plus some for an error's text and empty
  /// containers.
  [[nodiscard]] std::size_t granted(const payload& of) const {
    return ctx.limits.memory_free_bytes + ctx.limits.memory_ratio * of.size_bytes() + 64_KiB;
  }

  /// Decodes. Returns true if that gave a value, and then expects that the value can be encoded.
  bool survives(const payload& from, const std::string& what) {
    const auto before = allocated_bytes.load();
    auto back = decoded<rich::everything>(from);
    EXPECT_LT(allocated_bytes.load() - before, granted(from)) << what;
    if (!back) {
      EXPECT_NE(back.error().code(), serialize_errc::none) << what;
      EXPECT_NE(back.error().message(), "") << what;
      return false;
    }
    const auto again = made_of(*back, ctx);
    EXPECT_TRUE(again.has_value()) << what << ": " << again.error().message();
    return true;
  }

  static frame with_bit_flipped(const frame& of, std::size_t bit) {
    std::vector<std::byte> bytes(of.bytes().begin(), of.bytes().end());
    bytes[bit / 8] ^= std::byte{1} << (bit % 8);
    return frame::adopt(std::move(bytes));
  }
};

INSTANTIATE_TEST_SUITE_P(, damaged, testing::ValuesIn(all_families), name_of_row);

TEST_P(damaged, bodies_cut_at_any_byte_are_refused) {
  const auto sent = encoded(rich::full());
  for (std::size_t length = 0; length < sent.frames[0].size_bytes(); ++length) {
    auto cut = sent;
    cut.frames[0] = sent.frames[0].slice(0, length);
    EXPECT_FALSE(survives(cut, "cut at byte " + std::to_string(length)));
  }
}

TEST_P(damaged, headers_cut_at_any_byte_are_refused) {
  const auto sent = encoded(rich::full());
  for (std::size_t length = 0; length < sent.header.size_bytes(); ++length) {
    auto cut = sent;
    cut.header = sent.header.slice(0, length);
    EXPECT_FALSE(survives(cut, "cut at byte " + std::to_string(length)));
  }
}

TEST_P(damaged, bodies_survive_every_flipped_bit) {
  const auto sent = encoded(rich::full());
  std::size_t accepted = 0;
  for (std::size_t bit = 0; bit < sent.frames[0].size_bytes() * 8; ++bit) {
    auto flipped = sent;
    flipped.frames[0] = with_bit_flipped(sent.frames[0], bit);
    accepted += survives(flipped, "bit " + std::to_string(bit)) ? 1 : 0;
  }
  EXPECT_GT(accepted, 0U) << "a bit of a text";
}

TEST_P(damaged, headers_survive_every_flipped_bit) {
  const auto sent = encoded(rich::full());
  for (std::size_t bit = 0; bit < sent.header.size_bytes() * 8; ++bit) {
    auto flipped = sent;
    flipped.header = with_bit_flipped(sent.header, bit);
    survives(flipped, "bit " + std::to_string(bit));
  }
}

TEST_P(damaged, bodies_survive_random_bytes) {
  const auto sent = encoded(rich::full());
  const auto body = body_of(sent);
  std::mt19937 random(42);
  for (int round = 0; round < 3000; ++round) {
    auto bytes = body;
    for (int times = 0; times < 8; ++times)
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    survives(with_body(sent, std::move(bytes)), "round " + std::to_string(round));
  }
}

TEST_P(damaged, frames_may_be_missing_doubled_swapped_or_empty) {
  const auto sent = encoded(rich::full());
  for (std::size_t at = 0; at < sent.frames.size(); ++at) {
    auto missing = sent;
    missing.frames.erase(missing.frames.begin() + static_cast<std::ptrdiff_t>(at));
    EXPECT_FALSE(survives(missing, "missing"));
    auto doubled = sent;
    doubled.frames.insert(doubled.frames.begin() + static_cast<std::ptrdiff_t>(at), sent.frames[at]);
    EXPECT_FALSE(survives(doubled, "doubled"));
    auto empty = sent;
    empty.frames[at] = frame();
    survives(empty, "empty");
    auto swapped = sent;
    std::swap(swapped.frames[at], swapped.frames[0]);
    survives(swapped, "swapped");
  }
  EXPECT_FALSE(survives({sent.header, {}}, "no frames"));
  EXPECT_FALSE(survives({sent.header, std::vector<frame>(1000)}, "a thousand empty frames"));
}

} // namespace
