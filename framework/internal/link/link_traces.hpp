// The traces of the messages of one link.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <troupe/framework/internal/caf_port/decoded_message.hpp>
#include <troupe/framework/internal/caf_port/message_view.hpp>
#include <troupe/framework/internal/link/link_common.hpp>
#include <troupe/framework/internal/traces/span_recorder.hpp>
#include <troupe/framework/internal/traces/traced_hop.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/trace_context.hpp>

namespace troupe::internal {

/// Writes the context of messages into their extension maps and reads it there, and makes the spans of both.
///
/// Threads: any.
class link_traces {
public:
  /// All must outlive this object. `number`: the link's. `sends_baggage`: the link's option.
  link_traces(const link_common& link, std::shared_ptr<span_recorder> recorder, const type_registry& types,
              std::uint64_t number, bool sends_baggage)
      : link_(link), recorder_(std::move(recorder)), types_(types), number_(number), sends_baggage_(sends_baggage) {}

  /// Whether a message without a context begins a trace. Cheap.
  [[nodiscard]] bool begins_trace() const noexcept { return recorder_->begins_trace(); }

  /// Appends the entries of a message that this node sends. Returns the hop of a request, which ends with the handler
  /// of the answer; null for other messages. Requires: append_extension()'s order.
  [[nodiscard]] std::shared_ptr<traced_hop> send(const trace_context& context, const caf::mailbox_element& message,
                                                 byte_vector& extensions) const;

  /// Sets the hop of an incoming message that has a context. An answer has the hop of its request instead. `types` are
  /// aliases, or a message_view. Requires: the message is for an actor of this node.
  template <class Types>
  void receive(std::shared_ptr<traced_hop>& hop, const message_head& head, const Types& types,
               std::uint64_t bytes) const;

  /// The map with which a message goes on over this link. If the message belongs to a sampled trace, records the
  /// forwarder's span.
  [[nodiscard]] byte_vector forward(bytes_view map) const;

private:
  [[nodiscard]] std::shared_ptr<traced_hop> record(const trace_context& context, span_kind kind, std::string name,
                                                   std::string types) const;

  const link_common& link_;
  const std::shared_ptr<span_recorder> recorder_; // Hops may outlive the link.
  const type_registry& types_;
  const std::uint64_t number_;
  const bool sends_baggage_;
};

} // namespace troupe::internal
