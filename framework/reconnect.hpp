// A link that is dialed again each time it is lost.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <caf/actor.hpp>
#include <caf/allowed_unsafe_message_type.hpp>

#include <troupe/base/export.hpp>
#include <troupe/framework/fwd.hpp>
#include <troupe/framework/link.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/framework/reconnect_policy.hpp>

namespace troupe {

/// A change of the state of a reconnecting link.
struct link_event {
  enum class kind : std::uint8_t {
    connected,      ///< `link` is open. It is a new link each time, so actors must be looked up again.
    lost,           ///< The open link is down, and with it every actor reached through it.
    attempt_failed, ///< A dial failed.
    given_up        ///< There will be no more dials and no more events.
  };

  kind what = kind::given_up;
  std::string address = {};
  /// The number of the last dial, counted from 1 after each lost link.
  std::size_t attempt = 0;
  /// Why the link was lost, the dial failed, or dialing ended; `none` if connected.
  node_error reason = {node_errc::none, {}};
  /// Set if `connected`.
  std::optional<class link> link = std::nullopt;
  /// The time until the next dial, after `lost` and `attempt_failed`; nullopt if there will be none.
  std::optional<std::chrono::milliseconds> pause = std::nullopt;
};

/// The receivers of events: a function, an actor, both or none. Each gets the events in order.
struct link_events {
  /// Called on the node's main I/O thread. It must not throw and must not block, so it must not call
  /// `link::find(name)`, for example. It is not called after the `reconnecting_link` was stopped. Stopping waits for a
  /// call in progress on another thread.
  std::function<void(const link_event&)> callback = {};
  /// Gets each event as a message, `[](const troupe::link_event& event)`, and may look up actors with `link::find(self,
  /// ...)`. It must be an actor of this process. It is not kept alive.
  caf::actor listener = {};
};

/// How a node is kept connected with one peer.
struct reconnect_options {
  /// The options of each link.
  link_options link = {};
  /// When a lost link is dialed again.
  reconnect_policy policy = {};
  /// The receivers of the events.
  link_events events = {};
};

/// Keeps a node connected with one peer: dials, and dials again when the link is lost. Each connection is a new link,
/// whose actors must be looked up again.
///
/// Errors that no new attempt can cure (`bad_option` and `nothing_in_common`) end the dialing, but only until a first
/// dial has succeeded. After that they are retried, because somebody may be replacing a cookie file or restarting the
/// peer. `refused`, which includes a wrong secret, is retried until `attempts_max`, because the peer may admit this
/// node later.
///
/// Threads: any thread may call every member. `stop` and `close` wait for a callback that runs on another thread.
/// Lifetime: the destructor does what stop() does. When the node ends, dialing and events stop as well; after that the
/// object does nothing.
class TROUPE_EXPORT reconnecting_link {
public:
  explicit reconnecting_link(std::shared_ptr<internal::link_keeper> keeper);
  /// A moved-from object can only be assigned to or destroyed.
  reconnecting_link(reconnecting_link&&) noexcept;
  reconnecting_link& operator=(reconnecting_link&&) noexcept;
  ~reconnecting_link();

  /// Returns the link that is open now; nullopt if none is.
  [[nodiscard]] std::optional<link> current() const;

  /// False after it has given up or was stopped, or after the node has ended.
  [[nodiscard]] bool is_active() const;

  /// Ends dialing and events at once. An open link stays open, as after node::connect.
  void stop();

  /// Ends dialing and events, and closes the open link as link::close() does.
  void close();

private:
  std::shared_ptr<internal::link_keeper> keeper_; // Null after a move.
};

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::link_event)
