// Objects in a store that both ends of a link have open, as the link sends and receives them. Objects that the ledger
// of handles counts (framework/handle-protocol.md) are not covered here.
#pragma once

#include <cassert>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/net/link_mutex.hpp>
#include <troupe/framework/internal/objects/flight_path.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/store/object_id.hpp>

namespace troupe::internal {

template <class Handle>
class link_objects;

/// An object that came over a link. It is held but not pinned, so that the store may move it to disk. When the last
/// reference to it in this process is dropped, the peer is told.
template <class Handle>
class came_over final {
public:
  came_over(Handle object, std::weak_ptr<link_objects<Handle>> from)
      : object_(std::move(object)), from_(std::move(from)) {}
  came_over(const came_over&) = delete;
  came_over& operator=(const came_over&) = delete;
  ~came_over() {
    if (const auto from = from_.lock())
      from->gone(object_.id(), this);
  }

  [[nodiscard]] const Handle& object() const noexcept { return object_; }

private:
  const Handle object_;
  const std::weak_ptr<link_objects<Handle>> from_;
};

/// Counts the objects that one link has sent and received, in a store that both its ends have open.
///
///     this end                        store                          the peer
///     | hand_over: in flight + 1 ---> |                              |
///     | count, under the lock         |                              |
///     | message ----------------------------------------------------> |
///     |                               | <--- adopt: held; in flight - 1 |
///     |                               |          the last owner ends |
///     | <--------------------------------------------- release n     |
///
/// Until the message is appended, `flight_claims` takes everything back on failure. From then on the objects in flight
/// belong to the peer, which adopts them, or abandons them with the link.
///
/// Threads: adopt(), claim(), abandon() on one thread; the others from any.
/// Lifetime: objects that came do not keep this alive.
template <class Handle>
class link_objects {
public:
  using owner = std::shared_ptr<const came_over<Handle>>;

  /// The most unclaimed objects that a peer can make this end keep while the store cannot be asked.
  static constexpr std::size_t unclaimed_max = 65536;

  /// `mutex` guards the counts; `path` outlives this.
  link_objects(link_mutex& mutex, flight_path<Handle>& path) : mutex_(mutex), path_(path) {}
  link_objects(const link_objects&) = delete;
  link_objects& operator=(const link_objects&) = delete;

  /// Called once, before any object comes. This object then lives as long as `whole`.
  void live_in(const std::shared_ptr<void>& whole) { self_ = std::shared_ptr<link_objects>{whole, this}; }

  // -- to the peer, for flight_claims

  [[nodiscard]] std::expected<void, store::store_error> hand_over(const Handle& object) {
    return path_.hand_over(object);
  }
  void take_back(const Handle& object) { path_.take_back(object); }

  [[nodiscard]] link_held lock() { return mutex_.lock(); }
  /// Counts one more sending. The object is held until the peer releases it.
  void count(const link_held&, const Handle& object) {
    const auto [at, is_new] = sent_.try_emplace(object.id());
    auto& found = at->second;
    if (is_new)
      found = {held_for(object, store::hold_reason::exported), 0, std::chrono::steady_clock::now()};
    ++found.count;
  }
  /// Takes back `count` sendings. Returns nullopt if fewer were counted. The inner value, if any, must be dropped
  /// outside the lock.
  [[nodiscard]] std::optional<std::optional<Handle>> uncount(const link_held&, const store::object_id& id,
                                                             std::uint64_t count) {
    const auto found = sent_.find(id);
    if (found == sent_.end() || count > found->second.count)
      return std::nullopt;
    found->second.count -= count;
    if (found->second.count > 0)
      return std::optional<Handle>{};
    std::optional<Handle> dropped{std::move(found->second.object)};
    sent_.erase(found);
    return dropped;
  }

  /// The peer no longer needs `count` of the sendings. Fails with `protocol_violation` if fewer were counted.
  [[nodiscard]] std::expected<void, node_error> on_release(const store::object_id& id, std::uint64_t count) {
    auto held = mutex_.lock();
    const auto dropped = uncount(held, id, count);
    held.unlock();
    if (!dropped)
      return violation("the peer releases object " + store::to_string(id) + " " + grouped(count)
                       + " times, more than it was sent");
    return {};
  }

