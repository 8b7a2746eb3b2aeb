// What links say, as often as their peers make them.
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

/// Lines about what may happen with every message: so many of each level are written in a second; how many more there
/// were is said with the next one, or at the end. Statistics count them all.
///
/// Threads: any.
class limited_log {
public:
  using clock = line_limit::clock;

  /// `whose`, as in "12 more warnings of this link were left out". What may be written has to find room in `above`,
  /// too.
  explicit limited_log(std::string whose = "this link", limited_log* above = nullptr)
      : limited_log(std::move(whose), 10, above) {}
  limited_log(std::string whose, std::size_t lines_per_second, limited_log* above = nullptr);

  /// The text is made only where it is written.
  template <log_text Text>
  void say(log_level level, Text&& text, clock::time_point now = clock::now()) {
    if (!logs(level))
      return; // Nor shall it be counted among what is left out.
    if (auto left_out = admit(level, now))
      write_log(level, text_from(std::forward<Text>(text)) + *left_out);
  }
  template <log_text Text>
  void warn(Text&& text, clock::time_point now = clock::now()) {
    say(log_level::warning, std::forward<Text>(text), now);
  }

  /// Says what was left out and not said yet.
  void settle(clock::time_point now = clock::now());

private:
  /// What has to be said of those left out before; nullopt where the line is one of them.
  [[nodiscard]] std::optional<std::string> admit(log_level level, clock::time_point now);
  /// So many more lines are to be said to be left out.
  void leave_out(log_level level, std::uint64_t count);
  [[nodiscard]] std::string text_of_left_out(log_level level, std::uint64_t count) const;

  const std::string whose_;
  limited_log* const above_;
  std::mutex mutex_;
  // Guarded by mutex_. By level, from `error` on.
  std::array<line_limit, 4> limits_;
  std::array<std::uint64_t, 4> unsaid_{}; // Left out, and no line had room to say so.
};

} // namespace troupe::internal
