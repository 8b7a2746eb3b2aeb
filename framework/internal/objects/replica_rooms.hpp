// Replicas of objects of other hosts, as they come into this host's store.
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

/// Where the bytes of one object from another host go.
struct replica {
  replica(handles::room_id room, std::uint64_t bytes) : id(room), size_bytes(bytes) {}

  const handles::room_id id;
  const std::uint64_t size_bytes;

  // The thread that makes rooms.
  store::object_origin origin; // As the store knows it; empty: nobody else has, or is to have, the same.
  std::optional<std::chrono::steady_clock::time_point> waits_until; // For another one; also the thread of `originals`.
  /// Made before the core is told so, from then on of the I/O thread of the link by which its bytes come, and the
  /// worker's once it is being sealed.
  std::optional<store::builder> building;

  std::uint32_t sum = 0; // Of the bytes that have come. That link's I/O thread: a room is filled by one link only.

  std::atomic<std::uint64_t> ready_bytes = 0; // Of `building`, from its beginning: can be written.
  std::atomic<bool> is_made_ready = false;    // More of them, by the worker.
};

/// Makes a builder for each room that the core wants, lets its bytes in, and seals it.
///
/// Threads: make, seal, drop and room_is_left in a turn at the core; write on the I/O thread of that link; end once.
class replica_rooms final : public room_maker, private replica_maker {
public:
  /// `maker` waits for room in the store, `worker` for its table at most.
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

  /// Lets bytes that have come over that link into their room, and tells the core. Where there is no memory for them,
  /// the room fails, and they are dropped, as is what nobody wants. Fails with `protocol_violation` where the peer
  /// should not have sent them, or they were damaged on the way.
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
  std::atomic<std::chrono::steady_clock::rep> progress_noted_{0}; // When. For all that have their bytes.
  originals originals_;
};

} // namespace troupe::internal
