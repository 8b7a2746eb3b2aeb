#include "store/cases.hpp"

#include "store/parts.hpp"

#include <algorithm>
#include <map>

namespace bench {

namespace {

using run_case = std::expected<observations, failure> (*)(const store_options& told);

struct one_case {
  run_case of_store;
  run_case of_limit; // Null if there is none.
};

const std::vector<std::pair<std::string, one_case>>& all_cases() {
  static const std::vector<std::pair<std::string, one_case>> all{
      {"put-large", {put_large, copy_large}},
      {"put-small", {put_small, lock_and_copy_small}},
      {"cold", {put_cold, nullptr}},
      {"find", {find_small, lock_small}},
      {"two-processes", {put_by_two, nullptr}},
      {"hand-over", {view_elsewhere, nullptr}},
      {"disk", {spill_and_restore, write_and_read_file}},
      {"crash", {recover_and_reap, nullptr}},
  };
  return all;
}

} // namespace

const std::vector<std::string>& store_cases() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    for (const auto& [name, what] : all_cases())
      all.push_back(name);
    return all;
  }();
  return names;
}

std::expected<observations, failure> run_store_cases(const store_options& told, const std::string& subject) {
  observations all;
  for (const auto& [name, what] : all_cases()) {
    const auto run = subject == subject_store ? what.of_store : what.of_limit;
    if (run == nullptr || std::ranges::find(told.cases, name) == told.cases.end())
      continue;
    auto seen = run(told);
    if (!seen)
      return seen;
    all.insert(all.end(), seen->begin(), seen->end());
  }
  return all;
}

} // namespace bench
