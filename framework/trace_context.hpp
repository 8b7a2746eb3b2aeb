// The trace to which a message belongs, in the words of W3C Trace Context and W3C Baggage.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <troupe/base/export.hpp>

namespace troupe {

/// The maximum size of a `tracestate` or a `baggage` that travels with messages.
inline constexpr std::size_t tracestate_bytes_max = 512;
inline constexpr std::size_t baggage_bytes_max = 8192;

using trace_id = std::array<std::byte, 16>;
/// All bytes are zero for no span.
using span_id = std::array<std::byte, 8>;

/// Identifies a trace, the current span in it, and what travels with its messages.
class TROUPE_EXPORT trace_context {
public:
  /// Begins a trace with a random id and without a span. The first span of the trace has no parent. If the sending node
  /// records no spans, the first recorded span has a random parent, which is never exported.
  /// `is_sampled`: each node with a sink records the spans of the trace.
  [[nodiscard]] static trace_context begin(bool is_sampled = true);

  /// Reads the texts as they stand in HTTP headers. Returns nullopt if `traceparent` is invalid. Without an error,
  /// drops a `tracestate` or a `baggage` that is invalid or too long.
  [[nodiscard]] static std::optional<trace_context>
  parse(std::string_view traceparent, std::string_view tracestate = {}, std::string_view baggage = {});

  [[nodiscard]] const trace_id& trace() const noexcept { return trace_; }
  [[nodiscard]] const span_id& span() const noexcept { return span_; }
  [[nodiscard]] bool has_span() const noexcept { return span_ != span_id{}; }
  [[nodiscard]] bool is_sampled() const noexcept { return is_sampled_; }
  [[nodiscard]] const std::string& tracestate() const noexcept { return tracestate_; }
  [[nodiscard]] const std::string& baggage() const noexcept { return baggage_; }

  /// Replaces the baggage, a text like "tenant=42,plan=free". Returns false, without any effect, if the text is invalid
  /// or too long.
  [[nodiscard]] bool set_baggage(std::string_view text);

  /// The same trace with another current span.
  [[nodiscard]] trace_context with_span(const span_id& span) const;

  /// The text for an HTTP header, version 00. In a context without a span, the id of its parent is random.
  [[nodiscard]] std::string traceparent() const;

  friend bool operator==(const trace_context&, const trace_context&) = default;

private:
  trace_id trace_ = {};
  span_id span_ = {};
  bool is_sampled_ = false;
  std::string tracestate_;
  std::string baggage_;
};

/// An id as lower-case hexadecimal digits, as collectors show it.
[[nodiscard]] TROUPE_EXPORT std::string hex_of(std::span<const std::byte> id);

/// A random id that is not zero.
[[nodiscard]] TROUPE_EXPORT span_id new_span_id();

} // namespace troupe
