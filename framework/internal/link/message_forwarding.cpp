#include <troupe/framework/internal/link/message_forwarding.hpp>

#include <algorithm>
#include <chrono>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/actor_handles.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/wire/message_deadline.hpp>
#include <troupe/framework/internal/wire/message_trace.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/serializers/compressed.hpp>

namespace troupe::internal {

namespace {

std::expected<void, node_error> copy_mentions(const forwarding_parts& link, const forwarded_element& element,
                                              message_draft& into) {
  const auto failed = [&](const serialize_error& error) {
    return std::unexpected{failure_of_encoding(error, link.own_name, link.link.peer_name(), into.terms())};
  };
  for (const auto& object : element.objects) {
    auto mentioned = into.mentions().mention(object);
    if (!mentioned)
      return failed(mentioned.error());
    if (*mentioned == 0)
      return fail(node_errc::unsupported, "an object_ref cannot be forwarded to " + link.link.peer_name()
                                              + ", because that node has no store; open it with one "
                                                "(node_options::store)");
  }
  for (const auto& actor : element.actors)
    if (auto named = into.mentions().mention(to_handle(actor)); !named)
      return failed(named.error());
  return {};
}

std::expected<void, node_error> copy_element(const forwarding_parts& link, const forwarded_element& element,
                                             message_draft& into) {
  const auto& peer = link.link.agreed().peer;
  if (element.header.size() > peer.header_bytes || element.frames.size() > peer.frames)
    return fail(node_errc::unserializable, "payload with a header of " + grouped(element.header.size()) + " bytes and "
                                               + grouped(element.frames.size()) + " frames, " + peer.name
                                               + " reads at most " + grouped(peer.header_bytes) + " and "
                                               + grouped(peer.frames)
                                               + "; raise header_bytes or frames in the receive_limits of its link");
  auto& made = into.begin_element();
  if (auto mentioned = copy_mentions(link, element, into); !mentioned)
    return mentioned;
  made.header_number = element.comes_again ? link.headers.number_for_others(element.header) : 0;
  made.header = element.header;
  into.add_decompressed(decompressed_bytes(element.fields->frame_codecs));
  const auto& body = element.frames.front();
  return into.end_element(body.bytes(), body.owner() ? &body : nullptr, element.frames.subspan(1));
}

} // namespace

bool accepts(const sending_terms& terms, const forwarded_message& message) {
  return std::ranges::all_of(message.elements, [&](const auto& element) {
    return std::ranges::find(terms.peer_accepts, element.fields->family) != terms.peer_accepts.end();
  });
}

std::expected<void, node_error> copy_forwarded(const forwarding_parts& link, const forwarded_message& message,
                                               receipt owed, message_draft& into) {
  into.types().forward(*message.types);
  if (!message.extensions.empty()) {
    auto kept = link.traces.forward(message.extensions);
    keep_deadline(kept, std::chrono::steady_clock::now(), link.peer_delay.now());
    into.extend(kept);
  }
  // Its sender waits for credit as long as the message waits here, which bounds it. Errors in place of answers are
  // small.
  into.owe(std::move(owed));
  if (message.types->kind == message_kind::error)
    into.set_urgency(urgency::answers_anyway);
  for (const auto& element : message.elements)
    if (auto copied = copy_element(link, element, into); !copied)
      return copied;
  return into.check_size();
}

} // namespace troupe::internal
