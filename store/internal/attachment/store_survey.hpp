// Reports about a store as a whole.
#pragma once

#include <troupe/store/internal/attachment/held_objects.hpp>
#include <troupe/store/internal/attachment/opened_store.hpp>
#include <troupe/store/internal/attachment/reaper.hpp>
#include <troupe/store/internal/attachment/table_access.hpp>
#include <troupe/store/store_error.hpp>
#include <troupe/store/summary.hpp>

#include <expected>
#include <string>

namespace troupe::store::internal {

/// Reports the contents of the store.
///
/// Threads: any.
class store_survey {
public:
  store_survey(const opened_store& store, const membership& member, const table_access& access, held_objects& holds,
               reaper& dead)
      : store_(store), view_(store.files.view), member_(member), access_(access), holds_(holds), dead_(dead) {}

  /// A message for the operator; empty if all is well.
  [[nodiscard]] std::string notice() const;
  [[nodiscard]] std::expected<store_summary, store_error> summary(const summary_query& what);
  /// Like summary(), without the rows and without reaping first.
  [[nodiscard]] std::expected<store_summary, store_error> totals() const;
  /// Fails with `corrupt` if the table contradicts itself.
  [[nodiscard]] std::expected<void, store_error> verify() const;

private:
  /// About the location of the objects.
  [[nodiscard]] std::string place_notice() const;

  const opened_store& store_;
  control_view view_;
  const membership& member_;
  const table_access& access_;
  held_objects& holds_;
  reaper& dead_;
};

} // namespace troupe::store::internal
