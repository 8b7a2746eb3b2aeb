#include <troupe/store/internal/attachment/store_survey.hpp>

#include <troupe/base/sizes.hpp>
#include <troupe/store/internal/attachment/out_of_memory.hpp>
#include <troupe/store/internal/attachment/summaries.hpp>
#include <troupe/store/internal/files/page_care.hpp>
#include <troupe/store/internal/table/recovery.hpp>

namespace troupe::store::internal {

std::string store_survey::notice() const {
  const auto about_place = place_notice();
  if (store_.beside.empty())
    return about_place;
  return store_.beside + ": the two share no objects, so links between them send bytes through sockets"
         + (about_place.empty() ? "" : "; " + about_place);
}

std::string store_survey::place_notice() const {
  const auto& header = view_.header();
  const auto directory = store_.settings.directory.string();
  if (header.data_on_disk == 0 && header.huge_pages != 0 && !gives_huge_pages(store_.settings.directory))
    return "huge pages were asked for, and " + directory
           + " supports none; mount it with huge=advise (mount -o remount,huge=advise " + directory + ")";
  if (header.data_on_disk == 0)
    return {};
  return directory + " has no room for a store of " + grouped(header.capacity_bytes)
         + " bytes; its objects are kept in " + quoted(view_.spill_directory())
         + ", which is slower; give the container a larger /dev/shm (docker run --shm-size), or set capacity_bytes";
}

std::expected<store_summary, store_error> store_survey::summary(const summary_query& what) {
  if (auto guard = access_.lock(); !guard)
    return std::unexpected(guard.error());
  if (auto reaped = dead_.reap(); !reaped)
    return std::unexpected(reaped.error());
  auto collected = collect_summary(view_, store_, what);
  if (collected)
    for (auto& row : collected->rows) {
      const auto own = holds_.own_of(row.id.index);
      row.own_pins = own.pins;
      row.own_handles = own.handles;
      row.own_holds = own.holds;
    }
  return collected;
}

std::expected<store_summary, store_error> store_survey::totals() const {
  if (auto valid = member_.check(); !valid)
    return std::unexpected(valid.error());
  return collect_totals(view_, store_);
}

std::expected<void, store_error> store_survey::verify() const {
  const auto guard = access_.lock();
  if (!guard)
    return std::unexpected(guard.error());
  return out_of_memory_is_failure([&]() -> std::expected<void, store_error> {
    if (auto checked = internal::verify(*guard); !checked)
      return std::unexpected(store_error{store_errc::corrupt, "the store's table is inconsistent: " + checked.error()});
    return {};
  });
}

} // namespace troupe::store::internal
