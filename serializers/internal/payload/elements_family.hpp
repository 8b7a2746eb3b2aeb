// Values whose parts are encoded one by one, each by the first listed family that carries it.
#pragma once

#include <troupe/serializers/family.hpp>

namespace troupe::detail {

/// This family is in no list and no family_set. The families of its parts decide whether it is accepted. All of them
/// are checked before anything is decoded.
class elements_family final : public family {
public:
  static constexpr std::string_view reserved_name = "elements";
  [[nodiscard]] static const elements_family& instance();

  [[nodiscard]] std::string_view name() const override { return reserved_name; }
  [[nodiscard]] std::string unsupported(const type_entry& entry) const override;
  [[nodiscard]] std::expected<void, serialize_error> encode(const type_entry& entry, const void* value,
                                                            const context& ctx, encode_output& output) const override;
  [[nodiscard]] std::expected<void, serialize_error> decode(const type_entry& entry, void* target,
                                                            const header_fields& header, std::span<const frame> frames,
                                                            const context& ctx) const override;

  /// Checks the families of all parts, and of payloads nested in the parts, without decoding any.
  [[nodiscard]] std::expected<void, serialize_error> check(const type_entry& entry, std::span<const frame> frames,
                                                           const context& ctx) const;
};

} // namespace troupe::detail
