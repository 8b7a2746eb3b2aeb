// Fuzzes the family `typed` if the sender has another layout of the type. The first part is that layout, with a
// matching fingerprint so that it is believed. The last part is the body without form and fingerprint; the parts
// between are the frames.
#include "decoding.hpp"
#include "forged.hpp"
#include "parts.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  const auto parts = fuzz::split(input);
  if (parts.size() < 2)
    return -1;
  const auto& entry = fuzz::type_of_input(fuzz::chosen(input));
  const auto header =
      troupe::make_header({.family = "typed", .type = entry.alias(), .schema = parts.front(), .extra = {}});
  const auto body = fuzz::typed_body(troupe::detail::fingerprint_of(parts.front()), parts.back());
  fuzz::decode({header, fuzz::frames_of(body, std::span(parts).subspan(1, parts.size() - 2))}, {"typed"});
  return 0;
}
