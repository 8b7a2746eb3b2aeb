// The names of this member's actors.
#pragma once

#include <cstddef>
#include <expected>
#include <functional>
#include <limits>
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
    /// How many names the others read of one member, and how many of them are announced elsewhere. Called without a
    /// lock.
    std::size_t most = std::numeric_limits<std::size_t>::max();
    std::function<std::size_t()> elsewhere = {};
  };

  explicit published_names(parts of) : of_(std::move(of)) {}
  published_names(const published_names&) = delete;
  published_names& operator=(const published_names&) = delete;
  ~published_names();

  /// Fails with `full` if the others would not read one more name.
  [[nodiscard]] std::expected<void, directory_error> check_room() const;
  /// Fails with `invalid_argument` or `full`.
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

  [[nodiscard]] std::size_t count_elsewhere() const { return of_.elsewhere ? of_.elsewhere() : 0; }
  /// Requires: mutex_ is locked.
  [[nodiscard]] std::expected<void, directory_error> check_room(std::size_t elsewhere) const;

  const parts of_;

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::map<std::string, published, std::less<>> all_;
  bool is_withdrawn_ = false;
};

} // namespace troupe::membership
