// How framework/ logs. Lines that peers can cause go through limited_log or refusal_log instead.
#pragma once

#include <atomic>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include <troupe/framework/log.hpp>

namespace troupe::internal {

inline constexpr std::size_t log_line_bytes_max = 4096;

inline constexpr std::uint8_t log_threshold_unread = 255; // The environment was not read yet.
extern std::atomic<std::uint8_t> log_threshold_now;
log_level read_environment() noexcept;

/// The level for a value of TROUPE_LOG. `complaint` is empty if the value is known or missing.
struct threshold_text {
  log_level level;
  std::string complaint;
};
[[nodiscard]] threshold_text read_threshold(const char* text);

/// Whether lines of that level are written. Costs one load.
[[nodiscard]] inline bool logs(log_level level) noexcept {
  auto now = log_threshold_now.load(std::memory_order_relaxed);
  if (now == log_threshold_unread)
    now = static_cast<std::uint8_t>(read_environment());
  return level != log_level::off && static_cast<std::uint8_t>(level) <= now;
}

/// Writes regardless of the threshold.
void write_log(log_level level, std::string_view text) noexcept;

/// A text, or a function that returns one and is called only if the line is written.
template <class Text>
concept log_text = std::convertible_to<Text, std::string_view> || std::invocable<Text>;

template <log_text Text>
[[nodiscard]] std::string text_from(Text&& text) {
  if constexpr (std::invocable<Text>)
    return std::forward<Text>(text)();
  else
    return std::string{std::string_view{text}};
}

/// Threads: any. Requires: no lock is held, because the user's sink may take long.
template <log_text Text>
void log(log_level level, Text&& text) {
  if (logs(level))
    write_log(level, text_from(std::forward<Text>(text)));
}

} // namespace troupe::internal
