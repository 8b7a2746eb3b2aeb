// Replicas of objects of other hosts, while they are written into this host's store.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <expected>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <troupe/framework/internal/handles/actions.hpp>
#include <troupe/framework/internal/objects/exchange_surroundings.hpp>
#include <troupe/framework/internal/objects/originals.hpp>
#include <troupe/framework/internal/objects/shared_core.hpp>
#include <troupe/framework/internal/threads/job_queue.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/store/builder.hpp>
#include <troupe/store/object_store.hpp>

namespace troupe::internal {

/// The destination of one object's bytes from another host.
struct replica {
  replica(handles::room_id room, std::uint64_t bytes) : id(room), size_bytes(bytes) {}

  const handles::room_id id;
  const std::uint64_t size_bytes;

  // Used by the thread that makes rooms.
  store::object_origin origin; // The name by which the store knows the object; empty: not shared with other processes.
  std::optional<std::chrono::steady_clock::time_point> waits_until; // Deadline for waiting for another process; also
                                                                    // used by the thread of `originals`.
  /// Made before the core is told. From then on it belongs to the I/O thread of the link that brings the bytes, and
  /// once it is being sealed, to the worker.
  std::optional<store::builder> building;

  std::uint32_t sum = 0; // Checksum of the bytes so far. Used by that link's I/O thread: only one link fills a room.

  std::atomic<std::uint64_t> ready_bytes = 0; // The first `ready_bytes` of `building` can be written.
  std::atomic<bool> is_made_ready = false;    // The worker is getting memory for more.
};

/// Makes a builder for each room that the core wants, writes its bytes, and seals it.
///
/// Threads: make, seal, drop and room_is_left in a turn at the core; write on the I/O thread of that link; end once.
class replica_rooms final : public room_maker, private replica_maker {
public:
  /// `maker` may wait for room in the store; `worker` waits for the store's table at most.
  replica_rooms(shared_core& core, store::object_store store, std::uint64_t capacity_bytes, originals::patience others,
                job_queue& maker, job_queue& worker)
      : core_(core),
        store_(std::move(store)),
        capacity_bytes_(capacity_bytes),
        maker_(maker),
        worker_(worker),
        originals_(store_, others, *this) {}

  [[nodiscard]] std::expected<void, node_error> start(std::string_view whose) { return originals_.start(whose); }
  void end();

  void make(core_turn, handles::room_id which, std::uint64_t size_bytes,
            const std::optional<handles::original>& of) override;
  void seal(core_turn, handles::room_id which, std::vector<store::object_id> captured) override;
  void drop(core_turn, handles::room_id which) override;
  void room_is_left(core_turn) override { changed_.notify_all(); }

  /// Writes bytes that have come over that link into their room, and tells the core. Bytes that are no longer wanted
  /// are dropped. If there is no memory for the bytes, they are dropped and the room fails. Fails with
  /// `protocol_violation` if the peer was not allowed to send them, or if they were damaged on the way.
  [[nodiscard]] std::expected<void, node_error> write(handles::link_number from, const object_chunk_head& head,
                                                      bytes_view bytes);

private:
  void try_again(const std::shared_ptr<replica>& which) override;
  void build(const std::shared_ptr<replica>& wanted);
  [[nodiscard]] std::optional<store::object_of_origin> try_to_build(const std::shared_ptr<replica>& wanted);
  [[nodiscard]] bool is_left_to_others(const std::shared_ptr<replica>& wanted, store::object_of_origin found);
  [[nodiscard]] std::expected<std::shared_ptr<replica>, node_error> find_for(handles::link_number from,
                                                                             const handles::pull_chunk& what);
  [[nodiscard]] bool has_memory(const std::shared_ptr<replica>& of, std::uint64_t needed);
  void commit_ahead(replica& of, std::uint64_t come_bytes);
  void note_progress(replica& of);

  shared_core& core_;
  mutable store::object_store store_;
  const std::uint64_t capacity_bytes_;
  job_queue& maker_;
  job_queue& worker_;
  std::condition_variable changed_; // With the core's lock.
  core_guarded<std::map<handles::room_id, std::shared_ptr<replica>>> replicas_;
  std::atomic<std::chrono::steady_clock::rep> progress_noted_{0}; // When it was last noted, for all complete replicas.
  originals originals_;
};

} // namespace troupe::internal
