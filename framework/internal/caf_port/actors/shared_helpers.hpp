// The actors of a node that serve its peers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include <caf/actor_control_block.hpp>
#include <caf/actor_system.hpp>

#include <troupe/framework/internal/caf_port/actors/inspector.hpp>
#include <troupe/serializers/type_entry.hpp>

namespace troupe::internal {

/// The questions about a node that a peer may ask.
struct query_rights {
  bool memory = false;
  bool report = false;
  bool recording = false;
  bool orders = false;
  std::string role = {}; // That the peer has here, for errors.

  auto operator<=>(const query_rights&) const = default;
};

/// Makes the actors that serve the peers of all links. Each is made at its first request.
///
/// Threads: any.
class shared_helpers {
public:
  /// Makes the functions that answer questions about this node, for peers with these rights.
  using answers_maker = std::function<query_answers(const query_rights&)>;

  shared_helpers(caf::actor_system& system, const type_registry& types, answers_maker answers);

  /// The actor that runs the tasks that peers submit.
  [[nodiscard]] caf::strong_actor_ptr task_runner();
  /// The actor that spawns actors on behalf of peers.
  [[nodiscard]] caf::strong_actor_ptr spawner();
  /// The actor that answers questions about this node to peers with these rights; null if they may ask none.
  [[nodiscard]] caf::strong_actor_ptr inspector(const query_rights& rights);

  /// Whether `actor` is one of these actors. No link may end it, however the peer got its handle.
  [[nodiscard]] bool has(const caf::strong_actor_ptr& actor) const;

  /// The ids of these actors.
  [[nodiscard]] std::vector<std::uint64_t> ids() const;

  /// Ends all actors. Actors requested afterwards have already been told to end.
  void end();

private:
  enum class kind { task_runner, spawner, inspector };
  struct key {
    kind what = kind::task_runner;
    query_rights rights;

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

  mutable std::mutex mutex_; // Nothing is spawned or told to end under it, since CAF may then run the program's code.
  actor_map made_;           // Guarded by mutex_.
  bool has_ended_ = false;   // Guarded by mutex_.
};

} // namespace troupe::internal
