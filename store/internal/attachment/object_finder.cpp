#include <troupe/store/internal/attachment/object_finder.hpp>

#include <troupe/store/internal/host/crash_point.hpp>

#include <algorithm>
#include <array>
#include <atomic>

namespace troupe::store::internal {

std::expected<held_object, store_error> object_finder::find(const object_id& id) {
  const auto guard = access_.lock();
  if (!guard)
    return std::unexpected(guard.error());
  return find(*guard, id);
}

std::vector<std::expected<held_object, store_error>> object_finder::find_all(std::span<const object_id> ids) {
  auto result = std::vector<std::expected<held_object, store_error>>{};
  result.reserve(ids.size());
  while (result.size() < ids.size()) {
    const auto guard = access_.lock();
    const auto batch = ids.subspan(result.size());
    if (!guard) { // The other ids would fail as well.
      result.insert(result.end(), batch.size(), std::unexpected(guard.error()));
      break;
    }
    for (const auto& id : batch.first(std::min<std::size_t>(batch.size(), reclaim_batch)))
      result.push_back(find(*guard, id));
  }
  return result;
}

std::expected<held_object, store_error> object_finder::find(table_held held, const object_id& id) {
  if (const auto what = object_table(held).look_up(id); what != outcome::done)
    return std::unexpected(errors_.of(what, id));
  holds_.hold(held, id.index);
  reach(crash_point::find_held);
  lru_list(held).touch_if_in_memory(id.index);
  return held_object{id.index, id.generation};
}

std::expected<origin_found, store_error> object_finder::find_origin(const object_origin& origin) {
  auto result = origin_found{};
  auto id = object_id{};
  const auto guard = access_.lock();
  if (!guard)
    return std::unexpected(guard.error());
  const auto what = object_table(*guard).look_up(origin, id);
  if (what == outcome::done) {
    holds_.hold(*guard, id.index);
    lru_list(*guard).touch_if_in_memory(id.index);
    result.sealed = held_object{id.index, id.generation};
  } else if (what == outcome::unsealed) {
    result.being_written = id;
    result.writer_pid = view_.object(id.index).creator_pid;
  }
  return result;
}

std::optional<std::uint32_t> object_finder::progress_of(const object_id& id) const noexcept {
  if (!is_being_written(id))
    return std::nullopt;
  return std::atomic_ref{view_.object(id.index).spill_checksum}.load(std::memory_order_relaxed);
}

std::expected<std::vector<object_id>, store_error> object_finder::captured(std::uint32_t index) {
  auto ids = std::array<object_id, captured_max>{};
  auto count = std::size_t{0};
  {
    const auto guard = access_.lock();
    if (!guard)
      return std::unexpected(guard.error());
    count = object_table(*guard).list_captured(index, ids);
  }
  return std::vector(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count));
}

} // namespace troupe::store::internal
