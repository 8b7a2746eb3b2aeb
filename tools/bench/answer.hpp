// Where `troupe bench` writes to.
#pragma once

#include <expected>
#include <ostream>
#include <string>

namespace troupe::tools {

inline constexpr int bad_arguments = 2;

/// Streams for the results and the errors, and the exit status.
struct answer_to {
  std::ostream& out;
  std::ostream& err;
  int& status;

  void say(const std::string& what) const;
  void fail(const std::string& why, int with = 1) const;
};

/// Whether a file can be written. To be asked before a run, so that no measurement is lost because it cannot.
[[nodiscard]] bool can_write(const std::string& file);

/// Writes the file, unless the name is empty. Reports a failure.
void write(const std::string& file, const std::string& text, const answer_to& to);

/// The content of a file that a user named. Fails with a text that has the name; also if the file is larger than
/// `bytes_most`.
[[nodiscard]] std::expected<std::string, std::string> content_of(const std::string& file, std::size_t bytes_most);

/// Warns about conditions that make figures of this machine unreliable.
void warn_about_machine(const answer_to& to);

} // namespace troupe::tools
