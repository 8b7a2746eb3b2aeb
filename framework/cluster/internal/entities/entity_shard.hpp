// The entities of one shard, on the member that owns it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <caf/actor.hpp>

#include <troupe/framework/cluster/entity.hpp>
#include <troupe/framework/cluster/internal/entities/arrival_order.hpp>
#include <troupe/framework/cluster/internal/entities/entity_address.hpp>
#include <troupe/framework/cluster/internal/entities/state_saver.hpp>
#include <troupe/framework/relay.hpp>

namespace troupe::membership {

/// Runs each entity of a shard from the first message for it until it is idle, or the shard leaves.
///
///     an entity:  making --made--> running --idle, or the shard leaves--> ending --ended and saved--> gone or making
///     the shard:  opening --open()--> open --leave()--> leaving --every entity is gone, hand_over()--> handed over
///
/// Messages of one sender for one entity arrive in order: they wait while the entity is made or ended, and while the
/// shard opens or leaves, and are then passed on in the order in which they came. A message that comes after later ones
/// is refused with `child_lost`.
///
/// Actors are neither called nor released under the lock. Threads: any.
class entity_shard : public std::enable_shared_from_this<entity_shard> {
public:
  using clock = std::chrono::steady_clock;

  struct parts {
    std::string kind;
    std::function<caf::actor(const entity_context&)> make;
    entity_options options;
    std::shared_ptr<std::atomic<std::size_t>> count; // Of the entities of the kind, in all shards here.
    // Call the function soon, on a thread that may block.
    std::function<void(std::function<void()>)> run_making;
    std::function<void(std::function<void()>)> run_saving;
    /// `what` is "making", "saving" or "remembering". An empty text: the last one was well.
    std::function<void(const std::string& what, std::string text)> problem;
    std::function<void()> on_end; // After leave(): an entity is gone.
  };

  /// `order` outlives this ownership. `remember` is told which keys run; may be empty.
  entity_shard(std::shared_ptr<const parts> of, ownership own, std::shared_ptr<arrival_order> order,
               std::function<void(const std::string& key, bool is_running)> remember);
  entity_shard(const entity_shard&) = delete;
  entity_shard& operator=(const entity_shard&) = delete;
  ~entity_shard();

  void take(entity_address to, relayed_message what);
  /// A message that came before the shard was here. While the shard opens, these go first.
  void take_early(entity_address to, relayed_message what);
  void open();
  /// Makes the entity without a message. Returns false if as many as possible run (entity_options::entities_most).
  [[nodiscard]] bool start(const std::string& key);

  /// Passivates idle entities, kills those that have not ended in time, and saves again what could not be saved.
  void sweep(clock::time_point now);

  /// Tells every entity to end; those that have not ended at `kill_at` are killed. Call it again to be quicker. If the
  /// shard `is_lost`, another member may own it already, and states that cannot be saved at once are given up.
  void leave(clock::time_point kill_at, bool is_lost = false);
  /// Whether all have ended and are saved. Requires: leave() was called.
  [[nodiscard]] bool has_left() const;
  /// Passes the messages that wait to `pass`, and from then on every message.
  void hand_over(std::function<void(entity_address, relayed_message)> pass);

  [[nodiscard]] std::size_t size() const;

  // For contexts.
  void save(const std::string& key, std::uint64_t run, std::string state);
  void passivate(const std::string& key, std::uint64_t run);

private:
  enum class phase : std::uint8_t { making, running, ending };

  struct slot {
    phase now = phase::making;
    bool has_begun = false;     // To be made.
    bool end_is_due = false;    // As soon as no message is being passed.
    bool is_unwanted = false;   // It is to be ended as soon as it was made.
    bool was_delivered = false; // A message.
    bool has_ended = false;     // The actor.
    bool is_forgotten = false;  // It is not to be made again without a message.
    bool was_killed = false;
    std::uint32_t passing = 0; // Messages that threads are giving to the actor.
    std::uint64_t run = 0;
    caf::actor actor = {};
    std::vector<std::pair<entity_address, relayed_message>> waiting = {};
    clock::time_point last_used{};
    clock::time_point due{}; // While ending: when to kill it. While making: not before.
  };
  /// What is to be done without the lock.
  struct work {
    std::vector<std::pair<caf::actor, bool>> ended; // Actors to end; true: at once.
    std::vector<caf::actor> released;
    std::vector<std::function<void()>> makings;
    std::vector<std::pair<entity_address, relayed_message>> passed; // On, because the shard was handed over.
    std::vector<std::pair<relayed_message, node_error>> failures;
    std::vector<std::pair<std::string, bool>> remembered;
    bool rings = false;
  };

  void take(entity_address to, relayed_message what, bool is_early);
  [[nodiscard]] node_error held_up(const entity_address& to) const;
  void make(const std::string& key, std::uint64_t run);
  [[nodiscard]] bool has_left_meanwhile(const std::string& key, std::uint64_t run);
  void deliver_waiting(const std::string& key, std::uint64_t run, const caf::actor& actor);
  void note_passed(const std::string& key, std::uint64_t run, const caf::actor& actor);
  void note_end(const std::string& key, std::uint64_t run);
  void fail_making(const std::string& key, std::uint64_t run, const std::string& why);
  void note_saved(const std::string& key);
  void note_problem(const std::string& what, std::string text);
  void do_work(work todo);

  // With the lock.
  void begin_making(const std::string& key, slot& of, work& todo);
  void begin_ending(slot& of, clock::time_point kill_at, work& todo);
  /// After the end of an actor or of a save. May erase the slot.
  void settle(const std::string& key, slot& of, work& todo);
  void hold(entity_address to, relayed_message what, work& todo);
  /// Puts messages that came before those which are held back before them.
  void hold_first(std::span<std::pair<entity_address, relayed_message>> those, work& todo);
  [[nodiscard]] bool may_add() const;
  void erase(const std::string& key);
  [[nodiscard]] slot* find(const std::string& key, std::uint64_t run);

  const std::shared_ptr<const parts> of_;
  const ownership own_;
  const std::shared_ptr<arrival_order> order_;
  const std::function<void(const std::string&, bool)> remember_;
  state_saver saver_; // Called with or without the lock; calls back without it.

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::unordered_map<std::string, slot> slots_;
  std::uint64_t last_run_ = 0;
  bool opens_ = true;
  bool leaves_ = false;
  clock::time_point kill_at_{};
  std::vector<std::pair<entity_address, relayed_message>> held_; // While the shard opens or leaves.
  std::function<void(entity_address, relayed_message)> pass_;    // Set once the shard was handed over.
  std::set<std::string> problems_;                               // What the last problem was about.
};

} // namespace troupe::membership
