// The family "cereal": types that bring functions of the cereal library. Form: cereal/format.md.
//
// Light on purpose: nothing of cereal is included here. cereal_type.hpp, which registers types, is where it is.
#pragma once

#include <troupe/base/export.hpp>
#include <troupe/serializers/family.hpp>

namespace troupe {

class cereal_reader;
class cereal_writer;
template <class Family>
struct carriage_rule;

/// What the family knows of one type; add_cereal() attaches it to the type's entry.
struct cereal_functions {
  void (*write)(cereal_writer&, const void* value) = nullptr;
  void (*read)(cereal_reader&, void* target) = nullptr;
  /// The value goes by its description, since it has no functions of its own. Then both ends need the same layout,
  /// which is compared; functions of its own can tell versions apart themselves.
  bool by_description = false;
};

/// Portable binary, as cereal's own archive of that name writes it. Carries the types that were registered with
/// add_cereal(), and numbers, texts and lists of them without that.
///
/// It trusts its input: values are made by the types' own functions, which have no way to distrust it. Links list it
/// only with `trusted_families`. For the same reason no family_set starts with it; a program that wants it says
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
