#include <troupe/framework/internal/net/io_loop.hpp>

#include <algorithm>
#include <utility>

#include <troupe/framework/internal/threads/new_thread.hpp>

namespace troupe::internal {

namespace {

using clock = std::chrono::steady_clock;

// The number of socket and timer handlers that run before actors get their turn.
constexpr int handlers_per_round = 64;

// For how long packets already read are handled before sockets and timers are checked.
constexpr std::chrono::microseconds look_pause{100};

// After this many checks that find no dispatch, the watching thread sleeps until it is woken.
constexpr int idle_looks_max = 50;

// How long the loop's end waits for a thread that only has to return from a handler.
constexpr std::chrono::milliseconds return_patience{50};

// While nothing arrives, rings are checked this often for each check of the sockets.
constexpr int ring_looks_per_poll = 64;

/// Tells a core with several hardware threads that this thread is waiting.
void relax_processor() {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

thread_local io_loop::duty thread_duty = io_loop::duty::none;

} // namespace

/// The state of one of the two threads.
struct io_loop::desk {
  explicit desk(std::unique_ptr<round_worker> worker) : actors(std::move(worker)) {}

  void depose() {
    batch.set_deposed(true);
    actors->depose();
  }
  void lead() {
    batch.set_deposed(false);
    actors->lead();
  }

