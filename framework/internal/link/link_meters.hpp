// What a link has carried so far.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include <troupe/framework/internal/caf_port/annotated_message.hpp>
#include <troupe/framework/internal/flow/latency_meter.hpp>
#include <troupe/framework/internal/link/late_figures.hpp>
#include <troupe/framework/internal/link/traffic.hpp>
#include <troupe/framework/internal/link/unsent_counter.hpp>
#include <troupe/framework/internal/net/link_mutex.hpp>
#include <troupe/framework/link_stats.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/family.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe::internal {

/// Sums of a link. Each is counted where it happens. Names as in link_stats.
struct counted_in_link {
  std::atomic<std::uint64_t> messages_sent{0}, messages_received{0}, handle_bytes_sent{0}, handle_bytes_received{0},
      pulled_bytes_sent{0}, pulled_bytes_received{0}, spilled_bytes{0}, unserializable{0}, refused_by_policy{0},
      undecodable{0}, undelivered{0}, store_fallbacks{0}, refused_at_bound{0}, dropped{0}, forwarded{0};
  expired_counter expired = std::make_shared<std::atomic<std::uint64_t>>(0);
};

/// Counts what a link has carried.
///
/// Threads: any.
class link_meters final : public unsent_counter {
public:
  /// `is_detailed`: also counts by family and type, and measures latencies. `late` must outlive this object.
  link_meters(link_mutex& mutex, late_figures& late, bool is_detailed)
      : mutex_(mutex), late_(late), is_detailed_(is_detailed) {}

  [[nodiscard]] counted_in_link& counts() noexcept { return counts_; }

  // -- by family and type

  [[nodiscard]] bool is_detailed() const noexcept { return is_detailed_; }
  /// Counts outgoing payloads; null if they are not counted.
  [[nodiscard]] traffic_table* sent() noexcept { return is_detailed_ ? &sent_ : nullptr; }
  /// Counts incoming payloads; null if they are not counted.
  [[nodiscard]] traffic_table* received() noexcept { return is_detailed_ ? &received_ : nullptr; }

  // -- latencies

  /// Measures round trips of requests, and waits for credit; null if they are not measured.
  [[nodiscard]] latency_meter* round_trips() noexcept { return is_detailed_ ? &round_trips_ : nullptr; }
  [[nodiscard]] latency_meter* credit_waits() noexcept { return is_detailed_ ? &credit_waits_ : nullptr; }
  [[nodiscard]] latency_meter& handlers() noexcept { return handlers_; }

  void count_unsent(const node_error& reason) override;

  /// Returns the sums. The gauges stay zero.
  [[nodiscard]] link_stats sums() const;
  /// The link has ended. From now on, what it counts is also reported to the node.
  void retire(const link_held&) noexcept { is_retired_ = true; }

private:
  link_mutex& mutex_;
  late_figures& late_;
  const bool is_detailed_;
  counted_in_link counts_;
  traffic_table sent_;
  traffic_table received_;
  latency_meter round_trips_, credit_waits_, handlers_;
  bool is_retired_ = false; // Guarded by the link's lock.
};

} // namespace troupe::internal
