#include <troupe/framework/internal/link/message_mentions.hpp>

#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/actor_handles.hpp>
#include <troupe/framework/internal/caf_port/asker.hpp>
#include <troupe/framework/internal/objects/exchanged_object.hpp>
#include <troupe/framework/object_ref.hpp>

namespace troupe::internal {

namespace {

std::unexpected<serialize_error> failure(serialize_errc code, std::string text) {
  return std::unexpected{serialize_error{code, std::move(text)}};
}

} // namespace

std::expected<std::uint32_t, serialize_error> message_mentions::mention(const actor_handle& handle) {
  const auto actor = to_actor(handle);
  if (!actor)
    return 0;
  if (element_->actors.size() == element_actors_max)
    return failure(serialize_errc::limit_exceeded, "the value contains more than " + grouped(element_actors_max)
                                                       + " actor handles, the limit of one message element");
  auto& actors = of_->actors;
  if (!actors.can_name(itself(actor)))
    return failure(serialize_errc::codec_failed, "a handle cannot be sent: " + actor_names::why_not_named());
  const auto name = cargo_->claims.actor([&] { return actors.name(itself(actor)); });
  const auto is_peers = name.whose == actor_name::side::yours;
  if (is_peers)
    cargo_->claims.keep(actor);
  element_->actors.push_back({name.number, is_peers});
  return static_cast<std::uint32_t>(element_->actors.size());
}

std::expected<std::uint32_t, serialize_error> message_mentions::mention(const object_state& object) {
  return mention(object.source);
}

std::expected<std::uint32_t, serialize_error> message_mentions::mention(const object_source_ptr& object) {
  const auto& agreed = of_->link.agreed();
  if (!of_->exchange || !agreed.counts_handles)
    return 0;
  if (cargo_->mentions.size() == message_objects_max)
    return failure(serialize_errc::limit_exceeded, "the message contains more than " + grouped(message_objects_max)
                                                       + " object_refs, the limit of one message");
  outgoing_mention made{.counted = nullptr, .stored = {}, .size_bytes = object->size_bytes()};
  const auto stored = agreed.shares_store ? object->stored() : store::handle{};
  if (!stored.empty() && stored.id().store == of_->store->number() && cargo_->claims.flights().hand_over(stored)) {
    made.stored = stored.id();
    made.which = stored.id();
    stored_bytes_ += made.size_bytes;
  } else if (object->kind() == source_kind::lost) {
    made.is_lost = true; // Readers at the other end learn of the loss like readers here.
  } else if (made.counted = of_->exchange->object_of(object); made.counted) {
    const auto known = made.counted->what();
    made.which = {.store = 0, .index = known.index, .generation = known.generation};
  } else {
    return 0;
  }
  cargo_->mentions.push_back(std::move(made));
  return static_cast<std::uint32_t>(++element_->objects);
}

std::expected<actor_handle, serialize_error> message_mentions::mentioned(std::uint32_t) {
  return failure(serialize_errc::codec_failed, "a codec tried to decode an actor handle while it encodes");
}

std::expected<object_source_ptr, serialize_error> message_mentions::mentioned_object(std::uint32_t) {
  return failure(serialize_errc::codec_failed, "a codec tried to decode an object_ref while it encodes");
}

std::shared_ptr<const object_environment> message_mentions::objects() const {
  return nullptr;
}

bool message_mentions::reads_mentions_of_parts() const {
  return of_->link.agreed().features.has(feature::nested_handles);
}

} // namespace troupe::internal
