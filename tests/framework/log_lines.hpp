// Captures log lines while the object lives; meanwhile nothing is written to the standard error stream.
#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include <troupe/framework/log.hpp>

namespace troupe::tests {

class log_lines {
public:
  explicit log_lines(log_level threshold) : before_(log_threshold()) {
    set_log_threshold(threshold);
    set_log_sink([this](log_level level, std::string_view text) {
      std::lock_guard guard{mutex_};
      lines_.push_back(std::string{to_string(level)} + ": " + std::string{text});
    });
  }
  ~log_lines() {
    set_log_sink(nullptr);
    set_log_threshold(before_);
  }
  log_lines(const log_lines&) = delete;
  log_lines& operator=(const log_lines&) = delete;

  [[nodiscard]] std::vector<std::string> all() const {
    std::lock_guard guard{mutex_};
    return lines_;
  }
  /// Counts the lines that contain `part`.
  [[nodiscard]] std::size_t with(std::string_view part) const {
    const auto lines = all();
    return static_cast<std::size_t>(
        std::ranges::count_if(lines, [&](const auto& line) { return line.find(part) != std::string::npos; }));
  }
  [[nodiscard]] std::string text() const {
    std::string all_lines;
    for (const auto& line : all())
      all_lines += line + '\n';
    return all_lines;
  }

private:
  const log_level before_;
  mutable std::mutex mutex_;
  std::vector<std::string> lines_; // Guarded by mutex_.
};

} // namespace troupe::tests
