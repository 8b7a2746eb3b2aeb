// Question: what does the store cost, compared with the work it cannot avoid?
//
// Each case runs beside its limit, the same work without a store: copying between two buffers, taking locks, writing to
// a file. All measured memory has been used before: the first touch of a page costs more than the copy, with or without
// a store. Everything runs in this process, except cases that need several. Round 0 warms up.
#include "harness/report.hpp"
#include "harness/rounds.hpp"
#include "store/cases.hpp"
#include "store/limits.hpp"
#include "store/options.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iostream>

namespace bench {

namespace {

int measure(const store_options& told) {
  std::ofstream json;
  if (!told.json_file.empty()) {
    json.open(told.json_file);
    if (!json) {
      std::cerr << "cannot write " << told.json_file << '\n';
      return 2;
    }
  }
  const auto outcome = run_rounds(told.rounds, {subject_store, subject_limit},
                                  [&](int, const std::string& subject) { return run_store_cases(told, subject); });
  const auto rows = outcome.values.rows({subject_limit});
  std::cout << table(rows, {subject_limit});
  bool all_well = true;
  for (const auto& [subject, failed] : outcome.failures) {
    std::cout << fmt::format("\n{} failed: {}\n", subject, failed.reason);
    all_well = false;
  }
  for (const auto& row : rows)
    if (json.is_open())
      json << json_line("store", row) << '\n';
  if (told.shows_limits) {
    std::cout << '\n';
    all_well = (check_store_limits(rows, std::cout) || !told.has_to_meet_limits) && all_well;
  }
  return all_well ? 0 : 1;
}

} // namespace

} // namespace bench

int main(int argument_count, char** arguments) {
  const auto told = bench::read_store_options(argument_count, arguments, bench::store_cases());
  return told ? bench::measure(*told) : told.error();
}
