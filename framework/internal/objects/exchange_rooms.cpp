// Bringing bytes of other hosts here: rooms, what comes into them, and the answers to who waits.
#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/objects/exchange_room.hpp>
#include <troupe/framework/internal/objects/stored_object.hpp>
#include <troupe/framework/internal/wire/crc32c.hpp>

namespace troupe::internal {

namespace {

using clock = std::chrono::steady_clock;

// How long one try waits for the store to make room, and all of them.
constexpr std::chrono::milliseconds try_patience{200};
constexpr std::chrono::seconds room_patience{20};

// The same for what was pulled and has been moved to disk since.
constexpr std::chrono::milliseconds turn_patience{20};

std::string milliseconds_since(clock::time_point then) {
  const auto passed = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - then);
  return grouped(static_cast<std::uint64_t>(passed.count()));
}

/// Of what the store has said: whether its disk is full as well.
node_errc code_of_full(const std::string& text) {
  return from_store({store::store_errc::full, text}).code();
}

} // namespace

void object_exchange::act(const handles::make_room& what) {
  auto wanted = std::make_shared<room>();
  wanted->id = what.room;
  wanted->size_bytes = what.size_bytes;
  if (what.of)
    wanted->origin = origin_of(*what.of, what.size_bytes);
  rooms_.emplace(what.room, wanted);
  const auto from = lanes_.find(what.source);
  const auto link = from != lanes_.end() ? from->second.link.lock() : nullptr;
  if (const auto limit = link ? link->object_bytes_max() : UINT64_MAX; what.size_bytes > limit) {
    room_work_.emplace_back([self = shared_from_this(), wanted, limit] { self->refuse_room(wanted, limit); });
    return;
  }
  room_work_.emplace_back([self = shared_from_this(), wanted] { self->make_room(wanted); });
}

void object_exchange::refuse_room(const std::shared_ptr<room>& wanted, std::uint64_t limit) {
  const std::lock_guard guard{mutex_};
  if (is_wanted(*wanted))
    fail_room(*wanted, {store::store_errc::full, "the link takes objects of " + grouped(limit)
                                                     + " bytes at most (receive_limits.object_bytes)"});
}

bool object_exchange::is_wanted(const room& which) const {
  return !is_ended_ && !which.is_dropped;
}

/// Those that are being filled take half of the store at most, so that they do not wait for each other with all of it
/// taken; one always may. What is left to another node takes nothing.
void object_exchange::make_room(const std::shared_ptr<room>& wanted) {
  if (!wanted->origin.empty())
    if (auto found = store_.find(wanted->origin); found && is_left_to_others(wanted, *std::move(found)))
      return;
  std::unique_lock guard{mutex_};
  const auto reserve = std::min(wanted->size_bytes, capacity_bytes_); // The size is what a peer says.
  reserve_changed_.wait(guard, [&] {
    return !is_wanted(*wanted) || reserved_bytes_ == 0
           || reserve <= capacity_bytes_ / 2 - std::min(capacity_bytes_ / 2, reserved_bytes_);
  });
  if (!is_wanted(*wanted))
    return;
  wanted->reserved_bytes = reserve;
  reserved_bytes_ += reserve;
  const auto until = clock::now() + room_patience;
  const auto attempt = [&] {
    guard.unlock();
    auto made = create(*wanted);
    guard.lock();
    wanted->why_full = full_now_ = made ? std::string{} : made.error().message();
    return made;
  };
  auto made = attempt();
  while (!made && made.error().code() == store::store_errc::full && wanted->size_bytes <= capacity_bytes_
         && is_wanted(*wanted) && clock::now() < until)
    made = attempt();
  if (!is_wanted(*wanted))
    return; // Who comes next has the same store.
  full_now_.clear();
  if (made && made->building) {
    wanted->building = std::move(made->building);
    ledger_.room_made(wanted->id);
    return settle();
  }
  release_reserve(*wanted);
  if (!made)
    return fail_room(*wanted, made.error());
  guard.unlock(); // Another one was quicker.
  if (!is_left_to_others(wanted, *std::move(made)))
    make_room(wanted); // Without an origin now.
}

