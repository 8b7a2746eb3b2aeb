#include <troupe/framework/cluster/internal/watching/quiet_thread.hpp>

#include <csignal>
#include <string>
#include <system_error>
#include <utility>

#include <pthread.h>

namespace troupe::cluster_directories {

quiet_thread::~quiet_thread() {
  join();
  if (!process_.is_current()) {
    // There is no such thread here, so that it can neither be joined nor detached.
    static_cast<void>(new std::thread{std::move(thread_)});
    return;
  }
  const std::lock_guard guard{mutex_};
  if (thread_.joinable())
    thread_.detach();
}

std::expected<void, directory_error> quiet_thread::start(std::function<void()> work) {
  const std::lock_guard guard{mutex_};
  if (std::exchange(is_started_, true))
    return {};
  sigset_t all, before;
  ::sigfillset(&all);
  ::pthread_sigmask(SIG_SETMASK, &all, &before); // The thread inherits the mask.
  std::expected<void, directory_error> started;
  try {
    thread_ = std::thread{std::move(work)};
    ::pthread_setname_np(thread_.native_handle(), "troupe-watch");
  } catch (const std::system_error& error) {
    is_started_ = false;
    started = std::unexpected{
        directory_error{directory_errc::system_failure, std::string{"starting a thread failed: "} + error.what()}};
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return started;
}

void quiet_thread::join() {
  if (!process_.is_current())
    return;
  const std::lock_guard guard{mutex_};
  if (thread_.joinable() && thread_.get_id() != std::this_thread::get_id())
    thread_.join();
}

} // namespace troupe::cluster_directories
