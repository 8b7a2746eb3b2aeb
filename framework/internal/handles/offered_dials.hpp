// Nodes that a peer has made this node dial.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

#include <troupe/framework/internal/handles/messages.hpp>
#include <troupe/framework/internal/handles/timers.hpp>

namespace troupe::internal::handles {

/// Bounds the nodes that the offers of one node lead to within a time, since it is a peer who says where. That does not
/// depend on how often the peer has connected, or as which incarnation.
class offered_dials {
public:
  struct bounds {
    std::size_t of_offerer = 16;
    std::chrono::nanoseconds within{};
  };

  offered_dials(bounds allowed, timer_queue& timers) : allowed_(allowed), timers_(timers) {}

  /// Whether `to` is to be dialed now for an offer of `offerer`: not while that is under way, nor when there are too
  /// many.
  [[nodiscard]] bool begin(std::uint64_t offerer, const node_name& to, time_point now);
  /// A link has come of it: it may be dialed again, should that be lost.
  void linked(const node_name& to);
  /// Those that began so long ago do not count any more.
  void expire(std::uint64_t offerer, time_point due);

  [[nodiscard]] std::size_t size() const noexcept;
  /// The first invariant that does not hold; empty when all do.
  [[nodiscard]] std::string_view broken_invariant() const;

private:
  struct dial {
    node_name node;
    time_point expires{};
    bool is_pending = true; // No link has come of it yet.
  };
  struct row {
    row(std::uint64_t offerer, timer_queue& timers) : next(timers, timer::kind::dials, offerer) {}

    std::vector<dial> dials; // The oldest first.
    deadline next;           // When the oldest expires.
  };

  const bounds allowed_;
  timer_queue& timers_;
  std::map<std::uint64_t, row> offerers_;
};

} // namespace troupe::internal::handles
