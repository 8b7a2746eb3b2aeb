#include <troupe/framework/otlp/trace_exporter.hpp>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include <unistd.h>

#include <troupe/base/sizes.hpp>
#include <troupe/base/text.hpp>
#include <troupe/framework/log.hpp>
#include <troupe/framework/node.hpp>
#include <troupe/framework/otlp/http_poster.hpp>
#include <troupe/framework/otlp/otlp_json.hpp>
#include <troupe/framework/otlp/span_queue.hpp>

namespace troupe {

namespace {

using namespace std::chrono_literals;
using otlp::span_queue;

std::unexpected<node_error> bad_option(std::string text) {
  return std::unexpected{node_error{node_errc::bad_option, "traces: " + std::move(text)}};
}

std::optional<std::string> why_not(const trace_export_options& options) {
  constexpr auto longest = 24h;
  const auto is_bad = [&](std::chrono::milliseconds value) { return value <= 0ms || value > longest; };
  if (options.batch_max == 0 || options.queue_max < options.batch_max)
    return "queue_max is " + grouped(options.queue_max) + " and batch_max " + grouped(options.batch_max)
           + "; a batch has at least one span, and the queue has room for a batch";
  if (is_bad(options.interval) || is_bad(options.request_timeout))
    return "interval is " + std::to_string(options.interval.count()) + " ms and request_timeout "
           + std::to_string(options.request_timeout.count()) + " ms; both are at least 1 ms and at most a day";
  if (options.retry_timeout < 0ms || options.retry_timeout > longest || options.close_timeout < 0ms
      || options.close_timeout > longest)
    return "retry_timeout is " + std::to_string(options.retry_timeout.count()) + " ms and close_timeout "
           + std::to_string(options.close_timeout.count()) + " ms; neither is negative or more than a day";
  return std::nullopt;
}

/// A thread that handles no signals of the program.
template <class Work>
std::thread quiet_thread(Work work) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  struct restoring {
    const sigset_t& mask;
    ~restoring() { pthread_sigmask(SIG_SETMASK, &mask, nullptr); }
  } at_end{before};
  return std::thread{std::move(work)};
}

} // namespace

class trace_exporter::exporting {
public:
  exporting(otlp::http_poster poster, otlp::resource from, trace_export_options options)
      : shown_(poster.shown_url()),
        options_(std::move(options)),
        from_(std::move(from)),
        queue_(std::make_shared<span_queue>(options_.queue_max, options_.batch_max)) {
    thread_ = quiet_thread([this, posting = std::move(poster)]() mutable { run(std::move(posting)); });
  }
  exporting(const exporting&) = delete;
  exporting& operator=(const exporting&) = delete;
  ~exporting() {
    {
      const std::lock_guard guard{mutex_};
      end_ = std::chrono::steady_clock::now() + options_.close_timeout;
    }
    queue_->close();
    thread_.join();
  }

  [[nodiscard]] const std::shared_ptr<span_queue>& queue() const noexcept { return queue_; }

  [[nodiscard]] trace_export_stats stats() const {
    const std::lock_guard guard{mutex_};
    auto result = stats_;
    result.dropped += queue_->dropped();
    result.waiting = queue_->waiting();
    return result;
  }

private:
  void run(otlp::http_poster poster) { // Ends on this thread, which gets no signals from broken connections.
    for (;;) {
      const auto batch = queue_->next(options_.interval);
      if (batch.empty())
        return;
      try {
        send(poster, batch);
      } catch (const std::exception& failure) { // No memory.
        failed(failure.what());
        drop(batch.size());
      }
      queue_->done();
    }
  }

  [[nodiscard]] bool is_over() const {
    const std::lock_guard guard{mutex_};
    return end_ && std::chrono::steady_clock::now() >= *end_;
  }

  void send(otlp::http_poster& poster, const std::vector<span>& batch) {
    if (is_over() || !wait_until(not_before_))
      return drop(batch.size());
    const auto body = otlp::request_body(from_, batch);
    const auto until = std::chrono::steady_clock::now() + options_.retry_timeout;
    auto pause = first_pause;
    while (!is_over()) {
      const auto answer = poster.post(body, time_for_request(), [this] { return is_over(); });
      if (answer && answer->status >= 200 && answer->status < 300)
        return succeeded(batch.size(), *answer);
      failed(answer ? "the collector answers " + std::to_string(answer->status) : answer.error());
      const auto wait =
          answer && answer->retry_after ? std::max<std::chrono::milliseconds>(*answer->retry_after, pause) : pause;
      not_before_ = std::chrono::steady_clock::now() + wait;
      constexpr long retryable[] = {429, 502, 503, 504};
      if ((answer && std::ranges::find(retryable, answer->status) == std::end(retryable)) || not_before_ > until
          || !wait_until(not_before_))
        break;
      pause = std::min(2 * pause, longest_pause);
    }
    drop(batch.size());
  }

