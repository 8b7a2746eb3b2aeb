// A link that is made anew whenever it is lost.
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

/// What became of a link that is kept connected.
struct link_event {
  enum class kind : std::uint8_t {
    connected,      ///< `link` is open. It is a new one each time: actors are to be found again.
    lost,           ///< The link that was open is down, and with it every actor reached through it.
    attempt_failed, ///< A dial did not lead to a link.
    given_up        ///< There will be no more dials, and no more events.
  };

  kind what = kind::given_up;
  std::string address = {};
  /// The number of the dial since the last link was lost, from 1.
  std::size_t attempt = 0;
  /// Why it was lost, failed or given up; `none` where it is connected.
  node_error reason = {node_errc::none, {}};
  /// When `connected`.
  std::optional<class link> link = std::nullopt;
  /// How long until the next dial, after `lost` and `attempt_failed` where there will be one.
  std::optional<std::chrono::milliseconds> pause = std::nullopt;
};

/// Who is told: a function, an actor, both or none, each in the order of the events.
struct link_events {
  /// Called on the node's main I/O thread: it must not block, which `link::find(name)` does, and must not throw. It is
  /// not called any more once the `kept_link` is stopped, which waits for a call that is under way on another thread.
  std::function<void(const link_event&)> callback = {};
  /// Gets each event as a message, `[](const troupe::link_event& event)`, and finds actors by `link::find(self, ...)`.
  /// Is not kept alive; must be of this process.
  caf::actor listener = {};
};

/// Keeps a node connected with one peer: dials, and dials again when the link is lost. A link is never reopened: what
/// it connects with is a new link each time, whose actors are found anew.
///
/// What trying again cannot cure ends it: `bad_option` and `nothing_in_common`, until a first dial has led to a link.
/// Later on these are tried again as well: a secret file may just be being replaced, a peer be restarted. A peer that
/// refuses may let this node in later, so `refused`, a wrong secret too, is tried again until `attempts_max`.
///
/// Threads: every member from any thread.
/// Lifetime: its end stops the dialing and the events, at once; a link that is open stays, as after `connect`. The
/// node's end does the same, after which this has nothing to do any more.
class TROUPE_EXPORT kept_link {
public:
  explicit kept_link(std::shared_ptr<internal::link_keeper> keeper);
  /// What was moved from can only be assigned to, or destroyed.
  kept_link(kept_link&&) noexcept;
  kept_link& operator=(kept_link&&) noexcept;
  ~kept_link();

  /// The link that is open at the moment.
  [[nodiscard]] std::optional<link> current() const;

  /// False once it has given up, was stopped, or the node has ended.
  [[nodiscard]] bool is_kept() const;

  /// No more dials nor events. A link that is open stays.
  void stop();

  /// The same, and closes the link.
  void close();

private:
  std::shared_ptr<internal::link_keeper> keeper_; // Null after a move.
};

} // namespace troupe

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::link_event)
