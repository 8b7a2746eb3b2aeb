// Fuzzes from_bytes(): the input should be payloads as byte strings, one after the other.
#include "decoding.hpp"

namespace {

using namespace troupe;

std::size_t least_memory(std::size_t bytes) {
  return 64 * bytes + 16_KiB; // Eight bytes can announce a frame.
}

std::string as_text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Expects that for a cut string the missing bytes are asked for, and no more than were cut off.
void check_cut(std::span<const std::byte> bytes, std::size_t used) {
  for (const auto cut : {std::size_t{0}, std::size_t{3}, std::size_t{15}, std::size_t{16}, used / 2, used - 1}) {
    if (cut >= used)
      continue;
    const auto part = from_bytes(bytes.first(cut), fuzz::bounds());
    fuzz::expect(part.has_value(), "refused only because it is cut", part ? "" : part.error().message());
    fuzz::expect(!part->is_complete() && part->missing_bytes <= used - cut && part->rest.size() == cut
                     && part->value.frames.empty(),
                 "asks for bytes that there are not");
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Copied to a block of exactly this size, so that a read past the end is detected.
  const auto block = frame::copy_of(std::as_bytes(std::span(data, size)));
  auto left = block.bytes();
  for (int strings = 0; strings < 4 && !left.empty(); ++strings) {
    fuzz::allocations during;
    auto found = from_bytes(left, fuzz::bounds());
    fuzz::expect(during.stop() <= least_memory(left.size()), "allocated", std::to_string(during.stop()));
    const auto viewed = from_bytes(block.slice(block.size_bytes() - left.size(), left.size()), fuzz::bounds());
    fuzz::expect(found.has_value() == viewed.has_value(), "copies and views differ");
    if (!found)
      return 0;
    fuzz::expect(found->missing_bytes == viewed->missing_bytes && found->used_bytes == viewed->used_bytes,
                 "copies and views differ");
    if (!found->is_complete())
      return 0;
    fuzz::expect(fuzz::bytes_of(found->value) == fuzz::bytes_of(viewed->value), "copies and views differ");
    const auto again = to_bytes(found->value);
    fuzz::expect(again && as_text(*again) == as_text(left.first(found->used_bytes)), "another string comes back");
    check_cut(left, found->used_bytes);
    fuzz::decode(found->value, fuzz::families().names());
    left = found->rest;
  }
  return 0;
}
