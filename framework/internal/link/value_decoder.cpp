#include <troupe/framework/internal/link/value_decoder.hpp>

#include <algorithm>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include <troupe/base/text.hpp>
#include <troupe/framework/internal/caf_port/actor_handles.hpp>
#include <troupe/framework/internal/caf_port/raw_message.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/serializers/family.hpp>

namespace troupe::internal {

namespace {

std::unexpected<node_error> undecodable(std::string text) {
  return fail(node_errc::undecodable, std::move(text));
}

/// The context of handle codecs while an element is decoded. The actors that the element mentions are already received.
class incoming_extension final : public codec_mentions {
public:
  incoming_extension(std::span<const caf::strong_actor_ptr> actors, std::span<const object_source_ptr> mentions,
                     const std::shared_ptr<const object_environment>& objects)
      : actors_(actors), mentions_(mentions), objects_(objects) {}

  std::expected<std::uint32_t, serialize_error> mention(const actor_handle&) override {
    return std::unexpected{
        serialize_error{serialize_errc::codec_failed, "a codec tried to encode an actor handle while it decodes"}};
  }

  std::expected<actor_handle, serialize_error> mentioned(std::uint32_t place) override {
    if (place == 0)
      return actor_handle{};
    if (place <= actors_.size())
      return to_handle(actors_[place - 1]);
    return std::unexpected{
        serialize_error{serialize_errc::malformed, "the payload names an actor that its element does not mention"}};
  }

  std::expected<std::uint32_t, serialize_error> mention(const object_state&) override {
    return std::unexpected{
        serialize_error{serialize_errc::codec_failed, "a codec tried to encode an object_ref while it decodes"}};
  }

  std::expected<object_source_ptr, serialize_error> mentioned_object(std::uint32_t place) override {
    if (place > 0 && place <= mentions_.size())
      return mentions_[place - 1];
    return std::unexpected{
        serialize_error{serialize_errc::malformed, "the payload names an object that its element does not mention"}};
  }

