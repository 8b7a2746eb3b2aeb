#include <troupe/framework/drain_on_signal.hpp>

#include <atomic>
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/eventfd.h>
#include <unistd.h>

#include <troupe/framework/internal/words/failing.hpp>

namespace troupe {

namespace {

std::atomic<int> first_signal{0};                     // The number of the first signal of a call.
std::atomic<int> woken_by_signal{-1};                 // An eventfd; -1: no call waits.
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
  const auto wake = ::eventfd(0, EFD_CLOEXEC);
  if (wake < 0)
    return internal::bad_option("cannot wait for a signal: " + std::generic_category().message(errno));
  int none = -1;
  if (!woken_by_signal.compare_exchange_strong(none, wake)) {
    ::close(wake);
    return internal::bad_option("another call of drain_on_signal waits in this process");
  }
  first_signal = 0;
  std::expected<int, node_error> came = 0;
  {
    const signal_handlers handlers{signals};
    if (handlers.refused() != 0) {
      came = internal::bad_option("signal " + std::to_string(handlers.refused())
                                  + " cannot be handled: " + std::generic_category().message(errno));
    } else {
      std::uint64_t count = 0;
      while (::read(wake, &count, sizeof count) < 0 && errno == EINTR) {
      }
      came = first_signal.load();
    }
  }
  woken_by_signal = -1;
  ::close(wake);
  return came;
}

} // namespace

std::expected<int, node_error> drain_on_signal(node& which, std::chrono::milliseconds patience,
                                               std::initializer_list<int> signals) {
  const auto came = wait_for_signal(signals);
  if (!came)
    return came;
  if (auto drained = which.drain(patience); !drained)
    return std::unexpected{std::move(drained).error()};
  return came;
}

} // namespace troupe
