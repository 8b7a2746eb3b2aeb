// Log lines of links, limited because peers can cause them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <troupe/framework/internal/words/line_limit.hpp>
#include <troupe/framework/internal/words/log.hpp>

namespace troupe::internal {

/// Limits the number of lines per second, for each level. It serves lines about events that may occur with every
/// message. The number of further lines is reported with the next line, or at the end. Statistics count all events.
///
/// Threads: any.
class limited_log {
public:
  using clock = line_limit::clock;

  /// `whose` completes "12 more warnings of this link were left out". A line must also pass the limit of `above`.
  explicit limited_log(std::string whose = "this link", limited_log* above = nullptr)
      : limited_log(std::move(whose), 10, above) {}
  limited_log(std::string whose, std::size_t lines_per_second, limited_log* above = nullptr);

  /// The text is made only if the line is written.
  template <log_text Text>
  void say(log_level level, Text&& text, clock::time_point now = clock::now()) {
    if (!logs(level))
      return; // Not counted as dropped either.
    if (auto left_out = admit(level, now))
      write_log(level, text_from(std::forward<Text>(text)) + *left_out);
  }
  template <log_text Text>
  void warn(Text&& text, clock::time_point now = clock::now()) {
    say(log_level::warning, std::forward<Text>(text), now);
  }

  /// Reports the dropped lines that were not reported yet.
  void settle(clock::time_point now = clock::now());

private:
  /// Returns the report about earlier dropped lines; nullopt if this line is dropped.
  [[nodiscard]] std::optional<std::string> admit(log_level level, clock::time_point now);
  /// Counts `count` more lines as dropped.
  void leave_out(log_level level, std::uint64_t count);
  [[nodiscard]] std::string text_of_left_out(log_level level, std::uint64_t count) const;

  const std::string whose_;
  limited_log* const above_;
  std::mutex mutex_;
  // Guarded by mutex_. By level, from `error` on.
  std::array<line_limit, 4> limits_;
  std::array<std::uint64_t, 4> unsaid_{}; // Dropped, and not reported for lack of room.
};

} // namespace troupe::internal
