#include <troupe/framework/internal/flow/latency_meter.hpp>

#include <memory>
#include <new>

namespace troupe::internal {

/// Returns null if there is no memory.
latency_meter::counts* latency_meter::made() noexcept {
  if (auto* known = counts_.load(std::memory_order_acquire)) [[likely]]
    return known;
  std::unique_ptr<counts> fresh{new (std::nothrow) counts};
  counts* known = nullptr;
  if (counts_.compare_exchange_strong(known, fresh.get(), std::memory_order_acq_rel))
    return fresh.release();
  return known;
}

void latency_meter::add(std::chrono::nanoseconds took, std::uint64_t stands_for) noexcept {
  auto* const into = made();
  if (into == nullptr)
    return;
  const auto nanoseconds = static_cast<std::uint64_t>(std::max<std::chrono::nanoseconds::rep>(took.count(), 0));
  const auto bucket = std::clamp(scale.bucket_of(nanoseconds), first_bucket, first_bucket + buckets - 1);
  into->in_bucket[bucket - first_bucket].fetch_add(stands_for, std::memory_order_relaxed);
  into->sum_ns.fetch_add(nanoseconds * stands_for, std::memory_order_relaxed);
  auto most = into->max_ns.load(std::memory_order_relaxed);
  while (nanoseconds > most && !into->max_ns.compare_exchange_weak(most, nanoseconds, std::memory_order_relaxed)) {
  }
}

latency_stats latency_meter::stats() const {
  latency_stats result;
  const auto* const from = counts_.load(std::memory_order_acquire);
  if (from == nullptr)
    return result;
  using nanoseconds = std::chrono::nanoseconds;
  for (std::size_t i = 0; i < buckets; ++i) {
    const auto count = from->in_bucket[i].load(std::memory_order_relaxed);
    if (count == 0)
      continue;
    const auto up_to = i + 1 < buckets ? nanoseconds{scale.highest_in(first_bucket + i)} : nanoseconds::max();
    result.buckets.push_back({up_to, count});
    result.count += count;
  }
  result.sum = nanoseconds{from->sum_ns.load(std::memory_order_relaxed)};
  result.max = nanoseconds{from->max_ns.load(std::memory_order_relaxed)};
  result.p50 = percentile(result, 50);
  result.p90 = percentile(result, 90);
  result.p99 = percentile(result, 99);
  return result;
}

} // namespace troupe::internal
