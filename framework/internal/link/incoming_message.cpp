#include <troupe/framework/internal/link/incoming_message.hpp>

#include <cassert>
#include <string>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/flow/send_window.hpp>
#include <troupe/framework/internal/objects/stored_bytes.hpp>
#include <troupe/framework/internal/wire/kept_memory.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/serializers/compressed.hpp>

namespace troupe::internal {

// -- an element

std::expected<const received_header*, node_error> received_element::header(const received_dictionary& known) {
  if (descriptor.header_number > 0)
    return known.header(descriptor.header_number);
  if (!own_header) {
    auto admitted = known.admit(descriptor.header);
    if (!admitted)
      return std::unexpected{std::move(admitted).error()};
    own_header = *std::move(admitted);
  }
  return &*own_header;
}

std::unexpected<node_error> not_as_signed(const received_header& header, std::string_view type) {
  return violation("a payload of type \"" + std::string{header.fields.type} + "\" was sent, but the signature says \""
                   + std::string{type} + '"');
}

void received_element::let_go() {
  if (std::exchange(is_plain, false))
    return; // A plain element refers to nothing, so its memory may stay for the next one.
  empty_for_reuse(descriptor.frames);
  empty_for_reuse(descriptor.actors);
  empty_for_reuse(frames);
  empty_for_reuse(actors);
  empty_for_reuse(objects);
  lost.reset();
  own_header.reset();
}

// -- ahead of the message

std::expected<void, node_error> incoming_message::describe(bytes_view body) {
  packet_reader in{body};
  while (in.ok() && !in.rest().empty()) {
    if (described_.size() == message_objects_max)
      return violation("more than " + grouped(message_objects_max) + " objects are described for one message");
    described_.push_back(read_object_mention(in));
  }
  if (!in.ok())
    return violation("a description of objects cannot be read");
  return {};
}

// -- the message

std::expected<bytes_beside_packet, node_error> incoming_message::read(packet_reader& in, std::size_t count,
                                                                      bool frames_are_repeated) {
  assert(count_ == 0);
  if (elements_.size() < count)
    elements_.resize(count);
  bytes_beside_packet beside;
  std::uint64_t objects = 0;
  while (count_ < count) {
    auto& element = elements_[count_++];
    if (auto whole = read_one(in, element, frames_are_repeated, beside); !whole)
      return std::unexpected{std::move(whole).error()};
    objects += element.descriptor.objects;
  }
  if (auto received = receive_objects(objects, beside); !received)
    return std::unexpected{std::move(received).error()};
  return beside;
}

std::expected<void, node_error> incoming_message::read_one(packet_reader& in, received_element& element,
                                                           bool frames_are_repeated, bytes_beside_packet& beside) {
  if (const auto plain = read_plain_element(in)) {
    element.is_plain = true;
    element.descriptor.header_number = plain->header_number;
    element.descriptor.actors.clear();
    element.descriptor.objects = 0;
    element.frames.resize(1);
    element.frames[0] = frame{plain->body, nullptr}; // The body is read before the packet's bytes go.
    return {};
  }
  element.frames.clear(); // Left by an earlier plain element.
  // A stored frame costs this node no memory; only its object bounds it.
  read_element(in, element.descriptor, {bounds_.header_bytes, bounds_.frames, element_actors_max, UINT64_MAX >> 2});
  if (!in.ok())
    return violation("an element's description cannot be read: " + in.fault());
  if (element.descriptor.header_number == 0)
    if (auto fields = parse_header(element.descriptor.header, bounds_))
      beside.decompressed_bytes += decompressed_bytes(fields->frame_codecs);
  if (auto claimed = claim_frames(in, element, frames_are_repeated, beside); !claimed)
    return claimed;
  return find_actors(element, beside);
}

std::expected<void, node_error> incoming_message::claim_frames(packet_reader& in, received_element& element,
                                                               bool frames_are_repeated, bytes_beside_packet& beside) {
  for (std::size_t i = 0; i < element.descriptor.frames.size(); ++i) {
    const auto& where = element.descriptor.frames[i];
    auto claimed = claims_.claim(in, where, i == 0);
    if (!claimed && claimed.error().code() == node_errc::protocol_violation)
      return std::unexpected{std::move(claimed).error()};
    if (!claimed)
      element.lost = claimed.error();
    else if (where.place == frame_place::chunks)
      beside.chunk_bytes += claimed->size_bytes();
    if (where.place == frame_place::stored && shared_store_) {
      auto& behind = beside.behind_handles;
      if (!frames_are_repeated)
        behind.bytes = handle_cost(behind.bytes, where.size_bytes);
      (frames_are_repeated ? behind.repeated : behind.counted)
          .push_back({*shared_store_, where.object_index, where.object_generation});
    }
    element.frames.push_back(claimed ? *std::move(claimed) : frame{});
  }
  return {};
}

std::expected<void, node_error> incoming_message::find_actors(received_element& element, bytes_beside_packet& beside) {
  for (const auto& mention : element.descriptor.actors) {
    auto actor = finder_.find_actor(mention);
    if (!actor)
      return std::unexpected{std::move(actor).error()};
    beside.mention_bytes += mention.readers ? 0 : mention_cost_bytes;
    element.actors.push_back(*std::move(actor));
  }
  return {};
}

/// Receives the described objects, even if the message cannot be delivered.
std::expected<void, node_error> incoming_message::receive_objects(std::uint64_t count, bytes_beside_packet& beside) {
  if (count == 0 && described_.empty())
    return {};
  auto& behind = beside.behind_handles;
  for (const auto& mention : described_) {
    if (mention.is_repeated) {
      behind.repeated.push_back(mention.handle.name);
      continue;
    }
    behind.bytes = handle_cost(behind.bytes, mention.handle.size_bytes);
    if (mention.what != object_mention::kind::lost)
      behind.counted.push_back(mention.handle.name);
  }
  if (count != described_.size())
    return violation("a message mentions " + grouped(count) + " objects, and " + grouped(described_.size())
                     + " are described");
  auto received = finder_.receive_objects(std::exchange(described_, {}));
  if (!received)
    return std::unexpected{std::move(received).error()};
  assert(received->size() == count);
  auto next = received->begin();
  for (auto& element : elements()) {
    const auto last = next + static_cast<std::ptrdiff_t>(element.descriptor.objects);
    element.objects.assign(next, last);
    next = last;
  }
  beside.mention_bytes += count * mention_cost_bytes;
  return {};
}

std::expected<std::optional<forwarded_message>, node_error>
incoming_message::undecoded(const signature& types, bytes_view extensions, const received_dictionary& known) {
  forwarded_message whole{.types = &types, .elements = {}, .extensions = extensions};
  for (auto& element : elements()) {
    if (element.lost || element.frames.empty())
      return std::nullopt; // Answered where messages are decoded.
    const auto header = element.header(known);
    if (!header)
      return std::unexpected{header.error()};
    if (const auto& type = types.aliases[whole.elements.size()]; (*header)->fields.type != type)
      return not_as_signed(**header, type);
    whole.elements.push_back({.fields = &(*header)->fields,
                              .header = (*header)->bytes,
                              .comes_again = element.descriptor.header_number > 0,
                              .frames = element.frames,
                              .actors = element.actors,
                              .objects = element.objects});
  }
  return whole;
}

std::vector<named_object> incoming_message::named_objects() const {
  std::vector<named_object> named;
  for (const auto& element : std::span{elements_}.first(count_)) {
    for (const auto& each : element.frames)
      if (const auto* stored = stored_bytes_of(each))
        named.push_back({stored->object().id()});
    for (const auto& each : element.objects)
      named.push_back({std::nullopt, each});
  }
  return named;
}

void incoming_message::let_go() {
  constexpr std::size_t kept_max = 64;
  for (auto& element : elements())
    element.let_go();
  count_ = 0;
  described_.clear();
  if (elements_.size() > kept_max)
    elements_.resize(kept_max);
}

} // namespace troupe::internal
