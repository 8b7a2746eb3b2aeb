#include "bench/load/size_mix.hpp"

#include "bench/measurement.hpp"
#include "bench/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cassert>
#include <charconv>
#include <sstream>

namespace troupe::tools {

namespace {

constexpr double weight_most = 1e9;

[[nodiscard]] std::expected<double, std::string> weight_of(const std::string& word) {
  double weight = 1;
  const auto* const end = word.data() + word.size();
  const auto read = std::from_chars(word.data(), end, weight);
  if (!word.empty() && (read.ec != std::errc{} || read.ptr != end || !(weight > 0 && weight <= weight_most)))
    return std::unexpected{fmt::format("\"{}\" is no weight: a number above 0, at most {:.0f}", word, weight_most)};
  return weight;
}

/// A line without its comment. An empty line has no size.
[[nodiscard]] std::expected<weighted_size, std::string> size_of_line(const std::string& line) {
  std::istringstream words{line};
  std::string size;
  std::string weight;
  std::string more;
  words >> size >> weight >> more;
  if (!more.empty())
    return std::unexpected{fmt::format("\"{}\" follows the weight; a line is SIZE WEIGHT", more)};
  const auto bytes = read_size(size);
  if (!bytes)
    return std::unexpected{bytes.error()};
  if (*bytes < size_mix::bytes_least || *bytes > size_mix::bytes_most)
    return std::unexpected{fmt::format("a payload of {} bytes cannot be offered: sizes go from {} to {}", *bytes,
                                       text_of_size(size_mix::bytes_least), text_of_size(size_mix::bytes_most))};
  const auto read = weight_of(weight);
  if (!read)
    return std::unexpected{read.error()};
  return weighted_size{*bytes, *read};
}

} // namespace

size_mix::size_mix(std::vector<weighted_size> sizes) : sizes_(std::move(sizes)) {
  assert(!sizes_.empty());
  double sum = 0;
  for (const auto& each : sizes_)
    up_to_.push_back(sum += each.weight);
}

std::expected<size_mix, std::string> size_mix::read(std::string_view text, const std::string& file) {
  std::vector<weighted_size> sizes;
  std::istringstream lines{std::string{text}};
  std::size_t number = 0;
  std::size_t sum = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    const auto refuse = [&](const std::string& why) {
      return std::unexpected{fmt::format("{}:{}: {}", file, number, why)};
    };
    line.erase(std::min(line.find('#'), line.size()));
    if (line.find_first_not_of(" \t\r") == std::string::npos)
      continue;
    const auto one = size_of_line(line);
    if (!one)
      return refuse(one.error());
    if (std::ranges::find(sizes, one->bytes, &weighted_size::bytes) != sizes.end())
      return refuse(fmt::format("{} has a line already", text_of_size(one->bytes)));
    if (sizes.size() == sizes_most)
      return refuse(fmt::format("a mix has at most {} sizes", sizes_most));
    sum += one->bytes;
    if (sum > sum_most)
      return refuse(fmt::format("the sizes up to here are more than {} together", text_of_size(sum_most)));
    sizes.push_back(*one);
  }
  if (sizes.empty())
    return std::unexpected{file + " has no sizes; a line is SIZE WEIGHT, such as: 1Ki 20"};
  return size_mix{std::move(sizes)};
}

std::size_t size_mix::choose(double share) const {
  const auto found = std::ranges::upper_bound(up_to_, share * up_to_.back());
  return std::min(static_cast<std::size_t>(found - up_to_.begin()), sizes_.size() - 1);
}

std::string size_mix::text() const {
  if (sizes_.size() == 1)
    return text_of_size(sizes_.front().bytes);
  const auto [least, most] = std::ranges::minmax(sizes_, {}, &weighted_size::bytes);
  return fmt::format("{} sizes, {} to {}", sizes_.size(), text_of_size(least.bytes), text_of_size(most.bytes));
}

} // namespace troupe::tools
