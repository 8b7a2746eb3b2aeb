// Messages from a third node for actors of the peer, which were introduced there: they are passed on as they came,
// without being decoded, where the peer accepts their families.
#include <algorithm>
#include <cassert>
#include <memory>
#include <string>
#include <utility>

#include <troupe/framework/internal/caf_port/actor_dispatcher.hpp>
#include <troupe/framework/internal/caf_port/actor_handles.hpp>
#include <troupe/framework/internal/caf_port/asker.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/link/link_core.hpp>
#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/internal/link/outgoing_message.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/text.hpp>
#include <troupe/serializers/compressed.hpp>

namespace troupe::internal {

namespace {} // namespace

bool link_core::forward(std::uint64_t receiver, const forwarded_message& what, const caf::strong_actor_ptr& sender,
                        caf::message_id id, receipt& owed) {
  if (is_only<caf::exit_msg>(*what.types, node_->types()) && !agreed().peer.takes_exits)
    return false;
  // What is being encoded of the same pair came before.
  if (!is_open() || encoding_.has(receiver, itself(sender).get()) || !can_define_for_others(*what.types))
    return false;
  thread_local outgoing_message message;
  const std::unique_ptr<outgoing_message, void (*)(outgoing_message*)> cleared{&message,
                                                                               [](auto* used) { used->clear(); }};
  auto accepted = message.accepts(*this, what);
  auto sent = accepted ? message.take(what, std::move(owed)) : std::expected<void, node_error>{};
  if (accepted && sent)
    sent = message.commit(receiver, sender, id);
  if (!sent) {
    auto none = caf::make_mailbox_element(sender, id, {}, caf::message{});
    undo(receiver, *none, sent.error(), dispatching_unit());
  }
  return accepted;
}

bool outgoing_message::accepts(link_core& link, const forwarded_message& message) {
  assert(!in_use());
  link_ = &link;
  claims_.begin(link.claim_desk_);
  take_terms(true); // So the peer's lists are these until it has left.
  return std::ranges::all_of(message.elements, [this](const auto& element) {
    return std::ranges::find(terms_->peer_accepts, element.fields->family) != terms_->peer_accepts.end();
  });
}

std::expected<void, node_error> outgoing_message::take(const forwarded_message& message, receipt owed) {
  auto& link = *link_;
  forwarded_types_ = message.types;
  extend(message.extensions);
  claims_.owe(std::move(owed));
  // Who has sent it waits for credit as long as it waits here: that bounds it. An error in place of an answer is small.
  const auto* errors = link.node().types().find<caf::error>();
  urgency_ = message.types->aliases.size() == 1 && errors != nullptr && message.types->aliases[0] == errors->alias()
                 ? link_core::urgency::answers_anyway
                 : link_core::urgency::always_waits;
  for (const auto& element : message.elements) {
    if (element.header.size() > link.agreed().peer.header_bytes || element.frames.size() > link.agreed().peer.frames)
      return std::unexpected{node_error{
          node_errc::unserializable,
          "payload with a header of " + grouped(element.header.size()) + " bytes and " + grouped(element.frames.size())
              + " frames, " + link.peer_name() + " reads at most " + grouped(link.agreed().peer.header_bytes) + " and "
              + grouped(link.agreed().peer.frames) + " (receive_limits.header_bytes and frames of its link)"}};
    descriptor_.frames.clear();
    descriptor_.actors.clear();
    descriptor_.objects = 0;
    for (const auto& object : element.objects) {
      auto mentioned = mention(object);
      if (!mentioned)
        return std::unexpected{describe(mentioned.error())};
      if (*mentioned == 0)
        return std::unexpected{node_error{node_errc::unsupported, "an object_ref cannot be passed on to "
                                                                      + link.peer_name()
                                                                      + ", which has no store to count it in"}};
    }
    for (const auto& actor : element.actors)
      if (auto named = mention(to_handle(actor)); !named)
        return std::unexpected{describe(named.error())};
    descriptor_.header_number = element.comes_again ? link.header_number(element.header) : 0;
    descriptor_.header = element.header;
    decompressed_bytes_ += decompressed_bytes(element.fields->frame_codecs);
    const auto& body = element.frames.front();
    if (auto appended = append_frames(body.bytes(), body.owner() ? &body : nullptr, element.frames.subspan(1));
        !appended)
      return appended;
  }
  return check_size();
}

/// Whether the signature is defined on this link, or may be.
bool link_core::can_define_for_others(const signature& types) {
  const auto held = mutex_.lock();
  return sent_words_.admits_for_others(held, types.aliases);
}

/// 0: it has to stand in each element.
std::uint64_t link_core::header_number(bytes_view header) {
  const auto held = mutex_.lock();
  auto* out = connection_->open_outbox(held);
  if (out == nullptr)
    return 0;
  const auto [number, is_new] = sent_words_.header_for_others(held, header, *out);
  if (is_new)
    connection_->flush_soon(held); // Leaves with the message at the latest.
  return number;
}

} // namespace troupe::internal
