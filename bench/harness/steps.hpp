// Near ends that take steps on request, and answer each step with numbers.
//
// In addition to the lines of harness/process_group.hpp, the near process is sent "STEP COUNT BYTES" and answers "took
// VALUE...".
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

/// The next step of a near end.
struct step {
  std::string name;
  std::uint64_t count = 0;
  std::size_t size_bytes = 0; // For steps that have no size of their own.
};

using numbers = std::vector<double>;

/// Takes a step. Returns the measured numbers, or fails with a text.
using step_taker = std::function<std::expected<numbers, std::string>(const step& next)>;

/// For the measuring process: asks a group with one near end to take a step. Returns the numbers of its answer; fails
/// if their number is not `numbers_count`.
[[nodiscard]] std::expected<numbers, failure> ask(process_group& group, const step& next, std::size_t numbers_count,
                                                  std::chrono::seconds deadline);

/// For the far process. Returns its exit status.
[[nodiscard]] int serve_steps(
    const std::function<std::expected<void, std::string>(const std::function<void(const std::string& address)>& ready)>&
        serve);

/// For the near process: takes steps until standard input ends, and then ends the process. Returns the exit status if
/// it cannot connect.
[[nodiscard]] int drive_steps(const std::function<std::expected<step_taker, std::string>()>& connect);

} // namespace bench
