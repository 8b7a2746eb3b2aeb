// An actor whose owner is not an actor, such as a connection of another protocol.
#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>

#include <caf/actor.hpp>
#include <caf/fwd.hpp>
#include <caf/message.hpp>

#include <troupe/base/export.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/framework/relay.hpp>

namespace troupe {

/// Lets code outside of actors take part in conversations: other actors get its handle, its requests are answered by a
/// call of a function, and another function gets whatever is sent to it.
///
/// Threads: any thread may call every member. The functions are called on the thread of the actor that sends, possibly
/// on several threads at the same time. They must not block and must not throw.
/// Lifetime: a moved-from object can only be assigned to or destroyed. The destructor ends the actor, as end() does.
/// The actor system must outlive this object.
class TROUPE_EXPORT outside_actor {
public:
  /// The content of the answer. If the actor answers with an error, or ends, this is that error as to_node_error()
  /// converts it, with the actor's own text.
  using on_answer = std::function<void(std::expected<caf::message, node_error>)>;

  /// `take` gets what other actors send, except answers, exit messages and down messages. A request may be kept and
  /// answered later, by any thread (relayed_message::answer, fail). If it is dropped, or the actor that was to answer
  /// it ends without it, its requester gets `broken_promise`.
  explicit outside_actor(caf::actor_system& system, std::function<void(relayed_message)> take);
  outside_actor(outside_actor&&) noexcept;
  outside_actor& operator=(outside_actor&&) noexcept;
  ~outside_actor();

  /// The handle for other actors. Once this object has ended, actors that monitor the handle are told, messages to it
  /// are dropped, and requests to it fail with `link_down`.
  [[nodiscard]] const caf::actor& handle() const noexcept;

  /// Sends a request whose deadline is `timeout` from now, as troupe::request does. The result is the request's number.
  /// `answered` is called once, unless the request is given up before. It may be called before this call returns. If an
  /// actor of this process drops the request without an answer, the answer is the error `broken_promise`, or `timed_out`
  /// if its deadline has passed. This object
  /// has no clock: the caller gives the request up when the time is over.
  /// Requires: `receiver` is not null, and this object has not ended.
  std::uint64_t ask(const caf::actor& receiver, caf::message what, std::chrono::milliseconds timeout,
                    on_answer answered);

  /// The request's answer is of no use any more. Returns false if it has been given, or is being given.
  bool give_up(std::uint64_t request);

  /// Sends a message in the name of this actor. Requires: `receiver` is not null.
  void tell(const caf::actor& receiver, caf::message what);

  /// Ends the actor for this reason. All requests are given up. Further calls have no effect.
  void end(const node_error& why);

private:
  struct parts;
  std::unique_ptr<parts> parts_; // Null after a move.
};

} // namespace troupe
