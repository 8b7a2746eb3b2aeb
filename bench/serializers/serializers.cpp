// Question: what do the families cost, compared with what users would write instead?
//
// A struct of eight different fields passes through the families as on a link (troupe-*: into a reused buffer, with a
// header that both ends know), as self-contained payloads through serialize() and deserialize() (payload-*), and
// through cereal, msgpack-cxx, protobuf and CAF's binary serializer as their users would write it. Arrays of doubles
// pass through the default family and are compared with memcpy: the time to encode or view them must not depend on
// their size. One thread; all memory was used before. Round 0 warms up.
#include "harness/report.hpp"
#include "harness/rounds.hpp"
#include "serializers/cases.hpp"
#include "serializers/limits.hpp"
#include "serializers/options.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iostream>

namespace bench {

namespace {

const std::vector<std::string> compared{"cereal", "msgpack-by-hand", "protobuf", subject_copying};

int measure(const serializers_options& told) {
  std::ofstream json;
  if (!told.json_file.empty()) {
    json.open(told.json_file);
    if (!json) {
      std::cerr << "cannot write " << told.json_file << '\n';
      return 2;
    }
  }
  const auto outcome = run_rounds(told.rounds, told.subjects,
                                  [&](int, const std::string& subject) { return run_serializer_cases(told, subject); });
  const auto rows = outcome.values.rows(compared);
  std::cout << table(rows, compared);
  bool all_well = true;
  for (const auto& [subject, failed] : outcome.failures) {
    std::cout << fmt::format("\n{} {}: {}\n", subject, failed.is_absent ? "is not available" : "failed", failed.reason);
    all_well = all_well && failed.is_absent;
  }
  for (const auto& row : rows)
    if (json.is_open())
      json << json_line("serializers", row) << '\n';
  if (told.shows_limits) {
    std::cout << '\n';
    all_well = (check_serializer_limits(rows, std::cout) || !told.has_to_meet_limits) && all_well;
  }
  return all_well ? 0 : 1;
}

} // namespace

} // namespace bench

int main(int argument_count, char** arguments) {
  const auto told = bench::read_serializers_options(argument_count, arguments, bench::serializer_subjects());
  return told ? bench::measure(*told) : told.error();
}
