// A link that is dialed again each time it is lost, as lasting handles use it.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <string>

#include <troupe/framework/internal/link/node_link.hpp>
#include <troupe/framework/link_options.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/framework/reconnect_policy.hpp>

namespace troupe::internal {

/// Where and how to dial.
struct dial_terms {
  std::string address;
  link_options options = {};
  reconnect_policy policy = {};

  friend bool operator==(const dial_terms&, const dial_terms&) = default;
};

/// Keeps one address connected. Stops when it is destroyed.
///
/// Threads: any.
class kept_link {
public:
  virtual ~kept_link() = default;

  /// Begins to dial. Fails with `link_down` if the node is ending.
  [[nodiscard]] virtual std::expected<void, node_error> begin() = 0;

  /// The open link; null if there is none.
  [[nodiscard]] virtual std::shared_ptr<node_link> current() const = 0;
  /// Ends the dialing and all events. A link that is open stays open; one that opens later is closed.
  virtual void stop() = 0;
};

/// Receives the changes of a kept link, on the node's main I/O thread.
struct kept_link_events {
  std::function<void()> opened;
  /// The link is lost, or a dial has failed.
  std::function<void(const node_error& why)> failed;
  /// There will be no more dials and no more events.
  std::function<void(const node_error& why)> given_up;
};

/// Makes a link that is to be kept. Fails with `bad_address` or `bad_option` if no link could ever result.
using keep_link_function =
    std::function<std::expected<std::shared_ptr<kept_link>, node_error>(const dial_terms& to, kept_link_events events)>;

} // namespace troupe::internal
