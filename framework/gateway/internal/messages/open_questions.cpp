#include <troupe/framework/gateway/internal/messages/open_questions.hpp>

#include <string>
#include <vector>

namespace troupe::web {

open_questions::open_questions(std::size_t questions_max) : questions_max_(questions_max) {}

open_questions::~open_questions() {
  end({node_errc::link_down, "the WebSocket has ended"});
}

std::optional<std::uint64_t> open_questions::add(relayed_message question, clock::time_point limit) {
  std::optional<node_error> why;
  {
    const std::lock_guard guard{mutex_};
    if (!ended_ && waiting_.size() < questions_max_) {
      waiting_.emplace(++last_, waiting_question{std::move(question), limit});
      by_limit_.emplace(limit, last_);
      return last_;
    }
    why = ended_.value_or(node_error{node_errc::link_busy,
                                     "the client has not answered " + std::to_string(waiting_.size()) + " requests"});
  }
  std::move(question).fail(*why);
  return std::nullopt;
}

question_state open_questions::state_of(std::uint64_t number) const {
  const std::lock_guard guard{mutex_};
  if (waiting_.contains(number))
    return question_state::open;
  return over_.contains(number) ? question_state::over : question_state::unknown;
}

std::optional<relayed_message> open_questions::take(std::uint64_t number) {
  const std::lock_guard guard{mutex_};
  auto found = waiting_.extract(number);
  if (!found)
    return std::nullopt;
  by_limit_.erase({found.mapped().limit, number});
  return std::move(found.mapped().request);
}

std::size_t open_questions::count() const {
  const std::lock_guard guard{mutex_};
  return waiting_.size();
}

void open_questions::remember_over(std::uint64_t number) {
  over_.insert(number);
  if (over_.size() > questions_max_)
    over_.erase(over_.begin());
}

std::optional<open_questions::clock::time_point> open_questions::expire(clock::time_point now) {
  std::vector<relayed_message> expired;
  std::optional<clock::time_point> next;
  {
    const std::lock_guard guard{mutex_};
    while (!by_limit_.empty() && by_limit_.begin()->first <= now) {
      const auto number = by_limit_.begin()->second;
      by_limit_.erase(by_limit_.begin());
      expired.push_back(std::move(waiting_.extract(number).mapped().request));
      remember_over(number);
    }
    if (!by_limit_.empty())
      next = by_limit_.begin()->first;
  }
  for (auto& each : expired)
    std::move(each).fail({node_errc::timed_out, "the client has not answered in time"});
  return next;
}

void open_questions::end(const node_error& why) {
  all_questions dropped;
  {
    const std::lock_guard guard{mutex_};
    if (ended_)
      return;
    ended_ = why;
    dropped.swap(waiting_);
    by_limit_.clear();
  }
  for (auto& [number, each] : dropped)
    std::move(each.request).fail(why);
}

} // namespace troupe::web
