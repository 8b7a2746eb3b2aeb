#include <troupe/framework/cluster/internal/join/event_watchers.hpp>

#include <caf/actor_cast.hpp>
#include <caf/send.hpp>

namespace troupe::membership {

void event_watchers::add(const caf::actor& receiver) {
  const std::lock_guard guard{mutex_};
  all_.push_back(caf::actor_cast<caf::weak_actor_ptr>(receiver));
}

/// Events are sent under the lock, so that each receiver gets them in order.
void event_watchers::tell(const cluster_event& event) {
  std::vector<caf::actor> told; // Released after the lock.
  const std::lock_guard guard{mutex_};
  std::erase_if(all_, [&](const caf::weak_actor_ptr& one) {
    const auto strong = one.lock();
    if (strong)
      told.push_back(caf::actor_cast<caf::actor>(strong));
    return !strong;
  });
  for (const auto& receiver : told)
    caf::anon_send(receiver, event);
}

} // namespace troupe::membership
