// The actors that a link has sent (exports) and received (imports), each with its count. Pure tables: the link that
// owns them guards them with its own lock, and drops the references they give back outside of it.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include <troupe/base/salted_hash.hpp>
#include <troupe/framework/internal/caf_port/actor_pointers.hpp>

namespace troupe::internal {

/// Actors that the peer may address, because they were found by it or sent to it.
///
/// Invariants:
/// 1. An entry's count is above zero and says how often the actor was sent and not yet released.
/// 2. A number, once given, stands for the same actor as long as the link lives: actor ids are never used again.
class actor_exports {
public:
  /// `home`: the node that the link's own side is; actors of other nodes (proxies) get numbers of this link's own.
  explicit actor_exports(caf::node_id home);

  /// Counts one more sending of `actor` and gives its number.
  std::uint64_t add(const caf::strong_actor_ptr& actor);

  /// The number that add() would give, where that is quickly told: of one of this node's, or the last one again. 0 of
  /// others.
  [[nodiscard]] std::uint64_t plain_number(const caf::strong_actor_ptr& actor) const;

  /// Whether it is one of another node's actors.
  [[nodiscard]] static bool is_foreign(std::uint64_t number) noexcept { return (number & foreign_bit) != 0; }
  /// Whether it is that of an actor that the peer may address. Then it has been introduced.
  [[nodiscard]] bool has(const caf::strong_actor_ptr& actor) const;

  /// The peer was sent a plain message of that actor: once it may pass it on to this node, with it as its sender.
  void allow_return(std::uint64_t number);
  /// Uses one of these up. False where none is left: then the peer was sent nothing that it could have passed on.
  [[nodiscard]] bool take_return(std::uint64_t number);

  /// The actor behind a number that the peer uses; null when it was never given, or has been released.
  [[nodiscard]] caf::strong_actor_ptr find(std::uint64_t number) const;

  /// Takes back `count` sendings. Gives the reference to drop (null while some are left), or nullopt when the peer
  /// releases more than it was sent.
  [[nodiscard]] std::optional<caf::strong_actor_ptr> release(std::uint64_t number, std::uint64_t count);

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  /// Of other nodes.
  [[nodiscard]] std::size_t foreign_size() const noexcept { return foreign_numbers_.size(); }

  /// Everything at once, at the link's end.
  [[nodiscard]] std::vector<caf::strong_actor_ptr> take_all();

private:
  struct entry {
    caf::strong_actor_ptr actor;
    std::uint64_t count = 0;
    std::uint64_t returns = 0; // Plain messages of it that the peer may still pass on to this node.
  };

  static constexpr std::uint64_t foreign_bit = std::uint64_t{1} << 63;

  caf::node_id home_;
  std::unordered_map<std::uint64_t, entry, detail::salted_hash> entries_;
  std::unordered_map<const caf::actor_control_block*, std::uint64_t> foreign_numbers_;
  // The last to be added, since most messages are of the same sender as the one before; null: none.
  entry* last_ = nullptr;
  std::uint64_t last_number_ = 0;
  std::uint64_t next_foreign_; // From a random start: two links to one node must not name two actors alike.
};

/// Actors of the peer, each represented by a proxy while somebody here refers to it.
///
/// Invariants:
/// 1. An entry's count says how often the actor was received since its last release was sent.
/// 2. The proxy of an entry may be dying (its last reference gone): then the next receipt makes a new one.
class actor_imports {
public:
  /// Counts one more receipt; gives the living proxy, or null: then `put` must follow.
  caf::strong_actor_ptr receive(std::uint64_t number);
  void put(std::uint64_t number, const caf::strong_actor_ptr& proxy);

  /// Counts more receipts of an actor whose proxy lives.
  void add(std::uint64_t number, std::uint64_t count);

  /// The living proxy, or null; counts nothing.
  [[nodiscard]] caf::strong_actor_ptr find(std::uint64_t number) const;

  /// The proxy at `control` is being destroyed. Gives the count to release to the peer; 0 when a newer proxy has taken
  /// its place, which then stands for all receipts.
  [[nodiscard]] std::uint64_t gone(std::uint64_t number, const caf::actor_control_block* control);

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }

  /// Everything at once, at the link's end: the proxies that still live.
  [[nodiscard]] std::vector<caf::strong_actor_ptr> take_all();

private:
  struct entry {
    caf::weak_actor_ptr proxy;
    std::uint64_t count = 0;
  };

  std::unordered_map<std::uint64_t, entry, detail::salted_hash> entries_;
};

} // namespace troupe::internal
