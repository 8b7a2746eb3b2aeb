#include <troupe/framework/internal/objects/replica_rooms.hpp>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/objects/stored_object.hpp>
#include <troupe/framework/internal/wire/crc32c.hpp>

namespace troupe::internal {

namespace {

using clock = std::chrono::steady_clock;

// How long one attempt waits for the store to make room, and how long all attempts take together.
constexpr std::chrono::milliseconds try_patience{200};
constexpr std::chrono::seconds room_patience{20};

handles::handle_errc code_of_room(const store::store_error& why) {
  const auto is_full = lacks_room(why.code()) || why.code() == store::store_errc::table_full;
  return is_full ? handles::handle_errc::full : handles::handle_errc::busy;
}

} // namespace

// -- called by the core, under its lock

void replica_rooms::make(core_turn held, handles::room_id which, std::uint64_t size_bytes,
                         const std::optional<handles::original>& of) {
  auto wanted = std::make_shared<replica>(which, size_bytes);
  if (of)
    wanted->origin = origin_of(*of, size_bytes);
  replicas_.in(held).emplace(which, wanted);
  maker_.add([this, wanted] { build(wanted); });
}

void replica_rooms::seal(core_turn held, handles::room_id which, std::vector<store::object_id> captured) {
  worker_.add([this, full = replicas_.in(held).at(which), captured = std::move(captured)] {
    auto sealed = [&]() -> std::expected<store::handle, store::store_error> {
      if (auto kept = full->building->capture(captured); !kept)
        return std::unexpected{std::move(kept).error()};
      return std::move(*full->building).seal();
    }();
    core_.sealed(full->id, std::move(sealed));
    const auto lock = core_.lock();
    replicas_.in(lock->turn()).erase(full->id);
  });
}

void replica_rooms::drop(core_turn held, handles::room_id which) {
  auto found = replicas_.in(held).extract(which);
  if (found.empty())
    return;
  originals_.forget(found.mapped());
  worker_.add([dropped = std::move(found.mapped())] {}); // Releases its memory on the worker, which may wait.
}

void replica_rooms::end() {
  originals_.end();
  auto held = core_.lock();
  const auto dropped = std::exchange(replicas_.in(held->turn()), {});
  held.guard().unlock(); // The replicas are destroyed outside the lock.
}

// -- the thread that makes rooms

void replica_rooms::try_again(const std::shared_ptr<replica>& which) {
  maker_.add([this, which] {
    core_.lock()->take_up_room(which->id);
    build(which);
  });
}

/// A room that is left to another process reserves nothing.
void replica_rooms::build(const std::shared_ptr<replica>& wanted) {
  for (;;) {
    if (!wanted->origin.empty())
      if (auto found = store_.find(wanted->origin); found && is_left_to_others(wanted, *std::move(found)))
        return;
    auto others = try_to_build(wanted);
    if (!others || is_left_to_others(wanted, *std::move(others)))
      return;
  } // Next round: if the origin was cleared, without it.
}

/// Reserves the room and makes its builder, and tells the core the outcome. Returns the object that another process has
/// begun to write meanwhile; nullopt if there is none.
std::optional<store::object_of_origin> replica_rooms::try_to_build(const std::shared_ptr<replica>& wanted) {
  auto held = core_.lock();
  const auto id = wanted->id;
  changed_.wait(held.guard(), [&] { return !held->wants(id) || held->reserve_room(id, wanted->size_bytes); });
  const auto until = clock::now() + room_patience;
  while (held->wants(id)) {
    held.guard().unlock();
    auto made = store_.create_growing(wanted->origin, wanted->size_bytes, try_patience);
    held.guard().lock();
    if (!held->wants(id))
      break; // Later users find the same store.
    if (made && made->building) {
      wanted->building = std::move(made->building);
      held->room_made(id);
      break;
    }
    if (made) {
      held->give_back_room(id);
      return *std::move(made);
    }
    const auto may_try =
        lacks_room(made.error().code()) && wanted->size_bytes <= capacity_bytes_ && clock::now() < until;
    held->note_full(id, may_try ? std::optional{from_store(made.error())} : std::nullopt);
    if (!may_try)
      held->room_failed(id, code_of_room(made.error()), from_store(made.error()));
  }
  return std::nullopt;
}

/// Whether another process has the object or is writing it, so that nothing has to be done here for now. If false and
/// something was found, the object is made without an origin from now on.
bool replica_rooms::is_left_to_others(const std::shared_ptr<replica>& wanted, store::object_of_origin found) {
  if (!found.sealed.empty() && found.sealed.size_bytes() == wanted->size_bytes) {
    core_.found(wanted->id, std::move(found.sealed));
    const auto held = core_.lock();
    replicas_.in(held->turn()).erase(wanted->id);
    return true;
  }
  const auto is_written = found.being_written != store::object_id{};
  if (is_written && originals_.has_time(*wanted)) {
    core_.lock()->leave_room(wanted->id, static_cast<std::uint64_t>(found.writer));
    originals_.wait_for(wanted, found.being_written);
    if (!core_.lock()->wants(wanted->id))
      originals_.forget(wanted); // It was dropped just before.
    return true;
  }
  if (is_written || !found.sealed.empty())
    wanted->origin = {};
  return false;
}

// -- bytes

/// Null if the bytes are no longer wanted.
std::expected<std::shared_ptr<replica>, node_error> replica_rooms::find_for(handles::link_number from,
                                                                            const handles::pull_chunk& what) {
  const auto held = core_.lock();
  const auto room = held->room_for(from, what);
  if (!room)
    return std::unexpected{room.error()};
  const auto& replicas = replicas_.in(held->turn());
  const auto found = replicas.find(*room);
  return found != replicas.end() ? found->second : nullptr;
}

/// Copies without the lock. The core counts the bytes only after they are written.
std::expected<void, node_error> replica_rooms::write(handles::link_number from, const object_chunk_head& head,
                                                     bytes_view bytes) {
  assert(bytes.size() == head.what.size_bytes);
  const auto found = find_for(from, head.what);
  if (!found)
    return std::unexpected{found.error()};
  const auto& into = *found;
  const auto come_bytes = head.what.offset + bytes.size();
  if (!into || !has_memory(into, come_bytes))
    return {};
  std::memcpy(into->building->bytes().data() + head.what.offset, bytes.data(), bytes.size());
  into->sum = crc32c(into->sum, bytes);
  note_progress(*into);
  if (into->sum != head.checksum)
    return std::unexpected{node_error{node_errc::protocol_violation,
                                      "an object was damaged in transit: wrong checksum of the first "
                                          + grouped(come_bytes) + " of " + grouped(into->size_bytes) + " bytes"}};
  core_.lock()->room_filled(into->id, bytes.size());
  return {};
}

/// Whether the first `needed` bytes can be written. If not, the fetch has failed. The size comes from the peer, so
/// memory is committed for at most twice the bytes that have come. The worker commits ahead, because getting pages
/// takes time.
bool replica_rooms::has_memory(const std::shared_ptr<replica>& of, std::uint64_t needed) {
  if (needed > of->ready_bytes) {
    if (auto done = of->building->commit(needed); !done) {
      core_.lock()->room_failed(of->id, code_of_room(done.error()), from_store(done.error()));
      return false;
    }
    of->ready_bytes = needed;
  }
  constexpr std::uint64_t ahead_bytes_least = 1 << 20;
  if (needed >= ahead_bytes_least && of->ready_bytes < of->size_bytes && of->ready_bytes - needed < ahead_bytes_least
      && !of->is_made_ready.exchange(true))
    worker_.add([this, of, needed] { commit_ahead(*of, needed); });
  return true;
}

/// On the worker's thread, which alone takes the builder away. A failure here is reported when the bytes come.
void replica_rooms::commit_ahead(replica& of, std::uint64_t come_bytes) {
  constexpr std::uint64_t ahead_bytes_max = 32 << 20;
  const auto wanted = std::min(of.size_bytes, come_bytes + std::min(come_bytes, ahead_bytes_max));
  if (of.building && of.building->commit(wanted)) {
    auto ready = of.ready_bytes.load();
    while (ready < wanted && !of.ready_bytes.compare_exchange_weak(ready, wanted)) {
    }
  }
  of.is_made_ready = false;
}

/// Tells processes that wait for this node's fetches. Complete replicas count as progressing while other bytes come,
/// because they may wait for objects to which they refer.
void replica_rooms::note_progress(replica& of) {
  constexpr std::chrono::milliseconds pause{250};
  of.building->note_progress();
  const auto now = clock::now();
  auto noted = progress_noted_.load(std::memory_order_relaxed);
  if (now - clock::time_point{clock::duration{noted}} < pause
      || !progress_noted_.compare_exchange_strong(noted, now.time_since_epoch().count(), std::memory_order_relaxed))
    return; // If the exchange failed, another thread does it.
  const auto held = core_.lock();
  for (const auto& [id, each] : replicas_.in(held->turn()))
    if (held->waits_for_captured(id))
      each->building->note_progress();
}

} // namespace troupe::internal
