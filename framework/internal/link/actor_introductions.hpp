// Introductions of actors of third nodes. They tell the receiver of a handle on which node the actor lives. So this
// node recognizes its own actor, whichever links the handle has come over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <unordered_map>
#include <utility>

#include <troupe/base/salted_hash.hpp>
#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/caf_port/node_ids.hpp>
#include <troupe/framework/internal/caf_port/proxy.hpp>
#include <troupe/framework/internal/link/actor_recognition.hpp>
#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/trust/authentication.hpp>
#include <troupe/framework/internal/wire/admin.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Introduces actors of third nodes over a link.
class actor_introductions {
public:
  /// The maximum number of actors of third nodes that are named on a link at a time.
  static constexpr std::size_t actors_max = 131'072;

  /// An actor that the peer has introduced.
  struct introduced {
    std::shared_ptr<const introduce> how;
    caf::strong_actor_ptr own; // Set if it is an actor of this node.
  };

  /// `home`: this node. `own_actors` must outlive this object.
  actor_introductions(const link_common& link, node_id_text home, const actor_recognition& own_actors)
      : link_(link), home_(std::move(home)), own_actors_(own_actors) {}

  /// The key with which the peer proves that it has received an actor on this link.
  [[nodiscard]] const digest& key() const noexcept { return key_; }

  // -- to the peer

  /// Returns false if the actor has already passed through the maximum number of nodes.
  [[nodiscard]] static bool may_go_further(const proxy& actor);
  /// Tells the peer on which node the actor lives. From now on `number` names the actor to the peer.
  void tell(const link_held& held, const proxy& actor, std::uint64_t number);
  /// Tells the peer that `number` is not used any more.
  void withdraw(const link_held& held, std::uint64_t number);

  // -- for other links

  /// Returns an introduction of the peer's own actor `number` for another node. The caller sets its `number` field.
  [[nodiscard]] introduce of_peers_actor(std::uint64_t number) const;
  /// Returns true if `what` proves that its author received that actor on this link, or learned of it from a receiver.
  [[nodiscard]] bool proves_receipt(const introduce& what) const;

  // -- from the peer

  /// Returns null if the peer has introduced no actor by that number. The result is valid while the lock is held.
  [[nodiscard]] const introduced* find(const link_held& held, std::uint64_t number) const;
  std::expected<void, node_error> on_introduce(const introduce& what);
  std::expected<void, node_error> on_withdraw(const internal::withdraw& what);

  /// Drops all introductions when the link ends.
  void end();

private:
  const link_common& link_;
  const node_id_text home_;
  const actor_recognition& own_actors_;
  const digest key_ = random_digest();
  std::unordered_map<std::uint64_t, introduced, detail::salted_hash> introduced_; // By the peer's numbers; guarded.
};

} // namespace troupe::internal
