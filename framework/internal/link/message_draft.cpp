#include <troupe/framework/internal/link/message_draft.hpp>

#include <cassert>
#include <string>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/wire/kept_memory.hpp>
#include <troupe/framework/internal/wire/message_deadline.hpp>
#include <troupe/framework/internal/wire/message_extensions.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

void message_draft::begin(const parts& of, const newest_terms& terms, bool is_waited_for) {
  assert(!in_use());
  of_ = &of;
  cargo_.claims.begin(of.claims);
  terms_ = &known_terms_.take(terms, cargo_.claims, is_waited_for);
  mentions_.begin(of.mentions, cargo_);
  frames_.begin(of.frames, cargo_, terms_->spill_bytes);
}

void message_draft::clear() {
  cargo_.claims.clear();
  of_ = nullptr;
  cargo_.value.reset();
  cargo_.kept.reset();
  cargo_.call.reset();
  empty_for_reuse(cargo_.transfers);
  empty_for_reuse(cargo_.mentions);
  cargo_.frames.clear();
  empty_for_reuse(extensions_);
  how_ = urgency::ordinary;
  types_.clear();
  empty_for_reuse(carried_);
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
  cargo_.value = std::move(value);
}

std::expected<void, node_error> message_draft::check_size() const {
  if (elements_.size() + 64 > packet_body_bytes_max)
    return fail(node_errc::unserializable,
                "message needs " + grouped(elements_.size()) + " bytes beside its large frames, limit "
                    + grouped(packet_body_bytes_max) + "; put large data into arrays or frames");
  const auto& peer = of_->mentions.link.agreed().peer;
  if (frames_.socket_bytes() > peer.message_bytes)
    return fail(node_errc::unserializable,
                "message of " + grouped(frames_.socket_bytes()) + " bytes, " + peer.name + " takes at most "
                    + grouped(peer.message_bytes)
                    + "; share a store and send it as an object_ref, or raise message_bytes of the link at "
                    + peer.name);
  return {};
}

namespace {

/// Combines the map of another link with what this end has stated of the values, unless the map states it.
byte_vector with_stated(bytes_view map, byte_vector stated, std::size_t bytes_max) {
  constexpr auto key = static_cast<std::uint64_t>(extension_key::value_bytes); // The lowest key.
  if (stated.empty() || find_extension(map, key) || stated.size() + map.size() > bytes_max)
    return {map.begin(), map.end()};
  stated.insert(stated.end(), map.begin(), map.end());
  return stated;
}

} // namespace

void message_draft::extend(bytes_view map) {
  const auto& features = of_->mentions.link.agreed().features;
  const auto bytes_max = features.has(feature::traces) ? extension_bytes_max : extension_bytes_without_traces_max;
  if (features.has(feature::extensions))
    extensions_ = with_stated(map, std::exchange(extensions_, {}), bytes_max);
}

void message_draft::state_value_bytes(std::uint64_t bytes) {
  if (of_->mentions.link.agreed().features.has(feature::value_bytes))
    append_value_bytes(extensions_, bytes);
}

std::span<std::byte> message_draft::start(const message_head& head) {
  start_.clear();
  append_message_head(start_, head);
  const auto in_map = find_deadline(extensions_);
  deadline_at_ = in_map ? start_.size() - extensions_.size() + *in_map : 0; // The map ends the head.
  return start_;
}

std::unexpected<unsent> outdated(std::string_view peer) {
  unsent why{node_error{node_errc::link_busy, std::string{peer} + " has changed what it accepts; send again"}};
  why.is_outdated = true;
  return std::unexpected{std::move(why)};
}

} // namespace troupe::internal
