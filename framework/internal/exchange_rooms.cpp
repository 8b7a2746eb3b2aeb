// Bringing bytes of other hosts here: rooms, what comes into them, and the answers to who waits.
#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include <troupe/framework/base/sizes.hpp>
#include <troupe/framework/internal/crc32c.hpp>
#include <troupe/framework/internal/exchange_room.hpp>

namespace troupe::internal {

namespace {

using clock = std::chrono::steady_clock;

// How long one try waits for the store to make room, and all of them.
constexpr std::chrono::milliseconds try_patience{200};
constexpr std::chrono::seconds room_patience{20};

} // namespace

void object_exchange::act(const handles::make_room& what) {
  auto wanted = std::make_shared<room>();
  wanted->id = what.room;
  wanted->size_bytes = what.size_bytes;
  if (what.of)
    wanted->origin = origin_of(*what.of, what.size_bytes);
  rooms_.emplace(what.room, wanted);
  room_work_.emplace_back([self = shared_from_this(), wanted] { self->make_room(wanted); });
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
    return made;
  };
  auto made = attempt();
  while (!made && made.error().code() == store::store_errc::full && wanted->size_bytes <= capacity_bytes_
         && is_wanted(*wanted) && clock::now() < until)
    made = attempt();
  if (!is_wanted(*wanted))
    return;
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
  if (!wanted.origin.empty())
    return store_.create_once(wanted.origin, wanted.size_bytes, try_patience);
  auto made = store_.create(wanted.size_bytes, {}, {}, try_patience);
  if (!made)
    return std::unexpected{std::move(made).error()};
  store::object_of_origin result;
  result.building = *std::move(made);
  return result;
}

void object_exchange::fail_room(const room& which, const store::store_error& why) {
  const auto is_full = why.code() == store::store_errc::full || why.code() == store::store_errc::table_full;
  why_no_room_ = why.message();
  ledger_.room_failed(which.id, is_full ? handles::handle_errc::full : handles::handle_errc::busy);
  settle();
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
      && bytes.size() <= into->size_bytes - into->filled_bytes) {
    if (!bytes.empty())
      std::memcpy(into->building->bytes().data() + into->filled_bytes, bytes.data(), bytes.size());
    into->sum = crc32c(into->sum, bytes);
    into->filled_bytes += bytes.size();
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
  const auto full = rooms_.at(what.room);
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
  if (full->is_dropped || is_ended_)
    return;
  if (sealed) {
    const auto place = sealed->id();
    auto& kept = holds_[place];
    kept.object = *sealed;
    ++kept.count;
    rooms_.erase(full->id);
    if (!ledger_.room_sealed(full->id, place))
      drop(place);
  } else {
    why_no_room_ = sealed.error().message();
    ledger_.room_failed(full->id, sealed.error().code() == store::store_errc::busy ? handles::handle_errc::busy
                                                                                   : handles::handle_errc::full);
  }
  settle();
}

// -- answers

void object_exchange::act(const handles::answer_waiter& what) {
  if (!waiters_.contains(what.waiter))
    return;
  work_.emplace_back([self = shared_from_this(), waiter = what.waiter, error = what.error, object = what.object] {
    std::unique_lock guard{self->mutex_};
    auto who = self->waiters_.extract(waiter); // Not before: the end, which drops this job, answers who is still there.
    guard.unlock();
    if (!who.empty())
      self->give_answer(std::move(who.mapped()), error, object);
  });
}

/// On the worker's thread, since what lies on disk has to be brought back.
void object_exchange::give_answer(waiter who, handles::fetch_error error, handles::reference object) {
  if (error.code != handles::handle_errc::none) {
    std::unique_lock guard{mutex_};
    auto told = error_of(who, error);
    guard.unlock();
    return who.then(std::unexpected{std::move(told)});
  }
  const auto kept = stored(object);
  auto pinned = kept.pin();
  if (pinned) {
    auto owner = std::make_shared<stored_bytes>(*std::move(pinned));
    const auto bytes = owner->bytes();
    who.then(frame{bytes, std::move(owner)});
  } else {
    const auto is_full = pinned.error().code() == store::store_errc::full;
    who.then(std::unexpected{
        node_error{is_full ? node_errc::store_full : node_errc::object_lost, pinned.error().message()}});
  }
  drop(object);
}

node_error object_exchange::error_of(const waiter& who, const handles::fetch_error& error) const {
  using enum handles::handle_errc;
  const auto object = "the object's " + grouped(who.size_bytes) + " bytes";
  const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - who.since).count();
  const auto within = " within " + grouped(static_cast<std::uint64_t>(waited)) + " ms";
  switch (error.code) {
  case timed_out:
    return {node_errc::fetch_timed_out, object + " did not come" + within};
  case stalled:
    return {node_errc::fetch_timed_out, object + " did not come: who has them sent nothing for too long"};
  case cancelled:
    return {node_errc::fetch_timed_out, object + " are not waited for any more"};
  case busy:
    return {node_errc::fetch_timed_out,
            object + " did not come: who has them, or the store here, was too busy" + within};
  case full:
    return {node_errc::store_full, "the store here has no room for " + object + ": " + why_no_room_};
  case too_many:
    return {node_errc::unsupported, error.imports_max == 0
                                        ? object + " refer to more objects than a host on the way takes at a time"
                                        : object + " and what they refer to name " + grouped(error.imports)
                                              + " objects, limit " + grouped(error.imports_max)};
  default:
    break;
  }
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
