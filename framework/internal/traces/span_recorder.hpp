// Where a node's finished spans go, and which messages begin a trace.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include <troupe/framework/span.hpp>

namespace troupe::internal {

/// Sees each finished span. Threads: any, several at a time.
class span_watcher {
public:
  virtual ~span_watcher() = default;

  /// As span_sink::take().
  virtual void see(const span& what) noexcept = 0;
};

/// Passes finished spans to the node's sink, if it has one, and to the watcher, if there is one.
///
/// Threads: any.
class span_recorder {
public:
  /// `sample`: the share of messages without a context that begin a trace, from 0 to 1. Null ends the recording.
  void record_to(std::shared_ptr<span_sink> sink, double sample);
  /// The watcher sees the spans of messages that are sampled anyway. Null ends this.
  void watch_by(std::shared_ptr<span_watcher> watcher);

  [[nodiscard]] bool is_on() const noexcept { return is_on_.load(std::memory_order_relaxed); }
  /// Whether a message without a context begins a trace. Chosen at random.
  [[nodiscard]] bool begins_trace() const noexcept {
    const auto threshold = threshold_.load(std::memory_order_relaxed);
    return threshold != 0 && random_bits() < threshold; // Mostly off: one branch.
  }
  void record(span&& what) noexcept;

private:
  /// 32 of them. The generator is Knuth's MMIX (linear congruential), whose high bits suffice for a choice.
  [[nodiscard]] static std::uint64_t random_bits() noexcept {
    constinit thread_local std::uint64_t state = 0;
    if (state == 0) [[unlikely]]
      state = seed();
    state = state * 6'364'136'223'846'793'005 + 1'442'695'040'888'963'407;
    return state >> 32;
  }
  [[nodiscard]] static std::uint64_t seed() noexcept;

  std::atomic<bool> is_on_{false};
  std::atomic<std::uint64_t> threshold_{0}; // Of 2^32.
  std::mutex mutex_;
  // Guarded by mutex_.
  std::shared_ptr<span_sink> sink_;
  std::shared_ptr<span_watcher> watcher_;
};

} // namespace troupe::internal
