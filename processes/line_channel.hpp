// The channel between a process and its child.
#pragma once

#include "deadline.hpp"
#include "descriptor.hpp"

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

namespace troupe::processes {

/// Why read_line() has returned no line.
enum class silence : std::uint8_t {
  timed_out, ///< The other side may still send.
  ended,     ///< The other side cannot send any more.
};

/// Lines of text to and from another process.
///
/// Threads: one at a time.
class line_channel {
public:
  /// A channel without another side: writing fails, and reading finds the end.
  line_channel() = default;
  /// `to` is a socket: writing to it raises no signal after the other side has gone, and the other side sees the end
  /// even if a child of this process has a copy of the socket. `from` is any readable descriptor.
  line_channel(descriptor to, descriptor from) : to_(std::move(to)), from_(std::move(from)) {}

  /// Writes the line and a line feed. Returns false if the other side no longer reads.
  bool write_line(std::string_view line);
  /// Ends the other side's input, after the lines that are already written.
  void end_writing();

  /// Waits at most `patience` and returns the next line, without its line feed.
  [[nodiscard]] std::expected<std::string, silence> read_line(time_limit patience = std::nullopt);
  /// Waits for the end and returns everything up to it, including a last line without line feed.
  [[nodiscard]] std::string read_all();

  /// Returns a line that is already received, or nullopt.
  [[nodiscard]] std::optional<std::string> take_line();
  /// Receives the bytes that are available; waits for some if there are none. Returns false at the end.
  bool receive();
  /// The received bytes that no call has taken yet.
  [[nodiscard]] const std::string& received() const noexcept { return received_; }
  /// The descriptor for poll(); -1 if there is nothing more to read.
  [[nodiscard]] int readable() const noexcept { return from_.number(); }

private:
  descriptor to_;
  descriptor from_; // Closed when its end is reached.
  std::string received_;
};

} // namespace troupe::processes
