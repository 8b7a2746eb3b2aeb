// One round of a source: what its sending actors and the thread that wakes them share.
#pragma once

#include "bench/load/open_loop.hpp"

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
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

/// Answered requests are sent by several actors: an actor of CAF 0.17 searches all the answers that it waits for, one
/// after the other, so thousands at a single actor would slow it down. One-way messages are sent by one actor, because
/// only the messages of one sender stay in order.
///
/// Threads: any, except for the members that are marked.
class load_run {
public:
  using clock = std::chrono::steady_clock;

  load_run(load_plan plan, std::vector<load_target> targets, std::string data)
      : loop_(std::move(plan)), targets_(std::move(targets)), data_(std::move(data)) {}

  [[nodiscard]] const load_plan& plan() const { return loop_.plan(); }
  [[nodiscard]] const std::string& data() const { return data_; } // One of the kinds of bench/payload.hpp.
  /// How many actors send.
  [[nodiscard]] std::size_t senders() const { return plan().is_answered ? 32 : 1; }

  /// What all senders use: made of this run when the first one asks for it. Requires: always the same type.
  template <class Shared>
  [[nodiscard]] std::shared_ptr<Shared> shared() {
    const std::lock_guard guard{mutex_};
    if (!shared_)
      shared_ = std::make_shared<Shared>(*this);
    return std::static_pointer_cast<Shared>(shared_);
  }

  // The open loop, at the present time. After the end of the run, nothing is due and nothing is counted.
  [[nodiscard]] std::optional<load_request> next_due();
  /// Both return whether something is to be done because this request has ended.
  [[nodiscard]] bool answered(const load_request& which);
  [[nodiscard]] bool failed(const load_request& which, std::string_view why);
  /// Whether all requests have ended, or the patience is over. Else notes when the next request is due.
  [[nodiscard]] bool is_done();

  /// The target of the next request: each in turn.
  [[nodiscard]] std::size_t choose_target() { return targets_chosen_++ % targets_.size(); }
  // Only for the sender of one-way messages, except for the handles, which do not change.
  [[nodiscard]] std::vector<load_target>& targets() { return targets_; }
  void note_sent(std::size_t target);
  void note_taken(std::size_t target, std::uint64_t count, std::chrono::nanoseconds taking);
  [[nodiscard]] bool has_no_patience_left() const;

  /// Makes the result, once. One-way messages: called by their sender.
  void end();
  [[nodiscard]] bool is_over() const { return is_over_; }
  /// Requires: is_over().
  [[nodiscard]] const load_round& result() const { return result_; }

  /// Notes that a sender is sent a tick. Returns false if the last one is not taken yet.
  [[nodiscard]] bool note_tick() { return !has_tick_.exchange(true); }
  void take_tick() { has_tick_ = false; }
  /// When a sender wants a tick: at some time, or never, which is far away.
  [[nodiscard]] clock::time_point wakes_at() const;

private:
  [[nodiscard]] std::chrono::nanoseconds now() const { return clock::now() - began_; }
  template <class End>
  [[nodiscard]] bool end_request(End end);
  void count_one_way(load_round& in) const;

  std::mutex mutex_; // Guards loop_ and shared_, and that end() has its effect once.
  std::shared_ptr<const void> shared_;
  open_loop loop_;
  std::vector<load_target> targets_;
  const std::string data_;
  const clock::time_point began_ = clock::now();
  link_stats before_ = {}; // The sums over the links when the first measured one-way message was sent.
  load_round result_;
  std::atomic<std::int64_t> wakes_at_ns_ = 0;
  std::atomic<std::size_t> targets_chosen_ = 0;
  std::atomic<bool> has_tick_ = false;
  std::atomic<bool> is_over_ = false;
};

} // namespace troupe::tools
