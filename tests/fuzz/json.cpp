// Fuzzes the family `json`: the input is the text of a value, and the number of leading tabs selects its type. Accepted
// texts must be JSON for another reader too.
#include <nlohmann/json.hpp>

#include "decoding.hpp"
#include "parts.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace troupe;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto& entry = fuzz::type_of_input(std::min(text.find_first_not_of('\t'), size));
  const auto header = standard_header(*fuzz::families().find("json"), entry);
  const auto accepts = [](std::string_view of) { return nlohmann::json::accept(of); };
  const auto check = [&](any_value& value) {
    fuzz::expect(accepts(text), "accepted what is no JSON");
    const auto sent = fuzz::serialize_as(entry, value.data(), {.serializers = {"json"}});
    fuzz::expect(sent && accepts(rich::text_of(sent->frames[0])), "wrote what is no JSON");
  };
  fuzz::decode({header, fuzz::frames_of(std::as_bytes(std::span(data, size)), {})}, {"json"}, check);
  return 0;
}
