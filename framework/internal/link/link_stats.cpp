// What a link counts.
#include <algorithm>
#include <string>

#include <troupe/framework/internal/link/link_core.hpp>
#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/internal/link/link_totals.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

namespace {

bool is_policy(node_errc code) {
  return code == node_errc::refused_family || code == node_errc::unsupported || code == node_errc::not_allowed;
}

} // namespace

link_stats link_core::stats() const {
  const auto held = mutex_.lock();
  return stats_locked(held);
}

link_stats link_core::settle_stats() {
  const auto held = mutex_.lock();
  settled_ = true;
  auto result = stats_locked(held);
  clear_gauges(result);
  return result;
}

link_stats link_core::stats_locked(const link_held& held) const {
  auto read = [](const std::atomic<std::uint64_t>& counter) { return counter.load(std::memory_order_relaxed); };
  const auto& window = gate_.window(held);
  const auto outstanding = window.outstanding_bytes();
  link_stats result{.messages_sent = read(counters_.messages_sent),
                    .messages_received = read(counters_.messages_received),
                    .socket_bytes_sent = connection_ ? connection_->bytes_written() : 0,
                    .socket_bytes_received = connection_ ? connection_->bytes_read() : 0,
                    .handle_bytes_sent = read(counters_.handle_bytes_sent),
                    .handle_bytes_received = read(counters_.handle_bytes_received),
                    .pulled_bytes_sent = read(counters_.pulled_bytes_sent),
                    .pulled_bytes_received = read(counters_.pulled_bytes_received),
                    .spilled_bytes = read(counters_.spilled_bytes),
                    .unserializable = read(counters_.unserializable),
                    .refused_by_policy = read(counters_.refused_by_policy),
                    .undecodable = read(counters_.undecodable),
                    .undelivered = read(counters_.undelivered),
                    .store_fallbacks = read(counters_.store_fallbacks),
                    .refused_at_bound = read(counters_.refused_at_bound),
                    .dropped = read(counters_.dropped),
                    .forwarded = read(counters_.forwarded),
                    .unconsumed_bytes_there = outstanding,
                    .waiting_bytes = window.queued_bytes() + encoding_.bytes(),
                    .unconsumed_bytes_here = receiving_ ? receiving_->unconsumed_bytes() : 0,
                    .unconsumed_handle_bytes_there = window.outstanding_handle_bytes(),
                    .waiting_handle_bytes = window.queued_handle_bytes(),
                    .unconsumed_handle_bytes_here = receiving_ ? receiving_->unconsumed_handle_bytes() : 0,
                    .unread_bytes =
                        connection_ && !is_closed() ? connection_->unwritten_bytes(held) + departures_.bytes(held) : 0,
                    .large_frame_bytes_here = claims_.living_bytes(),
                    .window_bytes = agreed().windows.window,
                    .credit_bytes = agreed().windows.window - std::min(agreed().windows.window, outstanding),
                    .actors_exported = actors_.exported(held),
                    .actors_imported = actors_.imported(held),
                    .by_type = {}};
  sent_traffic_.add_to(result.by_type, &type_stats::sent);
  received_traffic_.add_to(result.by_type, &type_stats::received);
  for (const auto& row : result.by_type) {
    result.encode_time += row.sent.time;
    result.decode_time += row.received.time;
  }
  return result;
}

/// Also of a link that has ended, to which something here still sends.
void link_core::count_unsent(const node_error& reason) {
  link_stats more;
  if (reason.code() == node_errc::link_busy) {
    more.refused_at_bound = 1;
  } else if (reason.code() == node_errc::link_down) {
    more.undelivered = 1;
  } else {
    more.unserializable = 1;
    more.refused_by_policy = is_policy(reason.code()) ? 1 : 0;
  }
  auto held = mutex_.lock();
  counters_.refused_at_bound.fetch_add(more.refused_at_bound, std::memory_order_relaxed);
  counters_.undelivered.fetch_add(more.undelivered, std::memory_order_relaxed);
  counters_.unserializable.fetch_add(more.unserializable, std::memory_order_relaxed);
  counters_.refused_by_policy.fetch_add(more.refused_by_policy, std::memory_order_relaxed);
  const auto is_late = settled_;
  held.unlock();
  if (is_late)
    node_->links().note_late(more);
}

/// I/O thread. What the peer has defined, which it may do tens of thousands of times.
void link_core::log_received(std::string_view what, std::uint64_t number, std::string_view meaning) {
  warnings_.say(log_level::debug, [&] {
    return "from " + agreed().peer.name + ": " + std::string{what} + ' ' + grouped(number) + " is " + cut(meaning);
  });
}

} // namespace troupe::internal
