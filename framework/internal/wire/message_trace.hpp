// The trace context of a message in its extension map. Pure. The bytes: framework/link-protocol.md.
#pragma once

#include <chrono>
#include <optional>

#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/trace_context.hpp>

namespace troupe::internal {

/// The entries of a map about a trace.
struct trace_entries {
  std::optional<trace_context> context; // Nullopt: `traceparent` is invalid or missing.
  std::optional<std::chrono::system_clock::time_point> sent_at;
};

/// Whether the map has a `traceparent`, even an invalid one.
[[nodiscard]] bool has_trace(bytes_view map);
[[nodiscard]] trace_entries read_trace(bytes_view map);

/// Appends the entries. The peer sees the context's span as the parent. Requires: keys are appended in ascending order.
void append_trace(byte_vector& map, const trace_context& context, bool with_baggage,
                  std::optional<std::chrono::system_clock::time_point> sent_at);

/// What the next link of a forwarded message takes.
struct trace_on_next_link {
  bool takes_traces = false;
  bool with_baggage = false;
  std::optional<span_id> span;                                  // The forwarder's own span: the new parent.
  std::optional<std::chrono::system_clock::time_point> sent_at; // Replaces the time in the map.
};
/// The map for the next link, with the forwarder's span in it. Empty if that link takes no map of this size.
[[nodiscard]] byte_vector map_for_next_link(bytes_view map, const trace_on_next_link& next);

} // namespace troupe::internal
