#include <troupe/framework/internal/caf_port/actors/job_actor.hpp>

#include <algorithm>
#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/make_message.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

namespace troupe::internal {

struct job_actor::queue {
  explicit queue(std::size_t most) : runners_max(most) {}

  const std::size_t runners_max;
  std::mutex mutex;
  // Guarded by mutex.
  std::deque<std::function<void()>> jobs;
  std::size_t runners = 0;                     // Includes runners that are being made.
  std::vector<caf::strong_actor_ptr> made;     // Kept as long as this queue.
  std::vector<caf::actor_control_block*> idle; // Runners in `made` that wait for jobs.

  /// The runner that a new job wakes, if any.
  struct next {
    caf::strong_actor_ptr wakes; // Null: a busy runner will take the job.
    bool is_to_be_made = false;
  };
  [[nodiscard]] next add(std::function<void()> job) {
    std::lock_guard guard{mutex};
    jobs.push_back(std::move(job));
    if (!idle.empty()) {
      const caf::strong_actor_ptr first{idle.back()};
      idle.pop_back();
      return {.wakes = first};
    }
    if (runners == runners_max)
      return {};
    ++runners;
    return {.wakes = nullptr, .is_to_be_made = true};
  }

  void keep(const caf::strong_actor_ptr& runner) {
    std::lock_guard guard{mutex};
    made.push_back(runner);
  }
  void could_not_make() {
    std::lock_guard guard{mutex};
    --runners;
  }

  /// Runs the next job, if any. Returns true if the runner has to come again.
  [[nodiscard]] bool run_next(caf::actor_control_block* runner) {
    std::unique_lock guard{mutex};
    if (!jobs.empty()) {
      auto job = std::move(jobs.front());
      jobs.pop_front();
      guard.unlock();
      job();
      job = nullptr; // What the job holds is destroyed outside the lock.
      guard.lock();
    }
    if (jobs.empty())
      idle.push_back(runner);
    return !jobs.empty();
  }
};

namespace {

std::size_t most_runners(caf::actor_system& system, std::size_t at_once) {
  const auto workers = system.scheduler().num_workers();
  return std::clamp<std::size_t>(at_once, 1, workers > 1 ? workers - 1 : 1);
}

/// Enqueues without a context, so that the runner goes to the scheduler, not to this thread.
void wake(const caf::strong_actor_ptr& runner) {
  runner->enqueue(nullptr, caf::make_message_id(), caf::make_message(caf::unit), nullptr);
}

} // namespace

job_actor::job_actor(caf::actor_system& system, std::size_t at_once)
    : system_(system), queue_(std::make_shared<queue>(most_runners(system, at_once))) {}

job_actor::~job_actor() = default;

void job_actor::run_soon(std::function<void()> job) {
  auto next = queue_->add(std::move(job));
  if (next.is_to_be_made)
    next.wakes = make_runner();
  if (next.wakes)
    wake(next.wakes);
}

/// Called without the lock, since spawning may run the program's code.
caf::strong_actor_ptr job_actor::make_runner() {
  try {
    auto made = caf::actor_cast<caf::strong_actor_ptr>(
        system_.spawn<caf::hidden>([weak = std::weak_ptr{queue_}](caf::event_based_actor* self) -> caf::behavior {
          return {[weak, self](caf::unit_t) {
            if (const auto jobs = weak.lock(); jobs && jobs->run_next(self->ctrl()))
              wake(self->ctrl());
          }};
        }));
    queue_->keep(made);
    return made;
  } catch (...) {
    queue_->could_not_make();
    throw;
  }
}

} // namespace troupe::internal
