// The standard error stream, as lines of a log need it: a line is written now or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>

namespace troupe::internal {

/// Writes whole lines to a descriptor that belongs to somebody else, and never waits for whoever reads it.
///
/// What a reader that has stopped, or is gone, does not take is left out; how many lines that were is said in front of
/// the next one that is taken. No signal comes of writing: neither SIGPIPE (the reader is gone), nor SIGXFSZ (the file
/// is as large as it may be), nor SIGTTOU (a terminal that background jobs may not write to). The descriptor's own
/// flags stay as they are, since other processes share them.
///
/// Threads: any. Lifetime: `forked` must be called in the child of a fork.
class error_stream {
public:
  /// What one write takes at most, so that lines of several processes do not mix (PIPE_BUF).
  static constexpr std::size_t line_bytes_max = 4096;

  explicit error_stream(int descriptor) noexcept : descriptor_(descriptor) {}

  /// `line` without its end; it is cut to what one write takes.
  void write(std::string_view line) noexcept;

  /// Before a fork: nobody is writing until `forked`.
  void before_fork() { mutex_.lock(); }
  /// After it, in both processes. What the parent has begun to write is the parent's.
  void forked(bool is_child);

  /// Lines that were left out and not said to be.
  [[nodiscard]] std::uint64_t left_out() const;

private:
  [[nodiscard]] bool write_all(std::string_view bytes);
  [[nodiscard]] bool write_rest();

  const int descriptor_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::string rest_;           // Of a line that was taken in part.
  std::uint64_t left_out_ = 0; // Since the last line that was taken.
};

} // namespace troupe::internal
