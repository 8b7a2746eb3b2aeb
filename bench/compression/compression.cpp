// Question: what does compression cost and save for each kind of data, and below which network speed does it pay?
//
// A frame passes through serialize() and deserialize() in each mode, beside a memcpy of it. `left` is the payload's
// size over the frame's. `pays below` is the network speed at which sending the saved bytes takes as long as both ends
// take for compression. One thread; all data was used before. Round 0 warms up.
#include "compression/cases.hpp"
#include "compression/data.hpp"
#include "compression/options.hpp"
#include "harness/report.hpp"
#include "harness/rounds.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iostream>

namespace bench {

namespace {

const std::vector<std::string> compared{subject_copying};

int measure(const compression_options& told) {
  std::ofstream json;
  if (!told.json_file.empty()) {
    json.open(told.json_file);
    if (!json) {
      std::cerr << "cannot write " << told.json_file << '\n';
      return 2;
    }
  }
  const auto outcome = run_rounds(told.rounds, told.subjects, [&](int, const std::string& subject) {
    return run_compression_cases(told, subject);
  });
  const auto rows = outcome.values.rows(compared);
  std::cout << table(rows, compared);
  for (const auto& [subject, failed] : outcome.failures)
    std::cout << fmt::format("\n{} failed: {}\n", subject, failed.reason);
  for (const auto& row : rows)
    if (json.is_open())
      json << json_line("compression", row) << '\n';
  return outcome.failures.empty() ? 0 : 1;
}

} // namespace

} // namespace bench

int main(int argument_count, char** arguments) {
  const auto told =
      bench::read_compression_options(argument_count, arguments, bench::compression_subjects(), bench::data_kinds());
  return told ? bench::measure(*told) : told.error();
}
