// What is said between a process and its child.
#pragma once

#include "deadline.hpp"
#include "descriptor.hpp"

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::processes {

/// Why no line came.
enum class silence : std::uint8_t {
  timed_out, ///< The other side may still say something.
  ended,     ///< The other side will never say anything more.
};

/// Lines of text to and from another process.
///
/// Threads: one at a time.
class line_channel {
public:
  /// To nobody: nothing can be said, and there is nothing to read.
  line_channel() = default;
  /// `to` is a socket: what is written there after the other side has gone raises no signal, and that it ends is seen
  /// even if a child of ours has a copy of it. `from` is anything that can be read.
  line_channel(descriptor to, descriptor from) : to_(std::move(to)), from_(std::move(from)) {}

  /// False if the other side no longer listens.
  bool write_line(std::string_view line);
  /// The other side finds the end of its input after what was written.
  void end_writing();

  /// The next line, without its line feed.
  [[nodiscard]] std::expected<std::string, silence> read_line(time_limit patience = std::nullopt);
  /// All up to the end, which it waits for, with a last line that has no line feed.
  [[nodiscard]] std::string read_all();

  /// A line that has been received.
  [[nodiscard]] std::optional<std::string> take_line();
  /// Receives what has come, and waits for it where nothing has. False at the end.
  bool receive();
  /// What has been received of lines that nobody has taken.
  [[nodiscard]] const std::string& received() const noexcept { return received_; }
  /// To poll for; -1 if there is nothing to read any more.
  [[nodiscard]] int readable() const noexcept { return from_.number(); }

private:
  descriptor to_;
  descriptor from_; // Closed at its end.
  std::string received_;
};

} // namespace troupe::processes
