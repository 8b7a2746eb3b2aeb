// How framework/ says something to whoever runs the program. What peers can bring about goes through limited_log or
// refusal_log instead.
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

inline constexpr std::uint8_t log_threshold_unread = 255; // The environment was not asked yet.
extern std::atomic<std::uint8_t> log_threshold_now;
log_level read_environment() noexcept;

/// What a value of TROUPE_LOG means; `complaint` is empty where it is one of the known ones, or none.
struct threshold_text {
  log_level level;
  std::string complaint;
};
[[nodiscard]] threshold_text read_threshold(const char* text);

/// Whether lines of that level are written. One load where they are not.
[[nodiscard]] inline bool logs(log_level level) noexcept {
  auto now = log_threshold_now.load(std::memory_order_relaxed);
  if (now == log_threshold_unread)
    now = static_cast<std::uint8_t>(read_environment());
  return level != log_level::off && static_cast<std::uint8_t>(level) <= now;
}

/// Whatever the threshold is.
void write_log(log_level level, std::string_view text) noexcept;

/// A text, or what makes one, which is called only where the line is written.
template <class Text>
concept log_text = std::convertible_to<Text, std::string_view> || std::invocable<Text>;

template <log_text Text>
[[nodiscard]] std::string text_from(Text&& text) {
  if constexpr (std::invocable<Text>)
    return std::forward<Text>(text)();
  else
    return std::string{std::string_view{text}};
}

/// From any thread, but under no lock: a sink of the user's may take its time.
template <log_text Text>
void log(log_level level, Text&& text) {
  if (logs(level))
    write_log(level, text_from(std::forward<Text>(text)));
}

} // namespace troupe::internal
