// Limits on the nodes that a peer's offers make this node dial.
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

/// Bounds the number of nodes that one node's offers make this node dial within a time, because the peer chooses the
/// addresses. Counts across all links and incarnations of that peer.
class offered_dials {
public:
  struct bounds {
    std::size_t of_offerer = 16;
    std::chrono::nanoseconds within{};
  };

  offered_dials(bounds allowed, timer_queue& timers) : allowed_(allowed), timers_(timers) {}

  /// Whether to dial `to` now for an offer of `offerer`. Returns false while such a dial is pending, and if the limit
  /// is reached.
  [[nodiscard]] bool begin(std::uint64_t offerer, const node_name& to, time_point now);
  /// A link has come up. If that link is lost, `to` may be dialed again.
  void linked(const node_name& to);
  /// Dials of `offerer` that expire by `due` no longer count.
  void expire(std::uint64_t offerer, time_point due);

  [[nodiscard]] std::size_t size() const noexcept;
  /// The first invariant that does not hold; empty if all hold.
  [[nodiscard]] std::string_view broken_invariant() const;

private:
  struct dial {
    node_name node;
    time_point expires{};
    bool is_pending = true; // No link has come up yet.
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
