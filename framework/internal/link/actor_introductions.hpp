// Actors of third nodes: the reader of a handle is told whose actor it is, so that the actor's own node knows it again
// by whatever way it comes home.
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
  /// How many actors of third nodes are named on a link at a time.
  static constexpr std::size_t actors_max = 131'072;

  /// What the peer has introduced.
  struct introduced {
    std::shared_ptr<const introduce> how;
    caf::strong_actor_ptr own; // Where it turned out to be an actor of this node.
  };

  /// `home`: this node. `own_actors` outlives this.
  actor_introductions(const link_common& link, node_id_text home, const actor_recognition& own_actors)
      : link_(link), home_(std::move(home)), own_actors_(own_actors) {}

  /// The peer proves with it what it got on this link.
  [[nodiscard]] const digest& key() const noexcept { return key_; }

  // -- to the peer

  /// Whether the actor has not come through too many nodes already.
  [[nodiscard]] static bool may_go_further(const proxy& actor);
  /// Tells the peer whose that actor is, which it will be named by that number.
  void tell(const link_held& held, const proxy& actor, std::uint64_t number);
  /// The peer is not named the actor any more.
  void withdraw(const link_held& held, std::uint64_t number);

  // -- for other links

  /// What another node is told of the peer's own actor, but for the number there.
  [[nodiscard]] introduce of_peers_actor(std::uint64_t number) const;
  /// Whether whoever introduces so has got that actor on this link, or was told so.
  [[nodiscard]] bool proves_receipt(const introduce& what) const;

  // -- of the peer

  /// Null where nothing is introduced by that number. Valid as long as the lock is held.
  [[nodiscard]] const introduced* find(const link_held& held, std::uint64_t number) const;
  std::expected<void, node_error> on_introduce(const introduce& what);
  std::expected<void, node_error> on_withdraw(const internal::withdraw& what);

  /// The link has ended.
  void end();

private:
  const link_common& link_;
  const node_id_text home_;
  const actor_recognition& own_actors_;
  const digest key_ = random_digest();
  std::unordered_map<std::uint64_t, introduced, detail::salted_hash> introduced_; // By the peer's numbers; guarded.
};

} // namespace troupe::internal
