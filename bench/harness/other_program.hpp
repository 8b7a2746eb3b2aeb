// Another program that a peer needs: a server of its own, or a runtime that its actors live in.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// A running program, killed together with this object, and by the kernel when the thread that started it ends.
class other_program {
public:
  enum class streams : std::uint8_t {
    inherited, ///< Its input, output and errors are ours.
    lines,     ///< We write its input and read its output; errors are ours.
    none,      ///< It reads nothing, and what it says is dropped.
  };

  /// Starts the file `program` under the name and with the arguments in `words`. `parting` is what the kernel sends it
  /// when we die before it. Fails with a text.
  [[nodiscard]] static std::expected<other_program, std::string>
  start(const std::string& program, std::vector<std::string> words, streams what, int parting = SIGKILL);

  other_program(other_program&& other) noexcept;
  other_program& operator=(other_program&& other) noexcept;
  /// Kills and waits for it.
  ~other_program();

  /// Requires: streams::lines.
  void write_line(std::string_view line);
  /// Its next line, without the line feed. Waits for it; fails with a text when the program has ended.
  [[nodiscard]] std::expected<std::string, std::string> read_line();

  /// Waits for its end; -n when signal n killed it.
  [[nodiscard]] int wait();

  /// Whether it still runs.
  [[nodiscard]] bool runs();

  /// Sends it a signal if it still runs.
  void send(int signal);

private:
  other_program(pid_t process, int socket) : process_(process), socket_(socket) {}

  pid_t process_ = -1; // -1 when it was waited for.
  int socket_ = -1;    // -1 without lines.
  int status_ = 0;
  std::string received_;
};

} // namespace bench
