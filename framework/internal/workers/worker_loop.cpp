#include <troupe/framework/internal/workers/worker_loop.hpp>

#include <csignal>
#include <mutex>

#include <pthread.h>
#include <unistd.h>

#include <asio/executor_work_guard.hpp>
#include <asio/io_context.hpp>

#include <troupe/framework/internal/threads/new_thread.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

namespace {

thread_local bool is_worker_thread = false;

} // namespace

std::expected<worker_loop*, node_error> worker_loop::get() {
  // Never destroyed, because the thread runs until the process ends.
  static auto* const io = new asio::io_context{1};
  static auto* const loop = new worker_loop{*io};
  static std::mutex mutex;
  static pid_t owner = 0; // Guarded by mutex.
  std::lock_guard guard{mutex};
  if (owner == ::getpid())
    return loop;
  if (owner != 0)
    return fail(node_errc::unsupported, "this process was forked from one that had started worker processes: it cannot "
                                        "start any itself, because it does not have the thread that watches them");
  auto thread = new_thread("worker processes need a thread", [] { run(*io); });
  if (!thread)
    return std::unexpected{std::move(thread).error()};
  thread->detach();
  owner = ::getpid();
  return loop;
}

bool worker_loop::is_this_thread() noexcept {
  return is_worker_thread;
}

void worker_loop::run(asio::io_context& io) {
  sigset_t all;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
  ::pthread_setname_np(::pthread_self(), "troupe.workers");
  is_worker_thread = true;
  const auto stays = asio::make_work_guard(io);
  io.run();
}

} // namespace troupe::internal
