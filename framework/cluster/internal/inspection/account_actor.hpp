// The actor that answers requests for a member's account.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include <caf/actor.hpp>
#include <caf/actor_system.hpp>

#include <troupe/framework/cluster/member_account.hpp>

namespace troupe::membership {

/// Gives the account to the function, now or later, on any thread; or never, if the member leaves.
using account_source = std::function<void(std::function<void(member_account)>)>;

/// Spawns the actor. It answers a std::string, the question, with another one (account_record.hpp). The caller ends it.
[[nodiscard]] caf::actor spawn_account_actor(caf::actor_system& system, account_source source);

/// Lets others call an object as long as it lives.
///
/// Threads: any.
template <class Object>
class live_reference {
public:
  explicit live_reference(Object* to) : to_(to) {}

  /// Afterwards no call reaches the object any more. Waits for one that runs.
  void end() {
    const std::lock_guard guard{mutex_};
    to_ = nullptr;
  }

  /// Calls `call` with the object, unless it has ended. `call` must not end it.
  template <class Call>
  void with(Call call) const {
    const std::lock_guard guard{mutex_};
    if (to_ != nullptr)
      call(*to_);
  }

private:
  mutable std::mutex mutex_;
  Object* to_; // Guarded by mutex_.
};

} // namespace troupe::membership
