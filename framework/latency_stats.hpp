// How long requests, waits and codecs take on links: distributions of times.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/serializers/describe.hpp>

namespace troupe {

/// The times above the `up_to` of the next lower bucket, up to and including this `up_to`.
struct latency_bucket {
  /// The largest possible value in the bucket of all times above 4 minutes.
  std::chrono::nanoseconds up_to{0};
  std::uint64_t count = 0;
};
TROUPE_DESCRIBE(latency_bucket, up_to, count)

/// The distribution of some times. Only some of the times are measured, and each of them stands for several. So all
/// figures are estimates, except that no measured time exceeds `max`.
///
/// From 64 ns to 275 s, a bucket is at most 12.5 % wider than its lowest time. Times below 72 ns share one bucket, and
/// so do times above 275 s.
struct latency_stats {
  std::uint64_t count = 0;
  std::chrono::nanoseconds sum{0};
  /// Percentiles: that part of the times is not longer. Rounded up to the end of a bucket, but not above `max`.
  std::chrono::nanoseconds p50{0};
  std::chrono::nanoseconds p90{0};
  std::chrono::nanoseconds p99{0};
  std::chrono::nanoseconds max{0};
  std::vector<latency_bucket> buckets; // In order, without empty ones.
};
TROUPE_DESCRIBE(latency_stats, count, sum, p50, p90, p99, max, buckets)

/// The value that `percent` per cent of the times do not exceed, as for latency_stats::p50. 0 if nothing was counted.
/// Requires: `percent` is 0 to 100.
[[nodiscard]] TROUPE_EXPORT std::chrono::nanoseconds percentile(const latency_stats& of, double percent);

/// Adds what the other one has counted.
TROUPE_EXPORT void merge(latency_stats& total, const latency_stats& more);

/// What was counted between two reports of the same figures. The exact maximum of that time is not known: `max` is the
/// end of the highest bucket, but not above the maximum of `now`. Requires: `before` is the older report.
[[nodiscard]] TROUPE_EXPORT latency_stats between(const latency_stats& before, const latency_stats& now);

/// The latencies of one link. Empty if node_options::detailed_stats is off.
///
/// Of each kind except `encode` and `decode`, the first 32 events are timed, and then one in 17. (A prime number, so
/// that regular patterns of requests are sampled evenly.) Each kind takes 2 kB from its first value on, so a link at
/// most 11 kB.
struct link_latencies {
  /// From the moment at which a request leaves until its answer comes, whatever the answer is. Tasks (link::submit)
  /// and requests that are never answered are not counted. Requests that this node forwards are.
  latency_stats round_trip;
  /// How long messages wait on this end for credit or for room for their answers. Messages that do not wait, or are not
  /// sent in the end, are not counted. A caller outside actors that blocks (link_options::block_timeout) counts if its
  /// message then leaves at once; if the message then waits in the queue, only that wait is counted.
  latency_stats credit_wait;
  /// For each payload, sampled as payload_totals::time: encoding with compression, and decoding.
  latency_stats encode;
  latency_stats decode;
  /// From the moment at which a request of the peer is put into the mailbox of an actor of this node until the actor
  /// gives its answer to the link, or drops the request. So the time in the mailbox is included. Requests that the
  /// actor passes on to another node are not counted.
  latency_stats handler;
};
TROUPE_DESCRIBE(link_latencies, round_trip, credit_wait, encode, decode, handler)

/// The latencies of a link by name.
inline constexpr std::array<std::pair<std::string_view, latency_stats link_latencies::*>, 5> latency_kinds{
    {{"round_trip", &link_latencies::round_trip},
     {"credit_wait", &link_latencies::credit_wait},
     {"encode", &link_latencies::encode},
     {"decode", &link_latencies::decode},
     {"handler", &link_latencies::handler}}};

} // namespace troupe
