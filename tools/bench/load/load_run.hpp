// One round of a source: what its sending actor and the thread that wakes the actor share.
#pragma once

#include "bench/load/open_loop.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <caf/actor.hpp>
#include <troupe/framework/link.hpp>

namespace troupe::tools {

/// The actor of a sink at the other end of a link. Of one-way messages, another one takes those of the warm-up, so that
/// each knows what it has got.
struct load_target {
  link by;
  caf::actor measured;
  caf::actor warming = {}; // Null if messages are answered.

  // Of one-way messages only.
  std::uint64_t sent = 0;
  std::uint64_t taken = 0;
  std::chrono::nanoseconds taking{0}; // From the first message to the last one, by the sink's clock.
  bool is_asked = false;
  bool is_known = false; // Whether `taken` is.
};

/// Threads: members above the line belong to the sending actor until is_over(), and those below to any thread.
class load_run {
public:
  using clock = std::chrono::steady_clock;

  load_run(load_plan plan, std::vector<load_target> targets, std::string data)
      : loop_(std::move(plan)), targets_(std::move(targets)), data_(std::move(data)) {}

  [[nodiscard]] open_loop& loop() { return loop_; }
  [[nodiscard]] std::vector<load_target>& targets() { return targets_; }
  [[nodiscard]] const std::string& data() const { return data_; } // One of the kinds of bench/payload.hpp.
  void note_sent(std::size_t target);
  void note_taken(std::size_t target, std::uint64_t count, std::chrono::nanoseconds taking);
  [[nodiscard]] bool has_no_patience_left() const;
  void sleep_until(std::optional<std::chrono::nanoseconds> at) { wakes_at_ns_ = at ? at->count() : INT64_MAX; }
  void take_tick() { has_tick_ = false; }
  /// Makes the result.
  void end();
  /// Requires: is_over().
  [[nodiscard]] const load_round& result() const { return result_; }

  // ----

  /// The time since the begin.
  [[nodiscard]] std::chrono::nanoseconds now() const { return clock::now() - began_; }
  [[nodiscard]] bool is_over() const { return is_over_; }
  /// Notes that the actor is sent a tick. Returns false if it has not taken the last one yet.
  [[nodiscard]] bool note_tick() { return !has_tick_.exchange(true); }
  /// When the actor wants a tick: at some time, or never, which is far away.
  [[nodiscard]] clock::time_point wakes_at() const;

private:
  void count_one_way(load_round& in) const;

  open_loop loop_;
  std::vector<load_target> targets_;
  const std::string data_;
  const clock::time_point began_ = clock::now();
  link_stats before_ = {}; // The sums over the links when the first measured one-way message was sent.
  load_round result_;
  std::atomic<std::int64_t> wakes_at_ns_ = 0;
  std::atomic<bool> has_tick_ = false;
  std::atomic<bool> is_over_ = false;
};

} // namespace troupe::tools
