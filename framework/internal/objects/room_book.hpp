// The rooms for objects of which the bytes are to come.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include <troupe/framework/internal/handles/actions.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

//  wanted --reserved--> making --builder--> filling --all bytes, all that it captures--> sealing
//   ^  |  ^--another was quicker--/
//   |  v
//  left to another process of this host
//  An object of this node's own, which has its bytes, begins with sealing. From any state a room may be dropped.
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

/// Knows how far each room is that the ledger wants, and how much of the store those take that are being filled: half
/// of it at most, so that they do not wait for each other with all of it taken. One always may.
class room_book {
public:
  struct room {
    room_state state = room_state::wanted;
    std::uint64_t reserved_bytes = 0;   // Until it has all its bytes.
    std::uint64_t writer = 0;           // Left: the process that pulls the same.
    bool is_own = false;                // An object of this node's own.
    std::optional<node_error> why_full; // Why there is no room for it yet.
  };

  explicit room_book(std::uint64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  void add(handles::room_id id);
  /// For an object of this node's own, which has its bytes.
  void add_own(handles::room_id id);
  /// Null where it is wanted no more.
  [[nodiscard]] const room* find(handles::room_id id) const;
  /// Whether it has been dropped, or was ready to.
  bool erase(handles::room_id id);
  void clear();

  /// Reserves what the wanted room takes, for its builder. False where others have to be filled before.
  [[nodiscard]] bool reserve(handles::room_id id, std::uint64_t size_bytes);
  /// Another process was quicker, which has found a place: it is wanted as before.
  void give_back(handles::room_id id);
  /// Leaves the wanted room to another process of this host, `writer`.
  void leave(handles::room_id id, std::uint64_t writer);
  /// That one will not bring it.
  void take_up(handles::room_id id);
  /// It has found its place.
  void fill(handles::room_id id);
  /// It has all its bytes.
  void filled(handles::room_id id);
  void seal(handles::room_id id);

  /// What the store has said about a room that is being made; nothing where it is not tried any more.
  void note_full(handles::room_id id, std::optional<node_error> why);

  [[nodiscard]] std::uint64_t reserved_bytes() const noexcept { return reserved_bytes_; }
  /// Why what is being made just now finds no place, for those that wait behind it.
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
