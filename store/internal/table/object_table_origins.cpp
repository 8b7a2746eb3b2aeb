// The objects by origin: one index for the whole table.
#include <troupe/store/internal/table/object_table.hpp>

#include <troupe/store/internal/host/crash_point.hpp>
#include <troupe/store/internal/table/table_rows.hpp>

#include <bit>
#include <utility>

namespace troupe::store::internal {

/// Peers may influence the choice of origins, but no peer knows the factor.
std::uint32_t& object_table::bucket_of(const object_origin& origin) const {
  const auto mixed = (origin.high ^ std::rotl(origin.low, 32)) * view_.header().origin_factor;
  return view_.origin_bucket(static_cast<std::uint32_t>(mixed >> (64 - std::countr_zero(origin_buckets))));
}

std::uint32_t object_table::find_origin(const object_origin& origin) const {
  auto at = bucket_of(origin);
  while (at != no_row && (view_.origin(at).high != origin.high || view_.origin(at).low != origin.low))
    at = view_.origin(at).next;
  return at;
}

outcome object_table::look_up(const object_origin& origin, object_id& found) const {
  const auto at = origin.empty() ? no_row : find_origin(origin);
  if (at == no_row)
    return outcome::not_found;
  found = {view_.header().store_number, view_.origin(at).index, view_.origin(at).generation.load()};
  return look_up(found);
}

/// Whether an object of that origin may be created.
outcome object_table::check_origin(const object_origin& origin) const {
  if (origin.empty())
    return outcome::done;
  auto known = object_id{};
  if (look_up(origin, known) != outcome::not_found)
    return outcome::origin_known;
  const auto& table = view_.header().origins;
  return has_room(table, 1) || table.committed.load() == table.rows_max ? outcome::done : outcome::need_origins;
}

/// Takes the origin from an object that is not found any more. If the table is full, the new object has no origin.
void object_table::give_origin(std::uint32_t index, const object_origin& origin) {
  if (origin.empty())
    return;
  if (const auto old = find_origin(origin); old != no_row)
    drop_origin(view_.origin(old).index);
  auto& table = view_.header().origins;
  if (!has_room(table, 1))
    return;
  const auto at = take_free(table, [this](std::uint32_t row) { return view_.origin(row).next; });
  auto& entry = view_.origin(at);
  entry.high = origin.high;
  entry.low = origin.low;
  entry.index = index;
  reach(crash_point::origin_filled);
  store_in_order(entry.generation, view_.object(index).generation.load());
  reach(crash_point::origin_given);
  auto& bucket = bucket_of(origin);
  entry.next = bucket;
  bucket = at;
  view_.object(index).origin_or_next_free = at;
}

void object_table::drop_origin(std::uint32_t index) {
  const auto at = std::exchange(view_.object(index).origin_or_next_free, no_row);
  if (at == no_row)
    return;
  auto& entry = view_.origin(at);
  store_in_order(entry.generation, 0);
  reach(crash_point::origin_dropped);
  auto* link = &bucket_of({entry.high, entry.low});
  while (*link != at)
    link = &view_.origin(*link).next;
  *link = entry.next;
  return_free(view_.header().origins, at, entry.next);
}

} // namespace troupe::store::internal
