// What the two ends of a link send with and accept, and how that changes while messages are under way. Pure: no
// sockets, no threads; the link that owns it guards it with its own lock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::internal {

/// The names of the families of one end, each list in order of preference.
struct family_names {
  std::vector<std::string> serializers;   // What it sends with, as far as the other end accepts them.
  std::vector<std::string> deserializers; // What it accepts.
  bool operator==(const family_names&) const = default;
};

/// Whether each end accepts something of what the other sends.
[[nodiscard]] bool have_in_common(const family_names& one, const family_names& other);

/// "no family in common: far sends with [typed], near accepts [msgpack]; near sends with ..., far accepts ...".
[[nodiscard]] std::string nothing_in_common_text(std::string_view me, const family_names& mine, std::string_view peer,
                                                 const family_names& theirs);

//  An end's change:  settled --begin--> under way --settle(accepted or not)--> settled
//  The peer's:       settled --change_peer, when it is accepted--> owed --take_acknowledgement--> settled
/// Either end may change its lists at any time, one change after the other:
/// - What it sends with it changes at once, since the peer accepts it. What it accepts is both lists until the peer has
///   acknowledged, and the new one from then on.
/// - The peer sends by the new lists at once, and acknowledges when nothing that was encoded by the older ones can
///   follow any more. Messages that leave at once are by the newest lists; those that wait are counted here.
/// - Where the two ends would have nothing in common the change is refused and nothing has changed. Changes that cross
///   are held against each other, at both ends, so that both are refused or none.
///
/// Invariants:
/// 1. While no change of this end's is under way, and the peer tells the truth, both ends know the same lists.
/// 2. Nothing waits by older lists than those before the peer's last change.
class negotiation {
public:
  /// As the hellos say.
  void open(family_names mine, family_names theirs);

  // -- this end's changes

  /// As they will be where a change is under way.
  [[nodiscard]] const family_names& mine() const noexcept { return wanted_ ? *wanted_ : mine_; }
  /// What the peer may send with now.
  [[nodiscard]] std::vector<std::string> accepted() const;
  [[nodiscard]] bool is_changing() const noexcept { return wanted_.has_value(); }

  /// Gives the change's number. Requires: none is under way, and there is something in common with theirs().
  std::uint64_t begin(family_names wanted);
  /// The peer's answer. False where it answers nothing that it was told.
  [[nodiscard]] bool settle(std::uint64_t number, bool is_accepted);

  // -- the peer's

  [[nodiscard]] const family_names& theirs() const noexcept { return theirs_; }
  /// The number of the last change of theirs that was accepted; what is encoded by theirs() is encoded by that.
  [[nodiscard]] std::uint64_t peer_epoch() const noexcept { return accepted_number_; }

  /// Whether that change comes in turn: its number is the next one, and the one before is answered.
  [[nodiscard]] bool is_in_turn(std::uint64_t number) const noexcept { return number == peer_number_ + 1 && !is_owed_; }
  /// False where it leaves nothing in common; then nothing changes. Requires: in turn.
  [[nodiscard]] bool change_peer(std::uint64_t number, family_names theirs);

  /// A message that is, or is being, encoded by that epoch's lists has not left yet.
  void add_waiting(std::uint64_t epoch);
  /// It has left, or never will.
  void remove_waiting(std::uint64_t epoch);
  /// The number of the change to acknowledge now; once.
  [[nodiscard]] std::optional<std::uint64_t> take_acknowledgement();

private:
  family_names mine_;
  std::optional<family_names> wanted_;
  std::uint64_t number_ = 0; // Of this end's last change.

  family_names theirs_;
  std::uint64_t peer_number_ = 0;     // Of the last change of theirs, accepted or not.
  std::uint64_t accepted_number_ = 0; // Of the last one that was accepted.
  bool is_owed_ = false;              // It is not acknowledged yet.
  std::uint64_t waiting_ = 0;         // By theirs_.
  std::uint64_t waiting_before_ = 0;  // By what was theirs before.
};

} // namespace troupe::internal
