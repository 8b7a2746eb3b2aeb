#include <troupe/framework/internal/traces/span_recorder.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>
#include <random>
#include <utility>

#include <troupe/framework/internal/traces/in_use.hpp>

namespace troupe {

span_sink::span_sink() = default;
span_sink::~span_sink() = default;

} // namespace troupe

namespace troupe::internal {

void span_recorder::record_to(std::shared_ptr<span_sink> sink, double sample) {
  constexpr double all = 4'294'967'296.0; // 2^32
  const auto threshold = sink ? static_cast<std::uint64_t>(std::ceil(std::clamp(sample, 0.0, 1.0) * all)) : 0;
  if (sink)
    use_contexts();
  std::unique_lock guard{mutex_};
  is_on_.store(sink || watcher_, std::memory_order_relaxed);
  threshold_.store(threshold, std::memory_order_relaxed);
  std::swap(sink_, sink);
  guard.unlock(); // A sink may wait for its thread when it ends.
}

void span_recorder::watch_by(std::shared_ptr<span_watcher> watcher) {
  std::unique_lock guard{mutex_};
  is_on_.store(sink_ || watcher, std::memory_order_relaxed);
  std::swap(watcher_, watcher);
  guard.unlock();
}

void span_recorder::record(span&& what) noexcept {
  std::unique_lock guard{mutex_};
  const auto sink = sink_;
  const auto watcher = watcher_;
  guard.unlock();
  if (watcher)
    watcher->see(what);
  if (!sink || sink->take(std::move(what)))
    return;
  std::shared_ptr<span_sink> ended;
  guard.lock();
  if (sink_ == sink) {
    is_on_.store(watcher_ != nullptr, std::memory_order_relaxed);
    threshold_.store(0, std::memory_order_relaxed);
    std::swap(sink_, ended);
  }
  guard.unlock();
}

std::uint64_t span_recorder::seed() noexcept {
  try {
    return std::random_device{}() | 1U;
  } catch (const std::exception&) { // No source of random numbers.
    return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()) | 1U;
  }
}

} // namespace troupe::internal
