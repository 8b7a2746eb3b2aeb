// The standard error stream for the lines of a log. A line is written at once or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace troupe::internal {

/// Writes whole lines to a descriptor that it does not own, and never waits for the reader.
///
/// Lines that a stopped or closed reader does not accept are dropped; their number is written before the next accepted
/// line. Writing raises no signal: neither SIGPIPE (the reader is gone), nor SIGXFSZ (the file has its maximum size),
/// nor SIGTTOU (a terminal to which background jobs may not write). The descriptor's flags do not change, because other
/// processes share them.
///
/// Threads: any. Lifetime: `forked` must be called in the child of a fork.
class error_stream {
public:
  /// The maximum of one write, so that lines of several processes do not mix (PIPE_BUF).
  static constexpr std::size_t line_bytes_max = 4096;

  explicit error_stream(int descriptor) noexcept : descriptor_(descriptor) {}

  /// `line` has no line end; it is cut to the maximum of one write.
  void write(std::string_view line) noexcept;

  /// Call it before a fork: no thread writes until `forked`.
  void before_fork() { mutex_.lock(); }
  /// Call it after the fork, in both processes. If the parent has begun to write a line, only the parent writes the
  /// rest.
  void forked(bool is_child);

  /// Lines that were dropped and not reported yet.
  [[nodiscard]] std::uint64_t left_out() const;

private:
  [[nodiscard]] bool write_all(std::string_view bytes);
  [[nodiscard]] bool write_rest();

  const int descriptor_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::string rest_;           // The rest of a line that was written partly.
  std::uint64_t left_out_ = 0; // Since the last line that was written.
};

} // namespace troupe::internal
