// What a node records of the hops of sampled messages, for an exporter (node::record_spans).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include <troupe/base/export.hpp>
#include <troupe/framework/trace_context.hpp>

namespace troupe {

/// As in OpenTelemetry, with its numbers.
enum class span_kind : std::uint8_t {
  server = 2,   ///< A request at its receiver.
  client = 3,   ///< A request at its sender, from the sending to the end of the handler of the answer.
  producer = 4, ///< A message that begins a trace, or that this node forwards.
  consumer = 5  ///< A plain message at its receiver.
};

/// A hop of a sampled message.
struct span {
  trace_id trace = {};
  span_id id = {};
  span_id parent = {}; ///< Zero: the first span of the trace.
  span_kind kind = span_kind::consumer;
  /// What happened, with the message's first element if that is an atom ("serve price"), else with `types`
  /// ("receive shop.order").
  std::string name;
  std::string types; ///< The aliases of the message's elements, with spaces in between.
  std::string tracestate;
  /// At a receiver the arrival, so that the clocks of two hosts are not mixed.
  std::chrono::system_clock::time_point start;
  std::chrono::system_clock::time_point end;

  /// From the sending to the arrival. Contains the difference of two hosts' clocks; nullopt if that is negative, or
  /// more than an hour.
  std::optional<std::chrono::nanoseconds> wire_time;
  std::optional<std::chrono::nanoseconds> decode_time;
  std::optional<std::chrono::nanoseconds> queue_time; ///< In the mailbox, until a handler first began.
  /// From then on, including the time during which the actor has skipped the message.
  std::optional<std::chrono::nanoseconds> handler_time;

  std::string peer;       ///< The name of the node at the other end of the link.
  std::uint64_t link = 0; ///< link::number() of the link.
  std::string family; ///< The family of the first element; empty on an in-process link that passes the value itself.
  std::uint64_t bytes = 0; ///< The size of the message on the link; 0: unknown.
  std::uint64_t actor = 0; ///< The id of the receiving actor.
  std::string error;       ///< The reason of the failure; empty if there was none.
};

/// Takes the finished spans of a node.
class TROUPE_EXPORT span_sink {
public:
  span_sink();
  virtual ~span_sink();
  span_sink(const span_sink&) = delete;
  span_sink& operator=(const span_sink&) = delete;

  /// Returns false only to end the recording: the node then drops the sink. A sink without room drops the span and
  /// returns true. May be called while the node holds locks: must neither block, nor send messages, nor call a node or
  /// a link. Threads: any, several at a time.
  virtual bool take(span what) noexcept = 0;
};

} // namespace troupe
