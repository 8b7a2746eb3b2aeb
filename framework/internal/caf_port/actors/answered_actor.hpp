// The actor behind an outside_actor.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <utility>

#include <troupe/framework/internal/caf_port/event_actors.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/outside_actor.hpp>

namespace troupe::internal {

/// Calls a function for each answer, and another one for each other message, on the sender's thread.
///
/// Threads: any.
class answered_actor final : public caf::actor_proxy {
public:
  answered_actor(caf::actor_config& config, std::function<void(relayed_message)> take)
      : caf::actor_proxy(config), take_(std::move(take)) {}

  using caf::abstract_actor::enqueue;
  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit* context) override;
  void kill_proxy(caf::execution_unit* context, caf::error reason) override;
  [[nodiscard]] const char* name() const override { return "troupe::outside_actor"; }

  /// Returns the number of a request that `answered` waits for.
  [[nodiscard]] std::uint64_t begin_request(outside_actor::on_answer answered);
  /// False if nothing waits for its answer any more.
  bool forget(std::uint64_t request);
  /// Forgets all requests. From now on refuses messages.
  void refuse_all();

private:
  [[nodiscard]] outside_actor::on_answer taken(std::uint64_t request);

  const std::function<void(relayed_message)> take_;
  std::atomic<bool> has_ended_{false};

  std::mutex mutex_; // Guards the members below.
  std::uint64_t last_ = 0;
  std::unordered_map<std::uint64_t, outside_actor::on_answer> waiting_;
};

} // namespace troupe::internal
