// Data of the kinds that messages carry, equal in every run.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace bench {

/// In display order.
[[nodiscard]] const std::vector<std::string>& data_kinds();

/// Requires: `kind` is one of data_kinds().
[[nodiscard]] std::vector<std::byte> data_of(const std::string& kind, std::size_t size_bytes);

} // namespace bench
