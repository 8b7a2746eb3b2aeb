#include <troupe/framework/internal/objects/running_fetch.hpp>

#include <utility>

namespace troupe::internal {

namespace {

using clock = std::chrono::steady_clock;

clock::time_point deadline_of(fetch_time within) {
  const auto now = clock::now();
  const auto left = std::chrono::floor<std::chrono::milliseconds>(clock::time_point::max() - now);
  return within && *within < left ? now + *within : clock::time_point::max();
}

} // namespace

running_fetch::running_fetch(object_state_ptr state, std::function<void()> when_answered)
    : state_(std::move(state)), when_answered_(std::move(when_answered)) {}

std::shared_ptr<running_fetch> running_fetch::start(object_state_ptr state, fetch_time within,
                                                    std::function<void()> when_answered) {
  std::shared_ptr<running_fetch> started{new running_fetch(std::move(state), std::move(when_answered))};
  started->run(within);
  return started;
}

void running_fetch::run(fetch_time within) {
  const auto state = state_;
  if (!state)
    return take(bytes_here(nullptr));
  const auto id = state->source->fetch(deadline_of(within),
                                       [self = shared_from_this()](auto answer) { self->take(std::move(answer)); });
  {
    std::lock_guard guard{mutex_};
    id_ = id;
    if (!given_up_)
      return;
  }
  state->source->cancel(id); // Given up before the source had returned the id.
}

void running_fetch::take(outcome answer) {
  std::function<void()> call;
  object_state_ptr released; // Destroyed outside the lock.
  {
    std::lock_guard guard{mutex_};
    if (outcome_)
      return;
    outcome_.emplace(std::move(answer));
    call = std::exchange(when_answered_, nullptr);
    released = std::exchange(state_, nullptr);
  }
  if (call)
    call();
}

const running_fetch::outcome* running_fetch::answer() const {
  std::lock_guard guard{mutex_};
  return outcome_ ? &*outcome_ : nullptr;
}

void running_fetch::give_up() {
  std::function<void()> dropped;
  object_state_ptr state;
  object_source::fetch_id id = 0;
  {
    std::lock_guard guard{mutex_};
    dropped = std::exchange(when_answered_, nullptr);
    given_up_ = true;
    if (outcome_ || id_ == 0)
      return;
    state = state_;
    id = id_;
  }
  state->source->cancel(id);
}

} // namespace troupe::internal
