// What one end of a link decodes of what its peer sends.
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

/// So many types each end may have refused; what comes on top is refused message by message.
inline constexpr std::size_t refused_types_max = 1024;

/// A type's contract is told where it is not longer; a longer one is not compared.
inline constexpr std::size_t contract_bytes_max = 16 * 1024;

/// Says what this end of a link decodes.
///
/// Threads: one.
class acceptance {
public:
  /// No family is accepted yet. The registry and the families outlive this.
  acceptance(const type_registry& types, const family_set& known, const limits& bounds, bool allow_cycles,
             std::uint64_t cycle_bytes);

  /// Refuses all families but these from now on, in payloads within payloads and in objects, too. Requires: known ones.
  void accept(std::vector<std::string> names);

  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return objects_->deserializers; }
  [[nodiscard]] std::span<const family* const> families() const noexcept { return families_; }
  [[nodiscard]] const type_registry& types() const noexcept { return objects_->types; }
  [[nodiscard]] const limits& bounds() const noexcept { return objects_->limits; }
  /// With what objects that come now are read later.
  [[nodiscard]] const std::shared_ptr<const object_environment>& objects() const noexcept { return objects_; }

  /// The family of that name. Fails with `protocol_violation` where it is not accepted: a peer that keeps to the
  /// handshake does not send with it.
  [[nodiscard]] std::expected<const family*, node_error> check(std::string_view family) const;

  /// The message that tells the peer not to send a type that this end cannot read. Nothing where the alias was refused
  /// before, or where too many types were. `known`: the type that has the alias in this registry; null for none.
  [[nodiscard]] std::optional<type_refused> refuse(const std::string& alias, const type_entry* known);

private:
  std::vector<const family*> families_;
  std::shared_ptr<const object_environment> objects_;
  std::set<std::string, std::less<>> told_types_;
};

} // namespace troupe::internal
