// Messages that wait to leave, when there is room again.
#pragma once

#include <troupe/framework/internal/link/departures.hpp>
#include <troupe/framework/internal/link/send_gate.hpp>
#include <troupe/framework/internal/net/connection.hpp>
#include <troupe/framework/internal/net/link_mutex.hpp>

namespace troupe::internal {

/// Lets messages that wait at the gate leave, as far as they may.
///
/// Threads: any.
class send_pump {
public:
  /// Both outlive this.
  send_pump(send_gate& gate, departures& leaving) : gate_(gate), leaving_(leaving) {}

  /// Before anything waits. Outlives this.
  void open(const link_held&, connection& to) { to_ = &to; }

  /// Also tells the actors that asked for it that there is room. Lets go of the lock.
  void run(link_held& held);
  /// The same where anybody waits: room for an answer has come free without one that could be consumed.
  void run_if_anybody_waits(link_held& held);

private:
  send_gate& gate_;
  departures& leaving_;
  connection* to_ = nullptr;
};

} // namespace troupe::internal
