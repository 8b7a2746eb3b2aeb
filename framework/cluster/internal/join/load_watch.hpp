// How much the members that provide a service have to do.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <caf/actor.hpp>
#include <caf/actor_control_block.hpp>
#include <caf/actor_system.hpp>

#include <troupe/framework/pool.hpp>
#include <troupe/framework/weak_node.hpp>

namespace troupe::membership {

/// What a member lists in cluster_member::features if it publishes spawn_load_teller().
inline constexpr const char* load_feature = "load";
inline constexpr const char* load_teller_name = "troupe.load";

/// Spawns an actor that answers each question, a std::uint32_t, with the number of requests that the actors of the node
/// have got from peers and not answered, without the question: a std::uint64_t.
[[nodiscard]] caf::actor spawn_load_teller(caf::actor_system& system, weak_node of);

/// Asks the members of a pool about their load, over the links that the pool's messages use: each of them once in a
/// second as long as messages go through the pool, otherwise none. The pool counts an answer until the next one; after
/// `pause` and `patience` without one, or without messages, it is forgotten.
///
/// Threads: any. Lifetime: its actor ends with this object.
class load_watch {
public:
  static constexpr std::chrono::milliseconds pause{1'000};
  static constexpr std::chrono::milliseconds patience{2'000};

  /// A member and a handle to its teller.
  struct asked {
    std::string name;
    caf::actor teller;
  };

  load_watch(caf::actor_system& system, caf::weak_actor_ptr pool);
  load_watch(const load_watch&) = delete;
  load_watch& operator=(const load_watch&) = delete;
  ~load_watch();

  /// From now on these members are asked.
  void ask(std::vector<asked> all) const;

private:
  const caf::actor asker_;
};

} // namespace troupe::membership
