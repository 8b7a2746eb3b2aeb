// `troupe bench --sample`: compares families for a value in a file, without its C++ type.
#pragma once

#include "bench/answer.hpp"
#include "bench/request.hpp"

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace troupe::tools {

struct sample_arguments {
  std::string sample_file;
  std::string contract_file;
  std::string type; // Empty: the only type of the contract that is not built in.
  std::vector<std::string> over{"unix", "tcp"};

  [[nodiscard]] bool is_given() const { return !sample_file.empty(); }
};

void add_sample_options(CLI::App& command, sample_arguments& asked);

/// Compares and prints. `shared` has the families, compressions, rounds, times and files.
void compare_sample(const sample_arguments& asked, const bench_request& shared, const CLI::App& command,
                    const answer_to& to);

} // namespace troupe::tools
