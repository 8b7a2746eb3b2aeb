// The family "typed": compact binary by description, arrays out of band. Format: typed/format.md.
#pragma once

#include <troupe/base/export.hpp>
#include <troupe/serializers/family.hpp>

namespace troupe {

/// The default family. If both ends have the same layout of a type, values are stored field after field, without tags.
/// If their versions differ, the sender's layout in the header guides the decoder. Needs no trust.
class TROUPE_EXPORT typed_family final : public family {
public:
  [[nodiscard]] std::string_view name() const override { return "typed"; }
  [[nodiscard]] std::string unsupported(const type_entry& entry) const override;
  [[nodiscard]] std::span<const std::byte> schema(const type_entry& entry) const override;
  [[nodiscard]] std::expected<void, serialize_error> encode(const type_entry& entry, const void* value,
                                                            const context& ctx, encode_output& output) const override;
  [[nodiscard]] std::expected<void, serialize_error> decode(const type_entry& entry, void* target,
                                                            const header_fields& header, std::span<const frame> frames,
                                                            const context& ctx) const override;
};

} // namespace troupe
