// Goal: a supervisor's decisions are those of Erlang/OTP, in every order of events.
// Method: a table of children plays the supervisor that carries the decisions out; times are numbers.
#include <algorithm>
#include <random>
#include <string>

#include <gtest/gtest.h>

#include <troupe/framework/internal/supervision/restart_rules.hpp>

namespace troupe::internal {

/// "start 0, stop 2, pause 1 100".
std::string to_text(const restart_rules::steps& steps) {
  using enum supervision_step::kind;
  std::string all;
  for (const auto& one : steps) {
    const auto child = std::to_string(one.child);
    all += all.empty() ? "" : ", ";
    switch (one.what) {
    case start:
      all += "start " + child;
      break;
    case stop:
      all += "stop " + child;
      break;
    case pause:
      all += "pause " + child + ' ' + std::to_string(one.pause / std::chrono::milliseconds{1});
      break;
    case give_up:
      all += "give up " + child;
      break;
    case finish:
      all += "finish";
      break;
    }
  }
  return all;
}

namespace {

using namespace std::chrono_literals;
using enum lifetime;

/// Passes events to the rules and returns the steps as text.
class rules_play {
public:
  rules_play(const supervisor_options& options, std::vector<lifetime> children) : rules(options, std::move(children)) {}

  std::string begin() { return said(rules.begin(now)); }
  std::string started(std::size_t child) { return said(rules.started(child, now)); }
  std::string failed(std::size_t child) { return said(rules.start_failed(child, now)); }
  std::string ended(std::size_t child) { return said(rules.ended(child, true, now)); }
  std::string ended_normally(std::size_t child) { return said(rules.ended(child, false, now)); }
  std::string pause_over() { return said(rules.pause_over(ticket, now)); }
  std::string shut_down() { return said(rules.shut_down(now)); }
  /// All children are running.
  rules_play& begun(std::size_t children) {
    (void)begin();
    for (std::size_t i = 0; i < children; ++i)
      (void)started(i);
    return *this;
  }

