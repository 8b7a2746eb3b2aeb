// The lasting handles of a node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/caf_port/actor_systems.hpp>
#include <troupe/framework/internal/lasting/kept_address.hpp>
#include <troupe/framework/internal/lasting/lasting_actor.hpp>
#include <troupe/framework/internal/lasting/target_search.hpp>
#include <troupe/framework/lasting.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Makes lasting handles, and runs their searches.
///
/// Threads: any, unless one is named. The I/O thread is the node's main one.
/// Lifetime: handles refer to it weakly.
class lasting_office final : public lasting_owner, public std::enable_shared_from_this<lasting_office> {
public:
  struct parts {
    std::shared_ptr<asio::io_context> io;
    caf::actor_system& system;
    std::weak_ptr<link_host> node;
    keep_link_function keep;
  };
  explicit lasting_office(parts of) : of_(std::move(of)) {}

  /// Where a handle's actor may be. Each has its own terms, because the configuration has options by address.
  struct wanted {
    std::vector<dial_terms> addresses;
    std::string name;
    std::set<std::string> interface;
  };
  /// Fails with `bad_option`, `bad_address` or `link_down`.
  [[nodiscard]] std::expected<caf::strong_actor_ptr, node_error> make(wanted what, lasting_options options);

  /// The peer of that link says that the name was published anew or withdrawn.
  void name_changed(std::uint64_t link, const std::string& name);

  /// Ends all handles, because the node ends. Their messages fail.
  void end();

  void is_away(std::uint64_t handle) override;
  void is_dropped(std::uint64_t handle) noexcept override;
  [[nodiscard]] std::shared_ptr<link_host> node() const override { return of_.node.lock(); }

private:
  struct shared_address {
    std::shared_ptr<kept_address> at;
    std::size_t handles = 0;
  };

  [[nodiscard]] std::expected<std::shared_ptr<kept_address>, node_error> claim(const dial_terms& to);
  void tell_changes();
  void post_remove(std::uint64_t handle);
  void remove(std::uint64_t handle);
  [[nodiscard]] std::shared_ptr<target_search> search_of(std::uint64_t handle);
  void disclaim(const std::vector<std::shared_ptr<kept_address>>& all);

  const parts of_;

  std::mutex mutex_;
  // Guarded by mutex_.
  std::unordered_multimap<std::string, shared_address> addresses_; // By address; options may differ.
  std::map<std::uint64_t, std::shared_ptr<target_search>> searches_;
  std::multiset<std::string> names_;                        // Of the searches.
  std::set<std::pair<std::uint64_t, std::string>> changed_; // Link and name, not told to the searches yet.
  std::uint64_t next_ = 1;
  bool has_ended_ = false;
};

} // namespace troupe::internal
