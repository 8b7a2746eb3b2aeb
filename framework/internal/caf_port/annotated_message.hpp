// A message in a mailbox that knows until when it is awaited, and to which trace it belongs.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>

#include <caf/abstract_actor.hpp>
#include <caf/mailbox_element.hpp>

#include <troupe/framework/internal/caf_port/answer_memory.hpp>
#include <troupe/framework/internal/traces/traced_hop.hpp>
#include <troupe/framework/internal/wire/message_deadline.hpp>
#include <troupe/framework/internal/wire/request_identity.hpp>

namespace troupe::internal {

/// Counts the requests that a receiver has dropped. Shared, because messages may outlive the link that counts them.
using expired_counter = std::shared_ptr<std::atomic<std::uint64_t>>;

struct message_notes {
  std::optional<deadline_point> deadline = std::nullopt; // Of a request.
  std::shared_ptr<traced_hop> trace = nullptr;           // Null: no context.
  expired_counter expired = nullptr;                     // Counts the request if it is dropped; may be null.
  // Of a request that leaves and may be sent again.
  std::shared_ptr<const request_identity> identity = nullptr;
  // Of such a request that has come: takes its answer.
  std::shared_ptr<answer_slot> answers_to = nullptr;

  /// Whether the receiver's handler has nothing to learn.
  [[nodiscard]] bool is_empty() const noexcept { return !deadline && !trace; }
};

/// Attaches the notes to a message for `receiver`; null: the message leaves this process. If the receiver begins to
/// handle a request after its deadline, the request is dropped; blocking actors and proxies get it in any case. While
/// an actor handles the message, the trace's context is in force (context_in_force.hpp). The trace ends with the
/// handler.
[[nodiscard]] caf::mailbox_element_ptr annotate(caf::mailbox_element_ptr message, message_notes notes,
                                                caf::abstract_actor* receiver);

/// The notes of a message; null if it has none. Lifetime: the message's.
[[nodiscard]] const message_notes* notes_of(const caf::mailbox_element& message) noexcept;

} // namespace troupe::internal
