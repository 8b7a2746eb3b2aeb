// Sends a node's spans to a collector by OTLP, OpenTelemetry's protocol, over HTTP with JSON.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/framework/fwd.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe {

struct trace_export_options {
  /// The collector's URL, http or https, with its path. Redirections are not followed. libcurl's environment variables
  /// for proxies apply.
  std::string endpoint = "http://127.0.0.1:4318/v1/traces";

  /// The share of messages without a context that begin a trace, from 0 to 1 (node::record_spans). Higher: more is
  /// seen, and each sampled message costs several microseconds.
  double sample = 0.01;

  /// The attribute service.name. Empty: the name of the node.
  std::string service = {};

  /// Header fields of each request, for example {"Authorization", "Bearer ..."}.
  std::vector<std::pair<std::string, std::string>> headers = {};

  /// The maximum number of spans that wait. Further spans are dropped and counted. A span takes about 1 KiB, at most
  /// about 2 KiB.
  std::size_t queue_max = 4'096;
  /// The maximum number of spans in a request.
  std::size_t batch_max = 512;
  /// How long a span waits for others before it is sent.
  std::chrono::milliseconds interval{1'000};

  /// How long one request may take.
  std::chrono::milliseconds request_timeout{10'000};
  /// The retry limit of a batch. A batch is tried again if the collector cannot be reached or answers 429, 502, 503 or
  /// 504. The pauses grow from 100 ms to 5 s; a Retry-After makes a pause longer, at most an hour. If the next try would
  /// be later than the limit, the batch is dropped, and the next batch waits for the end of the pause.
  std::chrono::milliseconds retry_timeout{60'000};
  /// How long the destructor may take to send what waits. It does not wait for pauses between tries: what the collector
  /// refuses once more is dropped.
  std::chrono::milliseconds close_timeout{2'000};
};

struct trace_export_stats {
  std::uint64_t exported = 0; ///< Spans that the collector has accepted.
  std::uint64_t dropped = 0;  ///< Spans without room in the queue, or of batches that were given up.
  std::uint64_t rejected = 0; ///< Spans that the collector has rejected in an otherwise successful answer.
  std::uint64_t requests = 0;
  std::uint64_t failed_requests = 0; ///< Failed tries. A batch can count several times.
  std::size_t waiting = 0;           ///< Spans in the queue, or being sent.
  std::string last_error;            ///< Why the last failed request failed.
};

/// Records a node's spans and sends them in the background.
///
/// Threads: any. The exporter has one thread. A span is handed over without waiting for the network.
/// Lifetime: may outlive the node. The destructor ends the recording. The destructor waits at most
/// trace_export_options::close_timeout, and 0.1 s more.
/// When requests begin to fail, and when they succeed again, the log has a line.
class TROUPE_EXPORT trace_exporter {
public:
  /// From now on the exporter gets the node's spans, in place of an earlier sink (node::record_spans). Does not
  /// connect. Fails with `bad_option` if the URL is not one of http or https, an option is out of range, or a header
  /// field has control characters.
  [[nodiscard]] static std::expected<trace_exporter, node_error> open(node& of, trace_export_options options = {});

  trace_exporter(trace_exporter&&) noexcept;
  trace_exporter& operator=(trace_exporter&&) noexcept;
  ~trace_exporter();

  [[nodiscard]] trace_export_stats stats() const;

  /// Sends what waits now; a pause between two tries is not cut short. Returns true if all spans that were recorded
  /// before the call have been sent or dropped by then.
  bool flush(std::chrono::milliseconds timeout);

private:
  class exporting;
  explicit trace_exporter(std::shared_ptr<exporting> what);

  std::shared_ptr<exporting> exporting_; // Null after a move.
};

} // namespace troupe
