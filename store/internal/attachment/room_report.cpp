#include <troupe/store/internal/attachment/room_report.hpp>

#include <troupe/base/sizes.hpp>
#include <troupe/store/internal/host/clock.hpp>
#include <troupe/store/internal/table/extents.hpp>
#include <troupe/store/internal/table/table_lock.hpp>

namespace troupe::store::internal {

namespace {

using namespace std::chrono_literals;

// The time for which a spill of another process is waited for, even beyond the grace. That process may be stopped.
constexpr auto others_spill_life = std::chrono::nanoseconds{30s};

// For this time after a failed write, the disk is not waited for.
constexpr auto failed_disk_life = std::chrono::nanoseconds{3s};

} // namespace

store_error room_report::full_error(std::uint64_t size_bytes, const std::string& why, store_errc code) const {
  auto text = "object of " + grouped(size_bytes) + " bytes, store has ";
  const auto& header = view_.header();
  if (const auto guard = lock_table(view_, slot_, lock_timeout_))
    text += grouped(header.capacity_bytes - header.bytes_in_use) + " free of " + grouped(header.capacity_bytes)
            + " (longest free piece " + grouped(extent_map(*guard).longest()) + ")";
  else
    text += "a capacity of " + grouped(header.capacity_bytes);
  return {code,
          text + "; "
              + (why.empty() ? std::string{"all other objects are held: drop some handles, or raise capacity_bytes"}
                             : why)};
}

bool room_report::is_being_made(table_held held, std::int64_t since_ns) {
  const auto now_ns = monotonic_ns();
  return now_ns - since_ns < others_spill_life.count()
         && now_ns - held.view().header().spilling_failed_ns >= failed_disk_life.count()
         && object_table(held).bytes_being_spilled() > 0;
}

bool room_report::has_disk_failed(table_held held) {
  const auto failed_ns = held.view().header().spilling_failed_ns;
  return failed_ns > 0 && monotonic_ns() - failed_ns < failed_disk_life.count();
}

} // namespace troupe::store::internal
