// Converts between the values of a configuration file and the types of options.hpp.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
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

/// A number of bytes, distinguished from other numbers of its type.
template <class Number>
struct in_bytes {
  Number& count;
};

using assigned = std::expected<void, std::string>; // The error is what was expected instead.

[[nodiscard]] assigned assign(const config_value& from, const option_range& range, std::string& to);
[[nodiscard]] assigned assign(const config_value& from, const option_range& range, std::filesystem::path& to);
[[nodiscard]] assigned assign(const config_value& from, const option_range& range, std::vector<std::string>& to);
[[nodiscard]] assigned assign(const config_value& from, const option_range& range, bool& to);
[[nodiscard]] assigned assign(const config_value& from, const option_range& range, std::optional<bool>& to);
[[nodiscard]] assigned assign(const config_value& from, const option_range& range, double& to);
[[nodiscard]] assigned assign(const config_value& from, const option_range& range, std::size_t& to);
[[nodiscard]] assigned assign(const config_value& from, const option_range& range, std::uint32_t& to);
[[nodiscard]] assigned assign(const config_value& from, const option_range& range, std::optional<std::size_t>& to);
[[nodiscard]] assigned assign(const config_value& from, const option_range& range, in_bytes<std::size_t> to);
[[nodiscard]] assigned assign(const config_value& from, const option_range& range, std::chrono::milliseconds& to);
[[nodiscard]] assigned assign(const config_value& from, const option_range& range, compression& to);
[[nodiscard]] assigned assign(const config_value& from, const option_range& range, when_full& to);
[[nodiscard]] assigned assign(const config_value& from, const option_range& range, wait_mode& to);
[[nodiscard]] assigned assign(const config_value& from, const option_range& range, reconnect& to);

/// Formats a value as in a configuration file.
[[nodiscard]] std::string shown(const std::string& value);
[[nodiscard]] std::string shown(const std::filesystem::path& value);
[[nodiscard]] std::string shown(const std::vector<std::string>& value);
[[nodiscard]] std::string shown(bool value);
[[nodiscard]] std::string shown(const std::optional<bool>& value);
[[nodiscard]] std::string shown(double value);
[[nodiscard]] std::string shown(std::size_t value);
[[nodiscard]] std::string shown(std::uint32_t value);
[[nodiscard]] std::string shown(const std::optional<std::size_t>& value);
[[nodiscard]] std::string shown(in_bytes<const std::size_t> value);
[[nodiscard]] std::string shown(std::chrono::milliseconds value);
[[nodiscard]] std::string shown(compression value);
[[nodiscard]] std::string shown(when_full value);
[[nodiscard]] std::string shown(wait_mode value);
[[nodiscard]] std::string shown(reconnect value);

/// "65536", "64KiB", "64 KiB"; nullopt for any other text, and for numbers that overflow.
[[nodiscard]] std::optional<std::uint64_t> read_size(std::string_view text);

/// "500ms", "10s", "5min", "2h", as CAF writes them; nullopt unless a whole number of milliseconds.
[[nodiscard]] std::optional<std::chrono::milliseconds> read_duration(std::string_view text);

} // namespace troupe::internal
