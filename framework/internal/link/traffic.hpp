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

#include <troupe/framework/internal/flow/latency_meter.hpp>
#include <troupe/framework/link_stats.hpp>

namespace troupe::internal {

/// The family's name for values that pass unencoded.
inline constexpr std::string_view no_family = "none";

/// Adds to a counter that only one thread at a time writes, while others may read it.
inline void add_alone(std::atomic<std::uint64_t>& counter, std::uint64_t more) {
  counter.store(counter.load(std::memory_order_relaxed) + more, std::memory_order_relaxed);
}

/// Payloads of one type by one family, in one direction.
///
/// Reading the clock twice takes a fifth of the time of a small message. So only the first payload is timed, then one
/// in `timed_every`, which stands for as many. A payload whose predecessor had `large_bytes` is always timed, because
/// the cost of the clock does not matter there.
///
/// Threads: one at a time for `count`, any for the rest.
class traffic {
public:
  static constexpr std::uint64_t timed_every = 64;
  static constexpr std::uint64_t large_bytes = 4096;

  /// `times`: counts the times of payloads of all types; null: they are not counted. Must outlive this object.
  explicit traffic(latency_meter* times = nullptr) : times_(times) {}

  void count(std::uint64_t payload_bytes) noexcept {
    add_alone(payloads_, 1);
    add_alone(bytes_, payload_bytes);
    last_bytes_.store(payload_bytes, std::memory_order_relaxed);
  }

  /// For how many payloads the time of the next one counts; 0: it is not timed.
  [[nodiscard]] std::uint64_t timed_for() const noexcept {
    const auto before = payloads_.load(std::memory_order_relaxed);
    if (before == 0 || last_bytes_.load(std::memory_order_relaxed) >= large_bytes)
      return 1;
    return before % timed_every == 0 ? timed_every : 0;
  }
  void add_time(std::chrono::nanoseconds took, std::uint64_t stands_for) noexcept {
    nanoseconds_.fetch_add(static_cast<std::uint64_t>(took.count()) * stands_for, std::memory_order_relaxed);
    if (times_ != nullptr)
      times_->add(took, stands_for);
  }

  [[nodiscard]] payload_totals totals() const noexcept {
    return {payloads_.load(std::memory_order_relaxed), bytes_.load(std::memory_order_relaxed),
            std::chrono::nanoseconds{nanoseconds_.load(std::memory_order_relaxed)}};
  }

private:
  latency_meter* const times_;
  std::atomic<std::uint64_t> payloads_{0}, bytes_{0}, nanoseconds_{0}, last_bytes_{0};
};

/// Reads the clock only if the payload is timed.
class traffic_timer {
public:
  using clock = std::chrono::steady_clock;

  explicit traffic_timer(std::uint64_t stands_for)
      : stands_for_(stands_for), began_(stands_for > 0 ? clock::now() : clock::time_point{}) {}

  void stop() noexcept {
    if (stands_for_ > 0)
      took_ = clock::now() - began_;
  }
  /// Requires: stop() was called, or the payload is not timed.
  void add_to(traffic& where) const noexcept {
    if (stands_for_ > 0)
      where.add_time(std::chrono::duration_cast<std::chrono::nanoseconds>(took_), stands_for_);
  }

private:
  std::uint64_t stands_for_;
  clock::time_point began_;
  clock::duration took_{};
};

/// The traffic of one direction of a link. It grows with families times types, so callers pass only names that the node
/// has.
///
/// Threads: any.
class traffic_table {
public:
  /// Returns the same object for the same names; it lives as long as the table.
  [[nodiscard]] traffic& of(std::string_view family, std::string_view type);

  /// Adds in alphabetical order by family, then by type. `into` must have the same order.
  void add_to(std::vector<type_stats>& into, payload_totals type_stats::*direction) const;
  /// The distribution of the times that payloads took, of all families and types.
  [[nodiscard]] latency_stats times() const { return times_.stats(); }

private:
  latency_meter times_;
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::string>, traffic> entries_; // The map is guarded by mutex_, its values are not.
};

/// Returns the row of that family and type in rows ordered as by add_to(). Inserts it if there is none.
[[nodiscard]] type_stats& row_of(std::vector<type_stats>& rows, std::string_view family, std::string_view type);

} // namespace troupe::internal
