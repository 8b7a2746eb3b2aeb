// Names that nobody gives twice.
#pragma once

#include <string>

namespace troupe::web {

/// 128 random bits as 32 hexadecimal digits.
[[nodiscard]] std::string random_id();

} // namespace troupe::web
