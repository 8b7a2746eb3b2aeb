// The questions, their subjects and their cases.
#pragma once

#include "harness/process_group.hpp"
#include "peers/small_messages.hpp"
#include "throughput/cases.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// A subject and its number of processes.
struct participant {
  subject who;
  group_shape shape = {};
};

/// Subjects that are compared with each other, round by round.
struct question {
  int rounds = 5;                    // The default.
  std::vector<participant> subjects; // In the order of the rounds and of the table.
  std::vector<std::string> peers;    // The subjects to which ratios are taken.
  /// The peers whose ratios are columns of the table, if not all are shown.
  std::vector<std::string> shown_peers = {};
  std::vector<measured_case> cases; // Run for every subject.
};

/// All questions. If a subject's library was not found when this was built, the subject fails to serve with a text that
/// says so. Each name of a subject or a case occurs in only one question.
[[nodiscard]] const std::vector<question>& all_questions();

/// Null if no subject has that name.
[[nodiscard]] const participant* find_subject(std::string_view name);
[[nodiscard]] const measured_case* find_case(std::string_view name);

} // namespace bench
