// Says which promises of a cluster the recorded histories of its processes break.
#pragma once

#include "history.hpp"

#include <chrono>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace troupe::tests {

struct history_expectations {
  /// Every request of a process that was not killed is answered within this time.
  std::chrono::milliseconds answer_within{10'000};
  /// What the error of a request may begin with. An error with another text has no name that users know.
  std::set<std::string> errors = {"no_child", "child_lost", "timed_out"};
  /// Runs that were killed or stopped: their requests may have no answer, or a late one.
  std::set<std::string> disturbed = {};
  /// If set, faults ended then, and each of `answering` answers within `recovery` after that.
  std::optional<history_event::clock::time_point> healed = {};
  std::chrono::milliseconds recovery{10'000};
  std::set<std::string> answering = {};
  /// No process was killed, stopped or cut.
  bool is_orderly = false;
  /// False: an entity may handle an earlier request of a sender after a later one.
  bool keeps_order = true;
};

/// What was broken, one sentence each; empty if nothing was. Names are those of singletons, services, shards and
/// entities; an entity's acts have the name of its shard.
/// 1. The numbers of accepted acts do not fall, for each name, in the order in which one receiver did them.
/// 2. A number belongs to one run of one process, which became the owner once with it.
/// 3. No owner was sure of its ownership after another process had become the next owner.
/// 4. Each accepted act was an act of its owner, and was accepted once.
/// 5. Each request has one answer, in time, with a value or a named error.
/// 6. After the faults, each name answers within the bound.
/// 7. No entity handled a request twice, or two of its actors together, or a later request of one sender before an
///    earlier one. Requests that failed have lost their order with their link. Where two processes acted for an entity,
///    the one with the lower number counts as the first, because receivers refuse it afterwards.
/// 8. Each answer of an entity comes from an entity that has handled the request.
/// 9. No entity began with less than what was saved before, and what is saved grows. A state that an earlier owner
/// saved
///    after its successor had loaded is not counted: load has no fencing number, so that nobody can refuse it.
/// 10. If nothing but leaving in order has happened, no request to an entity failed, and each entity began with
///    everything that was handled before.
[[nodiscard]] std::vector<std::string> broken_promises(std::span<const history> all,
                                                       const history_expectations& expected = {});

/// How much the histories have of each kind, for people, and for tests that must not pass because nothing happened.
struct history_totals {
  std::size_t owners = 0;
  std::size_t acts = 0;
  std::size_t accepted = 0;
  std::size_t refused = 0;
  std::size_t asked = 0;
  std::size_t answered = 0;
  std::size_t failed = 0;
  std::size_t made = 0;
  std::size_t handled = 0;
  std::size_t saved = 0;
};
[[nodiscard]] history_totals totals_of(std::span<const history> all);
[[nodiscard]] std::string to_string(const history_totals& totals);

} // namespace troupe::tests
