#include <troupe/framework/drain_on_signal.hpp>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <memory>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <troupe/framework/internal/net/io_loop.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe {

namespace {

std::atomic<int> first_signal{0};                     // The number of the first signal of a call.
std::atomic<int> woken_by_signal{-1};                 // An eventfd; -1: no call has waited yet.
static_assert(std::atomic<int>::is_always_lock_free); // A handler uses them.

extern "C" void note_signal(int number) {
  const auto saved = errno;
  int none = 0;
  if (first_signal.compare_exchange_strong(none, number)) {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(woken_by_signal.load(), &one, sizeof one);
  }
  errno = saved;
}

/// Handles signals during its lifetime.
class signal_handlers {
public:
  explicit signal_handlers(std::initializer_list<int> signals) {
    for (const auto number : signals) {
      struct sigaction now {};
      struct sigaction before {};
      now.sa_handler = &note_signal;
      now.sa_flags = SA_RESTART;
      ::sigemptyset(&now.sa_mask);
      if (::sigaction(number, &now, &before) != 0) {
        refused_ = number;
        return;
      }
      before_.emplace_back(number, before);
    }
  }
  signal_handlers(const signal_handlers&) = delete;
  signal_handlers& operator=(const signal_handlers&) = delete;
  ~signal_handlers() {
    for (const auto& [number, action] : before_)
      ::sigaction(number, &action, nullptr);
  }

  /// The signal that cannot be handled; 0: none.
  [[nodiscard]] int refused() const noexcept { return refused_; }

private:
  std::vector<std::pair<int, struct sigaction>> before_;
  int refused_ = 0;
};

/// Returns the signal that came.
std::expected<int, node_error> wait_for_signal(std::initializer_list<int> signals) {
  static std::atomic<bool> is_waiting{false};
  if (is_waiting.exchange(true))
    return internal::bad_option("another call of drain_on_signal waits in this process");
  const std::unique_ptr<std::atomic<bool>, void (*)(std::atomic<bool>*)> over{&is_waiting,
                                                                              [](auto* flag) { *flag = false; }};
  // One for the life of the process: a handler on another thread may still write to it when this call has returned.
  static const auto wake = ::eventfd(0, EFD_CLOEXEC);
  if (wake < 0)
    return internal::bad_option("cannot wait for a signal: the process has no descriptor left");
  woken_by_signal = wake;
  std::uint64_t count = 0;
  pollfd pending{.fd = wake, .events = POLLIN, .revents = 0};
  while (::poll(&pending, 1, 0) > 0) // What an earlier call has left.
    [[maybe_unused]] const auto cleared = ::read(wake, &count, sizeof count);
  first_signal = 0;
  std::expected<int, node_error> came = 0;
  {
    const signal_handlers handlers{signals};
    if (handlers.refused() != 0) {
      came = internal::bad_option("signal " + std::to_string(handlers.refused())
                                  + " cannot be handled: " + std::generic_category().message(errno));
    } else {
      // By poll instead of read, because ThreadSanitizer delivers a signal only in the former.
      while (::poll(&pending, 1, -1) < 0 && errno == EINTR) {
      }
      came = first_signal.load();
    }
  }
  return came;
}

} // namespace

std::expected<int, node_error> drain_on_signal(node& which, std::chrono::milliseconds patience,
                                               std::initializer_list<int> signals) {
  if (!internal::io_loop::may_wait())
    return internal::fail(node_errc::unsupported,
                          "drain_on_signal would block a node's I/O thread: call it on another thread");
  if (patience.count() < 0)
    return internal::bad_option("patience of drain_on_signal is " + std::to_string(patience.count())
                                + " ms; the minimum is 0");
  if (signals.size() == 0)
    return internal::bad_option("drain_on_signal needs a signal to wait for");
  const auto came = wait_for_signal(signals);
  if (!came)
    return came;
  if (auto drained = which.drain(patience); !drained)
    return std::unexpected{std::move(drained).error()};
  return came;
}

} // namespace troupe
