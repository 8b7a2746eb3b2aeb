// Fuzzes the family `json`: the input is the text of an `everything`. What is accepted must be JSON by another reader's
// judgement as well.
#include <nlohmann/json.hpp>

#include "decoding.hpp"
#include "parts.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto& entry = *fuzz::types().find("everything");
  static const auto header = standard_header(*fuzz::families().find("json"), entry);
  const troupe::payload received{header, fuzz::frames_of(std::as_bytes(std::span(data, size)), {})};
  fuzz::decode(received, {"json"});
  rich::everything value;
  if (deserialize_entry(entry, &value, received, {.deserializers = {"json"}}, fuzz::families())) {
    fuzz::expect(nlohmann::json::accept(data, data + size), "accepted what is no JSON");
    const auto sent = serialize_entry(entry, &value, {.serializers = {"json"}}, fuzz::families());
    fuzz::expect(sent && nlohmann::json::accept(rich::text_of(sent->frames[0])), "wrote what is no JSON");
  }
  return 0;
}
