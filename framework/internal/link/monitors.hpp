// Tells the other end of a link that actors have ended.
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

/// Carries the news over a link that an actor has ended.
///
/// Threads: any for `watch`, `unwatch` and `own_actor_ended`; the I/O thread for the rest.
class monitors {
public:
  /// `names` must outlive this object.
  monitors(const link_common& link, caf::actor_system& system, actor_names& names)
      : link_(link), system_(system), names_(names) {}

  /// To be called before anything is monitored. `owner` owns this object.
  void belong_to(std::weak_ptr<void> owner) { owner_ = std::move(owner); }

  // -- the peer's actors. watch() and unwatch() run under the locks of two actors, so they only note and write.

  /// An actor of this node monitors the peer's actor `number`. `proxy` is kept until that actor ends.
  void watch(std::uint64_t number, caf::strong_actor_ptr proxy);
  /// No actor of this node monitors it any more.
  void unwatch(std::uint64_t number);

  void on_down(const down& what);
  /// Ends the proxies of the actors that on_down() has reported.
  void end_proxies();

  // -- this node's actors

  std::expected<void, node_error> on_monitor(const monitor& what);
  /// Does nothing if the actor has ended meanwhile.
  void on_demonitor(const monitor& what);
  void own_actor_ended(std::uint64_t number, const caf::error& reason);

  // -- actors of both ends

  /// Handles the end of the link. For this node all actors of the peer have ended. Ends `proxies` and those that are
  /// kept here, and stops watching this node's actors for the peer.
  void end(std::vector<caf::strong_actor_ptr> proxies);

private:
  void stop_watching(const caf::weak_actor_ptr& own) const;

  const link_common& link_;
  caf::actor_system& system_;
  actor_names& names_;
  std::weak_ptr<void> owner_;
  // Guarded by the link's lock.
  std::unordered_map<std::uint64_t, caf::strong_actor_ptr, detail::salted_hash> kept_; // Monitors keep no proxies.
  std::unordered_map<std::uint64_t, caf::weak_actor_ptr> watched_; // By the peer; a callback is attached to each.
  bool is_ended_ = false;                                          // end() was called: watch() ends the proxy at once.
  // I/O thread.
  std::vector<ended_proxy> ended_;
};

} // namespace troupe::internal
