// What a supervisor does when a child ends. Pure computation: times are passed in.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include <troupe/framework/supervisor_options.hpp>

namespace troupe::internal {

/// Since any fixed point. Never falls.
using supervision_time = std::chrono::nanoseconds;

/// Where a child is in its life.
enum class child_state : std::uint8_t {
  waiting, ///< For its first start.
  starting,
  running,
  stopping,
  restarting, ///< It waits to be started again.
  ended
};

/// What the supervisor must do next.
struct supervision_step {
  enum class kind : std::uint8_t {
    start,   ///< Start `child`; then report started() or start_failed().
    stop,    ///< Stop `child`; then report ended() or start_failed().
    pause,   ///< `child` will be started again after `pause`. Then report pause_over(`ticket`), unless `pause` is 0.
    give_up, ///< Report why: `child` was restarted too often. Stops follow, then `finish`.
    finish   ///< All children are down, and nothing will follow.
  };

  kind what = kind::finish;
  std::size_t child = 0;
  std::chrono::nanoseconds pause{0};
  std::uint64_t ticket = 0;

  friend bool operator==(const supervision_step&, const supervision_step&) = default;
};

/// Decides which children a supervisor starts and stops, and when it gives up.
///
/// The strategies, restart types and the restart intensity are Erlang/OTP's (module supervisor). Three things differ. A
/// child whose first start fails is started again, as after any other end. Pauses separate the restarts of a child. A
/// restart that waits, because of its pause or because a start or stop takes long, does not delay the restart of a
/// child that is independent of it.
///
/// Invariants:
/// 1. At most one child is being stopped at a time, and always the last one of those to stop.
/// 2. No child is started while another one must be stopped.
/// 3. With one_for_all and rest_for_one, at most one child is being started at a time, and always the first one of
/// those
///    to start. With one_for_one, this holds for the first start of each child.
/// 4. After shut_down() or `give_up`, no child is started.
///
/// Reports about a child that is neither starting nor running are ignored.
class restart_rules {
public:
  using steps = std::vector<supervision_step>;

  restart_rules(const supervisor_options& options, std::vector<lifetime> children);

  [[nodiscard]] steps begin(supervision_time now);
  [[nodiscard]] steps started(std::size_t which, supervision_time now);
  [[nodiscard]] steps start_failed(std::size_t which, supervision_time now);
  /// A running child has ended, whether it was to be stopped or not.
  [[nodiscard]] steps ended(std::size_t which, bool is_abnormal, supervision_time now);
  [[nodiscard]] steps pause_over(std::uint64_t ticket, supervision_time now);
  /// All children are to be stopped, for ever.
  [[nodiscard]] steps shut_down(supervision_time now);

  /// The restarts that count at this time, and the time since the first of them.
  [[nodiscard]] std::size_t restarts() const noexcept { return restarts_.size(); }
  [[nodiscard]] std::chrono::nanoseconds restarts_since(supervision_time now) const noexcept {
    return restarts_.empty() ? std::chrono::nanoseconds{0} : now - restarts_.front();
  }
  [[nodiscard]] bool is_ending() const noexcept { return is_ending_; }
  [[nodiscard]] child_state state_of(std::size_t which) const noexcept;
  /// The supervisor has asked for the end of this child, or will.
  [[nodiscard]] bool is_to_stop(std::size_t which) const noexcept { return children_[which].must_stop; }

private:
  //  waiting --start--> starting --started--> running --ended--> waiting, over or removed
  //  starting, running --stop--> stopping --ended--> waiting, over or removed
  enum class state : std::uint8_t {
    waiting, // Will be started.
    starting,
    running,
    stopping,
    over,   // Ended normally. Starts again only with its group.
    removed // Never starts again.
  };
  struct child {
    troupe::lifetime lifetime;
    state now = state::waiting;
    bool must_stop = false;     // Only if starting, running or stopping.
    bool was_attempted = false; // A first start has succeeded or failed.
    std::uint64_t ticket = 0;   // Of the pause that holds the child back; 0 if none does.
    std::size_t pauses = 0;     // Since the child last lived long.
    supervision_time started_at{0};
  };

  [[nodiscard]] bool restarts_groups() const noexcept { return strategy_ != restart::one_for_one; }
  [[nodiscard]] static bool is_up(const child& of) noexcept {
    return of.now == state::starting || of.now == state::running || of.now == state::stopping;
  }
  void fail(std::size_t which, std::chrono::nanoseconds lived, supervision_time now, steps& next);
  void restart_group(std::size_t which);
  void end_all();
  void settle_stopped(child& of);
  [[nodiscard]] bool exceeds_intensity(supervision_time now);
  [[nodiscard]] std::chrono::nanoseconds next_pause(child& of, std::chrono::nanoseconds lived) const;
  void advance(steps& next);
  /// Returns false while stops prevent starts.
  [[nodiscard]] bool advance_stops(steps& next);
  void advance_starts(steps& next);

  const restart strategy_;
  const std::size_t most_;
  const std::chrono::nanoseconds within_;
  const std::chrono::nanoseconds back_off_;
  const std::chrono::nanoseconds longest_back_off_;
  std::vector<child> children_;
  std::deque<supervision_time> restarts_; // Within the last `within_`, at most `most_` + 1.
  std::uint64_t last_ticket_ = 0;
  std::uint64_t group_ticket_ = 0; // Of the pause that holds the whole group back; 0 if none does.
  bool is_ending_ = false;
  bool is_finished_ = false;
};

} // namespace troupe::internal
