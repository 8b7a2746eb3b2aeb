#include <troupe/framework/internal/node/handed_link.hpp>

#include <system_error>
#include <utility>

#include <sys/socket.h>
#include <unistd.h>

#include <troupe/framework/internal/link/node_link.hpp>
#include <troupe/framework/internal/node/node_core.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

handed_link::handed_link(std::shared_ptr<node_core> node, destination to, int socket, link_side side,
                         dial_deadline until, connecting::events whom)
    : node_(std::move(node)),
      to_(std::make_shared<destination>(std::move(to))),
      side_(side),
      until_(until),
      socket_(socket),
      whom_(std::move(whom)) {}

handed_link::~handed_link() {
  if (socket_ >= 0)
    ::close(socket_);
}

void handed_link::begin() {
  post_to(node_->io(), [self = shared_from_this()] { self->greet(); });
}

void handed_link::greet() {
  if (!whom_.done)
    return;
  std::error_code failed;
  stream_socket socket{node_->io()};
  socket.assign({AF_UNIX, 0}, socket_, failed);
  if (failed)
    return settle(
        fail(node_errc::link_down, "the socket of " + to_->at().text + " cannot be used: " + failed.message()));
  socket_ = -1;
  attempt_ = connecting::start_over(
      std::move(socket), side_, node_, to_, until_,
      {.done = [self = shared_from_this()](connecting::result what) { self->settle(std::move(what)); },
       .ended = std::exchange(whom_.ended, nullptr)});
}

void handed_link::clean_up() {
  if (const auto unfinished = std::exchange(attempt_, nullptr))
    if (const auto link = unfinished->cancel())
      link->close("the connect was abandoned", std::chrono::milliseconds{0});
  settle(fail(node_errc::link_down, "connecting to " + to_->at().text + " was abandoned"));
}

void handed_link::settle(connecting::result what) {
  const auto self = shared_from_this(); // Letting go may drop the last reference.
  attempt_ = nullptr;
  whom_.ended = nullptr;
  const auto done = std::exchange(whom_.done, nullptr);
  if (!done)
    return;
  node_->dials().let_go(self);
  done(std::move(what));
}

} // namespace troupe::internal
