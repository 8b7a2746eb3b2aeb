// The source locations that create objects.
#pragma once

#include <troupe/store/internal/attachment/table_access.hpp>
#include <troupe/store/internal/attachment/table_growth.hpp>
#include <troupe/store/internal/host/environment.hpp>

#include <cstdint>
#include <map>
#include <mutex>
#include <source_location>
#include <utility>

namespace troupe::store::internal {

/// Numbers the places at which this program creates objects.
///
/// Threads: any.
class call_sites {
public:
  call_sites(const table_access& access, table_growth& growth) : access_(access), growth_(growth) {}

  /// The number for an object's row. 0 if call sites are not recorded, or if the place could not get a row.
  [[nodiscard]] std::uint32_t number_of(const std::source_location& where);

private:
  const table_access& access_;
  table_growth& growth_;
  const bool are_recorded_ = is_set("TROUPE_RECORD_CALL_SITES");
  std::mutex mutex_;
  std::map<std::pair<const char*, std::uint32_t>, std::uint32_t> known_; // By file and line. Guarded by mutex_.
};

} // namespace troupe::store::internal
