// Names for the actors that a link has sent and received.
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

/// Names actors between the two ends of a link. Each naming counts until the receiving end releases it.
///
/// Threads: any. References to actors are dropped outside the lock.
class actor_names {
public:
  /// `introductions` must outlive this object.
  actor_names(const link_common& link, caf::actor_system& system, actor_introductions& introductions)
      : link_(link), system_(system), introductions_(introductions), exports_(system.node()) {}

  /// To be called before anything is named. Proxies of the peer's actors keep `proxies_link` alive, which owns this
  /// object.
  void belong_to(const std::shared_ptr<proxy_link>& proxies_link) {
    self_ = proxies_link.get();
    proxies_link_ = proxies_link;
  }
  /// To be called before the first message arrives. `account` charges the messages to the actors named here.
  void open(receive_account& account) noexcept { account_ = &account; }

  // -- to the peer

  /// Returns false if the actor has passed through the maximum number of nodes, or if too many actors of third nodes
  /// are named on the link already. why_not_named() is the text for both cases.
  [[nodiscard]] bool can_name(const caf::strong_actor_ptr& actor) const;
  [[nodiscard]] static std::string why_not_named();

  /// Returns true if the actor is the peer's own and its proxy belongs to this link. False for null.
  [[nodiscard]] bool is_peers(const caf::strong_actor_ptr& actor) const;
  /// Names an actor. Counts the naming unless the actor is the peer's own. Requires: can_name().
  [[nodiscard]] actor_name name(const caf::strong_actor_ptr& actor);
  [[nodiscard]] actor_name name(const link_held& held, const caf::strong_actor_ptr& actor);
  /// Returns the number that name_plainly() would use; 0 if the actor needs name().
  [[nodiscard]] std::uint64_t plain_number(const link_held&, const caf::strong_actor_ptr& actor) const {
    return exports_.plain_number(actor);
  }
  /// The number by which the peer knows this node's actor; 0 if the peer does not know it.
  [[nodiscard]] std::uint64_t number_of_own(const link_held&, const caf::strong_actor_ptr& actor) const {
    return exports_.has(actor) ? exports_.plain_number(actor) : 0;
  }
  /// Names an actor that has a plain_number() and counts the naming. `may_return`: calls allow_return() for it.
  void name_plainly(const link_held&, const caf::strong_actor_ptr& actor, bool may_return) {
    const auto number = exports_.add(actor);
    if (may_return)
      exports_.allow_return(number);
  }
  /// Takes back one naming that has not reached the peer. Returns the reference to drop, or null if namings remain.
  [[nodiscard]] caf::strong_actor_ptr take_back(const link_held& held, std::uint64_t number);

  /// The actor behind a number that the peer uses. Null if the peer was never given the number, or has released it.
  [[nodiscard]] caf::strong_actor_ptr own(const link_held&, std::uint64_t number) const {
    return exports_.find(number);
  }
  /// As actor_exports::each_own().
  template <class Look>
  [[nodiscard]] bool each_own(const link_held&, table_walk& from, Look look) const {
    return exports_.each_own(from, std::move(look));
  }
  /// Returns this node's actor if the introduction proves that this link has given it to the peer; otherwise null.
  [[nodiscard]] caf::strong_actor_ptr recognize(const introduce& what) const;

  /// The peer was sent a plain message of that actor. It may pass one such message back to this node in the actor's
  /// name.
  void allow_return(const link_held&, std::uint64_t number) { exports_.allow_return(number); }
  /// Uses up one allow_return(). Returns false if none is left, so that the peer has nothing of the actor to pass back.
  [[nodiscard]] bool take_return(const link_held&, std::uint64_t number) { return exports_.take_return(number); }

  std::expected<void, node_error> on_release(const release_actor& what);

  // -- the peer's actors

  /// Finds the actor that the peer means: a proxy, or an actor of this node. Fails with `protocol_violation` if the
  /// name is malformed or the peer was never given the number. Fails with the link's reason if the link is not open.
  [[nodiscard]] std::expected<caf::strong_actor_ptr, node_error> find(const actor_name& name);
  /// As above. `recognizes`: if a third node has named an actor of this node, returns the actor itself, not a proxy.
  [[nodiscard]] std::expected<caf::strong_actor_ptr, node_error> find(const link_held& held, const actor_name& name,
                                                                      bool recognizes);
  /// As find() for the peer's actor `number`; null for 0.
  [[nodiscard]] std::expected<caf::strong_actor_ptr, node_error> find_peers(std::uint64_t number);
  /// Counts `more` further namings of the peer's actor `number`, whose proxy lives.
  void count_more(std::uint64_t number, std::uint64_t more);
  /// Returns the living proxy, or null. Counts nothing.
  [[nodiscard]] caf::strong_actor_ptr proxy_of(const link_held&, std::uint64_t number) const {
    return imports_.find(number);
  }
  [[nodiscard]] caf::strong_actor_ptr proxy_of(std::uint64_t number) const {
    const auto held = link_.mutex.lock();
    return proxy_of(held, number);
  }
  /// The proxy at `control` is being destroyed. Returns true, and releases the actor to the peer, if nothing here
  /// refers to it any more.
  bool proxy_gone(const link_held& held, std::uint64_t number, const caf::actor_control_block* control);

  // -- actors of both ends

  [[nodiscard]] std::size_t exported(const link_held&) const noexcept { return exports_.size(); }
  [[nodiscard]] std::size_t imported(const link_held&) const noexcept { return imports_.size(); }
  /// As actor_exports::has_only().
  template <class IsCommon>
  [[nodiscard]] bool exports_only(const link_held&, IsCommon is_common) const {
    return exports_.has_only(std::move(is_common));
  }

  /// What remains when the link ends.
  struct remains {
    std::vector<caf::strong_actor_ptr> proxies; // The living proxies; the caller has to end them.
    std::vector<caf::strong_actor_ptr> own;     // Kept until pending requests have failed.
  };
  /// Forgets all names because the link has ended.
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
