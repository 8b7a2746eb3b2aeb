// Measures how long things take. Pure: the callers have the clock.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include <troupe/base/histogram.hpp>
#include <troupe/framework/latency_stats.hpp>

namespace troupe::internal {

/// Decides which events are timed: the first `always`, and then one in `timed_every`. Reading the clock takes too long
/// to do it for each small message.
///
/// Threads: one at a time.
class latency_sampler {
public:
  static constexpr std::uint64_t always = 32;
  // A prime number: if a caller repeats a pattern of requests, each of them is timed in turn.
  static constexpr std::uint64_t timed_every = 17;

  /// To be called once for each event. Returns how many events this one stands for; 0: it is not timed.
  [[nodiscard]] std::uint64_t next() noexcept {
    if (--until_timed_ > 0) [[likely]]
      return 0;
    if (first_ > 0) {
      --first_;
      until_timed_ = first_ > 0 ? 1 : timed_every;
      return 1;
    }
    until_timed_ = timed_every;
    return timed_every;
  }

private:
  std::uint64_t until_timed_ = 1;
  std::uint64_t first_ = always;
};

/// Counts times in buckets. Allocates 2 kB for them when the first time comes.
///
/// Threads: any.
class latency_meter {
public:
  latency_meter() = default;
  latency_meter(const latency_meter&) = delete;
  latency_meter& operator=(const latency_meter&) = delete;
  ~latency_meter() { delete counts_.load(std::memory_order_relaxed); }

  /// `stands_for`: how many events the measured one stands for. Counts nothing if there is no memory.
  void add(std::chrono::nanoseconds took, std::uint64_t stands_for) noexcept;
  [[nodiscard]] latency_stats stats() const;

private:
  // The buckets are those of times of 64 ns to 2^38 ns. Shorter times are in the first of them, longer ones in the
  // last.
  static constexpr log_linear_scale scale{4};
  static constexpr std::size_t first_bucket = scale.bucket_of(64);
  static constexpr std::size_t buckets = scale.bucket_of((std::uint64_t{1} << 38) - 1) + 1 - first_bucket;

  struct alignas(64) counts { // On lines of its own, because other threads read what is beside the meter.
    std::array<std::atomic<std::uint64_t>, buckets> in_bucket{};
    std::atomic<std::uint64_t> sum_ns{0};
    std::atomic<std::uint64_t> max_ns{0};
  };

  [[nodiscard]] counts* made() noexcept;

  std::atomic<counts*> counts_{nullptr}; // Set once. Release, so that a reader of it sees zeros.
};

} // namespace troupe::internal
