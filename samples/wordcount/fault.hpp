// For the tests: a worker that comes to grief at a moment of their choosing.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace wordcount {

/// What happens to a worker when it is given its n-th block; n = 0 is before it registers.
struct fault {
  enum class kind { kill, stop, fail }; // SIGKILL to itself, SIGSTOP to itself, an error as the answer.

  std::size_t block = 0;
  kind what = kind::kill;

  /// Kills or stops this process when it is time for that; true when the answer shall be an error.
  [[nodiscard]] bool strikes(std::size_t nth_block) const;
};

/// "3:kill" and the like.
[[nodiscard]] std::optional<fault> read_fault(std::string_view text);
[[nodiscard]] std::string to_string(const fault& of);

} // namespace wordcount
