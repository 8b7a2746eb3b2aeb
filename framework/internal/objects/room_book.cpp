#include <troupe/framework/internal/objects/room_book.hpp>

#include <algorithm>
#include <cassert>
#include <utility>

namespace troupe::internal {

void room_book::enter(room& which, room_state next) {
  assert(may_follow(which.state, next));
  which.state = next;
}

void room_book::add(handles::room_id id) {
  rooms_.try_emplace(id);
}

void room_book::add_own(handles::room_id id) {
  rooms_.emplace(id, room{.state = room_state::sealing, .is_own = true, .why_full = {}});
}

const room_book::room* room_book::find(handles::room_id id) const {
  const auto found = rooms_.find(id);
  return found != rooms_.end() ? &found->second : nullptr;
}

void room_book::release(room& of) {
  reserved_bytes_ -= std::exchange(of.reserved_bytes, 0);
}

bool room_book::erase(handles::room_id id) {
  const auto found = rooms_.find(id);
  if (found == rooms_.end())
    return false;
  release(found->second);
  rooms_.erase(found);
  return true;
}

void room_book::clear() {
  rooms_.clear();
  reserved_bytes_ = 0;
}

bool room_book::reserve(handles::room_id id, std::uint64_t size_bytes) {
  auto& which = at(id);
  const auto taken_bytes = std::min(size_bytes, capacity_bytes_); // A peer names the size.
  const auto all_bytes = capacity_bytes_ / 2;
  if (reserved_bytes_ > 0 && taken_bytes > all_bytes - std::min(all_bytes, reserved_bytes_))
    return false;
  enter(which, room_state::making);
  which.reserved_bytes = taken_bytes;
  reserved_bytes_ += taken_bytes;
  return true;
}

void room_book::give_back(handles::room_id id) {
  auto& which = at(id);
  enter(which, room_state::wanted);
  release(which);
  note_full(id, std::nullopt);
}

void room_book::leave(handles::room_id id, std::uint64_t writer) {
  auto& which = at(id);
  enter(which, room_state::left);
  which.writer = writer;
}

void room_book::take_up(handles::room_id id) {
  enter(at(id), room_state::wanted);
}

void room_book::fill(handles::room_id id) {
  enter(at(id), room_state::filling);
  note_full(id, std::nullopt);
}

/// Releases the reservation now, because the objects that it captures may need room before it can be sealed.
void room_book::filled(handles::room_id id) {
  release(at(id));
}

void room_book::seal(handles::room_id id) {
  enter(at(id), room_state::sealing);
}

void room_book::note_full(handles::room_id id, std::optional<node_error> why) {
  full_now_ = why;
  if (const auto found = rooms_.find(id); found != rooms_.end())
    found->second.why_full = std::move(why);
}

} // namespace troupe::internal
