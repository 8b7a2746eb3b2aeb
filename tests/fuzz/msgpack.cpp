// Fuzzes the family `msgpack`: the last part is the body of an `everything`, the other parts are the frames behind it.
#include "decoding.hpp"
#include "parts.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parts = fuzz::split(std::as_bytes(std::span(data, size)));
  static const auto header = standard_header(*fuzz::families().find("msgpack"), *fuzz::types().find("everything"));
  fuzz::decode({header, fuzz::frames_of(parts.back(), std::span(parts).first(parts.size() - 1))}, {"msgpack"});
  return 0;
}