std::expected<store::object_of_origin, store::store_error> object_exchange::create(const room& wanted) {
  return store_.create_growing(wanted.origin, wanted.size_bytes, try_patience);
}

void object_exchange::fail_room(const room& which, const store::store_error& why) {
  const auto is_full = why.code() == store::store_errc::full || why.code() == store::store_errc::table_full;
  why_no_room_ = why.message();
  ledger_.room_failed(which.id, is_full ? handles::handle_errc::full : handles::handle_errc::busy);
  settle();
}

/// Whether so many bytes more can be written; if not, the fetch has failed. I/O thread. The peer has said how many come
/// in all; memory is taken for twice as many as have come, by the worker where it is quick enough, since getting pages
/// takes time.
bool object_exchange::has_memory(const std::shared_ptr<room>& of, std::size_t more_bytes) {
  const auto needed = of->filled_bytes + more_bytes;
  if (needed > of->ready_bytes) {
    if (auto done = of->building->commit(needed); !done) {
      const std::lock_guard guard{mutex_};
      fail_room(*of, done.error());
      return false;
    }
    of->ready_bytes = needed;
  }
  constexpr std::uint64_t ahead_bytes_least = 1 << 20;
  if (needed >= ahead_bytes_least && of->ready_bytes < of->size_bytes && of->ready_bytes - needed < ahead_bytes_least
      && !of->is_made_ready.exchange(true))
    worker_.add([self = shared_from_this(), of, needed] { self->commit_ahead(of, needed); });
  return true;
}

/// On the worker's thread, as is all that takes the builder away. What fails here is told when the bytes come.
void object_exchange::commit_ahead(const std::shared_ptr<room>& of, std::uint64_t come_bytes) {
  constexpr std::uint64_t ahead_bytes_max = 32 << 20;
  const auto wanted = std::min(of->size_bytes, come_bytes + std::min(come_bytes, ahead_bytes_max));
  if (of->building && of->building->commit(wanted)) {
    auto ready = of->ready_bytes.load();
    while (ready < wanted && !of->ready_bytes.compare_exchange_weak(ready, wanted)) {
    }
  }
  of->is_made_ready = false;
}

/// For those who wait for what this node pulls. I/O thread. What has all its bytes goes on as long as others come,
/// which it may refer to.
void object_exchange::note_progress(room& of) {
  constexpr std::chrono::milliseconds pause{250};
  of.building->note_progress();
  const auto now = clock::now();
  if (now - progress_noted_ < pause)
    return;
  progress_noted_ = now;
  std::lock_guard guard{mutex_};
  for (const auto& [id, each] : rooms_)
    if (each->building && !each->is_sealing && each->filled_bytes == each->size_bytes)
      each->building->note_progress();
}

void object_exchange::release_reserve(room& of) {
  if (of.reserved_bytes == 0)
    return;
  reserved_bytes_ -= std::exchange(of.reserved_bytes, 0);
  reserve_changed_.notify_all();
}

void object_exchange::act(const handles::drop_room& what) {
  const auto found = rooms_.find(what.room);
  if (found == rooms_.end())
    return;
  found->second->is_dropped = true;
  std::erase(waiting_rooms_, found->second);
  release_reserve(*found->second);
  reserve_changed_.notify_all();
  work_.emplace_back([dropped = found->second] {}); // Its memory is given back where that may wait.
  rooms_.erase(found);
}

