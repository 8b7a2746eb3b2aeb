// Fuzzes the family `typed` where the sender had another layout of `everything`: the first part is that layout, whose
// fingerprint is made to fit so that it is believed; the last is the body behind form and fingerprint; those in between
// are the frames.
#include "decoding.hpp"
#include "forged.hpp"
#include "parts.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parts = fuzz::split(std::as_bytes(std::span(data, size)));
  if (parts.size() < 2)
    return -1;
  const auto header =
      troupe::make_header({.family = "typed", .type = "everything", .schema = parts.front(), .extra = {}});
  const auto body = fuzz::typed_body(troupe::detail::fingerprint_of(parts.front()), parts.back());
  fuzz::decode({header, fuzz::frames_of(body, std::span(parts).subspan(1, parts.size() - 2))}, {"typed"});
  return 0;
}
