// The way of one message with a trace context, from its arrival to the end of its handler.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <troupe/framework/internal/traces/span_recorder.hpp>
#include <troupe/framework/span.hpp>
#include <troupe/framework/trace_context.hpp>

namespace troupe::internal {

/// Carries the context for what a message's handler sends, and records the message's span.
///
/// Threads: one at a time, which the message's way through mailboxes ensures; any for context() and has_ended().
class traced_hop {
public:
  using clock = std::chrono::steady_clock;

  /// Records nothing.
  explicit traced_hop(trace_context context) : context_(std::move(context)) {}
  /// Records `begun` once it has ended. `begun` has a verb as its name, and everything else except the times. It
  /// starts now. The context gets the span's id.
  traced_hop(const trace_context& context, span&& begun, std::shared_ptr<span_recorder> to,
             std::optional<std::chrono::system_clock::time_point> sent_at = std::nullopt);
  traced_hop(const traced_hop&) = delete;
  traced_hop& operator=(const traced_hop&) = delete;
  /// If the hop has not ended, its span has the error "was not handled".
  ~traced_hop();

  [[nodiscard]] const trace_context& context() const noexcept { return context_; }
  [[nodiscard]] bool is_recorded() const noexcept { return to_ != nullptr; }
  /// Its handler has ended, or never begins.
  [[nodiscard]] bool has_ended() const noexcept { return has_ended_.load(std::memory_order_relaxed); }

  void set_family(std::string_view family);
  /// Names the span after the message's first atom; empty: after its types.
  void set_operation(std::string_view first_atom);
  void set_actor(std::uint64_t id) noexcept { span_.actor = id; }
  /// The answer to the request has come.
  void answered() noexcept;
  void decoded() noexcept;
  /// A handler begins for the first time.
  void begins() noexcept;
  /// The handler has ended, or the message was sent.
  void ends() noexcept;
  /// The message has failed, or is an error. The hop has yet to end.
  void set_error(std::string_view reason) noexcept;
  /// It ends, because the message has failed.
  void fails(std::string_view reason) noexcept;

private:
  trace_context context_;
  std::shared_ptr<span_recorder> to_; // Null: nothing is recorded.
  span span_;
  std::chrono::system_clock::time_point since_wall_;
  clock::time_point since_;
  clock::time_point stage_; // When the current stage began.
  std::string operation_;   // The first atom; empty: the types.
  bool has_begun_ = false;
  std::atomic<bool> has_ended_{false};
};

} // namespace troupe::internal
