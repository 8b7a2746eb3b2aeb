// An actor without a mailbox, whose messages a function gets.
#pragma once

#include <functional>
#include <utility>

#include <troupe/framework/internal/caf_port/event_actors.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/relay.hpp>

namespace troupe::internal {

/// Calls the function with each message, on the sender's thread.
class relay_actor final : public caf::actor_proxy {
public:
  relay_actor(caf::actor_config& config, std::function<void(relayed_message)> take)
      : caf::actor_proxy(config), take_(std::move(take)) {}

  using caf::abstract_actor::enqueue;
  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit* context) override;
  void kill_proxy(caf::execution_unit*, caf::error) override {}
  [[nodiscard]] const char* name() const override { return "troupe::relay"; }

private:
  const std::function<void(relayed_message)> take_;
};

/// The execution unit of the relay that this thread is in; null if it is in none.
[[nodiscard]] caf::execution_unit* context_of_relay() noexcept;

} // namespace troupe::internal
