// The actors of a node that serve its peers.
#pragma once

#include <functional>
#include <map>
#include <mutex>

#include <caf/actor_control_block.hpp>
#include <caf/actor_system.hpp>

#include <troupe/framework/internal/caf_port/actors/inspector.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe::internal {

/// What a peer may ask about a node.
struct inspection_rights {
  bool memory = false;
  bool report = false;

  auto operator<=>(const inspection_rights&) const = default;
};

/// Makes the actors that serve the peers of all links, each when it is first asked for.
///
/// Threads: any.
class shared_helpers {
public:
  /// Makes the function that answers questions about this node to peers with these rights.
  using answers_maker = std::function<inspection_answers(const inspection_rights&)>;

  shared_helpers(caf::actor_system& system, const type_registry& types, answers_maker answers);

  /// Runs what peers submit.
  [[nodiscard]] caf::strong_actor_ptr task_runner();
  /// Spawns the actors that peers ask for.
  [[nodiscard]] caf::strong_actor_ptr spawner();
  /// The actor that answers what peers with these rights ask about this node; null if they may ask nothing.
  [[nodiscard]] caf::strong_actor_ptr inspector(const inspection_rights& rights);

  /// Whether that is one of these: none of the links ends it, however the peer came by it.
  [[nodiscard]] bool has(const caf::strong_actor_ptr& actor) const;

  /// Ends them all. What is asked for afterwards has ended, too.
  void end();

private:
  enum class kind { task_runner, spawner, inspector };
  struct key {
    kind what = kind::task_runner;
    inspection_rights rights;

    auto operator<=>(const key&) const = default;
  };
  using actor_map = std::map<key, caf::strong_actor_ptr>;

  template <class Spawn>
  [[nodiscard]] caf::strong_actor_ptr get(const key& which, Spawn spawn);
  [[nodiscard]] caf::strong_actor_ptr find(const key& which) const;
  [[nodiscard]] caf::strong_actor_ptr keep(const key& which, caf::strong_actor_ptr made);

  caf::actor_system& system_;
  const type_registry& types_;
  const answers_maker answers_;

  mutable std::mutex mutex_; // Under it nothing is spawned or told to end, since CAF may run the program's code then.
  actor_map made_;           // Guarded by mutex_.
  bool has_ended_ = false;   // Guarded by mutex_.
};

} // namespace troupe::internal
