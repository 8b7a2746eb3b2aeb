#include <troupe/base/histogram.hpp>

#include <algorithm>
#include <cassert>
#include <cmath>
#include <cstdio>

namespace troupe {

void histogram::add(std::uint64_t value, std::uint64_t times) {
  if (times == 0)
    return;
  const auto bucket = scale_.bucket_of(value);
  if (bucket >= counts_.size())
    counts_.resize(bucket + 1);
  counts_[bucket] += times;
  count_ += times;
  min_ = std::min(min_, value);
  max_ = std::max(max_, value);
}

void histogram::add(const histogram& other) {
  assert(scale_ == other.scale_);
  if (counts_.size() < other.counts_.size())
    counts_.resize(other.counts_.size());
  for (std::size_t i = 0; i < other.counts_.size(); ++i)
    counts_[i] += other.counts_[i];
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
}

double histogram::middle_of(std::size_t bucket) const noexcept {
  const auto lowest = std::max(scale_.lowest_in(bucket), min_);
  const auto highest = std::min(scale_.highest_in(bucket), max_);
  return static_cast<double>(lowest) + static_cast<double>(highest - lowest) / 2;
}

double histogram::mean() const noexcept {
  if (count_ == 0)
    return 0;
  double sum = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i)
    if (counts_[i] > 0)
      sum += middle_of(i) * static_cast<double>(counts_[i]);
  return sum / static_cast<double>(count_);
}

double histogram::standard_deviation() const noexcept {
  if (count_ == 0)
    return 0;
  const auto centre = mean();
  double sum = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i)
    if (counts_[i] > 0)
      sum += (middle_of(i) - centre) * (middle_of(i) - centre) * static_cast<double>(counts_[i]);
  return std::sqrt(sum / static_cast<double>(count_));
}

std::uint64_t histogram::percentile(double percent) const noexcept {
  constexpr double rounding = 1e-12; // 99.9 % of 1,000 are 999, not 999.0000000000001.
  const auto wanted = std::ceil(percent / 100 * static_cast<double>(count_) * (1 - rounding));
  double seen = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    seen += static_cast<double>(counts_[i]);
    if (counts_[i] > 0 && seen >= wanted)
      return std::min(scale_.highest_in(i), max_);
  }
  return max_;
}

std::string histogram::hgrm(double unit, std::string_view comment) const {
  std::string text;
  if (!comment.empty())
    text = '#' + std::string{comment} + '\n';
  text += "       Value     Percentile TotalCount 1/(1-Percentile)\n\n";
  char line[160];
  const auto add_line = [&](std::uint64_t value, double part, double seen) {
    const auto shown = static_cast<double>(value) / unit;
    if (part < 1)
      std::snprintf(line, sizeof line, "%12.3f %2.12f %10.0f %14.2f\n", shown, part, seen, 1 / (1 - part));
    else
      std::snprintf(line, sizeof line, "%12.3f %2.12f %10.0f\n", shown, part, seen);
    text += line;
  };
  // Five steps for each halving of the distance to 100 %.
  constexpr int steps = 5;
  double level = 0;
  double seen = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0)
      continue;
    seen += static_cast<double>(counts_[i]);
    const auto part = seen / static_cast<double>(count_);
    const auto value = std::min(scale_.highest_in(i), max_);
    while (level <= part && level < 1) {
      if (seen >= static_cast<double>(count_))
        break; // Further levels say no more.
      add_line(value, level, seen);
      const auto halvings = std::floor(std::log2(1 / (1 - level))) + 1;
      level += 1 / (steps * std::exp2(halvings));
    }
  }
  if (count_ > 0)
    add_line(max_, 1, static_cast<double>(count_));
  std::snprintf(line, sizeof line, "#[Mean    = %12.3f, StdDeviation   = %12.3f]\n", mean() / unit,
                standard_deviation() / unit);
  text += line;
  std::snprintf(line, sizeof line, "#[Max     = %12.3f, Total count    = %12.0f]\n", static_cast<double>(max_) / unit,
                static_cast<double>(count_));
  text += line;
  std::snprintf(line, sizeof line, "#[Buckets = %12zu, SubBuckets     = %12zu]\n",
                counts_.empty() ? std::size_t{1} : scale_.bucket_of(max_) + 1, scale_.narrow_buckets());
  text += line;
  return text;
}

} // namespace troupe
