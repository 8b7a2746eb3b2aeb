#include "bench/load/load_run.hpp"

#include <algorithm>

namespace troupe::tools {

namespace {

/// What the links have not delivered.
[[nodiscard]] link_stats undelivered_by(const std::vector<load_target>& targets) {
  link_stats sum;
  for (const auto& each : targets) {
    const auto one = each.by.stats();
    sum.refused_at_bound += one.refused_at_bound;
    sum.unserializable += one.unserializable;
    sum.undelivered += one.undelivered;
  }
  return sum;
}

} // namespace

std::optional<load_request> load_run::next_due() {
  const std::lock_guard guard{mutex_};
  return is_over_ ? std::nullopt : loop_.next_due(now());
}

/// Sends go on only if they had to wait for this request. Otherwise a late sender would send much for each answer, and
/// the other answers would wait.
template <class End>
bool load_run::end_request(End end) {
  const std::lock_guard guard{mutex_};
  if (is_over_)
    return false;
  const auto is_awaited = loop_.is_at_bound();
  const auto at = now();
  end(at);
  return is_awaited || loop_.is_over(at);
}

bool load_run::answered(const load_request& which) {
  return end_request([&](std::chrono::nanoseconds at) { loop_.answered(which, at); });
}

bool load_run::failed(const load_request& which, std::string_view why) {
  return end_request([&](std::chrono::nanoseconds at) { loop_.failed(which, at, why); });
}

bool load_run::is_done() {
  const std::lock_guard guard{mutex_};
  if (is_over_ || loop_.is_over(now())) {
    wakes_at_ns_ = INT64_MAX; // Ticks come now and then all the same.
    return true;
  }
  const auto at = loop_.wakes_at();
  wakes_at_ns_ = at ? at->count() : INT64_MAX;
  return false;
}

void load_run::note_sent(std::size_t target) {
  if (std::ranges::all_of(targets_, [](const auto& each) { return each.sent == 0; }))
    before_ = undelivered_by(targets_);
  ++targets_[target].sent;
}

void load_run::note_taken(std::size_t target, std::uint64_t count, std::chrono::nanoseconds taking) {
  targets_[target].taken = count;
  targets_[target].taking = taking;
  targets_[target].is_known = true;
}

bool load_run::has_no_patience_left() const {
  const auto& plan = loop_.plan();
  return now() >= plan.warm_up + plan.measured + plan.patience;
}

load_run::clock::time_point load_run::wakes_at() const {
  constexpr auto far_away = std::chrono::hours{24};
  return began_ + std::min<std::chrono::nanoseconds>(std::chrono::nanoseconds{wakes_at_ns_}, far_away);
}

void load_run::end() {
  const std::lock_guard guard{mutex_};
  if (is_over_)
    return;
  result_ = loop_.end(now());
  if (!loop_.plan().is_answered)
    count_one_way(result_);
  is_over_ = true;
}

void load_run::count_one_way(load_round& in) const {
  in.achieved_per_second = 0;
  std::uint64_t unknown = 0;
  for (const auto& each : targets_) {
    if (!each.is_known) {
      unknown += each.sent;
      continue;
    }
    in.answered += std::min(each.taken, each.sent);
    const auto seconds = std::max(in.seconds, std::chrono::duration<double>(each.taking).count());
    if (seconds > 0)
      in.achieved_per_second += static_cast<double>(each.taken) / seconds;
  }
  auto missing = in.sent - std::min(in.sent, in.answered);
  const auto name = [&](const char* why, std::uint64_t count) {
    count = std::min(count, missing);
    missing -= count;
    if (count == 0)
      return;
    in.failures[why].add(0, count); // The links do not tell which ones.
    in.failures[why].last_seconds = in.seconds;
  };
  const auto after = undelivered_by(targets_);
  name("link_busy", after.refused_at_bound - before_.refused_at_bound);
  name("unserializable", after.unserializable - before_.unserializable);
  name("link_down", after.undelivered - before_.undelivered);
  name("unconfirmed", unknown);
  name("lost", missing);
}

} // namespace troupe::tools
