#include <troupe/framework/internal/link/link_meters.hpp>

namespace troupe::internal {

namespace {

bool is_policy(node_errc code) {
  return code == node_errc::refused_family || code == node_errc::unsupported || code == node_errc::not_allowed;
}

} // namespace

void link_meters::count_unsent(const node_error& reason) {
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
  counts_.refused_at_bound.fetch_add(more.refused_at_bound, std::memory_order_relaxed);
  counts_.undelivered.fetch_add(more.undelivered, std::memory_order_relaxed);
  counts_.unserializable.fetch_add(more.unserializable, std::memory_order_relaxed);
  counts_.refused_by_policy.fetch_add(more.refused_by_policy, std::memory_order_relaxed);
  const auto is_late = is_retired_;
  held.unlock();
  if (is_late)
    late_.note_late(more);
}

link_stats link_meters::sums() const {
  const auto read = [](const std::atomic<std::uint64_t>& counter) { return counter.load(std::memory_order_relaxed); };
  link_stats result;
  result.messages_sent = read(counts_.messages_sent);
  result.messages_received = read(counts_.messages_received);
  result.handle_bytes_sent = read(counts_.handle_bytes_sent);
  result.handle_bytes_received = read(counts_.handle_bytes_received);
  result.pulled_bytes_sent = read(counts_.pulled_bytes_sent);
  result.pulled_bytes_received = read(counts_.pulled_bytes_received);
  result.spilled_bytes = read(counts_.spilled_bytes);
  result.unserializable = read(counts_.unserializable);
  result.refused_by_policy = read(counts_.refused_by_policy);
  result.undecodable = read(counts_.undecodable);
  result.undelivered = read(counts_.undelivered);
  result.store_fallbacks = read(counts_.store_fallbacks);
  result.refused_at_bound = read(counts_.refused_at_bound);
  result.dropped = read(counts_.dropped);
  result.forwarded = read(counts_.forwarded);
  result.expired = read(*counts_.expired);
  sent_.add_to(result.by_type, &type_stats::sent);
  received_.add_to(result.by_type, &type_stats::received);
  for (const auto& row : result.by_type) {
    result.encode_time += row.sent.time;
    result.decode_time += row.received.time;
  }
  result.latencies = {.round_trip = round_trips_.stats(),
                      .credit_wait = credit_waits_.stats(),
                      .encode = sent_.times(),
                      .decode = received_.times(),
                      .handler = handlers_.stats()};
  return result;
}

} // namespace troupe::internal
