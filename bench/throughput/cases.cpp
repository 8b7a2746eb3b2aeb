#include "throughput/cases.hpp"

#include <algorithm>

namespace bench {

namespace {

constexpr std::string_view one_way = "one-way";
constexpr std::string_view echo = "echo";

std::vector<quantity> both_percentiles(const std::string& name) {
  return {{name + " p50", "us"}, {name + " p99", "us"}};
}

} // namespace

const std::vector<measured_case>& all_cases() {
  static const std::vector<measured_case> all{
      {one_way, placement::as_the_system_likes, {{"one-way small struct", "msg/s"}}},
      {echo, placement::as_the_system_likes, {{"pipelined echo", "requests/s"}}},
      {"round-trip", placement::as_the_system_likes, both_percentiles("idle round trip")},
      {"round-trip-2-cores", placement::a_core_each, both_percentiles("idle round trip, a core each")},
      {"round-trip-1-core", placement::one_core, both_percentiles("idle round trip, one core")},
  };
  return all;
}

const measured_case* find_case(std::string_view name) {
  const auto found = std::ranges::find(all_cases(), name, &measured_case::name);
  return found == all_cases().end() ? nullptr : &*found;
}

std::expected<measurement, std::string> run_case(const measured_case& what, near_end& near, std::uint64_t messages) {
  const auto is_timed_singly = what.name != one_way && what.name != echo;
  std::vector<seconds> round_trips;
  std::expected<seconds, std::string> took;
  if (what.name == one_way) {
    took = near.one_way(messages);
  } else if (what.name == echo) {
    took = near.echo(messages, echo_window, nullptr);
  } else {
    round_trips.reserve(messages);
    took = near.echo(messages, 1, &round_trips);
  }
  if (!took)
    return std::unexpected{std::move(took).error()};
  if (!is_timed_singly)
    return measurement{*took, {static_cast<double>(messages) / took->count()}};
  std::vector<double> microseconds;
  for (const auto one : round_trips)
    microseconds.push_back(one.count() * 1e6);
  return measurement{*took, {percentile(microseconds, 50), percentile(microseconds, 99)}};
}

} // namespace bench