  restart_rules rules;
  supervision_time now{1000s};
  std::uint64_t ticket = 0; // Of the last pause.

private:
  std::string said(const restart_rules::steps& steps) {
    for (const auto& one : steps)
      if (one.what == supervision_step::kind::pause)
        ticket = one.ticket;
    return to_text(steps);
  }
};

supervisor_options with(restart strategy, std::chrono::milliseconds back_off = 0ms, std::size_t most = 5) {
  return {.strategy = strategy, .most = most, .within = 60s, .back_off = back_off};
}

constexpr auto each = {restart::one_for_one, restart::one_for_all, restart::rest_for_one};

TEST(restart_rules, bound_the_longest_and_the_shortest_times) {
  constexpr auto most = std::chrono::milliseconds::max();
  rules_play for_ever{{.most = 1, .within = most, .back_off = most, .longest_back_off = most}, {permanent}};
  for_ever.begun(1);
  for_ever.now = 1h;
  EXPECT_EQ(for_ever.ended(0), "pause 0 3153600000000");
  rules_play never{{.most = 1, .within = -1ms, .back_off = 0ms}, {permanent}};
  never.begun(1);
  EXPECT_EQ(never.ended(0), "pause 0 0, start 0");
}

TEST(restart_rules, children_start_one_after_the_other) {
  for (const auto strategy : each) {
    rules_play play{with(strategy), {permanent, transient, temporary}};
    EXPECT_EQ(play.begin(), "start 0");
    EXPECT_EQ(play.started(0), "start 1");
    EXPECT_EQ(play.started(1), "start 2");
    EXPECT_EQ(play.started(2), "");
  }
}

TEST(restart_rules, children_stop_one_after_the_other_in_reverse) {
  for (const auto strategy : each) {
    rules_play play{with(strategy), {permanent, transient, temporary}};
    play.begun(3);
    EXPECT_EQ(play.shut_down(), "stop 2");
    EXPECT_EQ(play.ended(2), "stop 1");
    EXPECT_EQ(play.ended_normally(1), "stop 0");
    EXPECT_EQ(play.ended(0), "finish");
    EXPECT_EQ(play.shut_down(), "");
  }
}

TEST(restart_rules, one_for_one_restarts_only_the_child_that_ended) {
  rules_play play{with(restart::one_for_one), {permanent, permanent, permanent}};
  play.begun(3);
  EXPECT_EQ(play.ended(1), "pause 1 0, start 1");
  EXPECT_EQ(play.started(1), "");
}

TEST(restart_rules, one_for_all_stops_the_others_in_reverse_and_starts_all) {
  rules_play play{with(restart::one_for_all), {permanent, permanent, permanent}};
  play.begun(3);
  EXPECT_EQ(play.ended(1), "pause 1 0, stop 2");
  EXPECT_EQ(play.ended(2), "stop 0");
  EXPECT_EQ(play.ended(0), "start 0");
  EXPECT_EQ(play.started(0), "start 1");
  EXPECT_EQ(play.started(1), "start 2");
  EXPECT_EQ(play.started(2), "");
}

TEST(restart_rules, rest_for_one_leaves_the_children_before_alone) {
  rules_play play{with(restart::rest_for_one), {permanent, permanent, permanent, permanent}};
  play.begun(4);
  EXPECT_EQ(play.ended(1), "pause 1 0, stop 3");
  EXPECT_EQ(play.ended(3), "stop 2");
  EXPECT_EQ(play.ended(2), "start 1");
  EXPECT_EQ(play.started(1), "start 2");
  EXPECT_EQ(play.started(2), "start 3");
}

TEST(restart_rules, a_permanent_child_starts_again_after_a_normal_end_a_transient_one_does_not) {
  for (const auto strategy : each) {
    rules_play play{with(strategy), {permanent, transient}};
    play.begun(2);
    EXPECT_EQ(play.ended_normally(1), "");
    EXPECT_EQ(play.ended_normally(0), "pause 0 0, start 0");
  }
}

TEST(restart_rules, a_transient_child_starts_again_after_an_abnormal_end) {
  for (const auto strategy : each) {
    rules_play play{with(strategy), {transient}};
    play.begun(1);
    EXPECT_EQ(play.ended(0), "pause 0 0, start 0");
  }
}

TEST(restart_rules, a_temporary_child_never_starts_again) {
  for (const auto strategy : each) {
    rules_play play{with(strategy), {permanent, temporary}};
    play.begun(2);
    EXPECT_EQ(play.ended(1), "");
    EXPECT_EQ(play.ended(0), "pause 0 0, start 0");
    EXPECT_EQ(play.started(0), "");
  }
}

TEST(restart_rules, a_temporary_child_that_was_stopped_with_its_group_does_not_start_again) {
  rules_play play{with(restart::one_for_all), {temporary, permanent}};
  play.begun(2);
  EXPECT_EQ(play.ended(1), "pause 1 0, stop 0");
  EXPECT_EQ(play.ended(0), "start 1");
  EXPECT_EQ(play.started(1), "");
}

TEST(restart_rules, a_transient_child_that_is_over_starts_again_with_its_group) {
  rules_play play{with(restart::one_for_all), {permanent, transient}};
  play.begun(2);
  EXPECT_EQ(play.ended_normally(1), "");
  EXPECT_EQ(play.ended(0), "pause 0 0, start 0");
  EXPECT_EQ(play.started(0), "start 1");
}

TEST(restart_rules, a_transient_child_before_the_one_that_ended_stays_over_in_rest_for_one) {
  rules_play play{with(restart::rest_for_one), {transient, permanent}};
  play.begun(2);
  EXPECT_EQ(play.ended_normally(0), "");
  EXPECT_EQ(play.ended(1), "pause 1 0, start 1");
  EXPECT_EQ(play.started(1), "");
}

TEST(restart_rules, a_supervisor_gives_up_at_one_restart_more_than_allowed) {
  for (const auto strategy : each) {
    rules_play play{with(strategy, 0ms, 2), {permanent}};
    play.begun(1);
    for (int i = 0; i < 2; ++i) {
      EXPECT_EQ(play.ended(0), "pause 0 0, start 0");
      (void)play.started(0);
    }
    EXPECT_EQ(play.ended(0), "give up 0, finish");
    EXPECT_EQ(play.rules.restarts(), 3u);
  }
}

TEST(restart_rules, a_supervisor_that_may_not_restart_gives_up_at_the_first_end) {
  rules_play play{with(restart::one_for_one, 0ms, 0), {permanent, permanent}};
  play.begun(2);
  EXPECT_EQ(play.ended(0), "give up 0, stop 1");
  EXPECT_EQ(play.ended(1), "finish");
}

TEST(restart_rules, a_restart_counts_up_to_the_end_of_the_window) {
  rules_play play{with(restart::one_for_one, 0ms, 1), {permanent}};
  play.begun(1);
  (void)play.ended(0);
  (void)play.started(0);
  play.now += 60s; // The first restart is exactly as old as the window.
  EXPECT_EQ(play.ended(0), "give up 0, finish");
}

TEST(restart_rules, a_restart_does_not_count_after_the_window) {
  rules_play play{with(restart::one_for_one, 0ms, 1), {permanent}};
  play.begun(1);
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(play.ended(0), "pause 0 0, start 0");
    (void)play.started(0);
    play.now += 60s + 1ns;
  }
}

TEST(restart_rules, restarts_of_all_children_count_together) {
  rules_play play{with(restart::one_for_one, 0ms, 2), {permanent, permanent, permanent}};
  play.begun(3);
  (void)play.ended(0);
  (void)play.ended(1);
  EXPECT_EQ(play.ended(2), "give up 2, stop 1"); // Child 1 is being started.
  EXPECT_EQ(play.failed(1), "stop 0");
  EXPECT_EQ(play.ended(0), "finish");
}

TEST(restart_rules, the_restart_of_a_group_counts_once) {
  rules_play play{with(restart::one_for_all, 0ms, 1), {permanent, permanent, permanent}};
  play.begun(3);
  (void)play.ended(0);
  (void)play.ended(2);
  EXPECT_EQ(play.ended(1), "start 0");
  EXPECT_EQ(play.rules.restarts(), 1u);
}

TEST(restart_rules, normal_ends_of_transient_and_ends_of_temporary_children_do_not_count) {
  rules_play play{with(restart::one_for_one, 0ms, 0), {transient, temporary}};
  play.begun(2);
  EXPECT_EQ(play.ended_normally(0), "");
  EXPECT_EQ(play.ended(1), "");
  EXPECT_EQ(play.shut_down(), "finish");
}

TEST(restart_rules, pauses_double_up_to_their_bound) {
  rules_play play{with(restart::one_for_one, 100ms, 100), {permanent}};
  play.begun(1);
  for (const auto pause : {100, 200, 400, 800, 1600, 3200, 6400, 10000, 10000, 10000}) {
    EXPECT_EQ(play.ended(0), "pause 0 " + std::to_string(pause));
    EXPECT_EQ(play.pause_over(), "start 0");
    (void)play.started(0);
  }
}

TEST(restart_rules, a_child_that_lived_long_pauses_briefly_again) {
  rules_play play{with(restart::one_for_one, 100ms, 100), {permanent}};
  play.begun(1);
  const auto live = [&](std::chrono::nanoseconds time) {
    play.now += time;
    auto said = play.ended(0);
    (void)play.pause_over();
    (void)play.started(0);
    return said;
  };
  EXPECT_EQ(live(1s), "pause 0 100");
  EXPECT_EQ(live(1s), "pause 0 200");
  EXPECT_EQ(live(10s - 1ns), "pause 0 400");
  EXPECT_EQ(live(10s), "pause 0 100");
}

TEST(restart_rules, each_child_has_its_own_pauses) {
  rules_play play{with(restart::one_for_one, 100ms), {permanent, permanent}};
  play.begun(2);
  EXPECT_EQ(play.ended(0), "pause 0 100");
  const auto first = play.ticket;
  EXPECT_EQ(play.ended(1), "pause 1 100");
  EXPECT_EQ(play.pause_over(), "start 1");
  EXPECT_EQ(to_text(play.rules.pause_over(first, play.now)), "start 0");
}

TEST(restart_rules, a_pause_holds_a_whole_group_back_but_not_its_stops) {
  rules_play play{with(restart::one_for_all, 100ms), {permanent, permanent}};
  play.begun(2);
  EXPECT_EQ(play.ended(0), "pause 0 100, stop 1");
  EXPECT_EQ(play.ended(1), "");
  EXPECT_EQ(play.pause_over(), "start 0");
}

TEST(restart_rules, a_pause_that_ends_before_the_stops_starts_nothing_early) {
  rules_play play{with(restart::one_for_all, 100ms), {permanent, permanent}};
  play.begun(2);
  (void)play.ended(0);
  EXPECT_EQ(play.pause_over(), "");
  EXPECT_EQ(play.ended(1), "start 0");
}

TEST(restart_rules, only_the_last_pause_of_a_group_counts) {
  rules_play play{with(restart::rest_for_one, 100ms), {permanent, permanent}};
  play.begun(2);
  EXPECT_EQ(play.ended(1), "pause 1 100");
  const auto first = play.ticket;
  EXPECT_EQ(play.ended(0), "pause 0 100");
  EXPECT_EQ(to_text(play.rules.pause_over(first, play.now)), "");
  EXPECT_EQ(play.pause_over(), "start 0");
}

TEST(restart_rules, a_failed_start_counts_like_an_end) {
  for (const auto strategy : each) {
    rules_play play{with(strategy, 100ms, 2), {permanent}};
    EXPECT_EQ(play.begin(), "start 0");
    EXPECT_EQ(play.failed(0), "pause 0 100");
    EXPECT_EQ(play.pause_over(), "start 0");
    EXPECT_EQ(play.failed(0), "pause 0 200");
    EXPECT_EQ(play.pause_over(), "start 0");
    EXPECT_EQ(play.failed(0), "give up 0, finish");
  }
}

TEST(restart_rules, a_first_start_that_fails_does_not_hold_independent_children_back) {
  rules_play play{with(restart::one_for_one, 100ms), {permanent, permanent}};
  EXPECT_EQ(play.begin(), "start 0");
  EXPECT_EQ(play.failed(0), "pause 0 100, start 1");
  EXPECT_EQ(play.pause_over(), "start 0");
}

TEST(restart_rules, a_failed_start_of_a_temporary_child_is_final) {
  for (const auto strategy : each) {
    rules_play play{with(strategy), {temporary, permanent}};
    (void)play.begin();
    EXPECT_EQ(play.failed(0), "start 1");
  }
}

TEST(restart_rules, a_failed_start_of_a_transient_child_is_abnormal) {
  rules_play play{with(restart::one_for_one), {transient}};
  (void)play.begin();
  EXPECT_EQ(play.failed(0), "pause 0 0, start 0");
}

TEST(restart_rules, a_failed_start_in_the_middle_of_one_for_all_stops_the_children_that_have_started) {
  rules_play play{with(restart::one_for_all), {permanent, permanent, permanent}};
  play.begun(3);
  (void)play.ended(0);
  (void)play.ended(2);
  (void)play.ended(1);
  (void)play.started(0);
  EXPECT_EQ(play.failed(1), "pause 1 0, stop 0");
  EXPECT_EQ(play.ended(0), "start 0");
  EXPECT_EQ(play.started(0), "start 1");
  EXPECT_EQ(play.rules.restarts(), 2u);
}

TEST(restart_rules, a_failed_start_in_the_middle_of_rest_for_one_starts_from_that_child_on) {
  rules_play play{with(restart::rest_for_one), {permanent, permanent, permanent}};
  play.begun(3);
  (void)play.ended(0);
  (void)play.ended(2);
  (void)play.ended(1);
  (void)play.started(0);
  EXPECT_EQ(play.failed(1), "pause 1 0, start 1");
  EXPECT_EQ(play.started(1), "start 2");
}

TEST(restart_rules, a_child_that_ends_by_itself_while_others_are_stopped_counts_as_stopped) {
  rules_play play{with(restart::one_for_all), {permanent, permanent, permanent}};
  play.begun(3);
  EXPECT_EQ(play.ended(0), "pause 0 0, stop 2");
  EXPECT_EQ(play.ended(1), ""); // Before its turn.
  EXPECT_EQ(play.ended(2), "start 0");
  EXPECT_EQ(play.rules.restarts(), 1u);
}

TEST(restart_rules, a_child_that_ends_while_its_group_is_started_restarts_the_group) {
  rules_play play{with(restart::one_for_all), {permanent, permanent}};
  play.begun(2);
  (void)play.ended(0);
  EXPECT_EQ(play.ended(1), "start 0");
  EXPECT_EQ(play.started(0), "start 1");
  EXPECT_EQ(play.ended(0), "pause 0 0, stop 1"); // Child 1 is being started.
  EXPECT_EQ(play.started(1), "");                // Its end is still to come.
  EXPECT_EQ(play.ended(1), "start 0");
}

TEST(restart_rules, a_child_before_a_group_that_is_stopped_widens_the_group) {
  rules_play play{with(restart::rest_for_one), {permanent, permanent, permanent}};
  play.begun(3);
  EXPECT_EQ(play.ended(1), "pause 1 0, stop 2");
  EXPECT_EQ(play.ended(0), "pause 0 0");
  EXPECT_EQ(play.ended(2), "start 0");
  EXPECT_EQ(play.started(0), "start 1");
}

TEST(restart_rules, a_shutdown_in_a_pause_starts_nothing) {
  for (const auto strategy : each) {
    rules_play play{with(strategy, 100ms), {permanent, permanent}};
    play.begun(2);
    EXPECT_EQ(play.ended(1), "pause 1 100" + std::string(strategy == restart::one_for_all ? ", stop 0" : ""));
    EXPECT_EQ(play.shut_down(), strategy == restart::one_for_all ? "" : "stop 0");
    EXPECT_EQ(play.pause_over(), "");
    EXPECT_EQ(play.ended(0), "finish");
  }
}

TEST(restart_rules, a_shutdown_while_a_child_starts_stops_that_child) {
  for (const auto strategy : each) {
    rules_play play{with(strategy), {permanent, permanent}};
    (void)play.begin();
    EXPECT_EQ(play.shut_down(), "stop 0");
    EXPECT_EQ(play.failed(0), "finish");
  }
}

TEST(restart_rules, a_shutdown_in_the_middle_of_a_groups_stops_goes_on_with_them) {
  rules_play play{with(restart::one_for_all), {permanent, permanent, permanent}};
  play.begun(3);
  EXPECT_EQ(play.ended(1), "pause 1 0, stop 2");
  EXPECT_EQ(play.shut_down(), "");
  EXPECT_EQ(play.ended(2), "stop 0");
  EXPECT_EQ(play.ended(0), "finish");
}

TEST(restart_rules, reports_about_children_that_are_down_are_ignored) {
  rules_play play{with(restart::one_for_one, 100ms), {permanent}};
  play.begun(1);
  (void)play.ended(0);
  EXPECT_EQ(play.ended(0), "");
  EXPECT_EQ(play.failed(0), "");
  EXPECT_EQ(play.started(0), "");
  EXPECT_EQ(play.rules.restarts(), 1u);
}

TEST(restart_rules, a_nested_supervisor_that_gives_up_is_the_end_of_a_child) {
  rules_play inner{with(restart::one_for_one, 0ms, 0), {permanent}};
  rules_play outer{with(restart::one_for_one, 0ms, 1), {permanent}};
  outer.begun(1);
  inner.begun(1);
  EXPECT_EQ(inner.ended(0), "give up 0, finish");
  EXPECT_EQ(outer.ended(0), "pause 0 0, start 0");
}

// -- every order of events --

/// Children that follow the steps, and check them against the invariants of restart_rules.
class model {
public:
  enum class state { down, starting, running, stopping };

