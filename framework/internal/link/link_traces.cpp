#include <troupe/framework/internal/link/link_traces.hpp>

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <troupe/framework/internal/wire/features.hpp>
#include <troupe/framework/internal/wire/message_trace.hpp>

namespace troupe::internal {

namespace {

constexpr std::size_t types_bytes_max = 128;

std::string shortened(std::string text) {
  if (text.size() > types_bytes_max)
    text.resize(types_bytes_max);
  return text;
}

std::string text_of_types(const message_view& message, const type_registry& types) {
  std::string text;
  for (std::size_t i = 0; i < message.size() && text.size() <= types_bytes_max; ++i) {
    const auto* const entry = message.type(i).entry_in(types);
    text += (text.empty() ? "" : " ") + (entry != nullptr ? entry->alias() : message.type(i).name());
  }
  return shortened(std::move(text));
}

std::string text_of_types(const std::vector<std::string>& aliases, const type_registry&) {
  std::string text;
  for (const auto& each : aliases) {
    if (text.size() > types_bytes_max)
      break;
    text += (text.empty() ? "" : " ") + each;
  }
  return shortened(std::move(text));
}

} // namespace

std::shared_ptr<traced_hop> link_traces::record(const trace_context& context, span_kind kind, std::string name,
                                                std::string types) const {
  span begun{
      .kind = kind, .name = std::move(name), .types = std::move(types), .peer = link_.peer_name(), .link = number_};
  return std::make_shared<traced_hop>(context, std::move(begun), recorder_);
}

std::shared_ptr<traced_hop> link_traces::send(const trace_context& context, const caf::mailbox_element& message,
                                              byte_vector& extensions) const {
  const auto is_request = message.mid.is_request();
  std::shared_ptr<traced_hop> hop;
  if (context.is_sampled() && recorder_->is_on() && (is_request || !context.has_span())) {
    const message_view content{message};
    hop = record(context, is_request ? span_kind::client : span_kind::producer, is_request ? "request" : "send",
                 text_of_types(content, types_));
    hop->set_operation(content.first_atom());
  }
  if (link_.agreed().features.has(feature::traces))
    append_trace(extensions, hop ? hop->context() : context, sends_baggage_,
                 context.is_sampled() ? std::optional{std::chrono::system_clock::now()} : std::nullopt);
  if (is_request)
    return hop ? hop : std::make_shared<traced_hop>(context);
  if (hop)
    hop->ends();
  return nullptr;
}

template <class Types>
void link_traces::receive(std::shared_ptr<traced_hop>& hop, const message_head& head, const Types& types,
                          std::uint64_t bytes) const {
  if ((head.flags & message_flags::response) != 0 || !has_trace(head.extensions))
    return;
  auto [context, sent_at] = read_trace(head.extensions);
  if (!context) { // W3C: an invalid context restarts the trace.
    if (!recorder_->begins_trace())
      return;
    context = trace_context::begin();
    sent_at = std::nullopt;
  }
  if (!context->is_sampled() || !recorder_->is_on()) {
    hop = std::make_shared<traced_hop>(*std::move(context));
    return;
  }
  const auto is_request = (head.flags & message_flags::request) != 0;
  span begun{.kind = is_request ? span_kind::server : span_kind::consumer,
             .name = is_request ? "serve" : "receive",
             .types = text_of_types(types, types_),
             .peer = link_.peer_name(),
             .link = number_,
             .bytes = bytes};
  hop = std::make_shared<traced_hop>(*context, std::move(begun), recorder_, sent_at);
}

template void link_traces::receive(std::shared_ptr<traced_hop>&, const message_head&, const message_view&,
                                   std::uint64_t) const;
template void link_traces::receive(std::shared_ptr<traced_hop>&, const message_head&, const std::vector<std::string>&,
                                   std::uint64_t) const;

byte_vector link_traces::forward(bytes_view map) const {
  trace_on_next_link next{.takes_traces = link_.agreed().features.has(feature::traces), .with_baggage = sends_baggage_};
  const auto context = next.takes_traces && recorder_->is_on() ? read_trace(map).context : std::nullopt;
  if (context && context->is_sampled()) {
    const auto hop = record(*context, span_kind::producer, "forward", {});
    next.span = hop->context().span();
    next.sent_at = std::chrono::system_clock::now();
    hop->ends();
  }
  return map_for_next_link(map, next);
}

} // namespace troupe::internal