  void drop(std::size_t spans) {
    const std::lock_guard guard{mutex_};
    stats_.dropped += spans;
  }

  /// Returns false if the exporter ends first.
  [[nodiscard]] bool wait_until(std::chrono::steady_clock::time_point at) {
    if (at <= std::chrono::steady_clock::now() || queue_->pause(at))
      return true;
    // It is ending: one more try, if the time for that suffices.
    const std::lock_guard guard{mutex_};
    return end_ && !std::exchange(is_last_try_, true);
  }

  [[nodiscard]] std::chrono::milliseconds time_for_request() const {
    const std::lock_guard guard{mutex_};
    if (!end_)
      return options_.request_timeout;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(*end_ - std::chrono::steady_clock::now());
    return std::clamp(left, 1ms, options_.request_timeout);
  }

  void succeeded(std::size_t spans, const otlp::http_answer& answer) {
    const auto partial = otlp::read_answer(answer.body);
    const auto rejected = std::min<std::uint64_t>(partial.rejected, spans);
    std::unique_lock guard{mutex_};
    ++stats_.requests;
    stats_.exported += spans - rejected;
    stats_.rejected += rejected;
    const auto is_news = std::exchange(is_failing_, false);
    guard.unlock();
    if (is_news)
      write_log_line(log_level::warning, "traces: " + shown_ + " takes spans again");
    if (rejected > 0)
      write_log_line(log_level::warning, "traces: " + shown_ + " has rejected " + grouped(rejected) + " of "
                                             + grouped(spans) + " spans: " + one_line(partial.message, 256));
  }

  void failed(const std::string& why) {
    std::unique_lock guard{mutex_};
    ++stats_.requests;
    ++stats_.failed_requests;
    stats_.last_error = why;
    const auto is_news = !std::exchange(is_failing_, true);
    guard.unlock();
    if (is_news)
      write_log_line(log_level::warning, "traces: no spans can be sent to " + shown_ + ": " + one_line(why, 256)
                                             + "; trace_exporter::stats counts the spans that are dropped");
  }

  static constexpr std::chrono::milliseconds first_pause{100};
  static constexpr std::chrono::milliseconds longest_pause{5'000};

  const std::string shown_; // The URL without user and password.
  const trace_export_options options_;
  const otlp::resource from_;
  const std::shared_ptr<span_queue> queue_; // The node may keep it for longer.
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  trace_export_stats stats_;
  std::optional<std::chrono::steady_clock::time_point> end_; // Set once the exporter ends.
  bool is_failing_ = false;
  bool is_last_try_ = false;
  std::chrono::steady_clock::time_point not_before_; // Of the next request; the thread's.
  std::thread thread_;                               // Last: it uses all other members.
};

trace_exporter::trace_exporter(std::shared_ptr<exporting> what) : exporting_(std::move(what)) {}
trace_exporter::trace_exporter(trace_exporter&&) noexcept = default;
trace_exporter& trace_exporter::operator=(trace_exporter&&) noexcept = default;
trace_exporter::~trace_exporter() = default;

std::expected<trace_exporter, node_error> trace_exporter::open(node& of, trace_export_options options) {
  if (auto why = why_not(options))
    return bad_option(*std::move(why));
  auto poster = otlp::http_poster::make(options.endpoint, options.headers);
  if (!poster)
    return bad_option(std::move(poster).error());
  const auto sample = options.sample;
  otlp::resource from{.service = options.service.empty() ? of.name() : options.service,
                      .instance = of.name() + '-' + std::to_string(::getpid())};
  auto made = std::make_shared<exporting>(*std::move(poster), std::move(from), std::move(options));
  if (auto recorded = of.record_spans(made->queue(), sample); !recorded)
    return std::unexpected{std::move(recorded).error()};
  return trace_exporter{std::move(made)};
}

trace_export_stats trace_exporter::stats() const {
  return exporting_->stats();
}

bool trace_exporter::flush(std::chrono::milliseconds timeout) {
  return exporting_->queue()->flush(timeout);
}

} // namespace troupe
