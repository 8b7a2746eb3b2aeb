// The family "caf": types that bring CAF's `inspect`. Form: caf_family/format.md.
//
// Light on purpose: caf_type.hpp, which registers types, is where CAF's serialization is included.
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

/// What the family knows of one type; add_caf() attaches it to the type's entry.
struct caf_functions {
  caf::error (*write)(caf_writer&, const void* value) = nullptr;
  caf::error (*read)(caf_reader&, void* target) = nullptr;
  /// The value goes by its description, since it has no inspect. Then both ends need the same layout, which is
  /// compared.
  bool by_description = false;
};

/// The bytes that caf::binary_serializer writes. Carries the types that were registered with add_caf(), and numbers,
/// texts, lists of them, atoms and errors without that.
///
/// It trusts its input. The archives check what they read themselves: sizes before anything is allocated, depth, texts,
/// what is left over. But values are made by the types' own inspect functions, which were written for one's own
/// network: they get any number for an enum, keys and counts that fit nothing, and what their callbacks do with these
/// is theirs; those that are written for caf::deserializer alone leave the archive's sight. Links list it only with
/// `trusted_families`. In no family_set from the start: `families.add(std::make_unique<caf_family>())`.
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

/// For `serializable<T, caf_family>`. Defined in caf_type.hpp, since it must know CAF's serialization.
template <>
struct carriage_rule<caf_family>;

} // namespace troupe
