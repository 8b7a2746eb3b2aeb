// The bytes of this node's own objects that wait for the objects that they capture.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include <troupe/framework/internal/handles/reference.hpp>
#include <troupe/framework/internal/objects/exchange_surroundings.hpp>
#include <troupe/framework/internal/objects/shared_core.hpp>
#include <troupe/framework/internal/threads/job_queue.hpp>
#include <troupe/serializers/frame.hpp>
#include <troupe/store/object_store.hpp>

namespace troupe::internal {

/// Keeps each object's bytes until the object can be written into the store, and writes it.
///
/// Threads: end once, the others in a turn at the core.
class unfinished_bytes final : public object_finisher {
public:
  unfinished_bytes(shared_core& core, store::object_store store, job_queue& maker, job_queue& worker)
      : core_(core), store_(std::move(store)), maker_(maker), worker_(worker) {}

  void keep(core_turn, handles::reference what, frame bytes, std::vector<std::byte> metadata);
  /// Writes the object, with these captured objects, once the store has room. Then tells the core.
  void finish(core_turn, handles::room_id as, handles::reference what, std::vector<store::object_id> captured) override;
  void forget(core_turn, handles::reference what) override;
  void end();

private:
  struct object {
    frame bytes;
    std::vector<std::byte> metadata;
  };
  void write(handles::room_id as, const object& from, const std::vector<store::object_id>& captured);

  shared_core& core_;
  store::object_store store_;
  job_queue& maker_;
  job_queue& worker_;
  core_guarded<std::map<handles::reference, std::shared_ptr<const object>>> objects_;
};

} // namespace troupe::internal
