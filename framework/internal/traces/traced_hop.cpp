#include <troupe/framework/internal/traces/traced_hop.hpp>

#include <exception>
#include <utility>

namespace troupe::internal {

traced_hop::traced_hop(const trace_context& context, span&& begun, std::shared_ptr<span_recorder> to,
                       std::optional<std::chrono::system_clock::time_point> sent_at)
    : context_(context.with_span(new_span_id())),
      to_(std::move(to)),
      span_(std::move(begun)),
      since_wall_(std::chrono::system_clock::now()),
      since_(clock::now()),
      stage_(since_) {
  constexpr std::chrono::hours credible{1};
  span_.trace = context.trace();
  span_.parent = context.span();
  span_.id = context_.span();
  span_.tracestate = context.tracestate();
  span_.start = since_wall_;
  if (sent_at && *sent_at <= since_wall_ && since_wall_ - *sent_at < credible)
    span_.wire_time = since_wall_ - *sent_at;
}

traced_hop::~traced_hop() {
  if (!has_ended())
    fails("was not handled");
}

void traced_hop::set_family(std::string_view family) {
  if (is_recorded())
    span_.family = family;
}

void traced_hop::set_operation(std::string_view first_atom) {
  if (is_recorded())
    operation_ = first_atom;
}

void traced_hop::answered() noexcept {
  stage_ = clock::now();
}

void traced_hop::decoded() noexcept {
  const auto now = clock::now();
  span_.decode_time = now - std::exchange(stage_, now);
}

void traced_hop::begins() noexcept {
  if (!is_recorded())
    return;
  const auto now = clock::now();
  span_.queue_time = now - std::exchange(stage_, now);
  has_begun_ = true;
}

void traced_hop::ends() noexcept {
  if (has_ended_.exchange(true, std::memory_order_relaxed) || !is_recorded())
    return;
  const auto now = clock::now();
  if (has_begun_)
    span_.handler_time = now - stage_;
  span_.end = since_wall_ + std::chrono::duration_cast<std::chrono::system_clock::duration>(now - since_);
  try {
    if (const auto& what = operation_.empty() ? span_.types : operation_; !what.empty())
      (span_.name += ' ') += what;
  } catch (const std::exception&) { // No memory: the verb is its name.
  }
  to_->record(std::move(span_));
}

void traced_hop::set_error(std::string_view reason) noexcept {
  if (!is_recorded())
    return;
  try {
    span_.error = reason;
  } catch (const std::exception&) { // No memory for the text: the span goes without it.
  }
}

void traced_hop::fails(std::string_view reason) noexcept {
  if (has_ended())
    return;
  set_error(reason);
  ends();
}

} // namespace troupe::internal
