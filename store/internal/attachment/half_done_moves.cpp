#include <troupe/store/internal/attachment/half_done_moves.hpp>

namespace troupe::store::internal {

void half_done_moves::keep(std::uint32_t file, std::span<const std::uint32_t> objects) {
  {
    const auto alone = std::lock_guard{mutex_};
    moves_.push_back({file, {objects.begin(), objects.end()}});
  }
  unasked_.want(job::give_up_half_done);
}

bool half_done_moves::give_up() {
  {
    const auto alone = std::lock_guard{mutex_};
    if (moves_.empty())
      return true;
    const auto guard = access_.lock();
    if (!guard)
      return guard.error().code() != store_errc::busy;
    for (const auto& what : moves_)
      give_up(*guard, what);
    moves_.clear();
  }
  files_.remove_all_soon();
  changes_.announce();
  return true;
}

void half_done_moves::give_up(table_held held, const move& what) {
  auto table = object_table(held);
  for (const auto index : what.objects) {
    what.file == no_row ? table.give_up_restore(index) : table.give_up_spill(index);
    table.free_if_unreferenced(index);
  }
  if (what.file == no_row)
    return;
  table.end_spill_file(what.file, 0);
  held.view().header().spill_files_to_remove.store(1);
}

} // namespace troupe::store::internal
