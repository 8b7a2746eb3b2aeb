// The objects and frames behind a message's handles, and what they cost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>

#include <troupe/store/handle.hpp>

namespace troupe::internal {

class exchanged_object;

/// An object that a message mentions. It is counted when the message leaves, or in flight in the store of both ends
/// since the message was encoded, or lost before.
struct outgoing_mention {
  std::shared_ptr<exchanged_object> counted; // Null if not counted.
  store::object_id stored;
  std::uint64_t size_bytes = 0;
  bool is_lost = false;
  store::object_id which = {}; // Empty for a lost object.
  bool is_repeated = false;    // Counted for its receiver already; set when the message leaves.
};

/// A frame in the store that both ends share.
struct stored_frame {
  store::object_id which; // The frame's object.
  std::uint64_t bytes = 0;
};

/// Everything behind a message's handles.
struct behind_handles {
  std::span<const stored_frame> frames = {};
  std::span<outgoing_mention> objects = {};

  /// Visits each frame and object. An empty id stands for an object that cannot be recognized again.
  template <class Visit>
  void each(Visit visit) const {
    for (const auto& frame : frames)
      visit(frame.which, frame.bytes);
    for (const auto& object : objects)
      visit(object.which, object.size_bytes);
  }
};

/// The objects behind the handles of waiting messages.
class waiting_objects {
public:
  void add(const behind_handles& behind);
  void remove(const behind_handles& behind);
  [[nodiscard]] bool has(const store::object_id& which) const { return counts_.contains(which); }
  void clear() { counts_.clear(); }

private:
  std::unordered_map<store::object_id, std::size_t> counts_; // The number of messages.
};

/// The maximum cost of one message's bytes behind handles, so that sums do not overflow. Part of the protocol.
inline constexpr std::uint64_t handle_cost_max = std::uint64_t{1} << 62;
[[nodiscard]] inline std::uint64_t handle_cost(std::uint64_t so_far, std::uint64_t more) {
  return more >= handle_cost_max - so_far ? handle_cost_max : so_far + more;
}

/// The cost of a message in addition to its bytes, at both ends. Part of the protocol.
inline constexpr std::uint64_t message_cost_bytes = 128;

} // namespace troupe::internal
