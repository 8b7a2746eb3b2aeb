// The values in CAF's configuration files, read as this version of CAF reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::internal {

/// The value of a text in double quotes; nullopt if the text cannot be read.
[[nodiscard]] std::optional<std::string> read_text_literal(std::string_view source);

/// An integer: decimal, 0x1f, 0b101, or octal if it begins with 0. Nullopt for any other text and if the value is out
/// of range.
[[nodiscard]] std::optional<std::int64_t> read_integer_literal(std::string_view source);

/// An integer or a number with a fraction or exponent.
[[nodiscard]] std::optional<double> read_number_literal(std::string_view source);

} // namespace troupe::internal
