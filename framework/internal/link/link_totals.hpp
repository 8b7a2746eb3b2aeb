// Sums over the counters of several links.
#pragma once

#include <array>
#include <cstdint>

#include <troupe/framework/link_stats.hpp>

namespace troupe::internal {

/// Counters grow as long as a link lives. Gauges have the current values.
inline constexpr std::array link_counters = {&link_stats::messages_sent,     &link_stats::messages_received,
                                             &link_stats::socket_bytes_sent, &link_stats::socket_bytes_received,
                                             &link_stats::handle_bytes_sent, &link_stats::handle_bytes_received,
                                             &link_stats::pulled_bytes_sent, &link_stats::pulled_bytes_received,
                                             &link_stats::spilled_bytes,     &link_stats::unserializable,
                                             &link_stats::refused_by_policy, &link_stats::undecodable,
                                             &link_stats::undelivered,       &link_stats::store_fallbacks,
                                             &link_stats::refused_at_bound,  &link_stats::dropped,
                                             &link_stats::forwarded,         &link_stats::expired};
inline constexpr std::array link_gauges = {
    &link_stats::unconsumed_bytes_there, &link_stats::waiting_bytes,
    &link_stats::unconsumed_bytes_here,  &link_stats::unconsumed_handle_bytes_there,
    &link_stats::waiting_handle_bytes,   &link_stats::unconsumed_handle_bytes_here,
    &link_stats::unread_bytes,           &link_stats::large_frame_bytes_here,
    &link_stats::window_bytes,           &link_stats::credit_bytes,
    &link_stats::actors_exported,        &link_stats::actors_imported};

// A new counter must be added to one of the lists, and to the table of framework/prometheus.
static_assert(sizeof(link_stats)
              == (link_counters.size() + link_gauges.size()) * sizeof(std::uint64_t) + sizeof(link_stats::encode_time)
                     + sizeof(link_stats::decode_time) + sizeof(link_stats::by_type) + sizeof(link_stats::latencies));

void add(payload_totals& total, const payload_totals& more);
void add(link_stats& total, const link_stats& more);

/// Sets the gauges to zero, because the link has ended.
void clear_gauges(link_stats& stats);

} // namespace troupe::internal
