// The actors that watch a cluster.
#pragma once

#include <mutex>
#include <vector>

#include <caf/actor.hpp>
#include <caf/actor_control_block.hpp>

#include <troupe/framework/cluster/cluster_member.hpp>

namespace troupe::membership {

/// Sends each event to the actors that watch, which it does not keep alive.
///
/// Threads: any.
class event_watchers {
public:
  void add(const caf::actor& receiver);
  void tell(const cluster_event& event);

private:
  std::mutex mutex_;
  std::vector<caf::weak_actor_ptr> all_; // Guarded by mutex_.
};

} // namespace troupe::membership
