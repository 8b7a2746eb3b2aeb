// The unanswered requests of one link.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <troupe/base/salted_hash.hpp>
#include <troupe/framework/internal/flow/reply_room.hpp>
#include <troupe/framework/internal/wire/packet.hpp>

namespace troupe::internal {

/// Knows which requests the peer has not answered. Only these may be answered.
///
/// Pure: the lock of the link that owns it guards it, and the link destroys returned askers outside of the lock.
/// `Asker::is_gone()` tells that nothing waits for the answer any more.
///
/// Invariant: for each request that has left, there is room in reply_room until it is answered or the room is
/// reclaimed.
template <class Asker>
class request_book {
public:
  using key = question_key;
  using time_point = std::chrono::steady_clock::time_point;
  using asked = std::pair<key, Asker>;

  explicit request_book(reply_room& room) : room_(room) {}

  /// Adds a request. A request to several receivers has an entry for each.
  void add(key question, std::uint64_t receiver, Asker asker) {
    if (entries_.size() >= sweep_at_)
      sweep();
    entries_.emplace(question, entry{.asker = std::move(asker), .receiver = receiver});
  }

  /// The request has left. From now on, room for its answer is reserved. Does nothing if the request is no longer
  /// pending.
  void left(key question, std::uint64_t receiver, time_point now) {
    const auto [first, end] = entries_.equal_range(question);
    const auto found = of_receiver(first, end, receiver);
    if (found == end)
      return;
    found->second.reserved_bytes = room_.reserve(receiver);
    found->second.since = now;
  }

  /// Takes the asker of a request that is answered otherwise, or will not be answered; nullopt if it was taken before.
  /// If several receivers were asked, takes the entry of `receiver`. If that receiver was not asked, takes another
  /// entry, because a receiver that was asked may let `receiver` answer.
  std::optional<Asker> take(key question, std::uint64_t receiver) {
    auto found = find(question, receiver);
    if (found == entries_.end())
      return std::nullopt;
    return take_out(found);
  }

  struct answered {
    Asker asker;
    time_point since; // When the request left; zero: left() was not called.
  };
  /// Takes a request that is answered with an answer of this cost to deliver. reply_room::issue() must follow.
  std::optional<answered> take_answered(key question, std::uint64_t receiver, std::uint64_t cost) {
    auto found = find(question, receiver);
    if (found == entries_.end())
      return std::nullopt;
    const auto who = found->second.receiver;
    const auto since = found->second.since;
    auto asker = take_out(found);
    room_.answered(who, cost);
    return answered{std::move(asker), since};
  }

  /// Releases the room of requests that left before `deadline`, or whose asker is gone. They may still be answered.
  void reclaim(time_point deadline) {
    for (auto& [question, request] : entries_)
      if (request.reserved_bytes > 0 && (request.since < deadline || request.asker.is_gone()))
        room_.unreserve(request.receiver, std::exchange(request.reserved_bytes, 0));
  }

  /// Call it from time to time while requests wait for room. If no request was taken out since the last call, releases
  /// the room of requests that had left by then, because they may be waiting for a request that waits for room. The
  /// oldest come first, until `roomless_max` requests keep no room.
  void reclaim_stalled(time_point now, std::size_t roomless_max) {
    const auto last = std::exchange(last_look_, now);
    if (std::exchange(taken_before_, taken_) != taken_)
      return;
    std::vector<typename entry_map::iterator> due;
    std::size_t roomless = 0;
    for (auto at = entries_.begin(); at != entries_.end(); ++at) {
      const auto& request = at->second;
      if (request.reserved_bytes > 0 && request.since < last)
        due.push_back(at);
      roomless += request.reserved_bytes == 0 && request.since != time_point{} ? 1 : 0;
    }
    const auto spare = roomless_max - std::min(roomless, roomless_max);
    if (due.size() > spare) {
      std::ranges::nth_element(due, due.begin() + static_cast<std::ptrdiff_t>(spare), {},
                               [](const auto& at) { return at->second.since; });
      due.resize(spare);
    }
    for (const auto& at : due)
      room_.unreserve(at->second.receiver, std::exchange(at->second.reserved_bytes, 0));
  }