  std::shared_ptr<const object_environment> objects() const override { return objects_; }

private:
  std::span<const caf::strong_actor_ptr> actors_;
  std::span<const object_source_ptr> mentions_;
  const std::shared_ptr<const object_environment>& objects_;
};

void count(traffic& counted_as, traffic_timer& timer, std::span<const frame> frames) {
  timer.stop();
  timer.add_to(counted_as);
  std::uint64_t bytes = 0;
  for (const auto& each : frames)
    bytes += each.size_bytes();
  counted_as.count(bytes);
}

} // namespace

void value_decoder::open(const context& of_link) {
  context_ = of_link;
  context_.circles = accepted_.objects()->circles.get();
  context_.taken_bytes = &taken_bytes_;
  bounds_ = of_link.limits;
}

/// A message of many elements may cost no more than one payload, so the elements share these limits.
void value_decoder::begin(std::size_t elements) {
  const auto share = [elements](std::size_t whole) { return elements > 1 ? whole / elements : whole; };
  context_.limits.hash_probes = share(bounds_.hash_probes);
  context_.limits.memory_free_bytes = share(bounds_.memory_free_bytes);
  context_.families = accepted_.families();
  taken_bytes_ = 0;
}

std::expected<std::size_t, node_error> value_decoder::decode(std::span<received_element> elements,
                                                             const signature& types, message_under_construction& into) {
  if (types.entries.size() < types.aliases.size()) { // The unknown alias may be the empty text.
    refuse(types.unknown_alias, nullptr);
    return undecodable(lacks_type(own_name_, types.unknown_alias));
  }
  begin(elements.size());
  for (std::size_t i = 0; i < elements.size(); ++i)
    if (auto decoded = decode_element(elements[i], *types.entries[i], types.aliases[i], into); !decoded)
      return std::unexpected{std::move(decoded).error()};
  return taken_bytes_;
}

std::expected<std::size_t, node_error> value_decoder::decode(std::span<const plain_element> elements,
                                                             const signature& types, message_under_construction& into) {
  begin(elements.size());
  incoming_extension extension{{}, {}, accepted_.objects()};
  for (std::size_t i = 0; i < elements.size(); ++i) {
    const auto& type = *types.entries[i];
    const auto header = known_.header(elements[i].header_number);
    if (!header)
      return std::unexpected{header.error()};
    const frame bytes{elements[i].body, nullptr}; // The body is read before the packet's bytes go.
    if (!reads(**header, type)) {
      if (auto kept = keep_raw(**header, type, types.aliases[i], std::span{&bytes, 1}, into); !kept)
        return std::unexpected{std::move(kept).error()};
      continue;
    }
    if (auto decoded = decode_value_of(**header, type, std::span{&bytes, 1}, extension, into); !decoded)
      return std::unexpected{std::move(decoded).error()};
  }
  return taken_bytes_;
}

std::expected<std::size_t, node_error> value_decoder::decode(const received_header& header, const type_entry& type,
                                                             bytes_view body, message_under_construction& into) {
  begin(1);
  incoming_extension extension{{}, {}, accepted_.objects()};
  const frame bytes{body, nullptr}; // The body is read before the packet's bytes go.
  if (auto decoded = decode_value_of(header, type, std::span{&bytes, 1}, extension, into); !decoded)
    return std::unexpected{std::move(decoded).error()};
  return taken_bytes_;
}

std::expected<void, node_error> value_decoder::decode_element(received_element& element, const type_entry& type,
                                                              std::string_view alias,
                                                              message_under_construction& into) {
  if (element.lost)
    return undecodable(element.lost->message());
  const auto header = element.header(known_);
  if (!header)
    return std::unexpected{header.error()};
  if (!reads(**header, type))
    return keep_raw(**header, type, alias, element.frames, into);
  incoming_extension extension{element.actors, element.objects, accepted_.objects()};
  return decode_value_of(**header, type, element.frames, extension, into);
}

/// Keeps a payload of an alias that the registry does not have. Fails if the header has another type than the
/// signature, which is the case for all other types.
std::expected<void, node_error> value_decoder::keep_raw(const received_header& header, const type_entry& type,
                                                        std::string_view alias, std::span<const frame> frames,
                                                        message_under_construction& into) {
  if (!is_raw(type) || header.fields.type != alias)
    return not_as_signed(header, is_raw(type) ? alias : type.alias());
  auto& kept = *static_cast<raw_payload*>(into.construct_next());
  kept.alias = alias;
  kept.content.header = frame::copy_of(header.bytes);
  for (const auto& each : frames) { // Frames without an owner are views of the packet.
    kept.content.frames.push_back(each.owner() ? each : frame::copy_of(each.bytes()));
    taken_bytes_ += each.size_bytes();
  }
  taken_bytes_ += type.value_bytes() + header.bytes.size();
  return {};
}

std::expected<void, node_error> value_decoder::decode_value_of(const received_header& header, const type_entry& type,
                                                               std::span<const frame> frames, codec_mentions& extension,
                                                               message_under_construction& into) {
  context_.extension = &extension;
  void* place = nullptr;
  try {
    place = into.construct_next();
  } catch (const std::exception& failure) {
    return undecodable("type \"" + type.alias() + "\" cannot be made: " + std::string{exception_text(failure)});
  } catch (...) {
    return undecodable("type \"" + type.alias()
                       + "\" cannot be made: its constructor threw an object that is not a std::exception");
  }
  if (place == nullptr)
    return undecodable("type \"" + type.alias()
                       + "\" cannot be received: message elements need a default and a copy constructor");
  auto* const counted_as = header.counted_as != nullptr ? header.counted_as
                           : counts_ != nullptr         ? &counts_->of(header.by->name(), type.alias())
                                                        : nullptr;
  traffic_timer timer{counted_as != nullptr ? counted_as->timed_for() : 0};
  taken_bytes_ += type.value_bytes();
  auto decoded = decode_value(type, place, *header.by, header.fields, frames, context_);
  if (decoded) {
    if (counted_as != nullptr)
      count(*counted_as, timer, frames);
    return {};
  }
  if (!std::ranges::equal(header.fields.schema, type.schema())) // With an equal schema it was the value, not the type.
    refuse(type.alias(), &type);
  return undecodable(decoded.error().message());
}

void value_decoder::refuse(const std::string& alias, const type_entry* known) {
  if (const auto what = accepted_.refuse(alias, known))
    admin_.send(admin_op::type_refused, *what);
}

} // namespace troupe::internal
