#include <troupe/framework/gateway/internal/server/client_state.hpp>

#include <poll.h>

namespace troupe::web {

client_state look_at(net::ip::tcp::socket& socket) {
  ::pollfd look{.fd = socket.native_handle(), .events = POLLRDHUP, .revents = 0};
  if (!socket.is_open() || ::poll(&look, 1, 0) < 0 || (look.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0)
    return client_state::gone;
  return (look.revents & POLLRDHUP) != 0 ? client_state::silenced : client_state::present;
}

} // namespace troupe::web
