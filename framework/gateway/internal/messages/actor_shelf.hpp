// The actors that clients can send messages to.
#pragma once

#include <expected>
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include <caf/actor.hpp>

#include <troupe/framework/gateway/gateway.hpp>
#include <troupe/framework/gateway/internal/messages/json_messages.hpp>
#include <troupe/framework/gateway/internal/words/refusal.hpp>

namespace troupe::web {

struct exposed_actor {
  caf::actor actor;
  exposure how;

  /// Fails with 422 if the actor is exposed for certain messages, and this is none of them.
  [[nodiscard]] std::expected<void, refusal> check(const std::vector<json_value>& message) const;
};

/// Has the actors that the program exposes, by name.
///
/// Threads: any.
class actor_shelf {
public:
  void expose(const std::string& name, std::shared_ptr<const exposed_actor> actor);
  bool withdraw(std::string_view name);
  /// Fails with 404.
  [[nodiscard]] std::expected<std::shared_ptr<const exposed_actor>, refusal> find(std::string_view name) const;
  using all_actors = std::map<std::string, std::shared_ptr<const exposed_actor>, std::less<>>;
  [[nodiscard]] all_actors all() const;

private:
  mutable std::shared_mutex mutex_; // Guards the member below.
  all_actors actors_;
};

} // namespace troupe::web
