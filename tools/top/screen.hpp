// Exclusive use of a terminal for a while.
#pragma once

#include <termios.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::tools {

/// While this object lives, the terminal shows a separate screen without a cursor, and delivers keys as they are
/// pressed. The destructor restores the terminal. SIGINT, SIGTERM, SIGHUP and SIGQUIT become `event::ended`, so that
/// the terminal is restored then as well.
///
/// Threads: one at a time. At most one object per process at a time. It uses the process's standard input and output.
class screen {
public:
  screen();
  screen(const screen&) = delete;
  screen& operator=(const screen&) = delete;
  ~screen();

  /// Whether there is a terminal. The constructor requires one.
  [[nodiscard]] static bool is_possible();

  struct size {
    std::size_t columns = 80;
    std::size_t rows = 24;
  };
  [[nodiscard]] static size size_now();

  /// Shows the lines from the top. The first and the last line are highlighted.
  void show(const std::vector<std::string>& lines);

  enum class event : unsigned char { none, key, resized, ended };
  struct happened {
    event what = event::none;
    char key = 0;
  };
  /// Waits up to `longest` for a key, a new size, or the end.
  [[nodiscard]] happened wait(std::chrono::milliseconds longest);

private:
  static void write(std::string_view text);

  std::optional<termios> before_; // Empty if standard input is no terminal.
};

} // namespace troupe::tools
