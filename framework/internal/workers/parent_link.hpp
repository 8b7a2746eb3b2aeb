// A worker's end of the link to the process that has started it.
#pragma once

#include <expected>
#include <functional>
#include <future>
#include <memory>

#include <troupe/framework/link_options.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

class node_core;
class node_link;

/// The link of a worker over the socket that it has inherited.
struct parent_link {
  std::shared_ptr<node_link> link;
  std::shared_future<void> ended; // Ready once the link has ended.
};

/// Takes over the socket, and blocks until the link is open, at most link_options::connect_timeout. `on_end` is called
/// on the I/O thread once the link has ended. Fails as node::connect does.
[[nodiscard]] std::expected<parent_link, node_error> link_with_parent(const std::shared_ptr<node_core>& node,
                                                                      int socket, const link_options& options,
                                                                      std::function<void()> on_end);

} // namespace troupe::internal
