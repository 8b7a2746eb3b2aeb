// A request in a mailbox that knows until when it is awaited.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include <caf/abstract_actor.hpp>
#include <caf/mailbox_element.hpp>

#include <troupe/framework/internal/wire/message_deadline.hpp>

namespace troupe::internal {

/// Counts the requests that a receiver has dropped. Shared, because messages may outlive the link that counts them.
using expired_counter = std::shared_ptr<std::atomic<std::uint64_t>>;

/// Attaches a deadline to a request, which is then dropped if the receiver begins to handle it after the deadline.
/// Blocking actors and proxies get the request in any case. `counter` may be null.
[[nodiscard]] caf::mailbox_element_ptr make_timed_request(caf::mailbox_element_ptr request, deadline_point deadline,
                                                          const caf::abstract_actor& receiver, expired_counter counter);

/// The deadline of a message; nullopt if it has none.
[[nodiscard]] std::optional<deadline_point> deadline_of(const caf::mailbox_element& message) noexcept;

} // namespace troupe::internal
