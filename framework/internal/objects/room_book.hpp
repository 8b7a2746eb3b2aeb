// The rooms for objects whose bytes are to come.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <troupe/framework/internal/handles/actions.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

//  wanted --reserved--> making --builder--> filling --all bytes, all captured objects--> sealing
//   ^  |  ^--another was quicker--/
//   |  v
//  left to another process of this host
// This node's own object, whose bytes are complete, begins in sealing. A room may be dropped in any state.
enum class room_state : std::uint8_t { wanted, left, making, filling, sealing };

[[nodiscard]] constexpr bool may_follow(room_state from, room_state to) {
  using enum room_state;
  switch (to) {
  case wanted:
    return from == left || from == making;
  case left:
  case making:
    return from == wanted;
  case filling:
    return from == making;
  case sealing:
    return from == filling;
  }
  return false;
}
static_assert(!may_follow(room_state::sealing, room_state::filling));
static_assert(!may_follow(room_state::left, room_state::filling));

/// Tracks the state of each room that the ledger wants, and the bytes that are reserved for rooms that are being
/// filled. Those may take at most half of the store, because with all of it taken they could deadlock. One room alone
/// is always allowed.
class room_book {
public:
  struct room {
    room_state state = room_state::wanted;
    std::uint64_t reserved_bytes = 0;   // Until it has all its bytes.
    std::uint64_t writer = 0;           // In state `left`: the process that fetches the same object.
    bool is_own = false;                // An object of this node's own.
    std::optional<node_error> why_full; // Why there is no room for it yet.
  };

  explicit room_book(std::uint64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  void add(handles::room_id id);
  /// For this node's own object, whose bytes are complete.
  void add_own(handles::room_id id);
  /// Null if the room is no longer wanted.
  [[nodiscard]] const room* find(handles::room_id id) const;
  /// Drops the room. Returns false if there is none.
  bool erase(handles::room_id id);
  void clear();

  /// Reserves the wanted room's bytes for its builder. Returns false if other rooms have to be filled first.
  [[nodiscard]] bool reserve(handles::room_id id, std::uint64_t size_bytes);
  /// Another process has begun to write the object first. The room is wanted again.
  void give_back(handles::room_id id);
  /// Leaves the wanted room to another process of this host, `writer`.
  void leave(handles::room_id id, std::uint64_t writer);
  /// The other process will not bring the object. The room is wanted again.
  void take_up(handles::room_id id);
  /// The room has its builder.
  void fill(handles::room_id id);
  /// The room has all its bytes. Releases its reservation.
  void filled(handles::room_id id);
  void seal(handles::room_id id);

  /// Notes why the store has no space for a room that is being made; nullopt if no more attempts follow.
  void note_full(handles::room_id id, std::optional<node_error> why);

  [[nodiscard]] std::uint64_t reserved_bytes() const noexcept { return reserved_bytes_; }
  /// Why the room that is being made finds no space, for rooms that wait behind it.
  [[nodiscard]] const std::optional<node_error>& full_now() const noexcept { return full_now_; }

private:
  [[nodiscard]] room& at(handles::room_id id) { return rooms_.at(id); }
  static void enter(room& which, room_state next); // The only writer of room::state.
  void release(room& of);

  const std::uint64_t capacity_bytes_; // Of the store.
  std::map<handles::room_id, room> rooms_;
  std::uint64_t reserved_bytes_ = 0;
  std::optional<node_error> full_now_;
};

} // namespace troupe::internal
