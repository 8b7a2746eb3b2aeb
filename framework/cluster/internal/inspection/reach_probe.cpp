#include <troupe/framework/cluster/internal/inspection/reach_probe.hpp>

#include <algorithm>
#include <system_error>
#include <utility>

namespace troupe::membership {

namespace {

using namespace std::chrono_literals;

constexpr std::size_t dialed_max = 256; // Members of one round.
constexpr std::size_t dialers_max = 8;
constexpr auto round_time = 4s;    // After it, no further member is dialed.
constexpr auto outcome_valid = 1s; // A question that comes within this time after a round gets its outcome.

} // namespace

reach_probe::reach_probe(parts of) : of_(std::move(of)) {}

reach_probe::~reach_probe() {
  {
    const std::lock_guard guard{mutex_};
    ends_ = true;
  }
  changed_.notify_all();
  if (thread_.joinable())
    thread_.join();
}

void reach_probe::ask(outcome_handler handler) {
  {
    const std::lock_guard guard{mutex_};
    if (ends_)
      return;
    waiting_.push_back(std::move(handler));
    if (!thread_.joinable())
      thread_ = std::thread{[this] { run(); }};
  }
  changed_.notify_all();
}

void reach_probe::run() {
  std::vector<member_reach> last;
  auto valid_until = std::chrono::steady_clock::time_point{};
  for (;;) {
    {
      std::unique_lock guard{mutex_};
      changed_.wait(guard, [this] { return ends_ || !waiting_.empty(); });
      if (ends_)
        return;
    }
    if (std::chrono::steady_clock::now() >= valid_until) {
      last = round();
      valid_until = std::chrono::steady_clock::now() + outcome_valid;
    }
    std::vector<outcome_handler> told;
    {
      const std::lock_guard guard{mutex_};
      if (ends_)
        return;
      told = std::exchange(waiting_, {});
    }
    for (const auto& one : told)
      one(last);
  }
}

std::vector<member_reach> reach_probe::round() const {
  const auto members = of_.members();
  std::vector<member_reach> all(std::min(members.size(), dialed_max));
  const auto until = std::chrono::steady_clock::now() + round_time;
  std::atomic<std::size_t> next{0};
  const auto dial_some = [&] {
    for (auto mine = next++; mine < all.size(); mine = next++) {
      auto& one = all[mine];
      one.member = members[mine].name;
      if (ends_ || std::chrono::steady_clock::now() >= until) {
        one.is_tried = false;
        continue;
      }
      const auto begun = std::chrono::steady_clock::now();
      one.why = of_.dial(members[mine]);
      one.time = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun);
    }
  };
  std::vector<std::jthread> dialers;
  try {
    for (std::size_t i = 1; i < std::min(dialers_max, all.size()); ++i)
      dialers.emplace_back(dial_some);
  } catch (const std::system_error&) { // This thread goes on with fewer.
  }
  dial_some();
  dialers.clear();
  return all;
}

} // namespace troupe::membership
