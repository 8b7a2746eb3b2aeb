#include "bench/load/schedule.hpp"

#include <charconv>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

namespace troupe::tools {

namespace {

/// The number at the begin of the text, and the rest. If there is no finite number, the rest is no unit.
[[nodiscard]] std::pair<double, std::string_view> number_and_unit(std::string_view text) {
  double number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number, std::chars_format::fixed);
  if (failure != std::errc{} || !std::isfinite(number))
    return {0, "no number"};
  return {number, text.substr(static_cast<std::size_t>(end - text.data()))};
}

} // namespace

schedule::schedule(arrivals how, double rate, std::uint64_t seed) : how_(how), gap_ns_(1e9 / rate), random_(seed) {}

std::chrono::nanoseconds schedule::next() {
  if (how_ == arrivals::uniform) // From the count, so that rounding errors do not add up.
    return std::chrono::nanoseconds{std::llround(static_cast<double>(count_++) * gap_ns_)};
  // std::exponential_distribution differs between standard libraries.
  constexpr int bits_dropped = 11;
  const auto share = std::ldexp(static_cast<double>(random_() >> bits_dropped), -53); // 0 <= share < 1
  at_ns_ -= std::log1p(-share) * gap_ns_;
  return std::chrono::nanoseconds{std::llround(at_ns_)};
}

std::expected<double, std::string> read_rate(const std::string& text) {
  const auto [number, unit] = number_and_unit(text);
  const auto factor = unit.empty() ? 1.0 : unit == "k" || unit == "K" ? 1e3 : unit == "M" ? 1e6 : 0.0;
  const auto rate = number * factor;
  if (factor == 0)
    return std::unexpected{fmt::format("\"{}\" is no rate; write it as 500, 2.5k or 1M (per second)", text)};
  if (!(rate >= rate_least && rate <= rate_most))
    return std::unexpected{
        fmt::format("a rate of {} cannot be offered: rates go from {} to 100M per second", text, rate_least)};
  return rate;
}

std::expected<std::chrono::nanoseconds, std::string> read_time(const std::string& text) {
  const auto [number, unit] = number_and_unit(text);
  const auto factor = unit == "s" ? 1e9 : unit == "ms" ? 1e6 : unit == "us" ? 1e3 : 0.0;
  constexpr double most_ns = 86'400e9;
  if (factor == 0 || !(number >= 0 && number * factor <= most_ns))
    return std::unexpected{fmt::format("\"{}\" is no time of up to a day; write it as 20us, 100ms or 1.5s", text)};
  return std::chrono::nanoseconds{std::llround(number * factor)};
}

} // namespace troupe::tools
