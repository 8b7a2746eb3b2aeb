#include "compare/comparison.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace bench {

std::expected<benchmark_results, std::string> read_results(std::string benchmark, std::istream& lines) {
  benchmark_results made{.benchmark = std::move(benchmark)};
  try {
    for (std::string line; std::getline(lines, line);) {
      const auto read = nlohmann::json::parse(line);
      const auto subject = read.at("subject").get<std::string>();
      if (read.contains("reason")) {
        made.missing.emplace_back(subject, failure{.is_absent = read.at("is_absent").get<bool>(),
                                                   .reason = read.at("reason").get<std::string>()});
        continue;
      }
      made.rows.push_back({{read.at("case").get<std::string>(), read.at("unit").get<std::string>()},
                           subject,
                           read.at("median").get<double>(),
                           read.at("min").get<double>(),
                           read.at("max").get<double>(),
                           read.at("ratio_to").get<std::map<std::string, double>>()});
    }
  } catch (const nlohmann::json::exception& error) {
    return std::unexpected{"results of " + made.benchmark + " that are none: " + error.what()};
  }
  return made;
}

bool is_ours(const std::string& subject) {
  return subject.starts_with("troupe");
}

bool is_limit(const std::string& subject) {
  return subject.starts_with("raw-") || subject == "memcpy";
}

bool is_rate(const quantity& what) {
  return what.unit.ends_with("/s");
}

std::vector<row> ranked(std::vector<row> rows) {
  std::ranges::stable_sort(rows, [](const row& left, const row& right) {
    return is_rate(left.what) ? left.median > right.median : left.median < right.median;
  });
  return rows;
}

double advantage(const row& ours, const std::string& theirs) {
  const auto found = ours.ratio_to.find(theirs);
  if (found == ours.ratio_to.end() || found->second <= 0)
    return 0;
  return is_rate(ours.what) ? found->second : 1 / found->second;
}

std::vector<quantity> quantities_of(const std::vector<row>& rows) {
  std::vector<quantity> found;
  for (const auto& one : rows)
    if (std::ranges::find(found, one.what) == found.end())
      found.push_back(one.what);
  return found;
}

std::vector<row> rows_of(const std::vector<row>& rows, const quantity& what) {
  std::vector<row> found;
  std::ranges::copy_if(rows, std::back_inserter(found), [&](const row& one) { return one.what == what; });
  return found;
}

} // namespace bench
