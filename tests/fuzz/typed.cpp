// Fuzzes the family `typed` if both ends have the same layout: the last part is the body of a value without its form
// and fingerprint, the other parts are the frames behind the body.
#include "decoding.hpp"
#include "forged.hpp"
#include "parts.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  const auto parts = fuzz::split(input);
  const auto& entry = fuzz::type_of_input(fuzz::chosen(input));
  const auto header = standard_header(*fuzz::families().find("typed"), entry);
  const auto body = fuzz::typed_body(entry.fingerprint(), parts.back());
  fuzz::decode({header, fuzz::frames_of(body, std::span(parts).first(parts.size() - 1))}, {"typed"});
  return 0;
}
