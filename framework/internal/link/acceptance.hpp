// What this end of a link accepts and decodes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <troupe/framework/internal/objects/object_environment.hpp>
#include <troupe/framework/internal/wire/admin.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/family.hpp>
#include <troupe/serializers/limits.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe::internal {

/// How many types each end may report as refused. Messages of further such types fail one by one.
inline constexpr std::size_t refused_types_max = 1024;

/// The longest contract of a type that is sent or compared, in bytes.
inline constexpr std::size_t contract_bytes_max = 16 * 1024;

/// Says that `node` lacks the type, and what to do there. `fingerprint`: of the type at the sender, if it is known.
[[nodiscard]] std::string lacks_type(std::string_view node, std::string_view alias, std::string_view fingerprint = {});

/// Holds what this end of a link accepts: families, types and limits.
///
/// Threads: one.
class acceptance {
public:
  /// Accepts no family until accept(). The registry and the families must outlive this object.
  acceptance(const type_registry& types, const family_set& known, const limits& bounds, bool allow_cycles,
             std::uint64_t cycle_bytes);

  /// From now on accepts only the known families in `names`, also in nested payloads and in objects.
  void accept(std::vector<std::string> names);

  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return objects_->deserializers; }
  [[nodiscard]] std::span<const family* const> families() const noexcept { return families_; }
  [[nodiscard]] const type_registry& types() const noexcept { return objects_->types; }
  [[nodiscard]] const limits& bounds() const noexcept { return objects_->limits; }
  /// The environment for decoding the objects that arrive now; they may be decoded later.
  [[nodiscard]] const std::shared_ptr<const object_environment>& objects() const noexcept { return objects_; }

  /// Returns the family of that name. Fails with `protocol_violation` if the family is not accepted, because a correct
  /// peer does not send with it.
  [[nodiscard]] std::expected<const family*, node_error> check(std::string_view family) const;

  /// Returns the message that asks the peer not to send a type that this end cannot read. Returns nullopt if the alias
  /// was refused before, or if `refused_types_max` types were. `known` is the type that has the alias in this registry;
  /// null if there is none.
  [[nodiscard]] std::optional<type_refused> refuse(const std::string& alias, const type_entry* known);

private:
  std::vector<const family*> families_;
  std::shared_ptr<const object_environment> objects_;
  std::set<std::string, std::less<>> told_types_;
};

} // namespace troupe::internal
