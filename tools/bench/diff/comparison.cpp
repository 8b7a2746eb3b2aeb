#include "bench/diff/comparison.hpp"

#include "text.hpp"

#include "harness/report.hpp"
#include "harness/statistics.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>

namespace troupe::tools {

namespace {

constexpr std::size_t rounds_least = 3;
constexpr std::size_t rounds_enough = 10;

[[nodiscard]] const measured_values* find_values(const comparable& in, const std::string& measurement,
                                                 const std::string& quantity) {
  const auto found = std::ranges::find_if(
      in.all, [&](const auto& one) { return one.measurement == measurement && one.quantity == quantity; });
  return found == in.all.end() ? nullptr : &*found;
}

[[nodiscard]] std::vector<std::string> measurements_of(const comparable& in) {
  std::vector<std::string> made = in.failed;
  for (const auto& each : in.all)
    if (std::ranges::find(made, each.measurement) == made.end())
      made.push_back(each.measurement);
  return made;
}

/// What stands in the way of comparing the two documents. Empty if nothing does.
[[nodiscard]] std::string obstacle(const comparable& before, const comparable& after) {
  std::string text;
  const auto add = [&](const std::string& what) { text += (text.empty() ? "" : "; ") + what; };
  const auto add_missing = [&](const comparable& has, const comparable& lacks) {
    const auto there = measurements_of(lacks);
    for (const auto& each : measurements_of(has))
      if (std::ranges::find(there, each) == there.end())
        add(fmt::format("{} lacks \"{}\"", lacks.file, each));
  };
  add_missing(before, after);
  add_missing(after, before);
  for (const auto* one : {&before, &after})
    for (const auto& each : one->failed)
      add(fmt::format("in {}, \"{}\" failed", one->file, each));
  return text;
}

/// What is wrong with the values. Empty if nothing is.
[[nodiscard]] std::string problem_of(const measured_values& values, const std::string& file) {
  const auto what = fmt::format("{}: {} of \"{}\"", file, values.quantity, values.measurement);
  if (values.values.size() < rounds_least)
    return fmt::format("{} has {}, and at least {} are needed (--rounds)", what, several(values.values.size(), "round"),
                       rounds_least);
  if (!std::ranges::all_of(values.values, [](double each) { return std::isfinite(each) && each > 0; }))
    return what + " is 0 in a round";
  return {};
}

[[nodiscard]] std::vector<std::string> warnings_about(const comparable& before, const comparable& after,
                                                      const comparison& made) {
  std::vector<std::string> all;
  if (before.processors != after.processors)
    all.push_back(fmt::format("the processors differ ({} and {}), so the ratios tell nothing about the program",
                              before.processors, after.processors));
  for (const auto* one : {&before, &after})
    if (!one->is_optimized)
      all.push_back(one->file + " was measured with a build that is not optimized");
  if (std::ranges::any_of(
          made.all, [](const auto& one) { return std::min(one.rounds_before, one.rounds_after) < rounds_enough; }))
    all.push_back(
        fmt::format("with fewer than {} rounds, the intervals are narrower than they should be", rounds_enough));
  return all;
}

[[nodiscard]] std::string verdict_on(const compared_values& one, double allowed) {
  return one.is_slower_by(allowed) ? "slower"
         : one.is_slower()         ? "slower, allowed"
         : one.is_faster()         ? "faster"
                                   : "no difference shown";
}

} // namespace

bool compared_values::is_slower() const {
  return is_slower_by(0);
}

bool compared_values::is_faster() const {
  return is_rate(quantity) ? ratio.low > 1 : ratio.high < 1;
}

bool compared_values::is_slower_by(double part) const {
  return is_rate(quantity) ? ratio.high * (1 + part) < 1 : ratio.low > 1 + part;
}

std::expected<comparison, std::string> compared(const comparable& before, const comparable& after,
                                                const diff_options& options) {
  if (auto why = obstacle(before, after); !why.empty())
    return std::unexpected{"they have not measured the same: " + why};
  comparison made;
  for (const auto& measurement : measurements_of(before))
    for (const auto& quantity : options.quantities) {
      const auto* const one = find_values(before, measurement, quantity);
      const auto* const other = find_values(after, measurement, quantity);
      if (one == nullptr && other == nullptr)
        continue;
      if (one == nullptr || other == nullptr)
        return std::unexpected{
            fmt::format("{} has no {} of \"{}\"", (one == nullptr ? before : after).file, quantity, measurement)};
      for (const auto& [values, file] : {std::pair{one, before.file}, std::pair{other, after.file}})
        if (auto problem = problem_of(*values, file); !problem.empty())
          return std::unexpected{std::move(problem)};
      made.all.push_back({.measurement = measurement,
                          .quantity = quantity,
                          .before = bench::median(one->values),
                          .after = bench::median(other->values),
                          .rounds_before = one->values.size(),
                          .rounds_after = other->values.size(),
                          .ratio = ratio_of_medians(one->values, other->values, options.seed)});
    }
  if (made.all.empty())
    return std::unexpected{fmt::format("no measurement has {}", fmt::join(options.quantities, " or "))};
  made.warnings = warnings_about(before, after, made);
  return made;
}

std::string text_of(const comparison& made, const diff_options& options) {
  std::vector<std::vector<std::string>> lines{
      {"measurement", "quantity", "before", "after", "ratio", "95 % interval", "result"}};
  for (const auto& each : made.all)
    lines.push_back(
        {each.measurement, is_rate(each.quantity) ? each.quantity + " 1/s" : each.quantity + " us",
         bench::short_number(each.before), bench::short_number(each.after), fmt::format("{:.3f}", each.ratio.ratio),
         fmt::format("{:.3f} to {:.3f}", each.ratio.low, each.ratio.high), verdict_on(each, options.allowed)});
  return table(std::move(lines), "<<>>>><")
         + fmt::format("ratios of medians, after to before; bootstrap over the rounds: {} resamples, seed {}; {:.3g} % "
                       "slower is allowed\n",
                       resamples, options.seed, options.allowed * 100);
}

std::string json_of(const comparison& made, const diff_options& options) {
  nlohmann::ordered_json document{{"resamples", resamples},
                                  {"seed", options.seed},
                                  {"allowed", options.allowed},
                                  {"warnings", made.warnings},
                                  {"results", nlohmann::ordered_json::array()}};
  for (const auto& each : made.all)
    document["results"].push_back({{"measurement", each.measurement},
                                   {"quantity", each.quantity},
                                   {"before", each.before},
                                   {"after", each.after},
                                   {"rounds_before", each.rounds_before},
                                   {"rounds_after", each.rounds_after},
                                   {"ratio", each.ratio.ratio},
                                   {"low", each.ratio.low},
                                   {"high", each.ratio.high},
                                   {"result", verdict_on(each, options.allowed)}});
  return document.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

} // namespace troupe::tools
