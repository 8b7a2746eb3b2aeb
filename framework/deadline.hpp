// Requests whose deadline travels with them, so that no actor works on answers that nobody awaits.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <caf/abstract_actor.hpp>
#include <caf/execution_unit.hpp>
#include <caf/local_actor.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/message_priority.hpp>

#include <troupe/base/export.hpp>
#include <troupe/base/longest_wait.hpp>

namespace troupe {

/// The time that is left until the requester's timeout, for the request which the actor's current handler serves. Zero
/// if that has passed. Nullopt if the message has no deadline, because it is no request or was not sent by
/// troupe::request. To be called in the handler itself; in a later handler of an answer (`then`) it is nullopt.
[[nodiscard]] TROUPE_EXPORT std::optional<std::chrono::nanoseconds> deadline(caf::local_actor* self);

/// For troupe::request in a handler: the new request gets the time that is left for the handler's own request.
struct inherit_deadline_t {
  /// The timeout if the handler's own request has no deadline.
  std::chrono::milliseconds otherwise{30'000};
};
/// Inherits the deadline of the handler's request; 30 s if that has none. `inherit_deadline_t{5s}` sets another
/// default.
inline constexpr inherit_deadline_t inherit_deadline{};

namespace internal {

TROUPE_EXPORT void enqueue_request(const caf::local_actor& self, caf::abstract_actor& receiver,
                                   caf::mailbox_element_ptr request, std::chrono::steady_clock::time_point deadline,
                                   caf::execution_unit* context);

} // namespace internal

/// Sends a request like `self->request(receiver, timeout, values...)`, and the deadline with it: `timeout` from now, at
/// most 100 years. If the deadline has passed before the receiver's handler begins, the request is dropped; the
/// requester's timeout has answered it by then. A remote receiver's node counts dropped requests
/// (link_stats::expired), and answers with `timed_out` if the deadline passes before the request arrives. A node that
/// forwards the request subtracts the time that it has spent there.
///
/// A blocking receiver, or one whose node lacks the feature `deadlines`, gets the request in any case. CAF does not
/// tell a link the timeout of a plain `self->request`: such a request has no deadline.
///
/// Threads: the actor's own. For a caf::scoped_actor, `self` is its `ptr()`.
template <caf::message_priority Priority = caf::message_priority::normal, class Self, class Handle, class... Values>
[[nodiscard]] auto request(Self* self, const Handle& receiver, std::chrono::milliseconds timeout, Values&&... values) {
  using answer = decltype(self->template request<Priority>(receiver, timeout, std::forward<Values>(values)...));
  const auto bounded = bounded_wait(timeout);
  if (!receiver) // CAF answers with an error.
    return self->template request<Priority>(receiver, bounded, std::forward<Values>(values)...);
  const auto id = self->new_request_id(Priority);
  internal::enqueue_request(*self, *receiver.operator->(),
                            caf::make_mailbox_element(self->ctrl(), id, {}, std::forward<Values>(values)...),
                            std::chrono::steady_clock::now() + bounded, self->context());
  self->request_response_timeout(caf::duration{bounded}, id);
  return answer{id.response_id(), self};
}

/// Sends a request with the deadline of the handler's own request.
template <caf::message_priority Priority = caf::message_priority::normal, class Self, class Handle, class... Values>
[[nodiscard]] auto request(Self* self, const Handle& receiver, inherit_deadline_t inherited, Values&&... values) {
  using std::chrono::milliseconds;
  const auto left = deadline(self);
  const auto timeout = left ? std::max(milliseconds{1}, std::chrono::ceil<milliseconds>(*left)) : inherited.otherwise;
  return troupe::request<Priority>(self, receiver, timeout, std::forward<Values>(values)...);
}

} // namespace troupe
