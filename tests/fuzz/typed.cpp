// Fuzzes the family `typed` where both ends have one layout: the last part is the body of an `everything` behind its
// form and fingerprint, the other parts are the frames behind it.
#include "decoding.hpp"
#include "forged.hpp"
#include "parts.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parts = fuzz::split(std::as_bytes(std::span(data, size)));
  static const auto& entry = *fuzz::types().find("everything");
  static const auto header = standard_header(*fuzz::families().find("typed"), entry);
  const auto body = fuzz::typed_body(entry.fingerprint(), parts.back());
  fuzz::decode({header, fuzz::frames_of(body, std::span(parts).first(parts.size() - 1))}, {"typed"});
  return 0;
}
