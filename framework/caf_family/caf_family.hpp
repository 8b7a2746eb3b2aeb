// The family "caf": types that have CAF's `inspect`. Form: caf_family/format.md.
//
// This header does not include CAF's serialization; caf_type.hpp does, which registers types.
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

/// The family's functions for one type. add_caf() attaches them to the type's entry.
struct caf_functions {
  caf::error (*write)(caf_writer&, const void* value) = nullptr;
  caf::error (*read)(caf_reader&, void* target) = nullptr;
  /// True if the type has no inspect, so that its description carries the value. Then both ends need the same layout,
  /// and it is compared.
  bool by_description = false;
};

/// Writes the bytes of caf::binary_serializer. Carries the types that are registered with add_caf() and, without
/// registration, numbers, texts, lists of these, atoms and errors.
///
/// It trusts its input, so links may list it only with `trusted_families`. The archives check sizes before anything is
/// allocated, and depth, texts and leftover bytes. But the types' own inspect functions make the values, and these are
/// usually written for a trusted network. They may get any number for an enum, and keys and counts that do not fit each
/// other; their callbacks must handle that. Functions that are written for caf::deserializer alone bypass the archive's
/// checks. No family_set contains this family by default: `families.add(std::make_unique<caf_family>())`.
///
/// Threads: any. Lifetime: a family_set owns it.
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

/// For `serializable<T, caf_family>`. caf_type.hpp defines it, because it needs CAF's serialization.
template <>
struct carriage_rule<caf_family>;

} // namespace troupe
