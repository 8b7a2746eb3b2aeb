// The reasons why an object is kept, in words.
#pragma once

#include <troupe/store/summary.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace troupe::tools {

enum class reason { written, pinned, held, in_flight, captured, nothing };

[[nodiscard]] std::string_view to_string(reason why);

/// The strongest reason. A pinned object, for example, is held as well.
[[nodiscard]] reason main_reason(const store::object_row& object);

/// All reasons, one on each line: "pinned by 1234", "captured in 5f0c...-12-1". Processes that are not in `living` are
/// marked as dead.
[[nodiscard]] std::vector<std::string> reasons(const store::object_row& object, const std::vector<pid_t>& living);

} // namespace troupe::tools
