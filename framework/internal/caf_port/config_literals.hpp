// The values of CAF's configuration files, as the CAF at hand reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::internal {

/// What a text in double quotes stands for; nullopt where it cannot be read.
[[nodiscard]] std::optional<std::string> read_text_literal(std::string_view source);

/// Decimal, 0x1f, 0b101, or octal where it begins with 0; nullopt for anything else and for what has no room.
[[nodiscard]] std::optional<std::int64_t> read_integer_literal(std::string_view source);

/// An integer or a number with a fraction or exponent.
[[nodiscard]] std::optional<double> read_number_literal(std::string_view source);

} // namespace troupe::internal
