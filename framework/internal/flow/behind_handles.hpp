// What lies behind the handles of a message, and what it costs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>

#include <troupe/store/handle.hpp>

namespace troupe::internal {

class exchanged_object;

/// An object that a message mentions: by a handle that is counted when the message leaves, in flight in the store that
/// both ends share since it was encoded, or as one that was lost before.
struct outgoing_mention {
  std::shared_ptr<exchanged_object> counted; // Null for the others.
  store::object_id stored;
  std::uint64_t size_bytes = 0;
  bool is_lost = false;
  store::object_id which = {}; // Nothing for one that is lost.
  bool is_repeated = false;    // For its receiver it counts already; said when the message leaves.
};

/// A frame that lies in the store of both ends.
struct stored_frame {
  store::object_id which; // Of its object.
  std::uint64_t bytes = 0;
};

/// What lies behind the handles of a message.
struct behind_handles {
  std::span<const stored_frame> frames = {};
  std::span<outgoing_mention> objects = {};

  /// Visits all of it, what cannot be known again with no key.
  template <class Visit>
  void each(Visit visit) const {
    for (const auto& frame : frames)
      visit(frame.which, frame.bytes);
    for (const auto& object : objects)
      visit(object.which, object.size_bytes);
  }
};

/// Says what lies behind the handles of messages that wait.
class waiting_objects {
public:
  void add(const behind_handles& behind);
  void remove(const behind_handles& behind);
  [[nodiscard]] bool has(const store::object_id& which) const { return counts_.contains(which); }
  void clear() { counts_.clear(); }

private:
  std::unordered_map<store::object_id, std::size_t> counts_; // In how many messages.
};

/// The most that one message counts for the bytes behind its handles, so that sums do not overflow. Part of the
/// protocol.
inline constexpr std::uint64_t handle_cost_max = std::uint64_t{1} << 62;
[[nodiscard]] inline std::uint64_t handle_cost(std::uint64_t so_far, std::uint64_t more) {
  return more >= handle_cost_max - so_far ? handle_cost_max : so_far + more;
}

/// What a message takes beside its bytes, on either side. Part of the protocol.
inline constexpr std::uint64_t message_cost_bytes = 128;

} // namespace troupe::internal
