// Data of the kinds that messages carry, the same in every run.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

/// In the order in which they are shown.
[[nodiscard]] const std::vector<std::string>& data_kinds();

/// Requires: a name of data_kinds().
[[nodiscard]] std::vector<std::byte> data_of(const std::string& kind, std::size_t size_bytes);

} // namespace bench
