// What is asked, and who takes part.
#pragma once

#include "harness/process_group.hpp"
#include "peers/small_messages.hpp"
#include "throughput/cases.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace bench {

/// A subject and how many processes it takes.
struct participant {
  subject who;
  group_shape shape = {};
};

/// Subjects that are compared with each other, round by round.
struct question {
  int rounds = 5;                    // Unless told otherwise.
  std::vector<participant> subjects; // In the order of the rounds and of the table.
  std::vector<std::string> peers;    // Those that ratios are taken to.
  /// Those whose ratios are columns of the table, where not all of them are.
  std::vector<std::string> shown_peers = {};
  std::vector<measured_case> cases; // Asked of every subject.
};

/// A subject whose library was not found when this was built says so when it is asked to serve. Names of subjects and
/// of cases occur in one question only.
[[nodiscard]] const std::vector<question>& all_questions();

/// Null if no subject has that name.
[[nodiscard]] const participant* find_subject(std::string_view name);
[[nodiscard]] const measured_case* find_case(std::string_view name);

} // namespace bench
