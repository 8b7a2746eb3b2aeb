// Random runs of a world: made from a seed, repeated from a list of steps, shrunk when they fail.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "world.hpp"

namespace troupe::simulation {

/// What happens next. The choices are taken modulo what there is when the step is made, so that a list stays a legal
/// run when steps are taken out of it.
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

/// How a world begins, and how often what happens.
struct run_plan {
  std::uint64_t seed = 0;
  std::size_t steps = 400;
  sabotage how = sabotage::none;

  [[nodiscard]] bool has_liar() const { return seed % 3 == 0; }
  /// No link is cut, no node dies: then nothing may be lost.
  [[nodiscard]] bool is_calm() const { return seed % 5 == 0; }
  /// Nor does time pass: then everything must be adopted.
  [[nodiscard]] bool is_timeless() const { return seed % 10 == 0; }
  [[nodiscard]] bool has_small_limits() const { return seed % 7 == 3; }
  /// The liar shares a store with an honest node.
  [[nodiscard]] bool liar_shares_store() const { return has_liar() && seed / 3 % 3 == 1; }
  /// Some links between nodes of one host do not share its store.
  [[nodiscard]] bool mixes_sharing() const { return seed % 4 == 1; }
  /// What links have to write waits for a while.
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

/// What broke, if anything did. Tells the run in words where there is a `story`.
[[nodiscard]] std::optional<run_failure> replay(const run_plan& plan, const std::vector<step_choice>& steps,
                                                run_report* report = nullptr, std::ostream* story = nullptr);

/// Takes steps out, and chooses what is simpler, as long as the rest still fails.
[[nodiscard]] run_failure shrink(const run_plan& plan, run_failure failure);

/// For people: the seed and the steps.
[[nodiscard]] std::string story_of(const run_plan& plan, const run_failure& failure);

} // namespace troupe::simulation
