#include <troupe/framework/internal/link/link_totals.hpp>

#include <troupe/framework/internal/link/traffic.hpp>

namespace troupe::internal {

void add(payload_totals& total, const payload_totals& more) {
  total.payloads += more.payloads;
  total.bytes += more.bytes;
  total.time += more.time;
}

void add(link_stats& total, const link_stats& more) {
  for (auto counter : link_counters)
    total.*counter += more.*counter;
  for (auto gauge : link_gauges)
    total.*gauge += more.*gauge;
  total.encode_time += more.encode_time;
  total.decode_time += more.decode_time;
  for (const auto& row : more.by_type) {
    auto& sum = row_of(total.by_type, row.family, row.type);
    add(sum.sent, row.sent);
    add(sum.received, row.received);
  }
  for (const auto& [name, kind] : latency_kinds)
    merge(total.latencies.*kind, more.latencies.*kind);
}

void clear_gauges(link_stats& stats) {
  for (auto gauge : link_gauges)
    stats.*gauge = 0;
}

} // namespace troupe::internal
