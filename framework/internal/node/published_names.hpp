// The names that peers can look up.
#pragma once

#include <cstddef>
#include <expected>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Maps a node's published names to actors.
///
/// Threads: any.
class published_names final : public name_book {
public:
  /// `changed` is called after each change of a name, on the thread that makes it.
  explicit published_names(std::function<void(const std::string& name)> changed) : changed_(std::move(changed)) {}

  /// Fails with `bad_option` if the name is empty or too long or the actor is null. Fails with `name_taken` if the name
  /// is in use.
  [[nodiscard]] std::expected<void, node_error> publish(std::string name, caf::strong_actor_ptr actor);
  /// Returns false if no actor has that name.
  bool unpublish(std::string_view name);
  [[nodiscard]] caf::strong_actor_ptr find(std::string_view name) const override;
  [[nodiscard]] std::vector<std::pair<std::string, caf::strong_actor_ptr>> all() const override;
  [[nodiscard]] std::size_t size() const;
  /// Withdraws all names for good: publish() fails with `link_down`. Keeps the actors until clear().
  void withdraw_all();
  void clear();

private:
  using name_map = std::map<std::string, caf::strong_actor_ptr, std::less<>>;

  const std::function<void(const std::string& name)> changed_;
  mutable std::mutex mutex_; // No actor is dropped while it is held, since that may run the actor's code.
  // Guarded by mutex_.
  name_map names_;
  name_map withdrawn_;
  bool takes_no_more_ = false;
};

} // namespace troupe::internal
