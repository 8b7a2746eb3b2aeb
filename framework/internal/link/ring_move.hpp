// How the bytes of a link move from its unix socket into rings. The steps: framework/link-protocol.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <string>

#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/net/connection.hpp>
#include <troupe/framework/internal/net/ring_budget.hpp>
#include <troupe/framework/internal/wire/admin.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// Moves the bytes of a link into rings, if both ends want that.
///
/// Threads: the I/O thread, except for is_complete().
//  dialer:   idle --ring_offer sent--> offered --ring_begin came: input, then output move--> complete
//  acceptor: idle --ring_offer came, ring_begin sent: output moves--> begun --ring_begin came: input moves--> complete
// If an end wants no rings or has no memory for them, the link stays on its socket: no offer is made, or it is
// declined.
class ring_move {
public:
  /// What this end wants.
  struct wishes {
    bool wanted = false;
    std::size_t ring_bytes = 0;
  };
  /// Both must outlive this object.
  ring_move(const link_common& link, ring_budget& budget) : link_(link), budget_(budget) {}
  ring_move(const ring_move&) = delete;
  ring_move& operator=(const ring_move&) = delete;
  ~ring_move() { end(); }

  /// To be called when the link is open. `over` must live until end().
  void open(connection& over, wishes mine);

  std::expected<void, node_error> on_offer(const ring_offer& what);
  std::expected<void, node_error> on_begin(const ring_begin& what);
  std::expected<void, node_error> on_decline(const ring_decline& what);

  /// To be called when the connection has ended.
  void end();

  /// True if both directions have moved. Threads: any.
  [[nodiscard]] bool is_complete() const noexcept { return is_complete_.load(std::memory_order_relaxed); }

private:
  enum class step : std::uint8_t { idle, offered, begun, complete, declined };

  void offer();
  std::expected<void, node_error> accept(int descriptor, std::size_t ring_bytes);
  void decline(int descriptor, std::string reason);
  void begin();
  [[nodiscard]] bool take_budget(std::size_t ring_bytes);

  const link_common& link_;
  ring_budget& budget_;
  connection* over_ = nullptr; // Null before open() and after end(), and if this end wants no rings.
  wishes mine_;
  step step_ = step::idle;
  std::size_t ring_bytes_ = 0;    // The size of the rings in use or on offer.
  std::uint64_t taken_bytes_ = 0; // Taken from the budget.
  std::atomic<bool> is_complete_{false};
};

} // namespace troupe::internal
