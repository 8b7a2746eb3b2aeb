#include <troupe/framework/internal/supervision/restart_rules.hpp>

#include <algorithm>
#include <cassert>

#include <troupe/base/longest_wait.hpp>

namespace troupe::internal {

using enum supervision_step::kind;

restart_rules::restart_rules(const supervisor_options& options, std::vector<lifetime> children)
    : strategy_(options.strategy),
      most_(options.most),
      within_(bounded_wait(options.within)),
      back_off_(bounded_wait(options.back_off)),
      longest_back_off_(bounded_wait(std::max(options.longest_back_off, options.back_off))) {
  children_.reserve(children.size());
  for (const auto one : children)
    children_.push_back({.lifetime = one});
}

restart_rules::steps restart_rules::begin(supervision_time) {
  steps next;
  advance(next);
  return next;
}

restart_rules::steps restart_rules::started(std::size_t which, supervision_time now) {
  steps next;
  auto& of = children_[which];
  if (of.now == state::starting) { // Otherwise it is being stopped: its end is still to come.
    of.now = state::running;
    of.was_attempted = true;
    of.started_at = now;
    advance(next);
  }
  return next;
}

restart_rules::steps restart_rules::start_failed(std::size_t which, supervision_time now) {
  steps next;
  auto& of = children_[which];
  if (!is_up(of))
    return next;
  of.was_attempted = true;
  if (of.must_stop)
    settle_stopped(of);
  else if (of.lifetime == lifetime::temporary)
    of.now = state::removed;
  else
    fail(which, std::chrono::nanoseconds{0}, now, next);
  advance(next);
  return next;
}

restart_rules::steps restart_rules::ended(std::size_t which, bool is_abnormal, supervision_time now) {
  auto& of = children_[which];
  if (of.now == state::starting)
    return start_failed(which, now);
  steps next;
  if (!is_up(of))
    return next;
  if (of.must_stop)
    settle_stopped(of);
  else if (of.lifetime == lifetime::temporary)
    of.now = state::removed;
  else if (of.lifetime == lifetime::transient && !is_abnormal)
    of.now = state::over;
  else
    fail(which, now - of.started_at, now, next);
  advance(next);
  return next;
}

restart_rules::steps restart_rules::pause_over(std::uint64_t ticket, supervision_time) {
  steps next;
  if (ticket == 0)
    return next;
  if (group_ticket_ == ticket)
    group_ticket_ = 0;
  for (auto& one : children_)
    if (one.ticket == ticket)
      one.ticket = 0;
  advance(next);
  return next;
}

restart_rules::steps restart_rules::shut_down(supervision_time) {
  steps next;
  end_all();
  advance(next);
  return next;
}

child_state restart_rules::state_of(std::size_t which) const noexcept {
  switch (const auto& of = children_[which]; of.now) {
  case state::waiting:
    return of.was_attempted ? child_state::restarting : child_state::waiting;
  case state::starting:
    return child_state::starting;
  case state::running:
    return child_state::running;
  case state::stopping:
    return child_state::stopping;
  case state::over:
  case state::removed:
    break;
  }
  return child_state::ended;
}

void restart_rules::fail(std::size_t which, std::chrono::nanoseconds lived, supervision_time now, steps& next) {
  auto& of = children_[which];
  of.now = state::waiting;
  if (exceeds_intensity(now)) {
    next.push_back({.what = give_up, .child = which});
    return end_all();
  }
  if (restarts_groups())
    restart_group(which);
  const auto pause = next_pause(of, lived);
  const auto ticket = pause.count() > 0 ? ++last_ticket_ : 0;
  (restarts_groups() ? group_ticket_ : of.ticket) = ticket;
  next.push_back({.what = supervision_step::kind::pause, .child = which, .pause = pause, .ticket = ticket});
}

void restart_rules::restart_group(std::size_t which) {
  for (std::size_t i = strategy_ == restart::one_for_all ? 0 : which; i < children_.size(); ++i) {
    auto& one = children_[i];
    if (is_up(one))
      one.must_stop = true;
    else if (one.now == state::over)
      one.now = state::waiting;
  }
}

void restart_rules::end_all() {
  is_ending_ = true;
  for (auto& one : children_)
    if (is_up(one))
      one.must_stop = true;
    else
      one.now = state::removed;
}

void restart_rules::settle_stopped(child& of) {
  of.must_stop = false;
  of.now = is_ending_ || of.lifetime == lifetime::temporary ? state::removed : state::waiting;
}

bool restart_rules::exceeds_intensity(supervision_time now) {
  restarts_.push_back(now);
  while (now - restarts_.front() > within_)
    restarts_.pop_front();
  return restarts_.size() > most_;
}

std::chrono::nanoseconds restart_rules::next_pause(child& of, std::chrono::nanoseconds lived) const {
  if (lived >= longest_back_off_)
    of.pauses = 0;
  auto pause = back_off_;
  for (std::size_t doubled = 0; doubled < of.pauses && pause < longest_back_off_; ++doubled)
    pause = std::min(2 * pause, longest_back_off_);
  ++of.pauses;
  return pause;
}

void restart_rules::advance(steps& next) {
  if (!advance_stops(next))
    return;
  if (!is_ending_)
    return advance_starts(next);
  if (!is_finished_ && std::ranges::none_of(children_, &restart_rules::is_up)) {
    is_finished_ = true;
    next.push_back({.what = finish});
  }
}

bool restart_rules::advance_stops(steps& next) {
  const auto is_stopping = [](const child& one) { return one.now == state::stopping; };
  if (std::ranges::any_of(children_, is_stopping))
    return false;
  for (auto i = children_.size(); i-- > 0;)
    if (children_[i].must_stop) {
      assert(is_up(children_[i]));
      children_[i].now = state::stopping;
      next.push_back({.what = stop, .child = i});
      return false;
    }
  return true;
}

void restart_rules::advance_starts(steps& next) {
  if (group_ticket_ != 0)
    return;
  for (std::size_t i = 0; i < children_.size(); ++i) {
    auto& one = children_[i];
    if (one.now == state::starting && (restarts_groups() || !one.was_attempted))
      return;
    if (one.now != state::waiting || one.ticket != 0)
      continue;
    one.now = state::starting;
    next.push_back({.what = start, .child = i});
    if (restarts_groups() || !one.was_attempted)
      return;
  }
}

} // namespace troupe::internal
