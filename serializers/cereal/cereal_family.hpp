// The family "cereal": types that bring functions of the cereal library. Form: cereal/format.md.
//
// Includes nothing of cereal, to stay light; cereal_type.hpp, which registers types, includes it.
#pragma once

#include <troupe/base/export.hpp>
#include <troupe/serializers/family.hpp>

namespace troupe {

class cereal_reader;
class cereal_writer;
template <class Family>
struct carriage_rule;

/// The family's functions for one type; add_cereal() attaches them to the type's entry.
struct cereal_functions {
  void (*write)(cereal_writer&, const void* value) = nullptr;
  void (*read)(cereal_reader&, void* target) = nullptr;
  /// The value travels by its description, since the type has no cereal functions. Then both ends need the same layout,
  /// which is compared; a type's own functions can tell versions apart themselves.
  bool by_description = false;
};

/// Portable binary, as written by cereal's own archive of that name. Carries the types that were registered with
/// add_cereal(), and without that numbers, texts and lists of them.
///
/// It trusts its input: the types' own functions construct values, and cannot protect themselves from hostile bytes. A
/// link lists it only with `trusted_families`. For the same reason no family_set starts with it; to use it, call
/// `families.add(std::make_unique<cereal_family>())`.
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

/// For `serializable<T, cereal_family>`. Defined in cereal_type.hpp, since it must know the cereal library.
template <>
struct carriage_rule<cereal_family>;

} // namespace troupe
