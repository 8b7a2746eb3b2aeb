#include <troupe/framework/internal/link/send_upkeep.hpp>

#include <chrono>

#include <troupe/framework/internal/link/send_gate.hpp>
#include <troupe/framework/internal/link/send_pump.hpp>
#include <troupe/framework/internal/net/connection.hpp>

namespace troupe::internal {

bool send_upkeep::end_for_unread() {
  const auto why = gate_.excess_of_unread();
  if (why)
    to_->close(*why, std::chrono::milliseconds{0});
  return why.has_value();
}

bool send_upkeep::run() {
  {
    auto held = mutex_.lock();
    gate_.reclaim(held);
    pump_.run_if_anybody_waits(held);
  }
  if (end_for_unread())
    return false;
  gate_.give_up_old_requests();
  return true;
}

} // namespace troupe::internal
