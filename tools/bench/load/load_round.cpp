#include "bench/load/load_round.hpp"

#include <algorithm>
#include <cassert>

#include <fmt/format.h>

namespace troupe::tools {

namespace {

constexpr double kept_part = 0.99;

/// Adds everything but the rates and the time.
void add_counts(load_round& to, const load_round& other) {
  to.scheduled += other.scheduled;
  to.sent += other.sent;
  to.answered += other.answered;
  for (const auto& [why, some] : other.failures)
    to.failures[why].add(some);
  to.held += other.held;
  to.latency.add(other.latency);
  to.lateness.add(other.lateness);
}

/// Whether `part` is at least 99 % of `all`, except for one request: short runs have few.
[[nodiscard]] bool is_nearly_all(double part, double all) {
  return part + 1 >= kept_part * all;
}

} // namespace

void failed_requests::add(double seconds, std::uint64_t times) {
  add(failed_requests{times, seconds, seconds});
}

void failed_requests::add(const failed_requests& other) {
  if (other.count == 0)
    return;
  first_seconds = count == 0 ? other.first_seconds : std::min(first_seconds, other.first_seconds);
  last_seconds = count == 0 ? other.last_seconds : std::max(last_seconds, other.last_seconds);
  count += other.count;
}

std::uint64_t load_round::failed() const {
  std::uint64_t sum = 0;
  for (const auto& [why, some] : failures)
    sum += some.count;
  return sum;
}

void add_parallel(load_round& to, const load_round& other) {
  add_counts(to, other);
  to.seconds = std::max(to.seconds, other.seconds);
  to.offered_per_second += other.offered_per_second;
  to.sent_per_second += other.sent_per_second;
  to.achieved_per_second += other.achieved_per_second;
  to.outstanding_most += other.outstanding_most;
}

load_round together(const std::vector<load_round>& rounds) {
  assert(!rounds.empty());
  load_round all;
  for (const auto& each : rounds) {
    add_counts(all, each);
    all.seconds += each.seconds;
    all.outstanding_most = std::max(all.outstanding_most, each.outstanding_most);
    const auto count = static_cast<double>(rounds.size());
    all.offered_per_second += each.offered_per_second / count;
    all.sent_per_second += each.sent_per_second / count;
    all.achieved_per_second += each.achieved_per_second / count;
  }
  return all;
}

std::string limit_of_generator(const load_round& round) {
  if (round.held == 0
      && !is_nearly_all(round.sent_per_second * round.seconds, round.offered_per_second * round.seconds))
    return fmt::format("it sent only {:.1f} of {:.1f} requests per second in time", round.sent_per_second,
                       round.offered_per_second);
  constexpr std::uint64_t negligible_ns = 1'000'000;
  constexpr double percent = 99;
  const auto late = round.lateness.percentile(percent);
  if (late > negligible_ns && round.latency.count() > 0 && late > round.latency.percentile(percent) / 2)
    return fmt::format("it sent 1 % of the requests more than {:.1f} ms after their intended start",
                       static_cast<double>(late) / 1e6);
  return {};
}

bool keeps_up(const load_round& round) {
  return is_nearly_all(round.achieved_per_second * round.seconds, round.offered_per_second * round.seconds);
}

} // namespace troupe::tools
