#include "harness/statistics.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace bench {

double median(std::vector<double> values) {
  assert(!values.empty());
  std::ranges::sort(values);
  const auto middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double percentile(std::vector<double> values, double percent) {
  assert(!values.empty());
  assert(percent >= 0 && percent <= 100);
  const auto rank = std::ceil(percent / 100 * static_cast<double>(values.size()));
  const auto index = static_cast<std::ptrdiff_t>(std::max(rank, 1.0)) - 1;
  std::ranges::nth_element(values, values.begin() + index);
  return values[static_cast<std::size_t>(index)];
}

void results::add(const quantity& what, const std::string& subject, int round, double value) {
  if (std::ranges::find(quantities_, what) == quantities_.end())
    quantities_.push_back(what);
  auto* known = const_cast<series*>(find(what, subject));
  if (known == nullptr)
    known = &series_.emplace_back(what, subject, by_round{});
  known->values[round] = value;
}

const results::series* results::find(const quantity& what, const std::string& subject) const {
  const auto found =
      std::ranges::find_if(series_, [&](const series& one) { return one.what == what && one.subject == subject; });
  return found == series_.end() ? nullptr : &*found;
}

std::vector<row> results::rows(const std::vector<std::string>& peers) const {
  std::vector<row> made;
  for (const auto& what : quantities_) {
    for (const auto& one : series_) {
      if (one.what != what)
        continue;
      std::vector<double> values;
      for (const auto& [round, value] : one.values)
        values.push_back(value);
      const auto [min, max] = std::ranges::minmax(values);
      row next{what, one.subject, median(values), min, max, {}, values.size()};
      for (const auto& peer : peers) {
        const auto* other = peer == one.subject ? nullptr : find(what, peer);
        std::vector<double> ratios;
        for (const auto& [round, value] : one.values)
          if (other != nullptr && other->values.contains(round) && other->values.at(round) > 0)
            ratios.push_back(value / other->values.at(round));
        if (!ratios.empty())
          next.ratio_to[peer] = median(ratios);
      }
      next.values = std::move(values);
      made.push_back(std::move(next));
    }
  }
  return made;
}

const row* find_row(const std::vector<row>& rows, const std::string& quantity_name, const std::string& subject) {
  const auto found = std::ranges::find_if(
      rows, [&](const row& one) { return one.what.name == quantity_name && one.subject == subject; });
  return found == rows.end() ? nullptr : &*found;
}

} // namespace bench
