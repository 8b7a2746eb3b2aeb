// The family "cereal": types that have functions for the cereal library. Form: cereal/format.md.
//
// This header includes nothing of cereal, so that it stays light. cereal_type.hpp, which registers types, includes
// cereal.
#pragma once

#include <troupe/base/export.hpp>
#include <troupe/serializers/family.hpp>

namespace troupe {

class cereal_reader;
class cereal_writer;
template <class Family>
struct carriage_rule;

/// The family's functions for one type. add_cereal() attaches them to the type's entry.
struct cereal_functions {
  void (*write)(cereal_writer&, const void* value) = nullptr;
  void (*read)(cereal_reader&, void* target) = nullptr;
  /// Whether the value travels by its description, because the type has no cereal functions. Then both ends need the
  /// same layout, which is compared. A type's own functions can distinguish versions themselves.
  bool by_description = false;
};

/// Portable binary, as cereal's own archive of that name writes it. Carries the types that were registered with
/// add_cereal(), and without registration numbers, texts and lists of them.
///
/// The family trusts its input: the types' own functions construct values, and cannot protect themselves from hostile
/// bytes. A link lists the family only with `trusted_families`. For the same reason a new family_set does not contain
/// it. To use it, call `families.add(std::make_unique<cereal_family>())`.
///
/// Decoding fails with `not_supported`, `layout_mismatch`, `malformed`, `limit_exceeded` or `codec_failed`.
class TROUPE_EXPORT cereal_family final : public family {
public:
  [[nodiscard]] std::string_view name() const override { return "cereal"; }
  [[nodiscard]] bool needs_trust() const override { return true; }
  [[nodiscard]] std::string unsupported(const type_entry& entry) const override;
  [[nodiscard]] std::span<const std::byte> schema(const type_entry& entry) const override;
  [[nodiscard]] std::expected<void, serialize_error> encode(const type_entry& entry, const void* value,
                                                            const context& ctx, encode_output& output) const override;
  [[nodiscard]] std::expected<void, serialize_error> decode(const type_entry& entry, void* target,
                                                            const header_fields& header, std::span<const frame> frames,
                                                            const context& ctx) const override;
};

/// For `serializable<T, cereal_family>`. Defined in cereal_type.hpp, because it must know the cereal library.
template <>
struct carriage_rule<cereal_family>;

} // namespace troupe
