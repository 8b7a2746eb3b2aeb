// The objects that one message has put in flight, in the store of both ends of its link.
#pragma once

#include <cstddef>
#include <expected>
#include <span>
#include <utility>
#include <vector>

#include <troupe/framework/internal/objects/link_objects.hpp>
#include <troupe/framework/internal/wire/kept_memory.hpp>

namespace troupe::internal {

/// The objects that one message has handed over to the peer. The destructor takes them back unless they were committed.
///
/// Threads: one at a time.
/// Lifetime: is neither destroyed nor cleared under the link's lock.
template <class Handle>
class flight_claims {
public:
  flight_claims() = default;
  flight_claims(flight_claims&& other) noexcept { *this = std::move(other); }
  flight_claims& operator=(flight_claims&& other) noexcept {
    give_back();
    of_ = std::exchange(other.of_, nullptr);
    objects_ = std::move(other.objects_);
    counted_ = std::exchange(other.counted_, 0);
    return *this;
  }
  ~flight_claims() { give_back(); }

  /// Hands over through `of` from now on, until commit() or clear(). Requires: new or cleared.
  void begin(link_objects<Handle>& of) noexcept { of_ = &of; }

  /// Called while the message is encoded. Fails as the store does. Objects that were handed over before stay handed
  /// over.
  [[nodiscard]] std::expected<void, store::store_error> hand_over(const Handle& object) {
    objects_.push_back(
        held_for(object, store::hold_reason::message)); // First, so that nothing stays in flight if memory runs out.
    auto done = of_->hand_over(object);
    if (!done)
      objects_.pop_back();
    return done;
  }
  /// Called once the message may leave. The objects count for the peer until the peer releases them.
  void count(const link_held& held) {
    for (; counted_ < objects_.size(); ++counted_)
      of_->count(held, objects_[counted_]);
  }
  /// Called once the message has been appended. The objects stay handed over.
  void commit(const link_held&) noexcept { of_ = nullptr; }

  /// Includes committed objects.
  [[nodiscard]] std::span<const Handle> objects() const noexcept { return objects_; }
  /// Whether an object has to be given back.
  [[nodiscard]] bool has_any() const noexcept { return of_ != nullptr && !objects_.empty(); }

  /// Takes back objects that were not committed. If the link has ended meanwhile, no counts are left to undo.
  void give_back() {
    if (auto* const of = std::exchange(of_, nullptr); of != nullptr && !objects_.empty())
      give_back_to(*of);
  }
  /// Like give_back(). Then the state is that of a new object, but the list keeps its memory.
  void clear() {
    give_back();
    empty_for_reuse(objects_);
    counted_ = 0;
  }

private:
  void give_back_to(link_objects<Handle>& of) {
    std::vector<Handle> dropped; // Destroyed outside the lock.
    if (counted_ > 0) {
      const auto held = of.lock();
      for (const auto& object : std::span{objects_}.first(counted_))
        if (auto last = of.uncount(held, object.id(), 1); last && *last)
          dropped.push_back(**std::move(last));
    }
    for (const auto& object : objects_)
      of.take_back(object);
  }

  link_objects<Handle>* of_ = nullptr; // Null: nothing has to be given back.
  std::vector<Handle> objects_;
  std::size_t counted_ = 0; // The first `counted_` objects are counted.
};

} // namespace troupe::internal
