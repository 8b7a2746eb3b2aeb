// The actors that a link has sent and received.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/caf_port/actor_systems.hpp>
#include <troupe/framework/internal/caf_port/proxy.hpp>
#include <troupe/framework/internal/flow/receive_account.hpp>
#include <troupe/framework/internal/link/actor_introductions.hpp>
#include <troupe/framework/internal/link/actor_tables.hpp>
#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/objects/codec_mentions.hpp>
#include <troupe/framework/internal/wire/admin.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Names actors between the two ends of a link. Each naming counts, until the end that was told releases it.
///
/// Threads: any. References to actors are dropped outside of the lock.
class actor_names {
public:
  /// `introductions` outlives this.
  actor_names(const link_common& link, caf::actor_system& system, actor_introductions& introductions)
      : link_(link), system_(system), introductions_(introductions), exports_(system.node()) {}

  /// Before anything is named. Proxies of the peer's actors keep `proxies_link`, which has this, alive.
  void belong_to(const std::shared_ptr<proxy_link>& proxies_link) {
    self_ = proxies_link.get();
    proxies_link_ = proxies_link;
  }
  /// Before a message comes. `account` charges messages that come to the actors named.
  void open(receive_account& account) noexcept { account_ = &account; }

  // -- to the peer

  /// Whether the actor may be named to the peer: it has not come through too many nodes, nor have too many of third
  /// nodes been named already; and what is said where it may not.
  [[nodiscard]] bool can_name(const caf::strong_actor_ptr& actor) const;
  [[nodiscard]] static std::string why_not_named();

  /// Whether the actor is the peer's own, known by this link. Null is nobody's.
  [[nodiscard]] bool is_peers(const caf::strong_actor_ptr& actor) const;
  /// Names an actor, and counts that where it is not the peer's own. Requires: can_name().
  [[nodiscard]] actor_name name(const caf::strong_actor_ptr& actor);
  [[nodiscard]] actor_name name(const link_held& held, const caf::strong_actor_ptr& actor);
  /// The number by which name_plainly() would name the actor; 0 where name() has more to do.
  [[nodiscard]] std::uint64_t plain_number(const link_held&, const caf::strong_actor_ptr& actor) const {
    return exports_.plain_number(actor);
  }
  /// Names an actor that has a plain_number(), and counts that. `may_return`: as by allow_return().
  void name_plainly(const link_held&, const caf::strong_actor_ptr& actor, bool may_return) {
    const auto number = exports_.add(actor);
    if (may_return)
      exports_.allow_return(number);
  }
  /// Takes back one naming that has not reached the peer. Gives the reference to drop, or null.
  [[nodiscard]] caf::strong_actor_ptr take_back(const link_held& held, std::uint64_t number);

  /// The actor behind a number that the peer uses; null when it was never given, or has been released.
  [[nodiscard]] caf::strong_actor_ptr own(const link_held&, std::uint64_t number) const {
    return exports_.find(number);
  }
  /// This node's own actor, where the introduction proves that this link has given it to the peer.
  [[nodiscard]] caf::strong_actor_ptr recognize(const introduce& what) const;

  /// The peer was sent a plain message of that actor: once it may pass it on to this node, with it as its sender.
  void allow_return(const link_held&, std::uint64_t number) { exports_.allow_return(number); }
  /// Uses one of these up. False where none is left: then the peer was sent nothing that it could have passed on.
  [[nodiscard]] bool take_return(const link_held&, std::uint64_t number) { return exports_.take_return(number); }

  std::expected<void, node_error> on_release(const release_actor& what);

  // -- of the peer

  /// The actor that the peer means, a proxy or one of this node's own. Fails with `protocol_violation` for a number
  /// that the peer was never given.
  [[nodiscard]] std::expected<caf::strong_actor_ptr, node_error> find(const actor_name& name);
  /// The same. `recognizes`: an actor of this node's is itself, also where a third node has named it.
  [[nodiscard]] std::expected<caf::strong_actor_ptr, node_error> find(const link_held& held, const actor_name& name,
                                                                      bool recognizes);
  /// Of the peer's actor `number`, as find() does; null for 0.
  [[nodiscard]] std::expected<caf::strong_actor_ptr, node_error> find_peers(std::uint64_t number);
  /// Counts so many more namings of the peer's actor, whose proxy lives.
  void count_more(std::uint64_t number, std::uint64_t more);
  /// The living proxy, or null; counts nothing.
  [[nodiscard]] caf::strong_actor_ptr proxy_of(const link_held&, std::uint64_t number) const {
    return imports_.find(number);
  }
  [[nodiscard]] caf::strong_actor_ptr proxy_of(std::uint64_t number) const {
    const auto held = link_.mutex.lock();
    return proxy_of(held, number);
  }
  /// The proxy at `control` is being destroyed. True where nothing here refers to the actor any more: then the peer is
  /// told.
  bool proxy_gone(const link_held& held, std::uint64_t number, const caf::actor_control_block* control);

  // -- both

  [[nodiscard]] std::size_t exported(const link_held&) const noexcept { return exports_.size(); }
  [[nodiscard]] std::size_t imported(const link_held&) const noexcept { return imports_.size(); }

  /// What is left at the link's end.
  struct remains {
    std::vector<caf::strong_actor_ptr> proxies; // Those that live, which have to be ended.
    std::vector<caf::strong_actor_ptr> own;     // Kept until those that wait for answers are told.
  };
  /// The link has ended: nothing is named any more.
  [[nodiscard]] remains end();

private:
  const link_common& link_;
  caf::actor_system& system_;
  actor_introductions& introductions_;
  const proxy_link* self_ = nullptr;
  std::weak_ptr<proxy_link> proxies_link_;
  receive_account* account_ = nullptr; // I/O thread.
  // Guarded by the link's lock.
  actor_exports exports_;
  actor_imports imports_;
};

} // namespace troupe::internal
