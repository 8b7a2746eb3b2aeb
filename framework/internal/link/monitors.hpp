// What the two ends of a link tell each other of the end of actors.
#pragma once

#include <cstdint>
#include <expected>
#include <memory>
#include <unordered_map>
#include <vector>

#include <troupe/base/salted_hash.hpp>
#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/caf_port/actor_systems.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/caf_port/proxy.hpp>
#include <troupe/framework/internal/link/actor_names.hpp>
#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/wire/admin.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Carries the news that an actor has ended over a link.
///
/// Threads: `watch`, `unwatch` and `own_actor_ended` any; the rest on the I/O thread.
class monitors {
public:
  /// `names` outlives this.
  monitors(const link_common& link, caf::actor_system& system, actor_names& names)
      : link_(link), system_(system), names_(names) {}

  /// Before anything is monitored. `owner` has this.
  void belong_to(std::weak_ptr<void> owner) { owner_ = std::move(owner); }

  // -- the peer's actors. Under the locks of two actors: so these only note and write.

  /// Somebody here wants to know when the actor ends; `proxy` is kept until then.
  void watch(std::uint64_t number, caf::strong_actor_ptr proxy);
  /// Nobody here wants to know any more.
  void unwatch(std::uint64_t number);

  void on_down(const down& what);
  /// Ends the proxies of actors that are down.
  void end_proxies();

  // -- this end's

  std::expected<void, node_error> on_monitor(const monitor& what);
  /// Of an actor that has ended meanwhile, nothing is left to do.
  void on_demonitor(const monitor& what);
  void own_actor_ended(std::uint64_t number, const caf::error& reason);

  // -- both

  /// The link has ended: so have, for this node, the actors of the peer, `proxies` beside those that are kept here.
  /// Nobody looks at this end's any more.
  void end(std::vector<caf::strong_actor_ptr> proxies);

private:
  void stop_watching(const caf::weak_actor_ptr& own) const;

  const link_common& link_;
  caf::actor_system& system_;
  actor_names& names_;
  std::weak_ptr<void> owner_;
  // Guarded by the link's lock.
  std::unordered_map<std::uint64_t, caf::strong_actor_ptr, detail::salted_hash> kept_; // Since a monitor does not.
  std::unordered_map<std::uint64_t, caf::weak_actor_ptr> watched_; // By the peer; something is attached to each.
  bool is_ended_ = false;                                          // end() was called: watch() ends the proxy at once.
  // I/O thread.
  std::vector<ended_proxy> ended_;
};

} // namespace troupe::internal
