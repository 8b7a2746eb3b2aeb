// Which messages of a tape are wanted.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <troupe/framework/tape.hpp>

namespace troupe::tools {

/// A message has to meet all conditions that are set.
struct tape_selection {
  std::string actor = {}; ///< The name or the number of its sender or receiver.
  std::string type = {};  ///< The alias of an element; with '*' at its end, the beginning of one.
  std::optional<std::uint64_t> link = std::nullopt;
  std::optional<double> since_seconds = std::nullopt; ///< After the recording began.
  std::optional<double> until_seconds = std::nullopt;

  [[nodiscard]] bool has_conditions() const {
    return !actor.empty() || !type.empty() || link || since_seconds || until_seconds;
  }
  [[nodiscard]] bool contains(const tape_message& message) const;
};

} // namespace troupe::tools
