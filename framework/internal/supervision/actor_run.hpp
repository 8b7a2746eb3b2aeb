// A run of a child that is an actor.
#pragma once

#include <memory>
#include <string_view>

#include <troupe/framework/internal/supervision/child_kind.hpp>

namespace troupe::internal {

/// Says how an actor ended.
[[nodiscard]] child_end end_of_actor(const caf::error& reason);

/// To be called in a handler of exceptions: the error of a start in which `what` has thrown.
[[nodiscard]] node_error start_thrown_by(std::string_view what);

/// Watches, stops and kills one actor, which may run in this process or in a peer.
class actor_run final : public child_run, public std::enable_shared_from_this<actor_run> {
public:
  explicit actor_run(news_sink news) : news_(std::move(news)) {}
  ~actor_run() override;

  /// The actor has been spawned. Without an actor, the start has failed.
  void begin(caf::actor actor);
  void fail(node_error reason);

  void stop() override;
  void kill() override;

private:
  void end_with(caf::exit_reason how);

  const news_sink news_;
  caf::actor actor_;     // Null until it has been spawned.
  bool is_over_ = false; // The start has failed, or was given up.
};

} // namespace troupe::internal