  model(const supervisor_options& options, const std::vector<lifetime>& kinds)
      : options_(options), kinds_(kinds), states_(kinds.size(), state::down), rules_(options, kinds) {
    follow(rules_.begin(now_));
  }

  bool is_finished() const { return is_finished_; }
  bool is_ending() const { return is_ending_; }

  void do_something(std::mt19937_64& random) {
    now_ += std::chrono::milliseconds(random() % 3'000);
    const auto which = random() % kinds_.size();
    switch (random() % 40) {
    case 0:
      if (random() % 10 == 0) {
        is_ending_ = true;
        follow(rules_.shut_down(now_));
      }
      break;
    case 1:
    case 2:
    case 3:
    case 4:
      end(which, random() % 2 == 0);
      break;
    default:
      progress(random);
    }
  }

  /// Does something that the supervisor waits for. Returns false if it waits for nothing.
  bool progress(std::mt19937_64& random) {
    if (!tickets_.empty() && random() % 2 == 0) {
      const auto ticket = tickets_.back();
      tickets_.pop_back();
      follow(rules_.pause_over(ticket, now_));
      return true;
    }
    for (std::size_t i = 0; i < states_.size(); ++i)
      if (states_[i] == state::starting) {
        if (random() % 4 == 0) {
          states_[i] = state::down;
          note_end(i);
          follow(rules_.start_failed(i, now_));
        } else {
          states_[i] = state::running;
          follow(rules_.started(i, now_));
        }
        return true;
      } else if (states_[i] == state::stopping) {
        end(i, random() % 2 == 0);
        return true;
      }
    if (tickets_.empty())
      return false;
    const auto ticket = tickets_.front();
    tickets_.erase(tickets_.begin());
    follow(rules_.pause_over(ticket, now_));
    return true;
  }

  /// Nothing is under way: every child is up that must be.
  void check_rest() const {
    if (is_ending_) {
      EXPECT_TRUE(is_finished_);
      return;
    }
    for (std::size_t i = 0; i < kinds_.size(); ++i)
      EXPECT_TRUE(kinds_[i] != permanent || states_[i] == state::running) << i;
  }

private:
  void end(std::size_t which, bool is_abnormal) {
    if (states_[which] != state::running && states_[which] != state::stopping)
      return;
    states_[which] = state::down;
    note_end(which);
    follow(rules_.ended(which, is_abnormal, now_));
  }

  void note_end(std::size_t which) {
    if (kinds_[which] == temporary)
      removed_.push_back(which);
  }

  void follow(const restart_rules::steps& steps) {
    using enum supervision_step::kind;
    for (const auto& step : steps) {
      ASSERT_FALSE(is_finished_) << to_text(steps);
      switch (step.what) {
      case start:
        check_start(step.child);
        states_[step.child] = state::starting;
        break;
      case stop:
        check_stop(step.child);
        states_[step.child] = state::stopping;
        break;
      case pause:
        if (step.ticket != 0)
          tickets_.push_back(step.ticket);
        EXPECT_LE(step.pause, options_.longest_back_off);
        EXPECT_LE(rules_.restarts(), options_.most);
        break;
      case give_up:
        EXPECT_EQ(rules_.restarts(), options_.most + 1);
        EXPECT_LE(rules_.restarts_since(now_), options_.within);
        is_ending_ = true;
        break;
      case finish:
        EXPECT_TRUE(is_ending_);
        EXPECT_TRUE(std::ranges::all_of(states_, [](state one) { return one == state::down; }));
        is_finished_ = true;
        break;
      }
    }
  }

  void check_start(std::size_t which) {
    EXPECT_EQ(states_[which], state::down);
    EXPECT_FALSE(is_ending_);
    EXPECT_EQ(std::ranges::count(removed_, which), 0);
    EXPECT_EQ(std::ranges::count(states_, state::stopping), 0);
    if (options_.strategy == restart::one_for_one)
      return;
    EXPECT_EQ(std::ranges::count(states_, state::starting), 0);
    for (std::size_t i = 0; i < which; ++i) // In order.
      EXPECT_TRUE(kinds_[i] != permanent || states_[i] == state::running) << i;
  }

  void check_stop(std::size_t which) {
    EXPECT_TRUE(states_[which] == state::running || states_[which] == state::starting);
    EXPECT_EQ(std::ranges::count(states_, state::stopping), 0);
    EXPECT_TRUE(is_ending_ || options_.strategy != restart::one_for_one);
    for (auto i = which + 1; i < states_.size(); ++i) // In reverse order.
      EXPECT_EQ(states_[i], state::down) << i;
  }

  const supervisor_options options_;
  const std::vector<lifetime> kinds_;
  std::vector<state> states_;
  std::vector<std::size_t> removed_; // Temporary children that have ended.
  std::vector<std::uint64_t> tickets_;
  restart_rules rules_;
  supervision_time now_{5s};
  bool is_ending_ = false;
  bool is_finished_ = false;
};

TEST(restart_rules, hold_their_invariants_in_random_orders_of_events) {
  for (std::uint64_t seed = 1; seed <= 3'000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::mt19937_64 random{seed};
    std::vector<lifetime> kinds(1 + random() % 5);
    for (auto& one : kinds)
      one = static_cast<lifetime>(random() % 3);
    model play{{.strategy = static_cast<restart>(random() % 3),
                .most = random() % 30,
                .within = std::chrono::seconds(1 + random() % 60),
                .back_off = std::chrono::milliseconds(random() % 2 * 100)},
               kinds};
    for (int i = 0; i < 200 && !play.is_finished(); ++i)
      play.do_something(random);
    for (int i = 0; i < 10'000 && play.progress(random); ++i) {
    }
    play.check_rest();
    if (testing::Test::HasFailure())
      return;
  }
}

} // namespace
} // namespace troupe::internal
