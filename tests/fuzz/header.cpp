// Fuzzes parse_header(): the input is a payload's header.
#include "decoding.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace troupe;
  // Copied to a block of exactly this size, so that a read past the end is detected.
  const auto header = frame::copy_of(std::as_bytes(std::span(data, size)));
  fuzz::allocations during;
  const auto fields = parse_header(header.bytes(), fuzz::bounds());
  fuzz::expect(during.stop() <= 16_KiB, "allocated", std::to_string(during.stop()));
  if (!fields)
    return 0;
  const auto again = make_header(*fields);
  const auto same = parse_header(again.bytes());
  fuzz::expect(same && same->family == fields->family && same->type == fields->type
                   && std::ranges::equal(same->schema, fields->schema) && std::ranges::equal(same->extra, fields->extra)
                   && std::ranges::equal(same->frame_codecs, fields->frame_codecs)
                   && std::ranges::equal(same->frame_repeats, fields->frame_repeats)
                   && std::ranges::equal(same->mentions, fields->mentions),
               "another header comes back");
  return 0;
}
