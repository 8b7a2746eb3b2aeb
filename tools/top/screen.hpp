// A terminal that one program has for itself for a while.
#pragma once

#include <termios.h>

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe::tools {

/// While it lives, the terminal shows a screen of its own without a cursor, and gives keys as they are pressed. Also at
/// SIGINT, SIGTERM, SIGHUP and SIGQUIT, which it turns into an end, the terminal becomes what it was.
///
/// Threads: one, and one at a time in a process. Works on the process's standard input and output.
class screen {
public:
  screen();
  screen(const screen&) = delete;
  screen& operator=(const screen&) = delete;
  ~screen();

  /// Whether there is a terminal at all; else nothing is to be done with it.
  [[nodiscard]] static bool is_possible();

  struct size {
    std::size_t columns = 80;
    std::size_t rows = 24;
  };
  [[nodiscard]] static size size_now();

  /// Shows the lines from the top; the first one and the last one stand out.
  void show(const std::vector<std::string>& lines);

  enum class event : unsigned char { none, key, resized, ended };
  struct happened {
    event what = event::none;
    char key = 0;
  };
  /// Waits so long for a key, another size, or an end.
  [[nodiscard]] happened wait(std::chrono::milliseconds longest);

private:
  static void write(std::string_view text);

  std::optional<termios> before_; // None where standard input is no terminal.
};

} // namespace troupe::tools
