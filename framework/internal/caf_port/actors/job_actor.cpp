#include <troupe/framework/internal/caf_port/actors/job_actor.hpp>

#include <deque>
#include <mutex>
#include <utility>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/make_message.hpp>

namespace troupe::internal {

struct job_actor::queue {
  std::mutex mutex;
  // Guarded by mutex.
  std::deque<std::function<void()>> jobs;
  caf::strong_actor_ptr runner; // Null until there is a job.

  [[nodiscard]] caf::strong_actor_ptr add(std::function<void()> job) {
    std::lock_guard guard{mutex};
    jobs.push_back(std::move(job));
    return runner;
  }

  /// The runner is from now on that one, or the one that is there already.
  [[nodiscard]] caf::strong_actor_ptr keep(caf::strong_actor_ptr made) {
    std::lock_guard guard{mutex};
    if (!runner)
      runner = std::move(made);
    return runner;
  }

  void run_next() {
    std::unique_lock guard{mutex};
    if (jobs.empty())
      return;
    const auto job = std::move(jobs.front());
    jobs.pop_front();
    guard.unlock();
    job();
  }
};

job_actor::job_actor(caf::actor_system& system) : system_(system), queue_(std::make_shared<queue>()) {}

job_actor::~job_actor() = default;

void job_actor::run_soon(std::function<void()> job) {
  auto runner = queue_->add(std::move(job));
  if (!runner) // Made outside of the lock, since that may run what the program has put into the system.
    runner = queue_->keep(caf::actor_cast<caf::strong_actor_ptr>(
        system_.spawn<caf::hidden>([weak = std::weak_ptr{queue_}](caf::event_based_actor*) -> caf::behavior {
          return {[weak](caf::unit_t) {
            if (const auto jobs = weak.lock())
              jobs->run_next();
          }};
        })));
  // Without a context it goes to the scheduler, not to this thread.
  runner->enqueue(nullptr, caf::make_message_id(), caf::make_message(caf::unit), nullptr);
}

} // namespace troupe::internal