std::expected<void, node_error> object_exchange::on_chunk(handles::link_number from, const object_chunk_head& head,
                                                          bytes_view bytes) {
  std::unique_lock guard{mutex_};
  const auto found = rooms_.find(ledger_.room_of(from, head.what.request));
  const auto into = found != rooms_.end() ? found->second : nullptr;
  guard.unlock();
  // What is out of place is the ledger's to judge.
  if (into && into->building && head.what.offset == into->filled_bytes
      && bytes.size() <= into->size_bytes - into->filled_bytes && has_memory(into, bytes.size())) {
    if (!bytes.empty())
      std::memcpy(into->building->bytes().data() + into->filled_bytes, bytes.data(), bytes.size());
    into->sum = crc32c(into->sum, bytes);
    into->filled_bytes += bytes.size();
    note_progress(*into);
    if (into->sum != head.checksum)
      return std::unexpected{node_error{node_errc::protocol_violation,
                                        "bytes of an object have been damaged on the way: the checksum of the first "
                                            + grouped(into->filled_bytes) + " of " + grouped(into->size_bytes)
                                            + " is another"}};
  }
  if (into && into->filled_bytes == into->size_bytes) {
    guard.lock();
    release_reserve(*into); // It may wait for what it captures, which needs room too.
    guard.unlock();
  }
  return on_message(from, handles::message{head.what});
}

void object_exchange::act(handles::seal_room& what) {
  if (what.unfinished.generation != 0)
    return finish(what);
  const auto full = rooms_.at(what.room);
  full->is_sealing = true;
  work_.emplace_back(
      [self = shared_from_this(), full, captured = std::move(what.captured)] { self->seal(full, captured); });
}

void object_exchange::seal(const std::shared_ptr<room>& full, const std::vector<store::object_id>& captured) {
  auto sealed = [&]() -> std::expected<store::handle, store::store_error> {
    if (auto kept = full->building->capture(captured); !kept)
      return std::unexpected{std::move(kept).error()};
    return std::move(*full->building).seal();
  }();
  std::unique_lock guard{mutex_};
  release_reserve(*full);
  end_sealing(*full, std::move(sealed));
}

/// With mutex_ held.
void object_exchange::end_sealing(const room& full, std::expected<store::handle, store::store_error> sealed) {
  if (!is_wanted(full))
    return;
  if (sealed) {
    const auto place = sealed->id();
    keep(*std::move(sealed));
    const auto id = full.id;
    rooms_.erase(id);
    if (!ledger_.room_sealed(id, place))
      drop(place);
  } else {
    why_no_room_ = sealed.error().message();
    ledger_.room_failed(full.id, sealed.error().code() == store::store_errc::busy ? handles::handle_errc::busy
                                                                                  : handles::handle_errc::full);
  }
  settle();
}

// -- answers

void object_exchange::act(const handles::answer_waiter& what) {
  const auto who = waiters_.find(what.waiter);
  if (who == waiters_.end())
    return;
  if (what.error.code == handles::handle_errc::timed_out)
    who->second.why_late = why_late(who->second, what.room); // Not later: the room may be dropped by then.
  work_.emplace_back([self = shared_from_this(), what] { self->give_answer(what); });
}

/// On the worker's thread, since what lies on disk has to be brought back. It waits for room for moments only, so that
/// others have their turns.
void object_exchange::give_answer(const handles::answer_waiter& what) {
  std::unique_lock guard{mutex_};
  // Who waits is not taken out before it is answered: the end, which drops this job, answers who is still there.
  const auto found = waiters_.find(what.waiter);
  if (found == waiters_.end())
    return;
  const auto left = room_time_until(found->second.until);
  auto answer = std::expected<frame, node_error>{std::unexpect, node_errc::fetch_timed_out, ""};
  if (what.error.code != handles::handle_errc::none) {
    answer = std::unexpected{error_of(found->second, what.error)};
  } else {
    guard.unlock();
    auto mapped = map(stored(what.object), left ? std::optional{std::min(*left, turn_patience)} : std::nullopt);
    guard.lock();
    if (!mapped && left && *left > turn_patience && may_change(mapped.error()) && !is_ended_) {
      worker_.add([self = shared_from_this(), what] { self->give_answer(what); });
      return;
    }
    if (mapped) {
      const auto bytes = (*mapped)->bytes();
      answer = frame{bytes, *std::move(mapped)};
    } else {
      answer = std::unexpected{std::move(mapped).error()};
    }
  }
  auto who = waiters_.extract(what.waiter);
  guard.unlock();
  if (!who.empty())
    who.mapped().then(std::move(answer));
  if (what.error.code == handles::handle_errc::none)
    drop(what.object);
}

