// A supervisor as programs see it that look at its node.
#pragma once

#include <memory>
#include <utility>

#include <troupe/framework/internal/supervision/roster.hpp>
#include <troupe/framework/internal/watch/supervisor_book.hpp>
#include <troupe/framework/node_activity.hpp>

namespace troupe::internal {

/// Tells about a supervisor from its roster.
///
/// Threads: any.
class roster_view final : public watched_supervisor {
public:
  /// `supervisor` has what never changes, with the names and kinds of the children.
  roster_view(supervisor_activity supervisor, std::shared_ptr<const roster> roster)
      : supervisor_(std::move(supervisor)), roster_(std::move(roster)) {}

  [[nodiscard]] supervisor_activity now() const override;

private:
  const supervisor_activity supervisor_;
  const std::shared_ptr<const roster> roster_;
};

} // namespace troupe::internal
