// What a tape's messages would have cost, as text or JSON.
#pragma once

#include <string>

#include <troupe/framework/tape_cost.hpp>

namespace troupe::tools {

/// Tables, and below them the advice. Ends with a line feed.
[[nodiscard]] std::string text_of(const tape_cost_report& report);
/// One JSON document. Ends with a line feed.
[[nodiscard]] std::string json_of(const tape_cost_report& report);

} // namespace troupe::tools
