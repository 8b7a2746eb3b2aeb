// The spans that wait to be exported.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include <troupe/framework/span.hpp>

namespace troupe::otlp {

/// A bounded queue. Spans without room are counted and dropped.
///
/// Threads: any.
class span_queue final : public span_sink {
public:
  using clock = std::chrono::steady_clock;

  /// `enough`: the size of a full batch. next() returns at once if that many spans wait.
  span_queue(std::size_t spans_max, std::size_t enough) : spans_max_(spans_max), enough_(enough) {}

  /// Returns false after close().
  bool take(span what) noexcept override;

  /// Waits until enough spans are here, or `interval` has passed since the first of them came or the last batch was
  /// taken, or the queue is hurried or closed. Then takes at most `enough` out, which count as waiting until `done` is
  /// called. Returns none only after close().
  [[nodiscard]] std::vector<span> next(std::chrono::milliseconds interval);
  /// The spans of the last next() were sent, or given up.
  void done();

  /// Waits for pauses between tries. Returns false if the queue was closed meanwhile.
  [[nodiscard]] bool pause(clock::time_point until);

  /// Lets next() return at once. Waits until all spans that came before are done. Returns false at the time limit.
  [[nodiscard]] bool flush(std::chrono::milliseconds timeout);
  /// From now on takes no spans. next() returns those that are left, then none.
  void close();

  [[nodiscard]] std::size_t waiting() const;
  [[nodiscard]] std::uint64_t dropped() const;

private:
  const std::size_t spans_max_;
  const std::size_t enough_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::deque<span> spans_;
  clock::time_point oldest_;
  std::size_t being_sent_ = 0;
  std::uint64_t came_ = 0;
  std::uint64_t ended_ = 0;
  std::uint64_t hurried_up_to_ = 0; // Of those that came: next() does not wait for others.
  std::uint64_t dropped_ = 0;
  bool is_closed_ = false;
};

} // namespace troupe::otlp
