// Fuzzes deserialize_any() with a registry of many types and with all families. The input's first part is the header,
// its last part the body; the parts between them are the frames behind the body.
#include "decoding.hpp"
#include "parts.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto parts = fuzz::split(std::as_bytes(std::span(data, size)));
  if (parts.size() < 2)
    return -1;
  fuzz::decode({troupe::frame::copy_of(parts.front()),
                fuzz::frames_of(parts.back(), std::span(parts).subspan(1, parts.size() - 2))},
               {"typed", "msgpack", "json"});
  return 0;
}
