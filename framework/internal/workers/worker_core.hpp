// The life of one worker process.
//
//  starting --link opens--> linked --link ends--> ending --process has ended--> over
//     '---------------- process has ended, without a link ----------------------^
//  A process that does not end by itself is killed. It may end before its link.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <asio/posix/stream_descriptor.hpp>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/node/connecting.hpp>
#include <troupe/framework/internal/node/handed_link.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>
#include <troupe/framework/internal/workers/memory_group.hpp>
#include <troupe/framework/internal/workers/output_reader.hpp>
#include <troupe/framework/internal/workers/worker_loop.hpp>
#include <troupe/framework/internal/workers/worker_start.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/framework/worker_process.hpp>
#include <troupe/processes/ending.hpp>

namespace troupe::internal {

class node_core;
class node_link;

/// Starts one worker, watches its process and its link, and tells what happens to them.
///
/// Threads: the public members on any; the others on the worker loop's.
/// Lifetime: the loop holds it until it is over.
class worker_core : public std::enable_shared_from_this<worker_core> {
public:
  using event_function = std::function<void(const worker_event&)>;

  /// Fails as worker_process::launch does.
  [[nodiscard]] static std::expected<std::shared_ptr<worker_core>, node_error>
  launch(std::shared_ptr<node_core> node, worker_options options, event_function on_event,
         const caf::strong_actor_ptr& listener);

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::shared_ptr<node_link> link() const;
  [[nodiscard]] pid_t number() const;
  [[nodiscard]] std::optional<worker_ending> ending() const;
  [[nodiscard]] std::optional<worker_ending> wait(std::chrono::milliseconds timeout) const;
  /// Waits until the link is open or the start has failed.
  [[nodiscard]] std::expected<void, node_error> wait_for_start() const;

  void stop();
  void kill();
  /// The owner is gone: stops the worker. Waits until it is over, or makes that nothing more is told if this thread
  /// must not wait.
  void abandon();

private:
  enum class state : std::uint8_t { starting, linked, ending, over };

  worker_core(worker_loop& loop, std::shared_ptr<node_core> node, destination to, worker_options options,
              event_function on_event, const caf::strong_actor_ptr& listener, std::optional<memory_group> group);

  void begin();
  void watch_process();
  void greet();
  void on_linked(connecting::result linked);
  void on_link_end(const node_error& reason);
  void on_process_end();
  void process_is_over();
  void wait_for_link_end();
  void on_line(std::string_view line, bool is_error);
  void fail_start(node_error why);
  void stop_now();
  void end_within(std::chrono::milliseconds patience, std::string why);
  void kill_now(std::string why);
  void let_go_of_attempt();
  void finish_if_over();
  [[nodiscard]] worker_ending made_ending() const;
  [[nodiscard]] node_error start_error(const worker_ending& how) const;
  void tell(const worker_event& event);
  [[nodiscard]] bool is_silent() const;

  worker_loop& loop_;
  const worker_options options_;
  const std::string name_;
  const pid_t owner_; // A forked child has a copy of this object, but no worker.

  // The loop's thread.
  state state_ = state::starting;
  std::shared_ptr<node_core> node_; // Null once over.
  std::optional<destination> to_;   // Until the socket is handed to the node.
  event_function on_event_;
  const caf::weak_actor_ptr listener_;
  std::optional<memory_group> group_;
  std::optional<started_worker> process_;
  std::optional<asio::posix::stream_descriptor> watch_;
  std::shared_ptr<output_reader> output_, errors_;
  std::shared_ptr<handed_link> attempt_; // Until the link is open or cannot be.
  std::deque<std::string> last_errors_;
  io_timer patience_; // Until the process is killed, or the link given up after the process's end.
  bool has_stopped_ = false;
  bool is_linked_ = false;                       // The link is open, or was.
  bool is_link_over_ = true;                     // There is none, or it has ended.
  std::optional<processes::ending> process_end_; // Set once the process is reaped here.
  bool is_status_lost_ = false;                  // The process was reaped elsewhere.
  bool is_process_over_ = false;                 // There is none, or it is reaped.
  std::string killed_because_;                   // Why this process has killed it; empty: it has not.
  std::optional<node_error> failure_;            // Why it has not connected, or why the link has ended.
  std::uint64_t killed_for_memory_ = 0;

  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  // Guarded by mutex_.
  bool is_silent_ = false;
  pid_t number_ = 0;
  std::shared_ptr<node_link> link_;
  std::optional<std::expected<void, node_error>> started_;
  std::optional<worker_ending> ending_;
  bool is_told_ = false; // The last event was told.
};

} // namespace troupe::internal
