#include <troupe/framework/internal/caf_port/actor_dispatcher.hpp>

#include <deque>
#include <mutex>
#include <utility>

#include <caf/resumable.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include <troupe/framework/internal/caf_port/actor_paces.hpp>
#include <troupe/framework/internal/caf_port/system_module.hpp>

namespace troupe::internal {

namespace {

using clock = std::chrono::steady_clock;

thread_local caf::execution_unit* thread_unit = nullptr;

/// One thread's queue of actors to resume. Its lock is for the other thread only, which takes the queue away from one
/// that is stuck.
class actor_dispatcher final : public caf::execution_unit, public round_worker {
public:
  actor_dispatcher(caf::actor_system& system, actor_paces& paces, bool is_used)
      : caf::execution_unit(&system), paces_(paces) {
    if (is_used)
      thread_unit = this;
  }
  actor_dispatcher(const actor_dispatcher&) = delete;
  actor_dispatcher& operator=(const actor_dispatcher&) = delete;
  ~actor_dispatcher() override { thread_unit = nullptr; }

  void exec_later(caf::resumable* job) override {
    if (paces_.admit(job) == 0 || !push(job))
      system().scheduler().enqueue(job);
  }

  [[nodiscard]] bool empty() override {
    const std::lock_guard guard{mutex_};
    return queue_.empty();
  }

  void run(clock::time_point begin, std::chrono::microseconds budget) override {
    const auto deadline = begin + budget;
    for (auto* job = next(); job != nullptr; job = next()) {
      const auto messages = paces_.messages(job);
      const auto result = job->resume(this, messages);
      const auto end = clock::now();
      const auto goes_on = result == caf::resumable::resume_later;
      paces_.took(job, messages, goes_on, end - begin); // By now its address may be nothing but a name.
      if (!goes_on)
        caf::intrusive_ptr_release(job);
      else if (end >= deadline)
        system().scheduler().enqueue(job);
      else
        exec_later(job);
      if (end >= deadline)
        break;
      begin = end;
    }
    hand_over();
  }

  void hand_over() override {
    std::unique_lock guard{mutex_};
    if (queue_.empty()) // An empty deque takes memory, too.
      return;
    auto jobs = std::exchange(queue_, {});
    guard.unlock();
    for (auto* job : jobs)
      system().scheduler().enqueue(job);
  }

  void depose() override {
    {
      const std::lock_guard guard{mutex_};
      deposed_ = true;
    }
    hand_over();
  }

  void lead() override {
    const std::lock_guard guard{mutex_};
    deposed_ = false;
  }

private:
  /// False when another thread leads.
  bool push(caf::resumable* job) {
    const std::lock_guard guard{mutex_};
    if (!deposed_)
      queue_.push_back(job);
    return !deposed_;
  }

  caf::resumable* next() {
    const std::lock_guard guard{mutex_};
    if (queue_.empty())
      return nullptr;
    auto* job = queue_.front();
    queue_.pop_front();
    return job;
  }

  actor_paces& paces_;
  std::mutex mutex_;
  // Guarded by mutex_.
  std::deque<caf::resumable*> queue_;
  bool deposed_ = false;
};

class system_host final : public loop_host {
public:
  explicit system_host(caf::actor_system& system) : system_(system) {}

  std::unique_ptr<round_worker> make_worker(bool is_used) override {
    return std::make_unique<actor_dispatcher>(system_, paces_, is_used);
  }
  void on_thread_started() override { system_.thread_started(); }
  void on_thread_ends() override { system_.thread_terminates(); }
  void keep(std::shared_ptr<system_threads> threads) override { keep_threads(system_, std::move(threads)); }
  void forget(const system_threads& threads) override { forget_threads(system_, threads); }

private:
  caf::actor_system& system_;
  actor_paces paces_;
};

} // namespace

std::shared_ptr<loop_host> make_loop_host(caf::actor_system& system) {
  return std::make_shared<system_host>(system);
}

caf::execution_unit* dispatching_unit() noexcept {
  return thread_unit;
}

} // namespace troupe::internal
