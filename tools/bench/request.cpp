#include "bench/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace troupe::tools {

namespace {

/// Estimates: time to start and end the processes of one measurement, and the warm-up as a part of the measured time.
constexpr double starting_seconds = 0.15;
constexpr double warm_up_part = 0.25;
constexpr double seconds_least = 0.001;

/// The power of two of a unit, or nullopt if the text is no unit.
[[nodiscard]] std::optional<unsigned> shift_of(std::string unit) {
  std::ranges::transform(unit, unit.begin(),
                         [](char each) { return each >= 'a' && each <= 'z' ? each - 'a' + 'A' : each; });
  if (unit.empty() || unit == "B")
    return 0;
  if (unit.size() > 1 && unit.back() == 'B')
    unit.pop_back();
  if (unit.size() > 1 && unit.back() == 'I')
    unit.pop_back();
  const auto at = std::string_view{"KMG"}.find(unit);
  return unit.size() == 1 && at != std::string_view::npos ? std::optional{10 * (static_cast<unsigned>(at) + 1)}
                                                          : std::nullopt;
}

[[nodiscard]] measurement common_of(const bench_request& asked, std::size_t spill_bytes) {
  return {.peers = asked.peers, .in_flight = asked.in_flight, .spill_bytes = spill_bytes, .data = asked.data};
}

} // namespace

std::expected<std::size_t, std::string> read_size(const std::string& text) {
  const auto* const end = text.data() + text.size();
  std::size_t number = 0;
  const auto read = std::from_chars(text.data(), end, number);
  const auto shift = shift_of(std::string{read.ptr, end});
  if (read.ec != std::errc{} || !shift || number > (std::size_t{1} << 40))
    return std::unexpected{fmt::format("\"{}\" is no size; write it as 8, 64B, 1Ki, 64KiB, 1Mi or 1Gi", text)};
  return number << *shift;
}

std::expected<std::vector<std::size_t>, std::string> read_sizes(const std::string& text) {
  constexpr std::string_view between = "..";
  const auto dots = text.find(between);
  const auto first = read_size(text.substr(0, dots));
  const auto last = dots == std::string::npos ? first : read_size(text.substr(dots + between.size()));
  if (!first || !last)
    return std::unexpected{(first ? last : first).error()};
  for (const auto size : {*first, *last})
    if (size < size_least || size > size_most)
      return std::unexpected{fmt::format("a payload of {} bytes cannot be measured: sizes go from {} to {}", size,
                                         text_of_size(size_least), text_of_size(size_most))};
  if (*first > *last)
    return std::unexpected{
        fmt::format("\"{}\" is empty: {} is more than {}", text, text_of_size(*first), text_of_size(*last))};
  std::vector<std::size_t> made;
  for (auto size = *first; size < *last; size *= 8)
    made.push_back(size);
  made.push_back(*last);
  return made;
}

std::expected<std::vector<measurement>, std::string> plan_of(const bench_request& asked) {
  auto spill_bytes =
      asked.spill == "never" ? std::expected<std::size_t, std::string>{SIZE_MAX} : read_size(asked.spill);
  if (!spill_bytes)
    return std::unexpected{"--spill: " + spill_bytes.error() + ", or as never"};
  std::vector<std::size_t> sizes;
  for (const auto& each : asked.sizes) {
    const auto read = read_sizes(each);
    if (!read)
      return std::unexpected{"--size: " + read.error()};
    sizes.insert(sizes.end(), read->begin(), read->end());
  }
  std::ranges::sort(sizes);
  sizes.erase(std::ranges::unique(sizes).begin(), sizes.end());
  std::vector<measurement> made;
  for (const auto& how : asked.patterns)
    for (const auto& transport : asked.transports)
      for (const auto& family : asked.families)
        for (const auto& compression : asked.compressions)
          for (const auto size : sizes) {
            auto one = common_of(asked, *spill_bytes);
            one.how = pattern_of(how);
            one.transport = transport;
            one.family = transport == "inproc" ? "-" : family;
            one.compression = transport == "inproc" ? "none" : compression;
            one.size_bytes = size;
            if (std::ranges::find(made, label_of(one), label_of) == made.end())
              made.push_back(std::move(one));
          }
  return made;
}

double expected_seconds(const bench_request& asked, std::size_t measurements) {
  const auto of_each = asked.rounds * (starting_seconds + asked.seconds * (1 + warm_up_part)) + starting_seconds;
  return of_each * static_cast<double>(measurements);
}

std::expected<void, std::string> fit_into_total(bench_request& asked, std::size_t measurements) {
  if (asked.total_seconds <= 0 || expected_seconds(asked, measurements) <= asked.total_seconds)
    return {};
  auto without = asked;
  without.seconds = 0;
  const auto starting = expected_seconds(without, measurements);
  asked.seconds =
      (asked.total_seconds - starting) / (static_cast<double>(measurements) * asked.rounds * (1 + warm_up_part));
  if (asked.seconds >= seconds_least)
    return {};
  return std::unexpected{fmt::format(
      "--total: {} rounds of {} measurements take {:.0f} s only to start their processes, which leaves nothing "
      "of {:g} s; ask for fewer --rounds, sizes, families or transports",
      asked.rounds, measurements, starting, asked.total_seconds)};
}

} // namespace troupe::tools
