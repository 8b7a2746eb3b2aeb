// Actors without a mailbox, which pass on what is sent to them.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/message.hpp>

#include <troupe/base/export.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe {

/// A message on its way, which a relay has got. It can be kept and passed on later. A request is answered once: by the
/// actor to which it is passed on, by fail() or answer(), or, if it is dropped, with `broken_promise`.
///
/// Threads: one at a time.
class TROUPE_EXPORT relayed_message {
public:
  /// @private
  explicit relayed_message(caf::mailbox_element_ptr what);
  /// A moved-from message can only be assigned to or destroyed.
  relayed_message(relayed_message&&) noexcept;
  relayed_message& operator=(relayed_message&&) noexcept;
  ~relayed_message();

  [[nodiscard]] bool is_request() const noexcept;

  /// When the requester stops waiting, as far as it has said so: troupe::request, outside_actor::ask and links with
  /// deadlines do, CAF's own request() does not. Nullopt for other messages.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const noexcept;

  /// The elements of the message. Large values are not copied.
  [[nodiscard]] const caf::message& content() const noexcept { return content_; }
  /// From now on these are the elements.
  void set_content(caf::message content) { content_ = std::move(content); }

  /// Delivers the message to `receiver`, which sees the original sender. Deadline, trace and priority stay.
  void pass_to(const caf::actor& receiver) &&;
  /// Answers a request with the error; otherwise drops the message.
  void fail(const node_error& why) &&;
  /// Answers a request; otherwise drops the message.
  void answer(caf::message with) &&;

private:
  struct origin; // The sender, the id and what is attached.

  void drop();

  std::unique_ptr<origin> origin_; // Null once the message was passed on or answered.
  caf::message content_;
};

/// Makes an actor that calls `take` with each message, on the thread that sends it, possibly on several threads at the
/// same time. `take` must not block and must not throw.
///
/// The actor ignores exit messages, so handles that lead elsewhere stay valid. Lifetime: it lives as long as a handle
/// to it.
[[nodiscard]] TROUPE_EXPORT caf::actor make_relay(caf::actor_system& system, std::function<void(relayed_message)> take);

} // namespace troupe
