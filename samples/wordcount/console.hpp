// The output on stderr while the job runs.
#pragma once

#include <mutex>
#include <string>

namespace wordcount {

/// Notes, one per line, and below them a progress line that is rewritten in place. There is a progress line only if
/// stderr is a terminal.
///
/// Threads: any.
class console {
public:
  console();

  [[nodiscard]] bool shows_progress() const { return is_terminal_; }

  void note(const std::string& text);

  /// Replaces the progress line; an empty text removes it.
  void progress(const std::string& text);

private:
  void write(const std::string& text);

  const bool is_terminal_;
  std::mutex mutex_;
  std::string progress_; // The text in the terminal's last line.
};

} // namespace wordcount
