// Near ends that take steps when they are told to, and answer each with numbers.
//
// What the processes say beyond what harness/process_group.hpp asks for: "STEP COUNT BYTES" to the near one, and "took
// VALUE..." from it.
#pragma once

#include "harness/process_group.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <string>
#include <vector>

namespace bench {

/// What a near end is asked to do next.
struct step {
  std::string name;
  std::uint64_t count = 0;
  std::size_t size_bytes = 0; // Where the step has no size of its own.
};

using numbers = std::vector<double>;

/// Lets a near end take a step. Gives what it has measured, or fails with a text.
using step_taker = std::function<std::expected<numbers, std::string>(const step& next)>;

/// In the process that measures: asks a group with one near end to take a step; gives the numbers of its answer, so
/// many.
[[nodiscard]] std::expected<numbers, failure> ask(process_group& group, const step& next, std::size_t numbers_count,
                                                  std::chrono::seconds deadline);

/// In the far process. Gives its exit status.
[[nodiscard]] int serve_steps(
    const std::function<std::expected<void, std::string>(const std::function<void(const std::string& address)>& ready)>&
        serve);

/// In the near process: takes steps until standard input ends, and ends the process then. Gives its exit status where
/// it cannot connect.
[[nodiscard]] int drive_steps(const std::function<std::expected<step_taker, std::string>()>& connect);

} // namespace bench
