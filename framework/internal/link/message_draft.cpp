#include <troupe/framework/internal/link/message_draft.hpp>

#include <cassert>
#include <string>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/wire/kept_memory.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

void message_draft::begin(const parts& of, const newest_terms& terms, bool is_waited_for) {
  assert(!in_use());
  of_ = &of;
  cargo.claims.begin(of.claims);
  terms_ = &known_terms_.take(terms, cargo.claims, is_waited_for);
  mentions_.begin(of.mentions, cargo);
  frames_.begin(of.frames, cargo, terms_->spill_bytes);
}

void message_draft::clear() {
  cargo.claims.clear();
  of_ = nullptr;
  cargo.value.reset();
  empty_for_reuse(cargo.transfers);
  empty_for_reuse(cargo.mentions);
  cargo.frames.clear();
  empty_for_reuse(extensions);
  how = urgency::ordinary;
  empty_for_reuse(types);
  known_signature = nullptr;
  types_of_others = nullptr;
  empty_for_reuse(carried);
  is_outdated = false;
  empty_for_reuse(element_.frames);
  empty_for_reuse(element_.actors);
  empty_for_reuse(elements_, 64_KiB);
  value_bytes_ = 0;
  decompressed_bytes_ = 0;
}

element_descriptor& message_draft::begin_element() {
  element_.frames.clear();
  element_.actors.clear();
  element_.objects = 0;
  mentions_.begin_element(element_);
  return element_;
}

std::expected<void, node_error> message_draft::end_element(bytes_view body, const frame* shared_body,
                                                           std::span<const frame> attached) {
  auto placed_body = frames_.place(body, shared_body);
  if (!placed_body)
    return std::unexpected{std::move(placed_body).error()};
  element_.frames.push_back(*placed_body);
  for (const auto& each : attached) {
    auto placed = frames_.place(each.bytes(), &each);
    if (!placed)
      return std::unexpected{std::move(placed).error()};
    element_.frames.push_back(*placed);
  }
  append_element(elements_, element_);
  auto append_inline = [&](const frame_descriptor& placed, bytes_view bytes) {
    if (placed.place == frame_place::inline_)
      elements_.insert(elements_.end(), bytes.begin(), bytes.end());
  };
  append_inline(element_.frames[0], body);
  for (std::size_t i = 0; i < attached.size(); ++i)
    append_inline(element_.frames[i + 1], attached[i].bytes());
  return {};
}

void message_draft::pass_value(std::any value, std::uint64_t size_bytes) {
  append_varint(elements_, size_bytes);
  value_bytes_ = size_bytes;
  cargo.value = std::move(value);
}

std::expected<void, node_error> message_draft::check_size() const {
  if (elements_.size() + 64 > packet_body_bytes_max)
    return fail(node_errc::unserializable, "message needs " + grouped(elements_.size())
                                               + " bytes beside its large frames, limit "
                                               + grouped(packet_body_bytes_max));
  const auto& peer = of_->mentions.link.agreed().peer;
  if (frames_.socket_bytes() > peer.message_bytes)
    return fail(node_errc::unserializable,
                "message of " + grouped(frames_.socket_bytes()) + " bytes, " + peer.name + " takes at most "
                    + grouped(peer.message_bytes)
                    + "; share a store and send it as an object_ref, or raise message_bytes");
  return {};
}

void message_draft::extend(bytes_view map) {
  if (of_->mentions.link.agreed().features.has(feature::extensions))
    extensions.assign(map.begin(), map.end());
}

std::unexpected<node_error> outdated(message_draft& message, std::string_view peer) {
  message.is_outdated = true;
  return fail(node_errc::link_busy, std::string{peer} + " has changed what it accepts; send again");
}

} // namespace troupe::internal
