// Links over sockets that were connected by other means than dialing.
#pragma once

#include <memory>

#include <troupe/framework/internal/net/stream_socket.hpp>
#include <troupe/framework/internal/node/connecting.hpp>
#include <troupe/framework/internal/node/dials.hpp>

namespace troupe::internal {

class node_core;

/// Makes a link over a connected unix socket that the node was given.
///
/// Threads: any. The events come on the main loop's I/O thread.
/// Lifetime: node_core::dials() holds it. If it is let go before the link is open, `done` gets `link_down`.
class handed_link final : public dial, public std::enable_shared_from_this<handed_link> {
public:
  /// Takes over the descriptor.
  handed_link(std::shared_ptr<node_core> node, destination to, int socket, link_side side, dial_deadline until,
              connecting::events whom);
  handed_link(const handed_link&) = delete;
  handed_link& operator=(const handed_link&) = delete;
  ~handed_link() override;

  void begin() override;
  void stop() override {}
  void clean_up() override;

private:
  void greet();
  void settle(connecting::result what);

  const std::shared_ptr<node_core> node_;
  const std::shared_ptr<destination> to_;
  const link_side side_;
  const dial_deadline until_;

  // I/O thread.
  int socket_; // -1 once the attempt has it.
  connecting::events whom_;
  std::shared_ptr<connecting> attempt_; // Set while the attempt goes on.
};

} // namespace troupe::internal
