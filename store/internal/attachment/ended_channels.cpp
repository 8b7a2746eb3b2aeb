#include <troupe/store/internal/attachment/ended_channels.hpp>

#include <troupe/store/internal/liveness/reaping.hpp>

#include <optional>

namespace troupe::store::internal {

namespace {

/// The process at the other end of the entry, in either direction; nullopt if `self` is at neither end.
[[nodiscard]] std::optional<process_id> other_end(const flight_entry& flight, const process_id& self) {
  const auto from = process_id{flight.from_slot, flight.from_nonce};
  const auto to = process_id{flight.to_slot, flight.to_nonce};
  if (from == self)
    return to;
  if (to == self)
    return from;
  return std::nullopt;
}

} // namespace

std::expected<void, store_error> ended_channels::end(const process_id& peer, std::uint64_t channel) {
  if (peer != self_) { // Within one process nothing arrives late.
    const auto lock = std::lock_guard{mutex_};
    ended_.emplace(peer, channel);
  }
  auto dropped = drop_flights(view_, self_.slot, lock_timeout_, [&](const flight_entry& flight) {
    return flight.channel == channel && other_end(flight, self_) == peer;
  });
  reclaim_hinted(view_, self_.slot);
  return dropped;
}

std::expected<void, store_error> ended_channels::drop_late() {
  const auto copy_of = [this] {
    const auto lock = std::lock_guard{mutex_};
    return ended_;
  };
  const auto ended = copy_of();
  if (ended.empty())
    return {};
  // A peer that is gone before the entries are scanned sends no more.
  auto gone = ended;
  std::erase_if(gone, [&](const auto& channel) { return table_reader(view_).is_attached(channel.first); });
  auto dropped = drop_flights(view_, self_.slot, lock_timeout_, [&](const flight_entry& flight) {
    const auto peer = other_end(flight, self_);
    return peer && ended.contains({*peer, flight.channel});
  });
  if (!dropped)
    return dropped;
  const auto lock = std::lock_guard{mutex_};
  for (const auto& channel : gone)
    ended_.erase(channel);
  return {};
}

} // namespace troupe::store::internal