  struct sent {
    std::uint64_t count = 0;
    std::chrono::steady_clock::time_point since; // When the first unreleased sending was counted.
  };
  [[nodiscard]] std::optional<sent> find(const link_held&, const store::object_id& id) const {
    const auto found = sent_.find(id);
    return found == sent_.end() ? std::nullopt : std::optional{sent{found->second.count, found->second.since}};
  }

  /// Whether neither end has an object of the other.
  [[nodiscard]] bool is_unused(const link_held&) const noexcept { return sent_.empty() && received_.empty(); }

  // -- from the peer

  /// Takes over an object in flight to this end, and counts its receipt. Fails with `protocol_violation` if the peer
  /// has handed over none. Fails with `object_lost` if the store could not be asked; then claim() must be called later.
  [[nodiscard]] std::expected<owner, node_error> adopt(const store::object_id& id) {
    auto adopted = path_.adopt(id);
    if (!adopted)
      return std::unexpected{refuse(id, adopted.error())};
    auto held = mutex_.lock();
    auto known = receive(id);
    held.unlock();
    if (known)
      return known; // It already has a hold.
    auto made = std::make_shared<const came_over<Handle>>(*std::move(adopted), self_);
    held.lock();
    received_.at(id).owner = made;
    received_.at(id).identity = made.get();
    return made;
  }

  /// Whether claim() has nothing left to do.
  [[nodiscard]] bool is_claimed() const noexcept { return unclaimed_.empty(); }
  /// Adopts and drops the objects that adopt() could not adopt. No reference to them exists any more.
  void claim() {
    while (!unclaimed_.empty()) {
      const auto adopted = path_.adopt(unclaimed_.back());
      if (!adopted && adopted.error().code() == store::store_errc::busy)
        return;
      unclaimed_.pop_back();
    }
  }

  /// Called only by came_over's destructor.
  void gone(const store::object_id& id, const came_over<Handle>* which) {
    const auto held = mutex_.lock();
    const auto found = received_.find(id);
    if (found == received_.end() || found->second.identity != which)
      return; // The link has ended, or a newer owner has taken this one's place.
    const auto count = found->second.count;
    received_.erase(found);
    path_.release(held, id, count);
  }

  // -- the link's end

  /// Ends all counting. The caller must drop the returned objects outside the lock.
  [[nodiscard]] std::vector<Handle> end(const link_held&) {
    std::vector<Handle> result;
    result.reserve(sent_.size());
    for (auto& [id, found] : sent_)
      result.push_back(std::move(found.object));
    sent_.clear();
    received_.clear();
    return result;
  }
  /// Abandons only objects in flight to this end. The peer may still read and adopt what this end sent before.
  [[nodiscard]] std::expected<void, store::store_error> abandon() {
    unclaimed_.clear();
    return path_.abandon();
  }

private:
  struct counted {
    Handle object{};
    std::uint64_t count = 0;
    std::chrono::steady_clock::time_point since{};
  };
  struct receipts {
    std::weak_ptr<const came_over<Handle>> owner;
    const came_over<Handle>* identity = nullptr;
    std::uint64_t count = 0;
  };

  /// The living owner; null if one has to be made.
  owner receive(const store::object_id& id) {
    auto& found = received_[id];
    ++found.count;
    auto alive = found.owner.lock();
    if (!alive)
      found.identity = nullptr; // The dying owner must not release this receipt.
    return alive;
  }

  /// Readers of the object are told that it is lost. It is released to the peer at once. claim() ends the flight later.
  node_error refuse(const store::object_id& id, const store::store_error& why) {
    if (why.code() == store::store_errc::not_found)
      return {node_errc::protocol_violation,
              "object " + store::to_string(id) + " was not handed over: " + why.message()};
    if (unclaimed_.size() >= unclaimed_max)
      return {node_errc::protocol_violation,
              "more than " + grouped(unclaimed_max) + " objects are handed over while the store cannot be read"};
    unclaimed_.push_back(id);
    const auto held = mutex_.lock();
    path_.release(held, id, 1);
    return {node_errc::object_lost, why.message()};
  }

  link_mutex& mutex_;
  flight_path<Handle>& path_;
  std::weak_ptr<link_objects> self_;
  // Guarded by mutex_.
  std::unordered_map<store::object_id, counted> sent_;
  std::unordered_map<store::object_id, receipts> received_;
  // Touched only by the thread that calls adopt().
  std::vector<store::object_id> unclaimed_; // In flight to this end when the store was busy.
};

} // namespace troupe::internal
