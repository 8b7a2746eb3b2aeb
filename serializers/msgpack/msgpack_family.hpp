// The family "msgpack": self-describing, readable from any language. Form: msgpack/format.md.
#pragma once

#include <troupe/serializers/family.hpp>

namespace troupe {

/// Described structs are maps by field name, variants maps of one entry, described enums their names.
class msgpack_family final : public family {
public:
  [[nodiscard]] std::string_view name() const override { return "msgpack"; }
  [[nodiscard]] std::string unsupported(const type_entry& entry) const override;
  [[nodiscard]] std::expected<void, serialize_error> encode(const type_entry& entry, const void* value,
                                                            const context& ctx, encode_output& output) const override;
  [[nodiscard]] std::expected<void, serialize_error> decode(const type_entry& entry, void* target,
                                                            const header_fields& header, std::span<const frame> frames,
                                                            const context& ctx) const override;
};

} // namespace troupe