  const std::unique_ptr<round_worker> actors;
  io_batch batch;
};

io_loop::io_loop(std::shared_ptr<loop_host> host, std::string owner, const dispatch_budget& budget)
    : host_(std::move(host)), owner_(std::move(owner)), budget_(budget) {}

io_loop::~io_loop() = default;

bool io_loop::may_wait() noexcept {
  return thread_duty != duty::handles_io;
}

std::expected<void, node_error> io_loop::start(std::function<void()> on_takeover) {
  on_takeover_ = std::move(on_takeover);
  rings_.drive();
  threads_started_ = budget_.enabled ? threads_.size() : 1;
  std::expected<void, node_error> result;
  for (std::size_t i = 0; i < threads_started_ && result; ++i) {
    auto made = new_thread("node " + owner_ + " needs " + (threads_started_ == 1 ? "a thread" : "two threads")
                               + " for its links",
                           [self = shared_from_this(), i] { self->run_thread(i); });
    if (made)
      threads_[i] = *std::move(made);
    else
      result = std::unexpected{std::move(made).error()};
  }
  if (result)
    host_->keep(shared_from_this()); // The loop may be stopped while the system ends.
  {
    std::lock_guard guard{mutex_};
    started_ = result ? start_state::done : start_state::given_up;
    changed_.notify_all();
  }
  if (!result)
    for (auto& thread : threads_)
      if (thread.joinable())
        thread.join();
  return result;
}

/// Returns false if another thread could not be made.
bool io_loop::may_begin() {
  std::unique_lock guard{mutex_};
  changed_.wait(guard, [this] { return started_ != start_state::under_way; });
  return started_ == start_state::done;
}

void io_loop::stop() {
  const auto host = host_; // *this may be destroyed before this returns.
  work_.reset();
  is_left_ = true;
  if (!may_wait())
    return;
  {
    std::unique_lock guard{mutex_};
    changed_.wait(guard, [this] { return stopped_; });
  }
  if (join_within(return_patience))
    host->forget(*this);
}

bool io_loop::join_within(std::chrono::milliseconds patience) {
  std::unique_lock guard{mutex_};
  auto is_over = [this] {
    return std::ranges::count(has_left_, true) == static_cast<std::ptrdiff_t>(threads_started_);
  };
  if (!changed_.wait_for(guard, patience, is_over))
    return false;
  guard.unlock();
  std::lock_guard alone{joining_};
  for (auto& thread : threads_)
    if (thread.joinable())
      thread.join();
  return true;
}

void io_loop::run_thread(std::size_t index) {
  if (!may_begin())
    return;
  host_->on_thread_started();
  thread_duty = duty::handles_io;
  run();
  host_->on_thread_ends();
  std::lock_guard guard{mutex_};
  has_left_[index] = true;
  changed_.notify_all();
}

/// Both threads run it. The first one leads and the other stands by. They change places at each takeover.
void io_loop::run() {
  desk own{host_->make_worker(budget_.enabled)};
  const io_batch::scope batching{own.batch};
  bool leads;
  {
    std::lock_guard guard{mutex_};
    leads = !std::exchange(standing_by_, true); // Only the first thread finds false.
  }
  for (;;) {
    if (leads)
      lead(own);
    std::unique_lock guard{mutex_};
    if (stopped_)
      break;
    guard.unlock();
    stand_by(own);
    guard.lock();
    if (stopped_)
      break;
    leads = true;
  }
  own.actors->hand_over();
  own.batch.flush();
}

/// Returns when all work is done, or when the other thread has taken over.
void io_loop::lead(desk& own) {
  own.lead();
  leader_.store(&own, std::memory_order_release);
  spinning spin;
  auto looked_at = clock::now();
  for (;;) {
    if (own.batch.has_more()) {
      own.batch.read_on();
      look_now_and_then(looked_at);
    } else if (own.actors->empty()) {
      if (rings_.look_in_passing() > 0)
        look_now_and_then(looked_at);
      else if (wait_for_work(spin) == 0)
        break;
    }
    // Packets are handled before more are read. So they are still in the caches, and mailboxes stay short.
    for (int handlers = 0;
         handlers < handlers_per_round && own.actors->empty() && !own.batch.has_more() && io_.poll_one() > 0;
         ++handlers) {
    }
    if (!own.actors->empty() && !dispatch(own))
      return;
    own.batch.flush();
    io_.restart();
  }
  own.batch.flush();
  std::lock_guard guard{mutex_};
  stopped_ = true;
  changed_.notify_all();
}

/// Reads all rings that have bytes, and runs the handlers of all sockets and timers that are ready now, each at most
/// once.
void io_loop::look_at_all() {
  rings_.look_in_passing();
  const auto end = clock::now() + look_pause;
  for (int handlers = 0; handlers < handlers_per_round && io_.poll_one() > 0; ++handlers)
    if (clock::now() >= end)
      return;
}

/// For a thread that has other work: checks the sockets at intervals of `look_pause`.
void io_loop::look_now_and_then(clock::time_point& looked_at) {
  if (const auto now = clock::now(); now - looked_at >= look_pause) {
    looked_at = now;
    look_at_all();
  }
}

/// Runs one handler of a socket or timer, or reads a ring; returns 0 if all work is done.
std::size_t io_loop::wait_for_work(spinning& spin) {
  if (io_.poll_one() > 0)
    return 1;
  while (wishes_.polls() && !io_.stopped())
    if (look_for_a_moment())
      return 1;
  if (budget_.enabled && wishes_.spins() && spin_for_work(spin))
    return 1;
  if (!rings_.sleep())
    return 1; // The next look finds it.
  return io_.run_one();
}

/// Returns whether anything was found. Checking the sockets is a system call; checking a ring is not.
bool io_loop::look_for_a_moment() {
  if (rings_.empty())
    return io_.poll_one() > 0;
  for (int looks = 0; looks < ring_looks_per_poll; ++looks) {
    if (rings_.look() > 0)
      return true;
    relax_processor();
  }
  return io_.poll_one() > 0;
}

/// Returns true if looking found something.
bool io_loop::spin_for_work(spinning& spin) {
  if (!spin.is_worth())
    return false;
  const auto end = clock::now() + budget_.spin;
  do {
    if (look_for_a_moment()) {
      spin.found();
      return true;
    }
  } while (!io_.stopped() && clock::now() < end);
  spin.missed();
  return false;
}

/// Returns false if the other thread has taken over meanwhile.
bool io_loop::dispatch(desk& own) {
  if (!covered_.load(std::memory_order_acquire)) {
    own.actors->hand_over(); // No thread could take over from a slow handler.
    return true;
  }
  auto mine = turn_.load(std::memory_order_relaxed) & ~std::uint64_t{1};
  const auto begin = clock::now();
  dispatch_began_.store(begin.time_since_epoch().count(), std::memory_order_relaxed);
  turn_.store(mine | 1); // Sequentially consistent, like the load below: of two threads that act at once, one
  if (!watching_.load()) // must see the store of the other.
    wake_watch();
  thread_duty = duty::runs_an_actor;
  own.actors->run(begin, budget_.time);
  thread_duty = duty::handles_io;
  auto expected = mine | 1;
  if (turn_.compare_exchange_strong(expected, mine + 2, std::memory_order_acq_rel))
    return true;
  own.actors->hand_over();
  own.batch.flush();
  return false;
}

void io_loop::wake_watch() {
  std::lock_guard guard{mutex_};
  watch_wanted_ = true;
  changed_.notify_all();
}

/// Returns when this thread leads, or when the loop is stopped.
void io_loop::stand_by(desk& own) {
  std::uint64_t seen = 0;
  int idle_looks = 0;
  std::unique_lock guard{mutex_};
  covered_.store(true, std::memory_order_release);
  while (!stopped_) {
    if (idle_looks >= idle_looks_max) {
      watching_.store(false);
      if ((turn_.load() & 1) == 0) // Otherwise the leader began to dispatch before it could see that nobody watches.
        changed_.wait(guard, [this] { return stopped_ || watch_wanted_; });
      idle_looks = 0;
    }
    watch_wanted_ = false;
    watching_.store(true);
    changed_.wait_until(guard, next_look(clock::now()), [this] { return stopped_; });
    if (stopped_)
      return;
    if (take_over(clock::now())) {
      auto* stuck = leader_.load(std::memory_order_acquire);
      stuck->depose();
      own.batch.take_reading(stuck->batch);
      covered_.store(false, std::memory_order_release);
      guard.unlock();
      lines_.say(log_level::debug,
                 "a handler takes longer than the I/O thread's budget; another thread goes on reading");
      on_takeover_();
      return;
    }
    const auto before = std::exchange(seen, turn_.load(std::memory_order_relaxed));
    idle_looks = seen == before ? idle_looks + 1 : 0;
  }
}

/// The time at which a current dispatch is overdue. A dispatch that begins right after this call is checked when it has
/// taken twice as long, because more frequent checks would cost fast actors more than they save with slow ones.
clock::time_point io_loop::next_look(clock::time_point now) const {
  const auto runs = (turn_.load(std::memory_order_acquire) & 1) != 0;
  return runs ? began_when() + budget_.overrun : now + 2 * budget_.overrun;
}

clock::time_point io_loop::began_when() const {
  return clock::time_point{clock::duration{dispatch_began_.load(std::memory_order_relaxed)}};
}

/// Ends the leader's lead if its dispatch has taken too long. Returns whether it did.
bool io_loop::take_over(clock::time_point now) {
  auto turn = turn_.load(std::memory_order_acquire); // Acquires the begin of this dispatch or of a later one.
  return (turn & 1) != 0 && now - began_when() >= budget_.overrun
         && turn_.compare_exchange_strong(turn, (turn & ~std::uint64_t{1}) + 2, std::memory_order_acq_rel);
}

} // namespace troupe::internal
