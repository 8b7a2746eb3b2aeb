// Requests whose deadline travels with them, so that a peer spends nothing on answers that nobody awaits.
#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include <caf/local_actor.hpp>

#include <troupe/base/export.hpp>
#include <troupe/base/longest_wait.hpp>

namespace troupe {

/// The time that is left for the request which the actor's current handler serves: until the requester's timeout. Zero
/// if that has passed. Nullopt if the message brought no deadline: it is no request, came from an actor of this node,
/// or was not sent by troupe::request. To be called in a handler, before it moves the message elsewhere.
[[nodiscard]] TROUPE_EXPORT std::optional<std::chrono::nanoseconds> deadline(caf::local_actor* self);

/// For troupe::request in a handler: the request gets what is left for the handler's own request.
struct inherit_deadline_t {
  /// The timeout if the handler's own request has no deadline.
  std::chrono::milliseconds otherwise{30'000};
};
/// Inherits the deadline of the handler's request; 30 s if that has none. `inherit_deadline_t{5s}` sets another
/// default.
inline constexpr inherit_deadline_t inherit_deadline{};

namespace internal {

/// Requests that this thread sends while the object lives carry the deadline.
class TROUPE_EXPORT sending_deadline {
public:
  explicit sending_deadline(std::chrono::steady_clock::time_point at) noexcept;
  ~sending_deadline();
  sending_deadline(const sending_deadline&) = delete;
  sending_deadline& operator=(const sending_deadline&) = delete;

private:
  std::chrono::steady_clock::time_point before_;
};

} // namespace internal

/// Sends a request like `self->request(receiver, timeout, values...)`. If the receiver is remote, its node gets the
/// deadline with the message. That node drops the request if the deadline has passed before its handler begins, and
/// counts it (link_stats::expired); the requester's timeout has answered by then. A node that forwards the request
/// subtracts the time that the message spent there. A receiver in this node gets no deadline.
///
/// CAF tells a link nothing of the timeout of a plain `self->request`: such a request has no deadline.
template <class Self, class Handle, class... Values>
[[nodiscard]] auto request(Self* self, const Handle& receiver, std::chrono::milliseconds timeout, Values&&... values) {
  const auto bounded = bounded_wait(timeout);
  const internal::sending_deadline carried{std::chrono::steady_clock::now() + bounded};
  return self->request(receiver, bounded, std::forward<Values>(values)...);
}

template <class Self, class Handle, class... Values>
[[nodiscard]] auto request(Self* self, const Handle& receiver, inherit_deadline_t inherited, Values&&... values) {
  using std::chrono::milliseconds;
  const auto left = deadline(self);
  const auto timeout = left ? std::max(milliseconds{1}, std::chrono::ceil<milliseconds>(*left)) : inherited.otherwise;
  return troupe::request(self, receiver, timeout, std::forward<Values>(values)...);
}

} // namespace troupe
