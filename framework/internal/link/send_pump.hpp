// Lets waiting messages leave when there is room again.
#pragma once

#include <troupe/framework/internal/link/departures.hpp>
#include <troupe/framework/internal/link/send_gate.hpp>
#include <troupe/framework/internal/net/connection.hpp>
#include <troupe/framework/internal/net/link_mutex.hpp>

namespace troupe::internal {

/// Lets messages that wait at the gate leave, as far as there is room.
///
/// Threads: any.
class send_pump {
public:
  /// Both must outlive this object.
  send_pump(send_gate& gate, departures& leaving) : gate_(gate), leaving_(leaving) {}

  /// To be called before anything waits. `to` must outlive this object.
  void open(const link_held&, connection& to) { to_ = &to; }

  /// Also notifies the actors that wait for room. Releases the lock.
  void run(link_held& held);
  /// As run(), but only if anything waits. Room for an answer has become free without an answer that could be consumed.
  void run_if_anybody_waits(link_held& held);

private:
  send_gate& gate_;
  departures& leaving_;
  connection* to_ = nullptr;
};

} // namespace troupe::internal
