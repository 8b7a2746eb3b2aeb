// The names of this member's actors.
#pragma once

#include <cstddef>
#include <expected>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <caf/actor.hpp>
#include <caf/actor_addr.hpp>

#include <troupe/framework/cluster/directory.hpp>
#include <troupe/framework/node.hpp>

namespace troupe::membership {

/// The name under which the owner of a singleton publishes its actor.
[[nodiscard]] std::string published_singleton(const std::string& name);
/// The longest name of a singleton, in bytes.
[[nodiscard]] std::size_t singleton_bytes_max() noexcept;

/// Publishes actors on this member's node, and announces those that other members may find unless this is withdrawn.
///
/// Threads: any. Lifetime: the names are withdrawn from the node with it.
class published_names {
public:
  struct parts {
    node& home;
    std::string self; // This member's name.
    /// Writes the name's entry, or removes it. Called under a lock; must not block.
    std::function<void(const std::string& name, bool is_there)> announce;
  };

  explicit published_names(parts of) : of_(std::move(of)) {}
  published_names(const published_names&) = delete;
  published_names& operator=(const published_names&) = delete;
  ~published_names();

  /// Fails with `invalid_argument`.
  [[nodiscard]] std::expected<void, directory_error> add(const std::string& name, const caf::actor& actor);
  /// Publishes an actor on the node alone: its owner has told the others of it in another way.
  [[nodiscard]] std::expected<void, node_error> add_unannounced(const std::string& name, const caf::actor& actor);
  /// Returns false if there was no such name, or if it is that of another actor than `only`.
  bool remove(std::string_view name, const caf::actor_addr* only = nullptr);
  [[nodiscard]] std::optional<caf::actor> find(std::string_view name) const;

  /// True: removes the entries of the names, and announces none. False: announces all of them.
  void withdraw(bool is_wanted);

private:
  struct published {
    caf::actor actor = {};
    bool is_announced = false; // Unless everything is withdrawn.
  };

  const parts of_;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<std::string, published, std::less<>> all_;
  bool is_withdrawn_ = false;
};

} // namespace troupe::membership
