#include <troupe/framework/internal/caf_port/actor_dispatcher.hpp>

#include <array>
#include <atomic>
#include <cstddef>
#include <deque>
#include <mutex>
#include <utility>

#include <caf/resumable.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include <troupe/framework/internal/caf_port/actor_paces.hpp>
#include <troupe/framework/internal/caf_port/direct_turn.hpp>
#include <troupe/framework/internal/caf_port/ordinary_actors.hpp>
#include <troupe/framework/internal/caf_port/system_module.hpp>

namespace troupe::internal {

namespace {

using clock = std::chrono::steady_clock;

class actor_dispatcher;
thread_local actor_dispatcher* thread_unit = nullptr;

/// One thread's queue of actors to run. The lock is only for the other thread, which takes the queue away from a thread
/// that is stuck.
///
/// If an actor is idle when a message for it comes, it is claimed at once. It then gets its further messages of the
/// round without the handshakes of a mailbox.
class actor_dispatcher final : public caf::execution_unit, public round_worker {
public:
  actor_dispatcher(caf::actor_system& system, actor_paces& paces, const ordinary_actors& ordinary, bool is_used)
      : caf::execution_unit(&system), paces_(paces), ordinary_(ordinary) {
    if (is_used)
      thread_unit = this;
  }
  actor_dispatcher(const actor_dispatcher&) = delete;
  actor_dispatcher& operator=(const actor_dispatcher&) = delete;
  ~actor_dispatcher() override { thread_unit = nullptr; }

  void exec_later(caf::resumable* job) override { place({job}); }

  /// Returns false if the message has to be sent through the actor's mailbox.
  [[nodiscard]] bool take(caf::abstract_actor& receiver, caf::mailbox_element_ptr& message) {
    if (runs_ || message->mid.category() != caf::message_id::normal_message_category)
      return false;
    if (auto* const known = claimed(receiver)) {
      give(*known, std::move(message));
      return true;
    }
    auto* const actor = ordinary_.find(receiver);
    if (actor == nullptr || claimed_count_ == claimed_.size() || !claim(*actor))
      return false;
    give(*actor, std::move(message));
    caf::intrusive_ptr_add_ref(actor->ctrl());
    if (place({actor, actor})) {
      claimed_[claimed_count_] = actor;
      last_claimed_ = claimed_count_++;
    }
    return true;
  }

  /// The other thread may take all turns away at any time, but adds none.
  [[nodiscard]] bool empty() override { return queued_.load(std::memory_order_relaxed) == 0; }

  void run(clock::time_point begin, std::chrono::microseconds budget) override {
    const auto deadline = begin + budget;
    claimed_count_ = 0; // From now on the other thread may take them away.
    runs_ = true;
    for (auto turn = next(); turn.job != nullptr; turn = next()) {
      const auto [job, actor] = turn;
      const auto messages = paces_.messages(job);
      const auto result = actor != nullptr ? run_turn(*actor, *this, messages) : job->resume(this, messages);
      const auto end = clock::now();
      const auto goes_on = result == caf::resumable::resume_later;
      paces_.took(job, messages, goes_on, end - begin); // The actor may be gone: its address serves only as a key.
      if (!goes_on)
        caf::intrusive_ptr_release(job);
      else if (end >= deadline)
        system().scheduler().enqueue(job);
      else
        place(turn);
      if (end >= deadline)
        break;
      begin = end;
    }
    runs_ = false;
    give_away();
  }

  void hand_over() override {
    claimed_count_ = 0;
    give_away();
  }

  void depose() override {
    {
      const std::lock_guard guard{mutex_};
      deposed_ = true;
    }
    give_away();
  }

  void lead() override {
    const std::lock_guard guard{mutex_};
    deposed_ = false;
  }

private:
  struct turn_of {
    caf::resumable* job = nullptr;
    caf::scheduled_actor* actor = nullptr; // The same actor if run_turn may run it; else null.
  };

  /// Returns false if the turn is left to the scheduler.
  bool place(const turn_of& turn) {
    if (paces_.admit(turn.job) > 0 && push(turn))
      return true;
    system().scheduler().enqueue(turn.job);
    return false;
  }

  /// Returns false if another thread leads.
  bool push(const turn_of& turn) {
    const std::lock_guard guard{mutex_};
    if (deposed_)
      return false;
    queue_.push_back(turn);
    queued_.store(queue_.size(), std::memory_order_relaxed);
    return true;
  }

  /// A turn without a job if the queue is empty.
  turn_of next() {
    if (empty())
      return {};
    const std::lock_guard guard{mutex_};
    if (queue_.empty())
      return {};
    const auto turn = queue_.front();
    queue_.pop_front();
    queued_.store(queue_.size(), std::memory_order_relaxed);
    return turn;
  }

  /// Called from either thread.
  void give_away() {
    if (empty())
      return;
    std::unique_lock guard{mutex_};
    if (queue_.empty()) // Exchanging an empty deque would allocate.
      return;
    const auto turns = std::exchange(queue_, {});
    queued_.store(0, std::memory_order_relaxed);
    guard.unlock();
    for (const auto& turn : turns)
      system().scheduler().enqueue(turn.job);
  }

  /// Null if the actor is not claimed in this round.
  [[nodiscard]] caf::scheduled_actor* claimed(const caf::abstract_actor& actor) noexcept {
    if (claimed_count_ == 0)
      return nullptr;
    if (claimed_[last_claimed_] == &actor) // Most messages are for the same actor.
      return claimed_[last_claimed_];
    for (std::size_t i = 0; i < claimed_count_; ++i)
      if (claimed_[i] == &actor)
        return claimed_[last_claimed_ = i];
    return nullptr;
  }

  actor_paces& paces_;
  const ordinary_actors& ordinary_;
  // The actors claimed in this round, which are in the queue as well. Empty while actors run.
  std::array<caf::scheduled_actor*, 16> claimed_ = {};
  std::size_t claimed_count_ = 0;
  std::size_t last_claimed_ = 0;
  bool runs_ = false;
  std::atomic<std::size_t> queued_{0}; // The size of queue_, written with it.
  std::mutex mutex_;
  // Guarded by mutex_.
  std::deque<turn_of> queue_;
  bool deposed_ = false;
};

class system_host final : public loop_host {
public:
  explicit system_host(caf::actor_system& system) : system_(system), ordinary_(system) {}

  std::unique_ptr<round_worker> make_worker(bool is_used) override {
    return std::make_unique<actor_dispatcher>(system_, paces_, ordinary_, is_used);
  }
  void on_thread_started() override { system_.thread_started(); }
  void on_thread_ends() override { system_.thread_terminates(); }
  void keep(std::shared_ptr<system_threads> threads) override { keep_threads(system_, std::move(threads)); }
  void forget(const system_threads& threads) override { forget_threads(system_, threads); }

private:
  caf::actor_system& system_;
  actor_paces paces_;
  const ordinary_actors ordinary_;
};

} // namespace

std::shared_ptr<loop_host> make_loop_host(caf::actor_system& system) {
  return std::make_shared<system_host>(system);
}

void deliver_to(const caf::strong_actor_ptr& receiver, caf::mailbox_element_ptr message) {
  auto* const dispatcher = thread_unit;
  if (dispatcher == nullptr || !dispatcher->take(*receiver->get(), message))
    receiver->enqueue(std::move(message), dispatcher);
}

caf::execution_unit* dispatching_unit() noexcept {
  return thread_unit;
}

} // namespace troupe::internal
