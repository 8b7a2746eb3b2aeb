// Serves bytes to peers that fetch them. Chunks are cut and their checksums computed ahead of writing, outside the
// link's lock.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>

#include <troupe/framework/internal/handles/actions.hpp>
#include <troupe/framework/internal/objects/exchange_surroundings.hpp>
#include <troupe/framework/internal/objects/handle_counter.hpp>
#include <troupe/framework/internal/objects/shared_core.hpp>
#include <troupe/framework/internal/objects/stored_bytes.hpp>
#include <troupe/framework/internal/threads/job_queue.hpp>

namespace troupe::internal {

/// Pins the objects that peers fetch and cuts them into pieces, a few ahead of each link.
///
/// Threads: prepare on the I/O thread of that link; the others on any thread.
class object_serving {
public:
  /// `errands` is told when more has to be cut. `worker` restores objects that lie on disk.
  object_serving(shared_core& core, core_errands& errands, job_queue& worker)
      : core_(core), errands_(errands), worker_(worker) {}

  /// Cuts as many pieces as the link can take.
  void prepare(handles::link_number to);
  [[nodiscard]] std::optional<object_piece> next(handles::link_number to);
  [[nodiscard]] bool has_piece(handles::link_number to) const;
  /// Drops all state of a link that has ended.
  void forget(handles::link_number to);
  void end();

private:
  struct served {
    std::shared_ptr<const stored_bytes> bytes; // Null until they are pinned.
    std::uint32_t sum = 0;                     // Checksum of the bytes cut so far.
  };
  struct lane {
    std::map<handles::request_number, served> objects;
    std::optional<handles::served_chunk> next; // Taken from the core, to be cut.
    bool is_pinning = false;                   // The object of `next` is being pinned.
    std::deque<object_piece> pieces;
  };
  [[nodiscard]] bool prepare_next(handles::link_number to);
  void pin_for(handles::link_number to, store::handle object);

  shared_core& core_;
  core_errands& errands_;
  job_queue& worker_;
  std::map<handles::link_number, lane> lanes_; // Guarded by the core's lock.
};

} // namespace troupe::internal
