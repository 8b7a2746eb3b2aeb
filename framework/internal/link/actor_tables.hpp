// The actors that a link has sent (exports) and received (imports), each with its count. Pure tables: the lock of the
// link that owns them guards them. The link drops the references that they return outside the lock.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include <troupe/base/salted_hash.hpp>
#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/watch/table_walk.hpp>

namespace troupe::internal {

/// Actors that the peer may address because it has found or received them.
///
/// Invariants:
/// 1. An entry's count is above zero: how often the actor was sent and not yet released.
/// 2. A number stands for the same actor as long as the link lives: actor ids are never reused.
class actor_exports {
public:
  /// `home`: this node. Actors of other nodes (proxies) get numbers that this link chooses.
  explicit actor_exports(caf::node_id home);

  /// Counts one more sending of `actor` and returns its number.
  std::uint64_t add(const caf::strong_actor_ptr& actor);

  /// Returns the number that add() would return if that is known without a look-up: for this node's actors, and for the
  /// actor that was added last. Otherwise returns 0.
  [[nodiscard]] std::uint64_t plain_number(const caf::strong_actor_ptr& actor) const;

  /// Returns true if the number stands for an actor of another node.
  [[nodiscard]] static bool is_foreign(std::uint64_t number) noexcept { return (number & foreign_bit) != 0; }
  /// Returns true if the peer may address the actor. An actor of another node has then been introduced.
  [[nodiscard]] bool has(const caf::strong_actor_ptr& actor) const;

  /// The peer was sent a plain message of that actor. It may pass one such message back to this node in the actor's
  /// name.
  void allow_return(std::uint64_t number);
  /// Uses up one allow_return(). Returns false if none is left, so that the peer has nothing of the actor to pass back.
  [[nodiscard]] bool take_return(std::uint64_t number);

  /// The actor behind a number that the peer uses. Null if the peer was never given the number, or has released it.
  [[nodiscard]] caf::strong_actor_ptr find(std::uint64_t number) const;

  /// Takes back `count` sendings. Returns the reference to drop (null while sendings remain), or nullopt if the peer
  /// releases more than it was sent.
  [[nodiscard]] std::optional<caf::strong_actor_ptr> release(std::uint64_t number, std::uint64_t count);

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  /// The number of entries for actors of other nodes.
  [[nodiscard]] std::size_t foreign_size() const noexcept { return foreign_numbers_.size(); }

  /// Whether the peer may address only actors for which `is_common` returns true.
  template <class IsCommon>
  [[nodiscard]] bool has_only(IsCommon is_common) const {
    return std::ranges::all_of(entries_, [&](const auto& each) { return is_common(each.second.actor); });
  }

  /// Calls `look` with actors of this node, in no order, as table_walk::next() does. Returns false at the end.
  template <class Look>
  [[nodiscard]] bool each_own(table_walk& from, Look look) const {
    return from.next(entries_, [&](const auto& each) {
      if (!is_foreign(each.first))
        look(each.first, each.second.actor);
    });
  }

  /// Removes and returns all actors when the link ends.
  [[nodiscard]] std::vector<caf::strong_actor_ptr> take_all();

private:
  struct entry {
    caf::strong_actor_ptr actor;
    std::uint64_t count = 0;
    std::uint64_t returns = 0; // Plain messages of the actor that the peer may still pass on to this node.
  };

  static constexpr std::uint64_t foreign_bit = std::uint64_t{1} << 63;

  caf::node_id home_;
  std::unordered_map<std::uint64_t, entry, detail::salted_hash> entries_;
  std::unordered_map<const caf::actor_control_block*, std::uint64_t> foreign_numbers_;
  // The entry that was added last, because consecutive messages mostly have the same sender. Null if there is none.
  entry* last_ = nullptr;
  std::uint64_t last_number_ = 0;
  std::uint64_t next_foreign_; // Starts at a random number, so that two links to one node do not name two actors alike.
};

/// Actors of the peer, each represented by a proxy while this node refers to it.
///
/// Invariants:
/// 1. An entry's count says how often the actor was received since its last release was sent.
/// 2. The proxy of an entry may be dying: its last reference is gone. Then the next receipt makes a new proxy.
class actor_imports {
public:
  /// Counts one more receipt and returns the living proxy. Returns null if there is none; then `put` has to follow.
  caf::strong_actor_ptr receive(std::uint64_t number);
  void put(std::uint64_t number, const caf::strong_actor_ptr& proxy);

  /// Counts more receipts of an actor whose proxy lives.
  void add(std::uint64_t number, std::uint64_t count);

  /// Returns the living proxy, or null. Counts nothing.
  [[nodiscard]] caf::strong_actor_ptr find(std::uint64_t number) const;

  /// The proxy at `control` is being destroyed. Returns the count to release to the peer. Returns 0 if a newer proxy
  /// has replaced it, because that proxy then stands for all receipts.
  [[nodiscard]] std::uint64_t gone(std::uint64_t number, const caf::actor_control_block* control);

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

  /// Removes all entries when the link ends. Returns the proxies that still live.
  [[nodiscard]] std::vector<caf::strong_actor_ptr> take_all();

private:
  struct entry {
    caf::weak_actor_ptr proxy;
    std::uint64_t count = 0;
  };

  std::unordered_map<std::uint64_t, entry, detail::salted_hash> entries_;
};

} // namespace troupe::internal
