// What one round of offered load has shown.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <troupe/base/histogram.hpp>

namespace troupe::tools {

/// Requests that failed for one reason. The times are those of their intended starts, in seconds since the measured
/// time began.
struct failed_requests {
  std::uint64_t count = 0;
  double first_seconds = 0;
  double last_seconds = 0;

  void add(double seconds, std::uint64_t times = 1);
  void add(const failed_requests& other);
};

/// The figures of one round. They are about the requests whose intended start lies in the measured time, which follows
/// the warm-up. `scheduled` is the sum of `answered` (of one-way messages: consumed) and the failures.
struct load_round {
  double seconds = 0; // The measured time.
  std::uint64_t scheduled = 0;
  std::uint64_t sent = 0; // At any time, whether or not they failed.
  std::uint64_t answered = 0;
  std::map<std::string, failed_requests> failures; // By reason: a node_errc, "unanswered", "not_sent" and so on.

  double offered_per_second = 0; // As scheduled.
  double sent_per_second = 0;    // Sent within the measured time.
  double achieved_per_second =
      0; // Answered within the measured time; of one-way messages: consumed, by the sinks' clocks.

  std::uint64_t held = 0;             // Sent late because the outstanding requests were at their bound.
  std::uint64_t outstanding_most = 0; // The most at a time.

  /// 11 bits tell values apart to 0.1 %.
  inline static constexpr unsigned precision_bits = 11;
  /// From the intended start to the answer, in nanoseconds. Empty for one-way messages.
  histogram latency{precision_bits};
  /// From the intended start until the generator sent the request, in nanoseconds: its own delay. Without held
  /// requests.
  histogram lateness{precision_bits};

  [[nodiscard]] std::uint64_t failed() const;
};

/// Adds a round that another source has made at the same time.
void add_parallel(load_round& to, const load_round& other);

/// All rounds as one. The rates are means. Requires: there is at least one.
[[nodiscard]] load_round together(const std::vector<load_round>& rounds);

/// Why the figures are not those of the peer, because the generator itself did not keep its schedule. Empty if it did:
/// it sent at least 99 % in time, and caused at most half of the latency's 99th percentile, or at most 1 ms of it.
[[nodiscard]] std::string limit_of_generator(const load_round& round);

/// Whether the peer kept up: at least 99 % of what was offered was achieved.
[[nodiscard]] bool keeps_up(const load_round& round);

} // namespace troupe::tools
