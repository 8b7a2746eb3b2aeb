// The families with which the two ends of a link send, those that they accept, and how these change while messages are
// in flight. Pure: no sockets, no threads. The lock of the link that owns it guards it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::internal {

/// The names of the families of one end, each list in order of preference.
struct family_names {
  std::vector<std::string> serializers;   // What it sends with, if the other end accepts it.
  std::vector<std::string> deserializers; // What it accepts.
  bool operator==(const family_names&) const = default;
};

/// Returns true if each end accepts a family with which the other sends.
[[nodiscard]] bool have_in_common(const family_names& one, const family_names& other);

/// "no family in common: far sends with [typed], near accepts [msgpack]; near sends with ..., far accepts ...".
[[nodiscard]] std::string nothing_in_common_text(std::string_view me, const family_names& mine, std::string_view peer,
                                                 const family_names& theirs);

//  An end's change:  settled --begin--> under way --settle(accepted or not)--> settled
//  The peer's:       settled --change_peer, when it is accepted--> owed --take_acknowledgement--> settled
/// Either end may change its lists at any time, one change after the other.
/// - An end changes at once the families with which it sends, because the peer accepts them. It accepts the families of
///   both lists until the peer has acknowledged, and those of the new list from then on.
/// - The peer sends with the new lists at once. It acknowledges when no message that was encoded with the older lists
///   can follow. Messages that leave at once use the newest lists. Messages that wait are counted here.
/// - A change that leaves nothing in common is refused and has no effect. Changes that cross are checked against each
///   other at both ends, so that both are refused or neither.
///
/// Invariants:
/// 1. While no change of this end is in progress, and the peer is honest, both ends know the same lists.
/// 2. No message waits that was encoded with lists older than those before the peer's last change.
class negotiation {
public:
  /// Starts with the lists of the hellos.
  void open(family_names mine, family_names theirs);

  // -- this end's changes

  /// This end's lists, including a change in progress.
  [[nodiscard]] const family_names& mine() const noexcept { return wanted_ ? *wanted_ : mine_; }
  /// The families with which the peer may send now.
  [[nodiscard]] std::vector<std::string> accepted() const;
  [[nodiscard]] bool is_changing() const noexcept { return wanted_.has_value(); }

  /// Returns the change's number. Requires: no change is in progress, and `wanted` has something in common with
  /// theirs().
  std::uint64_t begin(family_names wanted);
  /// Handles the peer's answer. Returns false if it answers no change that the peer was told of.
  [[nodiscard]] bool settle(std::uint64_t number, bool is_accepted);

  // -- the peer's changes

  [[nodiscard]] const family_names& theirs() const noexcept { return theirs_; }
  /// The number of the last accepted change of the peer. It identifies the lists that theirs() has now.
  [[nodiscard]] std::uint64_t peer_epoch() const noexcept { return accepted_number_; }

  /// Returns true if the number is the next one and the previous change is acknowledged.
  [[nodiscard]] bool is_in_turn(std::uint64_t number) const noexcept { return number == peer_number_ + 1 && !is_owed_; }
  /// Returns false, without any effect on the lists, if nothing would be in common. Requires: is_in_turn(number).
  [[nodiscard]] bool change_peer(std::uint64_t number, family_names theirs);

  /// Counts a message that is encoded, or being encoded, with that epoch's lists and has not left.
  void add_waiting(std::uint64_t epoch);
  /// The message has left, or never will.
  void remove_waiting(std::uint64_t epoch);
  /// Returns once the number of the change to acknowledge now.
  [[nodiscard]] std::optional<std::uint64_t> take_acknowledgement();

private:
  family_names mine_;
  std::optional<family_names> wanted_;
  std::uint64_t number_ = 0; // The number of this end's last change.

  family_names theirs_;
  std::uint64_t peer_number_ = 0;     // The number of the peer's last change, accepted or not.
  std::uint64_t accepted_number_ = 0; // The number of the last accepted change.
  bool is_owed_ = false;              // That change is not acknowledged yet.
  std::uint64_t waiting_ = 0;         // Messages that wait by theirs_.
  std::uint64_t waiting_before_ = 0;  // Messages that wait by the lists before theirs_.
};

} // namespace troupe::internal
