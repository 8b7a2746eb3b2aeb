// For tests: a worker that fails at a chosen moment.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace wordcount {

/// The fault of a worker when it gets its n-th block; n = 0 means before it registers.
struct fault {
  enum class kind { kill, stop, fail }; // SIGKILL to itself, SIGSTOP to itself, an error as the answer.

  std::size_t block = 0;
  kind what = kind::kill;

  /// If `nth_block` is the planned one, kills or stops this process, or returns true if the answer must be an error.
  [[nodiscard]] bool strikes(std::size_t nth_block) const;
};

/// Reads and writes texts such as "3:kill". Null if the text is invalid.
[[nodiscard]] std::optional<fault> read_fault(std::string_view text);
[[nodiscard]] std::string to_string(const fault& of);

} // namespace wordcount