  /// If more than `kept` requests keep no room, takes out the oldest, until half of `kept` are left, so that this
  /// happens rarely.
  [[nodiscard]] std::vector<asked> take_oldest(std::size_t kept) {
    if (entries_.size() <= kept)
      return {};
    std::vector<typename entry_map::iterator> old;
    for (auto at = entries_.begin(); at != entries_.end(); ++at)
      if (at->second.reserved_bytes == 0 && at->second.since != time_point{})
        old.push_back(at);
    if (old.size() <= kept)
      return {};
    const auto end = old.begin() + static_cast<std::ptrdiff_t>(old.size() - kept / 2);
    std::ranges::nth_element(old, end, {}, [](const auto& at) { return at->second.since; });
    std::vector<asked> result;
    for (auto at = old.begin(); at != end; ++at) {
      result.emplace_back((*at)->first, std::move((*at)->second.asker));
      entries_.erase(*at);
    }
    return result;
  }

  /// At the link's end.
  [[nodiscard]] std::vector<asked> take_all() {
    std::vector<asked> result;
    result.reserve(entries_.size());
    for (auto& [question, request] : entries_)
      result.emplace_back(question, std::move(request.asker));
    entries_.clear();
    room_.clear();
    return result;
  }

  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  /// Whether something waits for an answer.
  [[nodiscard]] bool is_any_awaited() const {
    return std::ranges::any_of(entries_, [](const auto& each) { return !each.second.asker.is_gone(); });
  }

private:
  struct entry {
    Asker asker;
    std::uint64_t receiver = 0;
    std::uint64_t reserved_bytes = 0; // For the answer; zero until the request has left.
    time_point since = {};            // When the request left.
  };
  struct key_hash {
    std::size_t operator()(const key& k) const { // Salted, because a peer chooses the numbers of requests that it
                                                 // forwards.
      constexpr detail::salted_hash hash;
      return hash(hash(k.asker) ^ k.number);
    }
  };
  using entry_map = std::unordered_multimap<key, entry, key_hash>;

  static constexpr std::size_t sweep_at_least = 1024;

  static auto of_receiver(auto first, auto end, std::uint64_t receiver) {
    return std::find_if(first, end, [&](const auto& item) { return item.second.receiver == receiver; });
  }

  typename entry_map::iterator find(const key& question, std::uint64_t receiver) {
    const auto first = entries_.find(question);
    if (first == entries_.end() || first->second.receiver == receiver)
      return first;
    const auto [begin, end] = entries_.equal_range(question);
    const auto exact = of_receiver(begin, end, receiver);
    return exact == end ? first : exact;
  }

  Asker take_out(typename entry_map::iterator at) {
    room_.unreserve(at->second.receiver, at->second.reserved_bytes);
    taken_ += at->second.since != time_point{} ? 1 : 0;
    auto asker = std::move(at->second.asker);
    entries_.erase(at);
    return asker;
  }

  /// Removes entries whose askers are gone. A request that timed out leaves its entry behind.
  void sweep() {
    std::erase_if(entries_, [this](const auto& item) {
      if (!item.second.asker.is_gone())
        return false;
      room_.unreserve(item.second.receiver, item.second.reserved_bytes);
      return true;
    });
    sweep_at_ = std::max(sweep_at_least, 2 * entries_.size());
  }

  reply_room& room_;
  entry_map entries_;
  std::size_t sweep_at_ = sweep_at_least;
  std::uint64_t taken_ = 0; // Counts taken requests that had left.
  std::uint64_t taken_before_ = 0;
  time_point last_look_ = {};
};

} // namespace troupe::internal
