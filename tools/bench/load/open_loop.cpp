#include "bench/load/open_loop.hpp"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string>

namespace troupe::tools {

namespace {

constexpr std::chrono::nanoseconds free_slot{-1};

[[nodiscard]] std::uint64_t nanoseconds_between(std::chrono::nanoseconds from, std::chrono::nanoseconds to) {
  return static_cast<std::uint64_t>(std::max<std::chrono::nanoseconds::rep>((to - from).count(), 0));
}

} // namespace

open_loop::open_loop(load_plan plan)
    : plan_(std::move(plan)),
      schedule_(plan_.how, plan_.rate, plan_.seed),
      random_sizes_(plan_.seed + 1),
      next_(schedule_.next()) {
  assert(plan_.outstanding_most > 0);
}

std::optional<load_request> open_loop::next_due(std::chrono::nanoseconds now) {
  if (next_ >= ends_at() || next_ > now || is_at_bound())
    return std::nullopt;
  constexpr int bits_dropped = 11;
  load_request due{.intended = next_};
  if (plan_.sizes.all().size() > 1)
    due.size = plan_.sizes.choose(std::ldexp(static_cast<double>(random_sizes_() >> bits_dropped), -53));
  if (plan_.is_answered)
    due.slot = take_slot(next_);
  count_sending(next_, now);
  next_ = schedule_.next();
  return due;
}

void open_loop::count_sending(std::chrono::nanoseconds intended, std::chrono::nanoseconds now) {
  if (is_measured(now))
    ++sent_in_time_;
  if (!is_measured(intended))
    return;
  ++round_.scheduled;
  ++round_.sent;
  if (intended <= bound_until_)
    ++round_.held;
  else
    round_.lateness.add(nanoseconds_between(intended, now));
}

std::size_t open_loop::take_slot(std::chrono::nanoseconds intended) {
  round_.outstanding_most = std::max<std::uint64_t>(round_.outstanding_most, ++outstanding_);
  if (free_slots_.empty()) {
    slots_.push_back(intended);
    return slots_.size() - 1;
  }
  const auto slot = free_slots_.back();
  free_slots_.pop_back();
  slots_[slot] = intended;
  return slot;
}

void open_loop::release(const load_request& which, std::chrono::nanoseconds now) {
  assert(slots_[which.slot] == which.intended);
  if (is_at_bound())
    bound_until_ = now;
  slots_[which.slot] = free_slot;
  free_slots_.push_back(which.slot);
  --outstanding_;
}

void open_loop::answered(const load_request& which, std::chrono::nanoseconds now) {
  release(which, now);
  if (is_measured(now))
    ++answers_in_time_;
  if (!is_measured(which.intended))
    return;
  ++round_.answered;
  round_.latency.add(nanoseconds_between(which.intended, now));
}

void open_loop::failed(const load_request& which, std::chrono::nanoseconds now, std::string_view why) {
  release(which, now);
  if (is_measured(which.intended))
    round_.failures[std::string{why}].add(seconds_of(which.intended));
}

std::optional<std::chrono::nanoseconds> open_loop::wakes_at() const {
  return next_ >= ends_at() || is_at_bound() ? std::nullopt : std::optional{next_};
}

bool open_loop::is_over(std::chrono::nanoseconds now) const {
  return now >= ends_at() && ((next_ >= ends_at() && outstanding_ == 0) || now >= ends_at() + plan_.patience);
}

double open_loop::seconds_of(std::chrono::nanoseconds at) const {
  return std::chrono::duration<double>(at - plan_.warm_up).count();
}

load_round open_loop::end(std::chrono::nanoseconds now) {
  const auto ended_at = std::clamp(now, plan_.warm_up, ends_at());
  for (const auto intended : slots_)
    if (intended >= std::chrono::nanoseconds{0} && is_measured(intended))
      round_.failures["unanswered"].add(seconds_of(intended));
  for (; next_ < ended_at; next_ = schedule_.next())
    if (is_measured(next_)) {
      ++round_.scheduled;
      round_.failures["not_sent"].add(seconds_of(next_));
    }
  round_.seconds = std::chrono::duration<double>(ended_at - plan_.warm_up).count();
  const auto each_second = [&](std::uint64_t count) {
    return round_.seconds > 0 ? static_cast<double>(count) / round_.seconds : 0;
  };
  round_.offered_per_second = each_second(round_.scheduled);
  round_.sent_per_second = each_second(sent_in_time_);
  round_.achieved_per_second = each_second(answers_in_time_);
  return std::move(round_);
}

} // namespace troupe::tools
