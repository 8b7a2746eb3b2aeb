#include <troupe/framework/internal/link/send_upkeep.hpp>

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
    requests_wait_ = gate_.reclaim_stalled(held);
    pump_.run_if_anybody_waits(held);
  }
  if (end_for_unread())
    return false;
  gate_.give_up_old_requests();
  return true;
}

std::chrono::milliseconds send_upkeep::pause() const noexcept {
  return requests_wait_ ? std::chrono::seconds{1} : std::chrono::milliseconds::max();
}

} // namespace troupe::internal
