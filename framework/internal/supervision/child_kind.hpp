// How a child is started and stopped.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <troupe/framework/internal/caf_port/event_actors.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Why a child ended, or did not start.
struct child_end {
  node_error reason = {node_errc::none, {}};
  bool is_abnormal = true;
  std::optional<int> exit_status = std::nullopt;
  std::optional<int> signal = std::nullopt;
  std::vector<std::string> last_lines = {};
  std::string cause = {};
};

/// The news about one run of a child: that it has started (with its actor, if it has one), and that it has ended. A run
/// that never started only ends. A run may also have something to do on the supervisor's thread.
struct child_news {
  std::optional<caf::actor> started = std::nullopt;
  std::optional<child_end> ended = std::nullopt;
  /// Not called if the run has been given up.
  std::function<void()> todo = {};
};

/// One run of a child, from the attempt to start it to its end.
///
/// Threads: the supervisor's. Lifetime: the destructor kills a child that has not ended.
class child_run {
public:
  child_run() = default;
  child_run(const child_run&) = delete;
  child_run& operator=(const child_run&) = delete;
  virtual ~child_run() = default;

  /// Asks the child to end. A start that is under way is given up.
  virtual void stop() = 0;
  virtual void kill() = 0;

  /// The id of the process, if the child is one; otherwise 0.
  [[nodiscard]] virtual std::uint32_t process() const { return 0; }
};

/// Takes the news of a run, in order. It never calls into the run.
///
/// Threads: any.
using news_sink = std::function<void(child_news)>;

/// Starts children of one kind, each time from the same arguments.
class child_kind {
public:
  virtual ~child_kind() = default;

  /// `name` is the child's. Does not block. A start that takes longer than `within` may be given up. A failed start is
  /// news.
  [[nodiscard]] virtual std::shared_ptr<child_run> start(caf::event_based_actor& supervisor, const std::string& name,
                                                         std::chrono::milliseconds within, news_sink news) const = 0;

  /// As child_activity::kind.
  [[nodiscard]] virtual std::string_view name() const = 0;

  /// How long a child of this kind may take to stop.
  [[nodiscard]] virtual std::chrono::milliseconds stop_within() const { return std::chrono::seconds(5); }
};

} // namespace troupe::internal
