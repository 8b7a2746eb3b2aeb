// Actors of which the cluster has one for each key: cluster::host_entities, cluster::entities.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <caf/actor.hpp>
#include <caf/actor_cast.hpp>

#include <troupe/base/export.hpp>
#include <troupe/framework/cluster/ownership.hpp>

namespace troupe {

namespace membership {

class entity_shard;
class entity_routes;

[[nodiscard]] TROUPE_EXPORT caf::actor entity_handle(const std::shared_ptr<entity_routes>& routes, std::string key);

} // namespace membership

/// What an entity's actor is made with. Copies mean the same run of the same entity.
///
/// Threads: any.
class TROUPE_EXPORT entity_context {
public:
  /// @private
  entity_context(std::string key, std::string state, troupe::ownership own,
                 std::weak_ptr<membership::entity_shard> home, std::uint64_t run);

  [[nodiscard]] const std::string& key() const noexcept { return key_; }
  /// What entity_options::load has returned; empty without it.
  [[nodiscard]] const std::string& state() const noexcept { return state_; }
  /// The fencing number is that of the entity's shard. It rises each time that another process owns the shard.
  [[nodiscard]] const troupe::ownership& own() const noexcept { return own_; }

  /// Hands the present state over to entity_options::save, which is called soon, on a thread of the cluster. If this is
  /// called again before, only the newest state is saved. A later run of the entity, here or on another member, does
  /// not begin before the state was saved, or saving it has failed for `end_within`. A state that is not saved yet is
  /// lost with the process; an actor that must not lose it writes it itself before it answers.
  void save(std::string state) const;

  /// Ends the actor once it has handled the messages sent before. The next message makes it again. With
  /// entity_options::remember, it is not remembered any more.
  void passivate() const;

private:
  std::string key_;
  std::string state_;
  troupe::ownership own_;
  std::weak_ptr<membership::entity_shard> home_;
  std::uint64_t run_;
};

struct entity_options {
  /// Only members with this role host entities of the kind; empty: every member that calls host_entities().
  std::string role = {};
  /// Keys are divided into this number of shards, 1 to 4,096. Each shard has one owner, and moves as a whole. All
  /// members must use the same number: it is written to the directory by the first one, and stays. Higher: the load is
  /// spread more evenly, but a lost member costs more writes to the directory, one for each of its shards.
  std::size_t shards = 256;
  /// An entity that gets no message for this time is passivated, also if it has not answered a request yet, which then
  /// fails with `broken_promise`; 0: never. Not used with `remember`.
  std::chrono::milliseconds idle_after{120'000};
  /// True: the directory keeps the key of each entity that runs, and the next owner of its shard makes it again without
  /// a message. Costs one entry in the directory for each entity, and every member is told of each change: use it for
  /// some thousands, not for millions. Keys of more than about 300 bytes are not remembered.
  bool remember = false;
  /// Called before an entity's actor is made, on one of four threads of the cluster. It may block, but must return: the
  /// destructor of the cluster waits for it. `fence` is the fencing number of the entity's shard. If the store refuses
  /// lower ones from now on, no save of an earlier owner that is still on its way can come between. The text of an
  /// error goes to the senders of the requests that wait for the entity.
  std::function<std::expected<std::string, std::string>(const std::string& key, std::uint64_t fence)> load = {};
  /// Writes a state where `load` finds it. Called like `load`, for one entity one at a time. If it fails, it is called
  /// again after a pause. It must refuse to replace a state that was written with a higher fencing number; otherwise a
  /// process that was stopped for longer than its lease can overwrite the state of its successor.
  std::function<std::expected<void, std::string>(const std::string& key, std::uint64_t fence, const std::string& state)>
      save = {};
  /// How long actors have to end when their shard moves to another member; then they are killed. At the end of a lease
  /// it is at most a quarter of the lease.
  std::chrono::milliseconds end_within{10'000};
  /// At most this number of messages wait for one entity while it is made or ended. Further requests fail with
  /// `link_busy`; other messages are dropped.
  std::size_t waiting_most = 10'000;
  /// At most this number of entities of the kind run on one member. A request for a further one fails with `link_busy`.
  /// It bounds what a client can make a member hold by sending to more and more keys. Remembered entities for which
  /// there is no room are not made; cluster::problems() says how many.
  std::size_t entities_most = 1'000'000;
};

/// The entities of one kind, as handles. Copies mean the same.
///
/// Threads: any. Lifetime: the handles lead to the entities as long as the cluster object lives. They do not keep
/// entities from being passivated.
template <class Handle>
class entities {
public:
  /// @private
  explicit entities(std::shared_ptr<membership::entity_routes> routes) : routes_(std::move(routes)) {}

  /// A handle to the entity with this key, at most 1,024 bytes, wherever it runs now or later. Keep the handle if
  /// messages are sent often. Two handles of one key are not equal. Does not block.
  [[nodiscard]] Handle of(std::string key) const {
    return caf::actor_cast<Handle>(membership::entity_handle(routes_, std::move(key)));
  }

private:
  std::shared_ptr<membership::entity_routes> routes_;
};

} // namespace troupe
