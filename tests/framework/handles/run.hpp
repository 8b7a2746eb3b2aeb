// Random runs of a world: made from a seed, repeated from a list of steps, and shrunk if they fail.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "world.hpp"

namespace troupe::simulation {

/// One step. Its choices are taken modulo the number of options when the step is made, so a list of steps stays a legal
/// run if steps are removed.
struct step_choice {
  enum class kind : std::uint8_t {
    put,
    put_capturing,
    send,
    send_to_nobody,
    send_everywhere,
    pack,
    admit,
    leave,
    give_up,
    copy,
    drop,
    fetch,
    cancel,
    deliver,
    deliver_in_order,
    send_chunk,
    make_room,
    fail_room,
    connect,
    connect_wanted,
    reconnect,
    cut,
    cut_all,
    notice,
    kill,
    kill_within,
    restart,
    dial,
    accept,
    freeze,
    thaw,
    pass,
    tick,
    reap,
    spill,
    hand_over_trouble,
    adopt_trouble,
    forge,
    tamper,
    call_late,
  };
  kind what;
  std::uint32_t first, second, third;
};

std::ostream& operator<<(std::ostream& out, const step_choice& what);

/// Determines from a seed how a world starts and how often each kind of step occurs.
struct run_plan {
  std::uint64_t seed = 0;
  std::size_t steps = 400;
  sabotage how = sabotage::none;

  [[nodiscard]] bool has_liar() const { return seed % 3 == 0; }
  /// No link is cut and no node dies, so nothing may be lost.
  [[nodiscard]] bool is_calm() const { return seed % 5 == 0; }
  /// In addition, no time passes, so everything must be adopted.
  [[nodiscard]] bool is_timeless() const { return seed % 10 == 0; }
  [[nodiscard]] bool has_small_limits() const { return seed % 7 == 3; }
  /// The liar shares a store with an honest node.
  [[nodiscard]] bool liar_shares_store() const { return has_liar() && seed / 3 % 3 == 1; }
  /// Some links between nodes of one host do not share its store.
  [[nodiscard]] bool mixes_sharing() const { return seed % 4 == 1; }
  /// Messages wait for a while before links write them.
  [[nodiscard]] bool writes_late() const { return seed % 4 == 3; }
  /// One node is hardly ever ticked.
  [[nodiscard]] bool has_sleeper() const { return seed % 4 == 2; }
};

struct run_report {
  std::uint64_t steps = 0;
  std::uint64_t adoptions = 0;
  std::uint64_t reclaims = 0;
  std::uint64_t losses = 0;
  std::uint64_t answers = 0;
  std::uint64_t finds = 0;
  std::uint64_t came_round = 0;
  std::uint64_t came_home = 0;
  std::uint64_t handed_over = 0;
  std::uint64_t put_unfinished = 0;
  std::uint64_t finished = 0;

  run_report& operator+=(const run_report& more);
};

struct run_failure {
  std::string what;
  std::vector<step_choice> steps;
};

[[nodiscard]] std::vector<step_choice> steps_of(const run_plan& plan);

/// Returns the failure, if any. Writes each step and message to `story`, if it is not null.
[[nodiscard]] std::optional<run_failure> replay(const run_plan& plan, const std::vector<step_choice>& steps,
                                                run_report* report = nullptr, std::ostream* story = nullptr);

/// Removes steps and simplifies choices as long as the run still fails.
[[nodiscard]] run_failure shrink(const run_plan& plan, run_failure failure);

/// Describes the failure for a human: the seed and the steps.
[[nodiscard]] std::string story_of(const run_plan& plan, const run_failure& failure);

} // namespace troupe::simulation
