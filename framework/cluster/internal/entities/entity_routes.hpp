// The way of messages to the entities of one kind.
#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

#include <troupe/framework/cluster/cluster_member.hpp>
#include <troupe/framework/cluster/internal/entities/entity_address.hpp>
#include <troupe/framework/lasting.hpp>
#include <troupe/framework/pool.hpp>
#include <troupe/framework/relay.hpp>

namespace troupe::membership {

/// The owners of the shards of a kind, according to the directory.
struct shard_owners {
  static constexpr std::uint16_t none = 0xffff;

  std::vector<cluster_member> members; // The owners.
  std::set<std::string> present;       // The names of all members.
  std::vector<std::uint16_t> owner;    // By shard: the index of its owner; none. Empty: nobody has hosted the kind yet.
  std::vector<std::uint64_t> fence;    // By shard: the fencing number of its owner.
};

/// Leads messages to the owners of their shards. While a shard has no owner that can be reached, its messages wait.
/// Links to owners are made when there are messages for them.
///
/// When a shard has moved, the old owner may still have messages to pass on. So that no message overtakes them, a
/// marker is sent the old way first, and messages wait until the new owner has answered it. If no answer can come,
/// because the old owner is stuck or the link to it was lost, they wait no longer: the owners recognize what then comes
/// too late (arrival_order), and refuse it.
///
/// Threads: any. The decisions are made by an actor of its own, one after the other.
class entity_routes : public std::enable_shared_from_this<entity_routes> {
public:
  struct parts {
    caf::actor_system& system;
    std::string kind;
    std::string self; // This member's name.
    pool_options pool;
    /// Makes a handle on demand to the region of that member. It calls `tell`, on any thread, which returns soon.
    std::function<std::expected<caf::actor, node_error>(const cluster_member& of,
                                                        std::function<void(lasting_event::kind)> tell)>
        dial;
    /// Set for the messages that this member's region passes on: called when every message that waited for an owner has
    /// gone to this member itself.
    std::function<void(std::uint32_t shard)> on_drained;
  };

  [[nodiscard]] static std::shared_ptr<entity_routes> make(parts of);
  explicit entity_routes(parts of);
  entity_routes(const entity_routes&) = delete;
  entity_routes& operator=(const entity_routes&) = delete;
  ~entity_routes();

  [[nodiscard]] const std::string& kind() const noexcept { return of_.kind; }

  /// A handle to the entity.
  [[nodiscard]] caf::actor handle(std::string key);
  void pass(const std::string& key, relayed_message what);
  void pass_on(const entity_address& to, relayed_message what);

  /// From now on these are the owners. `own` is this member's region; `fences` says by shard with which fencing number
  /// it has the shard, 0: not.
  void lead_to(std::shared_ptr<const shard_owners> owners, const caf::actor& own, std::vector<std::uint64_t> fences);

  /// Has parts::on_drained called again, if the shard is this member's.
  void ask_drained(std::uint32_t shard);
  /// Whether messages for the shard still go to this member. It learns a moment after lead_to() that they are not to.
  [[nodiscard]] bool leads_here(std::uint32_t shard) const;

  /// From now on no member is dialed. Handles lead where they lead now.
  void stop();

  /// Messages that wait or are unanswered.
  [[nodiscard]] std::size_t under_way() const;

private:
  class router;

  /// The threads that are passing messages on, and began before, or after, a change of the way.
  struct passers {
    std::atomic<std::uint32_t> count{0};
    std::atomic<std::uint64_t> left{0}; // The way that is left when the last of them has ended; 0: none.
  };
  struct shared_way {
    std::atomic<actor_pool*> pool{nullptr}; // Null: no message has come.
    std::atomic<std::uint64_t> number{1};   // Of the way that messages take now.
    // What messages say of that way; see arrival_order. If the fence is 0, they wait, and get both later.
    std::atomic<std::uint64_t> way{0};
    std::atomic<std::uint64_t> fence{0};
    passers passing[2];              // By the number of their way, modulo 2.
    std::atomic<bool> is_own{false}; // Messages go to this member.
  };

  void pass_known(entity_address to, relayed_message what);
  void wait_in_lobby(const entity_address& to, relayed_message what);
  void end_passing(std::uint32_t shard, std::uint64_t number);
  [[nodiscard]] std::expected<caf::actor, node_error> dial(const cluster_member& to,
                                                           std::function<void(lasting_event::kind)> tell);
  [[nodiscard]] const actor_pool& pool_of(std::uint32_t shard);

  const parts of_;
  caf::actor router_;
  const actor_pool lobby_; // Has the messages until the number of shards is known.

  std::mutex dialing_;
  decltype(parts::dial) dial_; // Guarded by dialing_. Empty after stop().

  // Set once, by the router.
  std::atomic<std::size_t> shards_{0};
  std::unique_ptr<shared_way[]> ways_; // By shard.

  mutable std::mutex mutex_;
  std::vector<std::unique_ptr<actor_pool>> kept_; // Guarded by mutex_: those of ways_.
};

} // namespace troupe::membership
