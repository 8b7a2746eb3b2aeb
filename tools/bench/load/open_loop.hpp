// The generator of offered load, without clock and transport: it is told the time, and what happens to its requests.
#pragma once

#include "bench/load/load_round.hpp"
#include "bench/load/schedule.hpp"
#include "bench/load/size_mix.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <string_view>
#include <vector>

namespace troupe::tools {

/// What to send, and when.
struct load_plan {
  arrivals how = arrivals::poisson;
  double rate = 1'000; // Requests per second.
  std::chrono::nanoseconds warm_up{0};
  std::chrono::nanoseconds measured{0};
  std::chrono::nanoseconds patience{0}; // How long to wait for answers after the last intended start.
  std::size_t outstanding_most = 100'000;
  std::uint64_t seed = 1;
  size_mix sizes{64};
  bool is_answered = true; // One-way messages are not.
};

/// A request that is due.
struct load_request {
  std::size_t slot = 0; // While it is outstanding.
  std::chrono::nanoseconds intended{0};
  std::size_t size = 0; // An index of size_mix::all().
};

/// Decides which requests to send when, and measures from their intended start: an open loop. If the peer stalls, the
/// schedule goes on, so the requests that come meanwhile have long latencies. (A closed loop waits for the peer before
/// it sends again, and so leaves out the requests that would have waited: coordinated omission.)
///
/// - No request is skipped. Requests that are overdue, because this end was late or because too many were outstanding,
///   are due at once, one after the other, with their intended starts.
/// - At the bound of outstanding requests, none is due until one has ended.
///
/// All times are since the begin of the run. They never decrease from call to call.
/// Threads: one at a time.
class open_loop {
public:
  /// Requires: `plan.outstanding_most` is at least 1.
  explicit open_loop(load_plan plan);

  /// The next request to send now, or nullopt if none is due. The caller sends it, and reports its end later.
  [[nodiscard]] std::optional<load_request> next_due(std::chrono::nanoseconds now);

  // The end of a request. One-way messages have none.
  void answered(const load_request& which, std::chrono::nanoseconds now);
  void failed(const load_request& which, std::chrono::nanoseconds now, std::string_view why);

  /// The time of the next intended start. Nullopt if there is none, or if it has to wait for the end of another
  /// request.
  [[nodiscard]] std::optional<std::chrono::nanoseconds> wakes_at() const;

  /// Whether nothing remains to be done: all requests are sent and have ended, or the patience is over.
  [[nodiscard]] bool is_over(std::chrono::nanoseconds now) const;

  /// Whether the next request has to wait for the end of another one.
  [[nodiscard]] bool is_at_bound() const { return plan_.is_answered && outstanding_ >= plan_.outstanding_most; }

  [[nodiscard]] const load_plan& plan() const { return plan_; }

  /// Ends the run, also before its time. Requests without an answer count as "unanswered", those that were due and not
  /// sent as "not_sent". To be called once.
  [[nodiscard]] load_round end(std::chrono::nanoseconds now);

private:
  [[nodiscard]] std::chrono::nanoseconds ends_at() const { return plan_.warm_up + plan_.measured; }
  [[nodiscard]] bool is_measured(std::chrono::nanoseconds at) const { return at >= plan_.warm_up && at < ends_at(); }
  [[nodiscard]] double seconds_of(std::chrono::nanoseconds at) const;
  void count_sending(std::chrono::nanoseconds intended, std::chrono::nanoseconds now);
  [[nodiscard]] std::size_t take_slot(std::chrono::nanoseconds intended);
  void release(const load_request& which, std::chrono::nanoseconds now);

  const load_plan plan_;
  schedule schedule_;
  std::mt19937_64 random_sizes_;
  std::chrono::nanoseconds next_;            // The first intended start that is not sent yet.
  std::chrono::nanoseconds bound_until_{-1}; // Intended starts up to here could not be kept because of the bound.
  std::size_t outstanding_ = 0;
  std::vector<std::chrono::nanoseconds> slots_; // The intended starts of outstanding requests; below 0: free.
  std::vector<std::size_t> free_slots_;
  std::uint64_t sent_in_time_ = 0;
  std::uint64_t answers_in_time_ = 0;
  load_round round_;
};

} // namespace troupe::tools
