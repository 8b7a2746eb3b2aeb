// A run of a child that is a process.
#pragma once

#include <chrono>
#include <memory>
#include <optional>

#include <troupe/framework/internal/supervision/child_kind.hpp>
#include <troupe/framework/internal/workers/worker_core.hpp>
#include <troupe/framework/supervise.hpp>

namespace troupe::internal {

/// Watches, stops and kills one worker process and the actor that it hosts.
///
/// Lifetime: the supervisor outlives it.
class process_run final : public child_run, public std::enable_shared_from_this<process_run> {
public:
  process_run(caf::event_based_actor& supervisor, hosted_actor hosts, std::chrono::milliseconds within, news_sink news);
  ~process_run() override;

  void begin(const std::shared_ptr<node_core>& node, worker_options options);
  void fail(node_error reason);

  void stop() override;
  void kill() override;
  [[nodiscard]] std::uint32_t process() const override;

private:
  void handle(const worker_event& event);
  void find_actor(const link& over);
  void take_actor(caf::actor actor);
  /// The process is of no use any more.
  void end_because(child_end why);

  caf::event_based_actor& supervisor_;
  const hosted_actor hosts_;
  const std::chrono::steady_clock::time_point start_deadline_;
  const news_sink news_;
  std::shared_ptr<worker_core> process_; // Null before it was launched, and once it is over.
  caf::actor actor_;                     // Null until it is there.
  std::optional<child_end> why_;         // Set if this run has ended the process, for a reason of the actor.
};

} // namespace troupe::internal
