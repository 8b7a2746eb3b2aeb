// From measured costs to a configuration.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <troupe/framework/tape.hpp>
#include <troupe/framework/tape_cost.hpp>

namespace troupe::internal {

/// What one end of that link should set. `rows`: those of the link and of that writer. `bytes_per_second`: of the link.
/// Rows whose recorded family was not measured are left out. Pure.
[[nodiscard]] tape_cost_advice advice_for(const tape_link& link, tape_side writer,
                                          const std::vector<const tape_cost_row*>& rows,
                                          std::uint64_t bytes_per_second);

} // namespace troupe::internal
