#include <troupe/store/internal/attachment/flights.hpp>

#include <troupe/store/internal/host/crash_point.hpp>
#include <troupe/store/internal/table/lru_list.hpp>

#include <string>

namespace troupe::store::internal {

std::expected<void, store_error> flights::hand_over(const held_object& what, const process_id& to,
                                                    std::uint64_t channel) {
  const auto key = flight_key{what.index, what.generation, member_.self(), to, channel};
  for (auto failures = 0;;) {
    {
      const auto guard = access_.lock();
      if (!guard)
        return std::unexpected(guard.error());
      const auto came = object_table(*guard).add_flight(key, member_.pid());
      if (came == outcome::done)
        return {};
      if (came != outcome::need_flights)
        return std::unexpected(errors_.of(came, {view_.header().store_number, what.index, what.generation}));
    }
    if (auto grown = growth_.grow_or_reap(outcome::need_flights, failures); !grown)
      return grown; // Reaping did not free an entry either.
  }
}

void flights::take_back(const held_object& what, const process_id& to, std::uint64_t channel) {
  const auto guard = access_.lock();
  if (!guard)
    return;
  auto table = object_table(*guard);
  const auto flight = table.find_flight({what.index, what.generation, member_.self(), to, channel});
  if (flight != no_row)
    table.take_flight(flight);
}

std::expected<held_object, store_error> flights::adopt(const object_id& id, const process_id& from,
                                                       std::uint64_t channel) {
  const auto guard = access_.lock();
  if (!guard)
    return std::unexpected(guard.error());
  auto table = object_table(*guard);
  if (const auto what = table.look_up(id); what != outcome::done)
    return std::unexpected(errors_.of(what, id));
  const auto flight = table.find_flight({id.index, id.generation, from, member_.self(), channel});
  if (flight == no_row)
    return std::unexpected(store_error{store_errc::not_found,
                                       "object " + to_string(id) + " is not in flight from process " + to_string(from)
                                           + " to this one on channel " + std::to_string(channel)});
  holds_.hold(*guard, id.index); // Before the entry goes, so that the object always has a holder.
  lru_list(*guard).touch_if_in_memory(id.index);
  reach(crash_point::adopt_held);
  table.take_flight(flight);
  return held_object{id.index, id.generation};
}

std::expected<void, store_error> flights::abandon(const process_id& peer, std::uint64_t channel) {
  if (auto valid = member_.check(); !valid)
    return valid;
  return ended_.end(peer, channel);
}

} // namespace troupe::store::internal
