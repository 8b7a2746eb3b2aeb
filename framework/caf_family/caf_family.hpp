// The family "caf": types that have CAF's `inspect`. Form: caf_family/format.md.
//
// This header is light on purpose: CAF's serialization is included by caf_type.hpp, which registers types.
#pragma once

#include <troupe/base/export.hpp>
#include <troupe/serializers/family.hpp>

namespace caf {

class error;

} // namespace caf

namespace troupe {

class caf_reader;
class caf_writer;
template <class Family>
struct carriage_rule;

/// The family's functions for one type; add_caf() attaches them to the type's entry.
struct caf_functions {
  caf::error (*write)(caf_writer&, const void* value) = nullptr;
  caf::error (*read)(caf_reader&, void* target) = nullptr;
  /// True if the value is carried by its description, since it has no inspect. Both ends then need the same layout,
  /// which is compared.
  bool by_description = false;
};

/// Writes the bytes of caf::binary_serializer. Carries the types registered with add_caf(); and, without registration,
/// numbers, texts, lists of these, atoms and errors.
///
/// It trusts its input. The archives check sizes before anything is allocated, depth, texts, and leftover bytes. But
/// values are made by the types' own inspect functions, which are usually written for a trusted network. They may get
/// any number for an enum, and keys and counts that do not fit each other, and must handle these in their callbacks;
/// functions written for caf::deserializer alone bypass the archive's checks. So links may list this family only with
/// `trusted_families`. No family_set contains it by default: `families.add(std::make_unique<caf_family>())`.
class TROUPE_EXPORT caf_family final : public family {
public:
  [[nodiscard]] std::string_view name() const override { return "caf"; }
  [[nodiscard]] bool needs_trust() const override { return true; }
  [[nodiscard]] std::string unsupported(const type_entry& entry) const override;
  [[nodiscard]] std::span<const std::byte> schema(const type_entry& entry) const override;
  [[nodiscard]] std::expected<void, serialize_error> encode(const type_entry& entry, const void* value,
                                                            const context& ctx, encode_output& output) const override;
  [[nodiscard]] std::expected<void, serialize_error> decode(const type_entry& entry, void* target,
                                                            const header_fields& header, std::span<const frame> frames,
                                                            const context& ctx) const override;
};

/// For `serializable<T, caf_family>`. Defined in caf_type.hpp, since it needs CAF's serialization.
template <>
struct carriage_rule<caf_family>;

} // namespace troupe
