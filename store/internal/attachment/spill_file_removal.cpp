#include <troupe/store/internal/attachment/spill_file_removal.hpp>

#include <troupe/store/internal/host/crash_point.hpp>
#include <troupe/store/internal/table/object_table.hpp>
#include <troupe/store/internal/table/table_lock.hpp>

namespace troupe::store::internal {

std::expected<void, store_error> spill_file_removal::remove_all() {
  const auto view = store_.files.view;
  auto& wanted = view.header().spill_files_to_remove;
  if (!files_.is_there() || wanted.load() == 0 || wanted.exchange(0) == 0)
    return {};
  for (;;) {
    auto file = no_row;
    {
      const auto guard = lock_table(view, store_.self.slot, store_.settings.lock_timeout);
      if (guard)
        file = object_table(*guard).take_file_to_remove(store_.self);
      else
        wanted.store(1);
      if (!guard)
        return std::unexpected(guard.error());
    }
    if (file == no_row)
      return {};
    files_.remove(file, view.spill_file(file).generation);
    reach(crash_point::spill_file_unlinked);
    const auto guard = lock_table(view, store_.self.slot, store_.settings.lock_timeout);
    if (!guard) {
      wanted.store(1);
      return std::unexpected(guard.error());
    }
    object_table(*guard).end_removal(file);
  }
}

void spill_file_removal::remove_all_soon() noexcept {
  if (files_.is_there() && store_.files.view.header().spill_files_to_remove.load(std::memory_order_relaxed) != 0)
    unasked_.want(job::remove_files);
}

} // namespace troupe::store::internal
