// Cuts what a program writes into lines. Pure.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace troupe::internal {

/// Cuts a stream of bytes into lines of bounded length.
///
/// Invariant: at most line_bytes_max bytes wait for the rest of their line.
class line_cutter {
public:
  /// A longer line comes in several pieces. A piece and the worker's name fit into one write to a pipe (PIPE_BUF).
  static constexpr std::size_t line_bytes_max = 3840;

  using receiver = std::function<void(std::string_view line)>;

  /// Calls `receive` for each line that the bytes complete, without its line end.
  void take(std::string_view bytes, const receiver& receive);
  /// The stream is over: calls `receive` for a last line without line end.
  void finish(const receiver& receive);

private:
  std::string begun_; // The beginning of the next line.
};

} // namespace troupe::internal
