// A look at a cluster from outside: without a node, and without joining.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/framework/cluster/cluster_member.hpp>
#include <troupe/framework/cluster/directory.hpp>
#include <troupe/framework/cluster/drain_order.hpp>

namespace troupe {

/// A part of the entities of one kind, with the name of the member that owns it.
struct shard_owner {
  std::string kind;
  std::uint32_t shard = 0;
  std::string member;

  friend bool operator==(const shard_owner&, const shard_owner&) = default;
};

/// What a directory says about a cluster. Lists are in the order of their names, compared as bytes.
struct cluster_snapshot {
  std::vector<cluster_member> members;
  /// Published names, each with the name of the member that has published it.
  std::vector<std::pair<std::string, std::string>> names;
  /// Singletons, each with the name of the member that owns it.
  std::vector<std::pair<std::string, std::string>> singletons;
  std::vector<shard_owner> shards;
  /// Orders to members that are up.
  std::vector<drain_order> orders;
  /// Entries that cannot be read, or do not count: their keys, with the reason. An entry may be here for a moment while
  /// a member joins or leaves.
  std::map<std::string, std::string> faults;
};

/// What cluster_member::host is of the members that this process can reach over unix sockets.
[[nodiscard]] TROUPE_EXPORT std::string host_of_this_process();

/// Follows a directory, and knows what its entries say. It writes nothing.
///
/// Threads: any. The callback is called on a thread of the observer, one call at a time; it must return soon, and must
/// not destroy the observer. Lifetime: after the destructor the callback is not called any more. The destructor blocks
/// for at most about directory_options::timeout.
class TROUPE_EXPORT cluster_observer {
public:
  /// Told of each change; at first of what is there (cluster_event). `drain_ordered` and `drain_cancelled` tell of
  /// orders to any member.
  using event_handler = std::function<void(const cluster_event&)>;

  /// Opens the directory (open_directory), and reads it. Blocks for at most about twice `options.timeout`. Fails with
  /// the errors of open_directory() and of a directory's calls.
  ///
  ///     auto seen = troupe::cluster_observer::open("host://shop");
  ///     for (const auto& member : seen->now().members) ...
  [[nodiscard]] static std::expected<cluster_observer, directory_error>
  open(std::string_view address, const directory_options& options = {}, event_handler on_event = {});

  /// The same for a directory that is open. The observer does not close it. `timeout` is how long the first reading
  /// may take. Requires: a request of the directory ends soon.
  [[nodiscard]] static std::expected<cluster_observer, directory_error>
  open(std::shared_ptr<directory> opened, std::chrono::milliseconds timeout, event_handler on_event = {});

  /// A moved-from object can only be assigned to or destroyed.
  cluster_observer(cluster_observer&&) noexcept;
  cluster_observer& operator=(cluster_observer&&) noexcept;
  ~cluster_observer();

  [[nodiscard]] cluster_snapshot now() const;

  /// Waits until `is_so` is true for the snapshot. Returns false if it is not in time.
  [[nodiscard]] bool wait_until(const std::function<bool(const cluster_snapshot&)>& is_so,
                                std::chrono::steady_clock::time_point until) const;

  /// Why the directory does not answer, or its list of members cannot be read; nullopt: neither. What is known stays
  /// meanwhile.
  [[nodiscard]] std::optional<directory_error> trouble() const;

  /// The directory, which lives as long as the observer.
  [[nodiscard]] directory& where() const noexcept;

private:
  class state;
  explicit cluster_observer(std::unique_ptr<state> of);

  std::unique_ptr<state> state_; // Null after a move.
};

} // namespace troupe
