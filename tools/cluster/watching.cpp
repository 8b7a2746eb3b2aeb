#include "cluster/watching.hpp"

#include "cluster/views.hpp"
#include "end_signals.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <mutex>
#include <ostream>
#include <system_error>
#include <utility>
#include <vector>

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

namespace troupe::tools {

namespace {

/// Events that wait to be printed.
class event_queue {
public:
  event_queue() : bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (bell_ < 0)
      throw std::system_error{errno, std::system_category(), "eventfd"};
  }
  event_queue(const event_queue&) = delete;
  event_queue& operator=(const event_queue&) = delete;
  ~event_queue() { ::close(bell_); }

  void push(const cluster_event& event) {
    {
      const std::lock_guard guard{mutex_};
      events_.push_back(event);
    }
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = ::write(bell_, &one, sizeof one); // Full: it has rung already.
  }

  [[nodiscard]] std::vector<cluster_event> take() {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto read = ::read(bell_, &count, sizeof count);
    const std::lock_guard guard{mutex_};
    return std::exchange(events_, {});
  }

  [[nodiscard]] int bell() const noexcept { return bell_; }

private:
  const int bell_;
  std::mutex mutex_;
  std::vector<cluster_event> events_; // Guarded by mutex_.
};

} // namespace

void watch_cluster(const directory_access& by, std::optional<double> seconds, bool as_json, const cluster_answer& to) {
  const auto begun = std::chrono::steady_clock::now();
  const end_signals signals;
  event_queue events;
  const auto observer = observe(by, [&](const cluster_event& event) { events.push(event); });
  if (!observer)
    return to.fail(by, observer.error());
  if (!as_json && observer->now().members.empty())
    to.out << text_of_members({}); // Otherwise nobody could tell a command that works from one that hangs.
  for (;;) {
    for (const auto& each : events.take())
      to.out << (as_json ? finished(document_of(each), -1) : line_of(each) + '\n');
    if (!to.out.flush()) // Nobody would see what comes.
      break;
    auto wait = -1;
    if (seconds) {
      const auto left = std::chrono::duration<double>(*seconds) - (std::chrono::steady_clock::now() - begun);
      if (left.count() <= 0)
        break;
      wait = static_cast<int>(std::min(std::chrono::ceil<std::chrono::milliseconds>(left).count(), 3'600'000L));
    }
    pollfd ready[2]{{events.bell(), POLLIN, 0}, {signals.file(), POLLIN, 0}};
    ::poll(ready, 2, wait);
    if (ready[1].revents != 0)
      break;
  }
}

} // namespace troupe::tools
