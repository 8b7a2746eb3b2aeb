// The messages of a stream, one a line.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace troupe::cluster_directories {

/// Divides bytes into lines of a bounded length.
class line_buffer {
public:
  explicit line_buffer(std::size_t line_bytes_max) : line_bytes_max_(line_bytes_max) {}

  void add(std::string_view bytes) { bytes_.append(bytes); }

  /// The next complete line, without its end.
  [[nodiscard]] std::optional<std::string> take_line() {
    const auto end = bytes_.find('\n', searched_);
    if (end == std::string::npos) {
      bytes_.erase(0, std::exchange(begin_, 0));
      searched_ = bytes_.size();
      return std::nullopt;
    }
    auto line = bytes_.substr(begin_, end - begin_);
    searched_ = begin_ = end + 1;
    return line;
  }

  /// What follows the last line.
  [[nodiscard]] std::string take_rest() {
    auto rest = bytes_.substr(begin_);
    clear();
    return rest;
  }

  /// Whether the bytes that are kept are more than a line may have.
  [[nodiscard]] bool is_too_long() const noexcept { return bytes_.size() - begin_ > line_bytes_max_; }

  void clear() {
    bytes_.clear();
    begin_ = searched_ = 0;
  }

private:
  const std::size_t line_bytes_max_;
  std::string bytes_;
  std::size_t begin_ = 0;    // Of the next line.
  std::size_t searched_ = 0; // No line ends before.
};

} // namespace troupe::cluster_directories
