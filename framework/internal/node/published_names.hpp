// What peers find by name.
#pragma once

#include <cstddef>
#include <expected>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Says which actor has which name in a node.
///
/// Threads: any.
class published_names final : public name_book {
public:
  /// Fails with `bad_option` for a name that is empty or too long, or no actor; with `name_taken`.
  [[nodiscard]] std::expected<void, node_error> publish(std::string name, caf::strong_actor_ptr actor);
  /// False when nothing has that name.
  bool unpublish(std::string_view name);
  [[nodiscard]] caf::strong_actor_ptr find(std::string_view name) const override;
  [[nodiscard]] std::size_t size() const;
  void clear();

private:
  using name_map = std::map<std::string, caf::strong_actor_ptr, std::less<>>;

  mutable std::mutex mutex_; // Under it no actor is let go, since that may run what is the actor's.
  name_map names_;           // Guarded by mutex_.
};

} // namespace troupe::internal
