// Converts between the values of a configuration file and the types of options.hpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include <troupe/framework/internal/config/config_text.hpp>
#include <troupe/framework/options.hpp>
#include <troupe/framework/reconnect_policy.hpp>

namespace troupe::internal {

/// The values that an option accepts, both bounds included. For durations, in milliseconds.
struct option_range {
  double least = 0;
  double most = 9e18;
};

/// A number of bytes, distinguished from other numbers.
struct byte_count {
  std::size_t count = 0;
};

/// A value of any type that options have.
using option_value = std::variant<std::string, std::filesystem::path, std::vector<std::string>, bool,
                                  std::optional<bool>, double, std::size_t, std::uint32_t, std::optional<std::size_t>,
                                  byte_count, std::chrono::milliseconds, compression, wait_mode, when_full, reconnect>;

using assigned = std::expected<void, std::string>; // The error is what was expected instead.

/// Replaces `to` by a value of the same type. Requires of the caller: if this fails, `to` is not used.
[[nodiscard]] assigned assign(const config_value& from, const option_range& range, option_value& to);

/// Formats a value as in a configuration file.
[[nodiscard]] std::string shown(const option_value& value);

} // namespace troupe::internal
