// What a link has carried, by family and type. Pure: no sockets, no actors.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <troupe/framework/link_stats.hpp>

namespace troupe::internal {

/// In the place of a family, where a value was handed over as it is.
inline constexpr std::string_view no_family = "none";

/// Adds to what only one thread at a time writes, and others may read.
inline void add_alone(std::atomic<std::uint64_t>& counter, std::uint64_t more) {
  counter.store(counter.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

/// Payloads of one type by one family, in one direction.
///
/// Looking at the clock twice takes a fifth of what a small message does. So the first payload is timed, then one in
/// `timed_every`, which stands for as many; and each one whose predecessor had `large_bytes`, beside which it is
/// nothing.
///
/// Threads: `count` by one at a time, the rest by any.
class traffic {
public:
  static constexpr std::uint64_t timed_every = 64;
  static constexpr std::uint64_t large_bytes = 4096;

  void count(std::uint64_t payload_bytes) noexcept {
    add_alone(payloads_, 1);
    add_alone(bytes_, payload_bytes);
    last_bytes_.store(payload_bytes, std::memory_order_relaxed);
  }

  /// For how many payloads the time that the next one takes stands; 0: it is not to be timed.
  [[nodiscard]] std::uint64_t timed_for() const noexcept {
    const auto before = payloads_.load(std::memory_order_relaxed);
    if (before == 0 || last_bytes_.load(std::memory_order_relaxed) >= large_bytes)
      return 1;
    return before % timed_every == 0 ? timed_every : 0;
  }
  void add_time(std::chrono::nanoseconds took, std::uint64_t stands_for) noexcept {
    nanoseconds_.fetch_add(static_cast<std::uint64_t>(took.count()) * stands_for, std::memory_order_relaxed);
  }

  [[nodiscard]] payload_totals totals() const noexcept {
    return {payloads_.load(std::memory_order_relaxed), bytes_.load(std::memory_order_relaxed),
            std::chrono::nanoseconds{nanoseconds_.load(std::memory_order_relaxed)}};
  }

private:
  std::atomic<std::uint64_t> payloads_{0}, bytes_{0}, nanoseconds_{0}, last_bytes_{0};
};

/// Looks at the clock only where the payload is to be timed.
class traffic_timer {
public:
  using clock = std::chrono::steady_clock;

  explicit traffic_timer(std::uint64_t stands_for)
      : stands_for_(stands_for), began_(stands_for > 0 ? clock::now() : clock::time_point{}) {}

  void stop() noexcept {
    if (stands_for_ > 0)
      took_ = clock::now() - began_;
  }
  /// Requires: stopped.
  void add_to(traffic& where) const noexcept {
    if (stands_for_ > 0)
      where.add_time(std::chrono::duration_cast<std::chrono::nanoseconds>(took_), stands_for_);
  }

private:
  std::uint64_t stands_for_;
  clock::time_point began_;
  clock::duration took_{};
};

/// The traffic of one direction of a link. As large as families times types: callers name those of the node only.
///
/// Threads: any.
class traffic_table {
public:
  /// The same one for the same names; stays as long as the table.
  [[nodiscard]] traffic& of(std::string_view family, std::string_view type);

  /// By family, then by type, both in alphabetical order; `into` has that order, too.
  void add_to(std::vector<type_stats>& into, payload_totals type_stats::*direction) const;

private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, traffic> entries_; // Guarded by mutex_; what is in them is not.
};

/// The row of that family and type in what is ordered as add_to() says; made where there is none.
[[nodiscard]] type_stats& row_of(std::vector<type_stats>& rows, std::string_view family, std::string_view type);

} // namespace troupe::internal
