// Fuzzes the family `msgpack`: the last part is the body of a value, the other parts are the frames behind the body.
#include "decoding.hpp"
#include "parts.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto input = std::as_bytes(std::span(data, size));
  const auto parts = fuzz::split(input);
  const auto header = standard_header(*fuzz::families().find("msgpack"), fuzz::type_of_input(fuzz::chosen(input)));
  fuzz::decode({header, fuzz::frames_of(parts.back(), std::span(parts).first(parts.size() - 1))}, {"msgpack"});
  return 0;
}
