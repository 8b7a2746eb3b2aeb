// What a link counts.
#include <algorithm>
#include <string>

#include <troupe/framework/internal/link/link_core.hpp>
#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/internal/link/link_totals.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

link_stats link_core::stats() const {
  const auto held = mutex_.lock();
  return stats_locked(held);
}

link_stats link_core::final_stats() {
  const auto held = mutex_.lock();
  meters_.retire(held);
  auto result = stats_locked(held);
  clear_gauges(result);
  return result;
}

link_stats link_core::stats_locked(const link_held& held) const {
  const auto& window = gate_.window(held);
  const auto outstanding = window.outstanding_bytes();
  auto result = meters_.sums();
  result.socket_bytes_sent = connection_ ? connection_->bytes_written() : 0;
  result.socket_bytes_received = connection_ ? connection_->bytes_read() : 0;
  result.unconsumed_bytes_there = outstanding;
  result.waiting_bytes = window.queued_bytes() + encoding_.bytes();
  result.unconsumed_bytes_here = receiving_ ? receiving_->unconsumed_bytes() : 0;
  result.unconsumed_handle_bytes_there = window.outstanding_handle_bytes();
  result.waiting_handle_bytes = window.queued_handle_bytes();
  result.unconsumed_handle_bytes_here = receiving_ ? receiving_->unconsumed_handle_bytes() : 0;
  result.unread_bytes = connection_ && !is_closed() ? connection_->unwritten_bytes(held) + departures_.bytes(held) : 0;
  result.large_frame_bytes_here = incoming_frames_.living_bytes();
  result.window_bytes = agreed().windows.window;
  result.credit_bytes = agreed().windows.window - std::min(agreed().windows.window, outstanding);
  result.actors_exported = actors_.exported(held);
  result.actors_imported = actors_.imported(held);
  return result;
}

} // namespace troupe::internal
