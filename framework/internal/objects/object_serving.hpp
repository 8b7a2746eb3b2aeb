// Giving bytes to peers that pull them: cut and summed ahead of their writing, outside of the link's lock.
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

/// Pins what peers pull and cuts it into pieces, a few ahead of each link.
///
/// Threads: prepare on the I/O thread of that link, the rest from any.
class object_serving {
public:
  /// `errands` are told where more is to be cut, `worker` brings back what lies on disk.
  object_serving(shared_core& core, core_errands& errands, job_queue& worker)
      : core_(core), errands_(errands), worker_(worker) {}

  /// Cuts what the link can take.
  void prepare(handles::link_number to);
  [[nodiscard]] std::optional<object_piece> next(handles::link_number to);
  [[nodiscard]] bool has_piece(handles::link_number to) const;
  /// The link is no more.
  void forget(handles::link_number to);
  void end();

private:
  struct served {
    std::shared_ptr<const stored_bytes> bytes; // Null until they are pinned.
    std::uint32_t sum = 0;                     // Of what was cut so far.
  };
  struct lane {
    std::map<handles::request_number, served> objects;
    std::optional<handles::served_chunk> next; // Taken from the core, to be cut.
    bool is_pinning = false;                   // The object of that.
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
