// The family "json": for people and for debugging, readable from any language. Form: json/format.md.
#pragma once

#include <troupe/serializers/family.hpp>

namespace troupe {

/// One frame, which is one JSON text: described structs are objects by field name, described enums their names, bytes
/// and frames base64.
class json_family final : public family {
public:
  [[nodiscard]] std::string_view name() const override { return "json"; }
  [[nodiscard]] std::string unsupported(const type_entry& entry) const override;
  [[nodiscard]] std::expected<void, serialize_error> encode(const type_entry& entry, const void* value,
                                                            const context& ctx, encode_output& output) const override;
  [[nodiscard]] std::expected<void, serialize_error> decode(const type_entry& entry, void* target,
                                                            const header_fields& header, std::span<const frame> frames,
                                                            const context& ctx) const override;
};

} // namespace troupe
