#include <troupe/framework/log.hpp>

#include <troupe/framework/internal/words/log.hpp>

#include <array>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include <pthread.h>
#include <unistd.h>

#include <troupe/framework/internal/words/error_stream.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe {

namespace internal {

namespace {

constexpr std::array<std::string_view, 5> level_names = {"off", "error", "warning", "info", "debug"};

struct sinks {
  std::mutex calling;                // Held while a sink runs.
  std::mutex mutex;                  // Taken under `calling`, never while a sink runs.
  std::shared_ptr<log_sink> current; // Guarded by mutex.
  error_stream standard_error{STDERR_FILENO};
  bool is_called_elsewhere = false; // While this thread forks, another thread is in the sink.

  sinks();

  /// May be called without `calling`. Copies no sink, so that replacing a sink also destroys it.
  [[nodiscard]] bool has_one() {
    const std::lock_guard guard{mutex};
    return current != nullptr;
  }
  /// Requires `calling`.
  [[nodiscard]] std::shared_ptr<log_sink> now() {
    const std::lock_guard guard{mutex};
    return current;
  }
};

/// Never destroyed, because threads may log as long as the process lives.
sinks& all_sinks() {
  static auto& made = *new sinks;
  return made;
}

/// Whether this thread is in a sink, and therefore holds `calling`.
thread_local bool is_in_sink = false;

void lock_sinks() {
  auto& all = all_sinks();
  all.is_called_elsewhere = !is_in_sink && !all.calling.try_lock();
  all.mutex.lock();
  all.standard_error.before_fork();
}

void unlock_sinks(bool is_child) {
  auto& all = all_sinks();
  all.standard_error.forked(is_child);
  if (is_child && all.is_called_elsewhere) {
    // The thread that was in the sink does not exist here, so the sink's locks stay locked. Even destroying the sink
    // could block, so it is leaked.
    [[maybe_unused]] const auto* kept = new std::shared_ptr<log_sink>{std::move(all.current)};
    all.current = nullptr;
    new (&all.calling) std::mutex;
  }
  all.mutex.unlock();
  if (!is_in_sink && !all.is_called_elsewhere)
    all.calling.unlock();
}

sinks::sinks() {
  ::pthread_atfork(
      lock_sinks, [] { unlock_sinks(false); }, [] { unlock_sinks(true); });
}

} // namespace

constinit std::atomic<std::uint8_t> log_threshold_now{log_threshold_unread};

threshold_text read_threshold(const char* text) {
  if (text == nullptr || *text == '\0')
    return {log_level::warning, {}};
  std::string known;
  for (std::size_t i = 0; i < level_names.size(); ++i) {
    if (level_names[i] == text)
      return {static_cast<log_level>(i), {}};
    known += (i == 0 ? "" : ", ") + std::string{level_names[i]};
  }
  return {log_level::warning, "TROUPE_LOG is \"" + std::string{std::string_view{text}.substr(0, 64)} + "\", known are "
                                  + known + "; warning is used"};
}

log_level read_environment() noexcept {
  static const bool was_read = [] {
    const auto read = read_threshold(std::getenv("TROUPE_LOG"));
    auto unread = log_threshold_unread;
    const auto is_used = log_threshold_now.compare_exchange_strong(unread, static_cast<std::uint8_t>(read.level));
    if (is_used && !read.complaint.empty())
      write_log(log_level::warning, read.complaint);
    return is_used;
  }();
  (void)was_read;
  return static_cast<log_level>(log_threshold_now.load(std::memory_order_relaxed));
}

void write_log(log_level level, std::string_view text) noexcept {
  if (is_in_sink)
    return;
  try {
    const auto line = one_line(text, log_line_bytes_max);
    auto& all = all_sinks();
    if (!all.has_one()) {
      all.standard_error.write("troupe " + std::string{to_string(level)} + ": " + line);
      return;
    }
    std::unique_lock guard{all.calling};
    const auto running = all.now(); // The sink may set another one meanwhile.
    if (!running) {
      guard.unlock();
      all.standard_error.write("troupe " + std::string{to_string(level)} + ": " + line);
      return;
    }
    struct within {
      within() { is_in_sink = true; }
      ~within() { is_in_sink = false; }
    } entered;
    (*running)(level, line);
  } catch (...) { // Out of memory, or thrown by the sink: there is no place left to report it.
    return;
  }
}

} // namespace internal

std::string_view to_string(log_level level) {
  const auto index = static_cast<std::size_t>(level);
  return index < internal::level_names.size() ? internal::level_names[index] : "unknown";
}

log_level log_threshold() noexcept {
  const auto now = internal::log_threshold_now.load(std::memory_order_relaxed);
  return now == internal::log_threshold_unread ? internal::read_environment() : static_cast<log_level>(now);
}

void set_log_threshold(log_level threshold) noexcept {
  internal::log_threshold_now.store(static_cast<std::uint8_t>(threshold), std::memory_order_relaxed);
}

void set_log_sink(log_sink sink) {
  auto next = sink ? std::make_shared<log_sink>(std::move(sink)) : nullptr;
  auto& all = internal::all_sinks();
  std::unique_lock waits{all.calling, std::defer_lock};
  if (!internal::is_in_sink) // Otherwise this thread holds the lock already.
    waits.lock();
  {
    const std::lock_guard guard{all.mutex};
    next.swap(all.current);
  }
  if (waits.owns_lock())
    waits.unlock(); // Destroys the previous sink without the lock.
}

void write_log_line(log_level level, std::string_view text) noexcept {
  if (internal::logs(level))
    internal::write_log(level, text);
}

} // namespace troupe
