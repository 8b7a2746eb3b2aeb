// The values in CAF's configuration files.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::internal {

/// Reads a value as this version of CAF reads it; nullopt for any other text and if the value is out of range. `T` is
/// std::string (in double quotes), std::int64_t (decimal, 0x1f, 0b101, or octal if it begins with 0), or double (with a
/// fraction or exponent).
template <class T>
[[nodiscard]] std::optional<T> read_literal(std::string_view source);

} // namespace troupe::internal