/// What a fetch was doing whose time is over, where that says more than that it is. With mutex_ held.
std::optional<node_error> object_exchange::why_late(const waiter& who, handles::room_id what) const {
  const auto found = rooms_.find(what);
  if (found == rooms_.end() || found->second->building)
    return std::nullopt;
  const auto& waits = *found->second;
  const auto object = "the object's " + grouped(who.size_bytes) + " bytes";
  const auto within = " within " + milliseconds_since(who.since) + " ms";
  if (std::ranges::find(waiting_rooms_, found->second) != waiting_rooms_.end())
    return node_error{node_errc::fetch_timed_out, object + " did not come" + within + ": process "
                                                      + std::to_string(waits.writer)
                                                      + " of this host is pulling them, and was waited for"};
  if (!waits.why_full.empty())
    return node_error{code_of_full(waits.why_full),
                      "the store here had no room for " + object + within + ": " + waits.why_full};
  if (!full_now_.empty())
    return node_error{code_of_full(full_now_), "the store here had no room for " + object + within
                                                   + ", nor for what is pulled before them: " + full_now_};
  if (reserved_bytes_ == 0)
    return std::nullopt;
  return node_error{node_errc::fetch_timed_out,
                    object + " did not come" + within + ": what else is being pulled takes half of the store here"};
}

std::string object_exchange::peer_of(const handles::fetch_error& error) const {
  const auto found = lanes_.find(error.source);
  const auto link = found != lanes_.end() ? found->second.link.lock() : nullptr;
  return (link ? "node " + link->peer_name() : "a peer") + (error.is_behind ? ", or one that it has them from," : "");
}

node_error object_exchange::error_of(const waiter& who, const handles::fetch_error& error) const {
  using enum handles::handle_errc;
  const auto object = "the object's " + grouped(who.size_bytes) + " bytes";
  const auto within = " within " + milliseconds_since(who.since) + " ms";
  switch (error.code) {
  case timed_out:
    return who.why_late ? *who.why_late : node_error{node_errc::fetch_timed_out, object + " did not come" + within};
  case stalled:
    return {node_errc::fetch_timed_out, object + " did not come: who has them sent nothing for too long"};
  case cancelled:
    return {node_errc::fetch_timed_out, object + " are not waited for any more"};
  case busy:
    return {node_errc::fetch_timed_out, object
                                            + " did not come: " + (error.was_told ? peer_of(error) : "the store here")
                                            + " was too busy" + within};
  case full:
    if (error.was_told)
      return {error.is_disk_full ? node_errc::disk_full : node_errc::store_full,
              "the store of " + peer_of(error) + " had no room to bring back " + object + " from its disk"
                  + (error.is_disk_full ? ", which is full itself," : "") + within};
    return {code_of_full(why_no_room_), "the store here has no room for " + object + ": " + why_no_room_};
  case too_many:
    return {node_errc::unsupported, error.imports_max == 0
                                        ? object + " refer to more objects than a host on the way takes at a time"
                                        : object + " and what they refer to name " + grouped(error.imports)
                                              + " objects, limit " + grouped(error.imports_max)};
  default:
    return loss_error(who.size_bytes, error);
  }
}

/// With mutex_ held.
node_error object_exchange::loss_error(std::uint64_t size_bytes, const handles::fetch_error& error) const {
  const auto object = "the object's " + grouped(size_bytes) + " bytes";
  const auto ended = ended_links_.find(error.source);
  if (error.was_told)
    return {node_errc::object_lost, object
                                        + " are lost: the node from which the handle came says so, which had them "
                                          "behind others, or has let go of them"};
  if (ended != ended_links_.end())
    return {node_errc::object_lost,
            object + " are lost: " + ended->second + ", and it did not come back while they were kept (handle_grace)"};
  return {node_errc::object_lost, object + " are lost: whoever had them is gone, or has let go of them"};
}

} // namespace troupe::internal
