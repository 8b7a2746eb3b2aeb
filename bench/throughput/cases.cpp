#include "throughput/cases.hpp"

#include <fmt/format.h>

#include <utility>

namespace bench {

namespace {

std::vector<quantity> both_percentiles(const std::string& name) {
  return {{name + " p50", "us"}, {name + " p99", "us"}};
}

} // namespace

std::vector<measured_case> pair_cases() {
  using enum placement;
  return {
      {"one-way",
       exchange::one_way,
       as_the_system_likes,
       {{"one-way small struct", "msg/s"}},
       {{"processor time per message, one way", "ns"}}},
      // Before the cases in which both ends share a core, where some polling subjects yield.
      {"at-rest", exchange::nothing, as_the_system_likes, {}, {{"processor time at rest", "% of a core"}}},
      {"echo", exchange::echo, as_the_system_likes, {{"pipelined echo", "requests/s"}}},
      {"round-trip", exchange::round_trip, as_the_system_likes, both_percentiles("idle round trip")},
      {"round-trip-2-cores", exchange::round_trip, a_core_each, both_percentiles("idle round trip, a core each")},
      {"round-trip-1-core", exchange::round_trip, one_core, both_percentiles("idle round trip, one core")},
  };
}

std::vector<measured_case> fan_cases() {
  return {{"fan",
           exchange::one_way_together,
           placement::as_the_system_likes,
           {{"one-way small struct, all processes together", "msg/s"}}}};
}

std::vector<measured_case> batch_cases() {
  const auto together = fmt::format("structs {} to a message", structs_together);
  return {{"batches",
           exchange::one_way,
           placement::as_the_system_likes,
           {{"one way, " + together, "structs/s"}},
           {{"processor time per struct, " + together, "ns"}}}};
}

std::vector<measured_case> local_cases() {
  using enum placement;
  return {
      {"local-one-way", exchange::one_way, as_the_system_likes, {{"local one-way small struct", "msg/s"}}},
      {"local-round-trip", exchange::round_trip, as_the_system_likes, both_percentiles("local request round trip")},
  };
}

std::expected<measurement, std::string> run_case(const measured_case& what, near_end& near, std::uint64_t messages) {
  std::vector<seconds> round_trips;
  std::expected<seconds, std::string> took;
  switch (what.does) {
  case exchange::one_way:
  case exchange::one_way_together:
    took = near.one_way(messages);
    break;
  case exchange::echo:
    took = near.echo(messages, echo_window, nullptr);
    break;
  case exchange::round_trip:
    round_trips.reserve(messages);
    took = near.echo(messages, 1, &round_trips);
    break;
  case exchange::nothing:
    return std::unexpected{"nothing is asked of a near end at rest"};
  }
  if (!took)
    return std::unexpected{std::move(took).error()};
  if (what.does != exchange::round_trip)
    return measurement{*took, {static_cast<double>(messages) / took->count()}};
  std::vector<double> microseconds;
  for (const auto one : round_trips)
    microseconds.push_back(one.count() * 1e6);
  return measurement{*took, {percentile(microseconds, 50), percentile(microseconds, 99)}};
}

} // namespace bench
