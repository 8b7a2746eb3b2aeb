// Where the messages for the entities of one kind arrive on a member.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>

#include <troupe/framework/cluster/internal/entities/arrival_order.hpp>
#include <troupe/framework/cluster/internal/entities/entity_shard.hpp>
#include <troupe/framework/cluster/internal/entities/quiet_watch.hpp>

namespace troupe::membership {

/// An actor that gives each message to the shard of its address, or passes it on if this member does not have the
/// shard. ("Shard region" in Akka's cluster sharding.)
///
/// Messages that were passed on before the shard came here may still wait for its owner. They come back to
/// early_handle(), and the shard is opened for the others only when none of them is left.
///
/// Threads: any.
class entity_region {
public:
  using passer = std::function<void(entity_address, relayed_message)>;

  /// `pass_on` gets what is for shards that are not here, with one hop more. `ask_drained` is called to have
  /// note_drained() called later. `late` is told of each message for a shard that is not here.
  entity_region(caf::actor_system& system, std::string kind, std::size_t shards, passer pass_on,
                std::function<void(std::uint32_t)> ask_drained, std::shared_ptr<quiet_watch> late);

  [[nodiscard]] const caf::actor& handle() const noexcept { return handle_; }
  /// For the messages that come back.
  [[nodiscard]] const caf::actor& early_handle() const noexcept { return early_handle_; }

  /// What this member knows of the order of the shard's messages.
  [[nodiscard]] std::shared_ptr<arrival_order> order(std::uint32_t number) const;
  void put(std::uint32_t number, std::shared_ptr<entity_shard> what);
  void remove(std::uint32_t number);
  /// Every message that waited for the owner of the shard has come back.
  void note_drained(std::uint32_t number);
  /// From now on every message is passed on.
  void close();

private:
  struct place {
    const std::shared_ptr<arrival_order> order = std::make_shared<arrival_order>();
    std::mutex mutex;
    // Guarded by mutex.
    std::shared_ptr<entity_shard> shard; // Null: not here.
    std::size_t passing = 0;             // Messages that threads are passing on.
    bool has_passed_on = false;          // Ever.
    bool opens = false;
    bool asks_again = false; // When no message is being passed on any more.
  };
  struct table {
    std::string kind;
    passer pass_on;
    std::function<void(std::uint32_t)> ask_drained;
    std::vector<place> shards;
    std::shared_ptr<quiet_watch> late;

    void take(relayed_message what, bool is_early);
    void end_passing(std::uint32_t number);
  };

  const std::shared_ptr<table> table_;
  const caf::actor handle_;
  const caf::actor early_handle_;
};

} // namespace troupe::membership
