// The result of a job.
#pragma once

#include "block_reader.hpp"
#include "counts.hpp"

#include <troupe/framework/link.hpp>

#include <caf/allowed_unsafe_message_type.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace wordcount {

/// One worker's link, as seen from the coordinator's end.
struct link_row {
  std::string peer;
  std::vector<std::string> sends_with;   // Families of the blocks' messages.
  std::vector<std::string> answers_with; // Families of the answers.
  std::uint64_t blocks = 0;              // Blocks that the worker counted.
  troupe::link_stats stats;
  std::string lost; // The reason why the worker was lost, or empty.
};

struct job_result {
  std::string failure; // Empty if everything was counted.
  int signal = 0;      // The signal that ended the job, or 0.
  word_totals totals;
  read_totals read;
  read_problems problems;
  std::uint64_t blocks = 0;
  std::chrono::duration<double> time{0}; // From the start of the workers to the last answer.
  std::vector<link_row> links;
};

/// Passed from the coordinator to main, within the process.
using job_result_ptr = std::shared_ptr<const job_result>;

} // namespace wordcount

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(wordcount::job_result_ptr)
