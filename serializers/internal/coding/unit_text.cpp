#include <troupe/serializers/internal/coding/unit_text.hpp>

#include <algorithm>
#include <charconv>

namespace troupe::detail {

namespace {

struct named_period {
  std::string_view period;
  std::string_view suffix;
};

// The units as std::format names them.
constexpr named_period named_periods[] = {
    {"1/1000000000", "ns"}, {"1/1000000", "us"}, {"1/1000", "ms"}, {"1/1", "s"},
    {"60/1", "min"},        {"3600/1", "h"},     {"86400/1", "d"},
};

std::string period_suffix(std::string_view period) {
  const auto* const known = std::ranges::find(named_periods, period, &named_period::period);
  return known != std::end(named_periods) ? std::string(known->suffix) : "[" + std::string(period) + "]s";
}

} // namespace

std::string unit_suffix(std::string_view unit) {
  const auto clock_bytes = unit.rfind(' ');
  if (clock_bytes == std::string_view::npos)
    return period_suffix(unit);
  return period_suffix(unit.substr(clock_bytes + 1)) + " " + std::string(unit.substr(0, clock_bytes));
}

bool split_count(std::string_view text, number& count, std::string_view& suffix) {
  const auto* const first = text.data();
  const auto* const last = first + text.size();
  const auto end_of_real = [&] {
    double value = 0;
    const auto [end, error] = std::from_chars(first, last, value);
    count = number::of(value);
    return error == std::errc() ? end : first;
  }();
  if (end_of_real == first)
    return false;
  suffix = {end_of_real, last};
  const auto digits = text.substr(0, text.size() - suffix.size());
  std::int64_t integer = 0;
  std::uint64_t natural = 0;
  if (const auto [end, error] = std::from_chars(first, end_of_real, integer);
      error == std::errc() && end == end_of_real && digits != "-0")
    count = number::of(integer);
  else if (const auto [end2, error2] = std::from_chars(first, end_of_real, natural);
           error2 == std::errc() && end2 == end_of_real)
    count = number::of(natural);
  return true;
}

} // namespace troupe::detail
