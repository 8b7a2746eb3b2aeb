// The way in: a message's bytes become a CAF message in the receiver's mailbox, on the I/O thread.
#include <algorithm>
#include <cassert>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

#include <caf/error.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/system_messages.hpp>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/actor_dispatcher.hpp>
#include <troupe/framework/internal/caf_port/asker.hpp>
#include <troupe/framework/internal/caf_port/passed_message.hpp>
#include <troupe/framework/internal/caf_port/question_id.hpp>
#include <troupe/framework/internal/link/link_core.hpp>
#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/internal/link/send_admin.hpp>
#include <troupe/framework/internal/objects/imported_object.hpp>
#include <troupe/framework/internal/wire/kept_memory.hpp>
#include <troupe/framework/internal/wire/message_extensions.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/text.hpp>
#include <troupe/framework/node_error.hpp>
#include <troupe/serializers/compressed.hpp>

namespace troupe::internal {

namespace {

constexpr std::size_t signatures_max = 65'536;
constexpr std::size_t definitions_bytes_max = 16_MiB; // Of all headers and signatures that a peer names by number.

std::unexpected<node_error> too_many_bytes(bytes_view message, const packet_reader& in) {
  return violation("message of " + grouped(message.size()) + " bytes has " + grouped(in.rest().size()) + " too many");
}

std::unexpected<node_error> undecodable(std::string text) {
  return std::unexpected{node_error{node_errc::undecodable, std::move(text)}};
}

caf::message_id id_of(const message_head& head) {
  return message_id_of(head.request_number, (head.flags & message_flags::urgent) != 0,
                       (head.flags & message_flags::response) != 0);
}

/// What the codecs of handles see while an element is decoded: the actors that it mentions are received already.
class incoming_extension final : public link_extension {
public:
  incoming_extension(std::span<const caf::strong_actor_ptr> actors, std::span<const object_source_ptr> mentions,
                     const std::shared_ptr<const object_environment>& objects)
      : actors_(actors), mentions_(mentions), objects_(objects) {}

  std::expected<std::uint32_t, serialize_error> mention(const caf::strong_actor_ptr&) override {
    return std::unexpected{serialize_error{serialize_errc::codec_failed, "an actor was to be encoded while decoding"}};
  }

  std::expected<caf::strong_actor_ptr, serialize_error> mentioned(std::uint32_t place) override {
    if (place == 0)
      return nullptr;
    if (place <= actors_.size())
      return actors_[place - 1];
    return std::unexpected{
        serialize_error{serialize_errc::malformed, "the payload names an actor that its element does not mention"}};
  }

  std::expected<std::uint32_t, serialize_error> mention(const object_state&) override {
    return std::unexpected{serialize_error{serialize_errc::codec_failed, "an object was to be encoded while decoding"}};
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

} // namespace

std::expected<void, node_error> link_core::on_chunk(std::uint8_t flags, bytes_view body) {
  if (const auto unknown = flags & binding_flags & ~chunk_flags::first; unknown != 0)
    return violation("a chunk has flags " + std::to_string(unknown)
                     + ", which have to be understood, and this version does not know them");
  bool first = (flags & chunk_flags::first) != 0;
  packet_reader in{body};
  auto head = read_chunk_head(in, first);
  if (!in.ok())
    return violation("chunk of " + grouped(body.size()) + " bytes is cut short");
  if (in.rest().size() > chunk_bytes_max)
    return violation("chunk of " + grouped(in.rest().size()) + " bytes, limit " + grouped(chunk_bytes_max));
  return transfers_.add_chunk(head, first, in.rest());
}

/// What a peer defines stays as long as the link: all of it together is bounded.
std::expected<void, node_error> link_core::charge_definition(std::size_t size_bytes) {
  received_definition_bytes_ += size_bytes;
  if (received_definition_bytes_ > definitions_bytes_max)
    return violation("headers and signatures of " + grouped(received_definition_bytes_) + " bytes, limit "
                     + grouped(definitions_bytes_max));
  return {};
}

std::expected<void, node_error> link_core::on_signature(bytes_view body) {
  auto definition = read_signature(body);
  auto due = received_signatures_->size();
  if (!definition || definition->number != due || definition->number >= signatures_max)
    return violation("signature " + (definition ? grouped(definition->number) : "?") + " cannot be read or is not the "
                     + grouped(due) + "th, limit " + grouped(signatures_max));
  if (auto charged = charge_definition(body.size() + alias_cost_bytes * (1 + definition->aliases.size())); !charged)
    return charged;
  if (logs(log_level::debug))
    log_received("signature", due, bracketed(definition->aliases));
  received_signatures_->push_back(resolve_signature(definition->aliases, node_->types()));
  return {};
}

std::expected<void, node_error> link_core::on_header(bytes_view body) {
  auto definition = read_header(body);
  if (!definition || definition->number != received_headers_.size() + 1)
    return violation("header " + (definition ? grouped(definition->number) : "?") + " cannot be read or is not the "
                     + grouped(received_headers_.size() + 1) + "th");
  if (auto charged = charge_definition(body.size() + header_cost_bytes); !charged)
    return charged;
  auto admitted = admit_header(definition->header);
  if (!admitted)
    return std::unexpected{std::move(admitted).error()};
  const auto& fields = admitted->fields;
  if (!fields.frame_codecs.empty() || !fields.frame_pieces.empty() || !fields.frame_repeats.empty())
    return violation("a header that has a number says which frames are compressed, pieces, or repeated");
  if (logs(log_level::debug))
    log_received("header", definition->number,
                 '"' + std::string{admitted->fields.type} + "\" by " + std::string{admitted->by->name()});
  received_headers_.push_back(std::make_unique<received_header>(*std::move(admitted)));
  return {};
}

/// Reads a header, and refuses a family that this end does not accept before anything of it is decoded. A peer that
/// keeps to the handshake does not send one.
std::expected<received_header, node_error> link_core::admit_header(bytes_view bytes) {
  received_header result{.bytes = {bytes.begin(), bytes.end()}};
  auto fields = parse_header(result.bytes, options_.receive_limits);
  if (!fields)
    return violation("a payload's header cannot be read: " + fields.error().message());
  result.fields = *fields; // Views of result.bytes, whose memory stays where it is when it is moved.
  auto by = check_accepted(fields->family, accepted_.families);
  if (!by)
    return violation(by.error().message());
  result.by = *by;
  if (const auto* type = node_->types().find(fields->type)) {
    result.type = type->shared_from_this();
    result.counted_as = received_as(result.by, type->alias());
  }
  return result;
}

/// Flags that this version does not know, or that the link has not agreed on.
std::expected<void, node_error> link_core::admit_message_flags(std::uint8_t flags) const {
  if (const auto unknown = flags & binding_flags & ~message_flags::known; unknown != 0)
    return violation("a message has flags " + std::to_string(unknown)
                     + ", which have to be understood, and this version does not know them");
  if ((flags & message_flags::extended) != 0 && !agreed().features.has(feature::extensions))
    return violation("a message has an extension map, and the two ends have not agreed on the feature \"extensions\"");
  return {};
}

std::expected<void, node_error> link_core::on_message(std::uint8_t flags, bytes_view body) {
  constexpr auto needs_no_look =
      message_flags::urgent | message_flags::request | message_flags::response | message_flags::returned;
  if ((flags & ~needs_no_look) != 0)
    if (auto admitted = admit_message_flags(flags); !admitted)
      return admitted;
  packet_reader in{body};
  auto head = read_message_head(in, flags);
  if (!in.ok() || head.signature >= received_signatures_->size())
    return violation("message head of a packet of " + grouped(body.size())
                     + " bytes cannot be read, or names signature " + grouped(head.signature) + " of "
                     + grouped(received_signatures_->size()));
  const auto& types = (*received_signatures_)[head.signature];
  if (auto found = find_actors(head); !found)
    return found;
  if (types.entries.size() == 1 && types.aliases.size() == 1 && last_pair_.way_on == nullptr && mentions_.empty())
    if (auto plain = read_plain_element(in)) {
      if (!in.finished())
        return too_many_bytes(body, in);
      return on_plain_message(head, types, *plain, body.size());
    }
  // All frames are claimed before anything is decoded, so that handles in flight are taken over even from a message
  // that then cannot be delivered.
  const auto frames_are_repeated =
      (flags & message_flags::repeated) != 0 && agreed().features.has(feature::handle_windows);
  auto beside = read_elements(in, types.aliases.size(), frames_are_repeated);
  if (!beside)
    return std::unexpected{std::move(beside).error()};
  if (!in.finished())
    return too_many_bytes(body, in);
  const auto cost =
      body.size() + beside->chunk_bytes + beside->decompressed_bytes + beside->mention_bytes + message_cost_bytes;
  auto owed = charge(head, cost);
  if (owed)
    owed = charge_handles(head, *std::move(owed), *beside);
  if (!owed)
    return std::unexpected{std::move(owed).error()};
  add_alone(counters_.messages_received, 1);
  // Beyond the limit it is not decompressed.
  auto taken = std::min<std::uint64_t>(beside->decompressed_bytes, options_.receive_limits.decompressed_bytes);
  if (!is_deliverable(head, body.size() + beside->chunk_bytes + taken + share_of_window(beside->handle_bytes), *owed))
    return {};
  if (auto forwarded = forward(head, types, *owed); !forwarded || *forwarded) {
    clear_elements();
    return forwarded ? std::expected<void, node_error>{} : std::unexpected{std::move(forwarded).error()};
  }
  // What goes on to another node is consumed when it has left.
  const auto goes_on = last_pair_.way_on != nullptr;
  message_under_construction built{types, goes_on ? owed->of_copy() : noted(*std::move(owed))};
  decoded_bytes_ = 0;
  auto decoded = decode(types, built);
  clear_elements();
  if (decoded)
    decoded = charge_understated(head, cost + beside->handle_bytes, built);
  if (!decoded)
    return give_up(head, std::move(decoded).error());
  return deliver(head, types.type_token, std::move(built), goes_on ? *std::move(owed) : receipt{});
}

std::expected<void, node_error> link_core::deliver(const message_head& head, std::uint32_t type_token,
                                                   message_under_construction&& message, receipt owed) {
  if (type_token == caf::make_type_token<caf::exit_msg>()) {
    if (auto admitted = admit_exit(head); !admitted)
      return admitted;
    if (node_->serves_all_links(last_pair_.receiver)) {
      counters_.undelivered.fetch_add(1, std::memory_order_relaxed);
      warnings_.warn(
          [&] { return "an exit message from " + agreed().peer.name + " to who serves all links was not delivered"; });
      return {};
    }
  }
  if (refuses_bare_error(head, type_token))
    return {};
  auto whole = std::move(message).finish(sender_of(head), id_of(head));
  if (auto* way_on = last_pair_.way_on)
    way_on->link()->pass_on(way_on->number(), std::move(whole), std::move(owed), head.extensions);
  else
    last_pair_.receiver->enqueue(std::move(whole), dispatching_unit());
  return {};
}

/// What most messages are: one plain element.
std::expected<void, node_error> link_core::on_plain_message(message_head& head, const signature& types,
                                                            const plain_element& element, std::size_t body_bytes) {
  auto owed = charge(head, body_bytes + message_cost_bytes);
  if (!owed)
    return std::unexpected{std::move(owed).error()};
  add_alone(counters_.messages_received, 1);
  if (!is_deliverable(head, body_bytes, *owed))
    return {};
  message_under_construction built{types, *std::move(owed)};
  decoded_bytes_ = 0;
  const frame bytes{element.body, nullptr}; // Read before the packet's bytes go.
  incoming_extension extension{{}, {}, received_objects_};
  auto header = header_of(element.header_number, {}, *types.entries[0]);
  auto decoded = header ? decode_value_of(**header, *types.entries[0], std::span{&bytes, 1}, extension, built)
                        : std::unexpected{std::move(header).error()};
  if (decoded)
    decoded = charge_understated(head, body_bytes + message_cost_bytes, built);
  if (!decoded)
    return give_up(head, std::move(decoded).error());
  return deliver(head, types.type_token, std::move(built));
}

/// A message that came beside the bytes, as it is.
std::expected<void, node_error> link_core::on_value(std::uint8_t flags, bytes_view body) {
  if (auto admitted = admit_message_flags(flags); !admitted)
    return admitted;
  packet_reader in{body};
  auto head = read_message_head(in, flags);
  auto size_bytes = in.varint();
  if (!in.finished() || !values_)
    return violation("the packet of a message that goes beside the bytes cannot be read, or there is no beside");
  auto value = values_->pop();
  auto* content = std::any_cast<caf::message>(&value);
  if (content == nullptr)
    return violation("no message came with its packet");
  if (auto found = find_actors(head); !found)
    return found;
  auto owed = charge(head, body.size() + size_bytes + message_cost_bytes);
  if (!owed)
    return std::unexpected{std::move(owed).error()};
  add_alone(counters_.messages_received, 1);
  if (!is_deliverable(head, body.size() + size_bytes, *owed))
    return {};
  count_passed(*content, size_bytes);
  if (refuses_bare_error(head, content->type_token()))
    return {};
  auto whole = make_passed_message(sender_of(head), id_of(head), std::move(*content), *std::move(owed));
  if (auto* way_on = last_pair_.way_on; way_on != nullptr && !head.extensions.empty())
    way_on->link()->pass_on(way_on->number(), std::move(whole), {}, head.extensions);
  else
    last_pair_.receiver->enqueue(std::move(whole), dispatching_unit());
  return {};
}

/// A message that cannot be decoded: who waits is told. Gives an error when the link has to end for it.
std::expected<void, node_error> link_core::give_up(const message_head& head, node_error reason) {
  if (reason.code() == node_errc::protocol_violation)
    return std::unexpected{std::move(reason)};
  counters_.undecodable.fetch_add(1, std::memory_order_relaxed);
  warnings_.warn([&] { return "a message from " + agreed().peer.name + " was not delivered: " + reason.message(); });
  const auto& receiver = last_pair_.receiver;
  const auto& sender = last_pair_.sender.get();
  auto text = caf::make_message(to_caf_error(reason));
  if ((head.flags & message_flags::response) != 0)
    receiver->enqueue(sender, id_of(head), std::move(text), dispatching_unit());
  else if ((head.flags & message_flags::request) != 0 && sender)
    sender->enqueue(receiver, id_of(head).response_id(), std::move(text), nullptr);
  return {};
}

/// The hello said whether exit messages may come.
std::expected<void, node_error> link_core::admit_exit(const message_head& head) const {
  if (!options_.allow_exit)
    return violation("the peer sends an exit message, which this link does not allow");
  if ((head.flags & (message_flags::request | message_flags::response)) != 0)
    return violation("the peer sends an exit message as a request or an answer");
  return {};
}

/// CAF ends an actor that gets a bare error, which a peer may do where it may send exit messages.
bool link_core::refuses_bare_error(const message_head& head, std::uint32_t type_token) {
  if ((head.flags & message_flags::response) != 0 || type_token != caf::make_type_token<caf::error>()
      || (options_.allow_exit && !node_->serves_all_links(last_pair_.receiver)))
    return false;
  counters_.undelivered.fetch_add(1, std::memory_order_relaxed);
  warnings_.warn([&] { return "an error from " + agreed().peer.name + " that answers nothing was not delivered"; });
  const auto& receiver = last_pair_.receiver;
  const auto& sender = last_pair_.sender.get();
  if ((head.flags & message_flags::request) != 0 && sender)
    sender->enqueue(receiver, id_of(head).response_id(),
                    caf::make_message(to_caf_error({node_errc::unsupported, "an error cannot be asked"})), nullptr);
  return true;
}

/// What the message costs until it is consumed; nothing where it answers a request, which has room reserved.
std::expected<receipt, node_error> link_core::charge(const message_head& head, std::uint64_t cost) {
  if ((head.flags & message_flags::response) != 0)
    return receipt{};
  return receiving_->received(head.receiver, std::max(cost, stated_bytes(head)));
}

/// The same for what lies behind its handles, with what it owes already.
std::expected<receipt, node_error> link_core::charge_handles(const message_head& head, receipt owed,
                                                             const bytes_beside_packet& beside) {
  if (!agreed().features.has(feature::handle_windows) || (head.flags & message_flags::response) != 0
      || (beside.handle_bytes == 0 && beside.repeated_objects.empty()))
    return owed;
  auto own = beside.handle_bytes == 0 ? std::expected<receipt, node_error>{receipt{}}
                                      : receiving_handles_->received(head.receiver, beside.handle_bytes);
  if (!own)
    return violation(own.error().message() + ", behind handles");
  return joint(std::move(owed),
               object_charges_.share(head.receiver, *std::move(own), beside.counted_objects, beside.repeated_objects),
               received_signatures_);
}

/// What its values take beyond what the message cost, by a peer that should have stated it.
std::expected<void, node_error> link_core::charge_understated(const message_head& head, std::uint64_t cost,
                                                              message_under_construction& message) {
  const auto takes = decoded_bytes_;
  const auto known = std::max(cost, stated_bytes(head));
  if (takes <= known || !agreed().features.has(feature::value_bytes))
    return {};
  auto owed = understated_->admit(takes - known);
  if (!owed)
    return undecodable("its values take about " + grouped(takes) + " bytes where it states " + grouped(known) + ", and "
                       + grouped(understated_->living_bytes())
                       + " that were not stated either are not consumed yet, of at most "
                       + grouped(understated_windows * agreed().windows.window) + " ("
                       + std::to_string(understated_windows) + " times link_options::window_bytes)");
  message.owe(*std::move(owed), received_signatures_);
  return {};
}

/// What the values of the message take here, as the peer says; 0 where it says nothing.
std::uint64_t link_core::stated_bytes(const message_head& head) const {
  return head.extensions.empty() || !agreed().features.has(feature::value_bytes) ? 0 : value_bytes_of(head.extensions);
}

/// What bytes behind the handles of an answer count where answers have one window for all: as large a part of it as of
/// the window for handles.
std::uint64_t link_core::share_of_window(std::uint64_t handle_bytes) const {
  const auto window = std::min<std::uint64_t>(options_.handle_window_bytes, agreed().handle_windows.window);
  const auto part = static_cast<double>(handle_bytes) / static_cast<double>(window);
  const auto share = part * static_cast<double>(options_.window_bytes);
  return static_cast<std::uint64_t>(std::min(share, static_cast<double>(handle_cost_max)));
}

/// Whether the receiver is to get it; else it is counted.
bool link_core::is_deliverable(message_head& head, std::uint64_t cost, receipt& owed) {
  if (last_pair_.is_unasked) {
    clear_elements();
    counters_.undelivered.fetch_add(1, std::memory_order_relaxed);
    warnings_.say(log_level::debug,
                  [&] { return agreed().peer.name + " forwards a request that is not pending (any more)"; });
    return false;
  }
  return (head.flags & message_flags::response) == 0 || take_pending(head, cost, owed);
}

/// Whether the response answers something that was asked here.
bool link_core::take_pending(message_head& head, std::uint64_t cost, receipt& owed) {
  cost = std::max(cost, stated_bytes(head));
  auto held = mutex_.lock();
  auto asked = pending_.take({head.receiver, head.request_number}, head.sender);
  if (asked) {
    sending_.unreserve_reply(asked->receiver, asked->reserved_bytes);
    sending_.expect_replies_of(asked->receiver, cost);
    sending_.add_unconsumed_reply(cost);
  }
  held.unlock();
  if (asked) {
    if (asked->forwarded_for)
      as_asker(asked->forwarded_for)->settle();
    // As it was asked, whatever the peer says: CAF knows the answer by that.
    head.flags =
        static_cast<std::uint8_t>((head.flags & ~message_flags::urgent) | (asked->urgent ? message_flags::urgent : 0));
    taken_answer_ = {caf::weak_actor_ptr{last_pair_.receiver.get()}, id_of(head)};
    owed = replies_->issue(cost);
    return true;
  }
  clear_elements();
  counters_.undelivered.fetch_add(1, std::memory_order_relaxed);
  warnings_.say(log_level::debug,
                [&] { return "a response from " + agreed().peer.name + " answers nothing that was asked"; });
  return false;
}

// -- frames

void link_core::received_element::clear() {
  if (std::exchange(is_plain, false))
    return; // What it has refers to nothing, and may stay for the next one.
  empty_for_reuse(descriptor.frames);
  empty_for_reuse(descriptor.actors);
  empty_for_reuse(frames);
  empty_for_reuse(actors);
  empty_for_reuse(objects);
  lost.reset();
}

/// Lets go of what the last message held; keeps some memory of the lists.
void link_core::clear_elements() {
  constexpr std::size_t kept_max = 64;
  for (std::size_t i = 0; i < element_count_; ++i)
    elements_[i].clear();
  element_count_ = 0;
  own_header_.reset();
  if (elements_.size() > kept_max)
    elements_.resize(kept_max);
}

std::expected<link_core::bytes_beside_packet, node_error> link_core::read_elements(packet_reader& in, std::size_t count,
                                                                                   bool frames_are_repeated) {
  const auto& bounds = options_.receive_limits;
  // A stored frame costs this node no memory and has no other bound than its object.
  const element_limits limits{bounds.header_bytes, bounds.frames, element_actors_max, UINT64_MAX >> 2};
  assert(element_count_ == 0);
  if (elements_.size() < count)
    elements_.resize(count);
  bytes_beside_packet beside;
  std::uint64_t objects = 0;
  for (std::size_t number = 0; number < count; ++number) {
    auto& element = elements_[number];
    ++element_count_;
    if (auto plain = read_plain_element(in)) {
      element.is_plain = true;
      element.descriptor.header_number = plain->header_number;
      element.descriptor.actors.clear();
      element.descriptor.objects = 0;
      element.frames.resize(1);
      element.frames[0] = frame{plain->body, nullptr}; // Read before the packet's bytes go.
      continue;
    }
    element.frames.clear(); // Of a plain one before.
    read_element(in, element.descriptor, limits);
    if (!in.ok())
      return violation("an element's description cannot be read: " + in.fault());
    if (element.descriptor.header_number == 0)
      if (auto fields = parse_header(element.descriptor.header, bounds))
        beside.decompressed_bytes += decompressed_bytes(fields->frame_codecs);
    for (std::size_t i = 0; i < element.descriptor.frames.size(); ++i) {
      auto claimed = claim_frame(in, element.descriptor.frames[i], i == 0);
      if (!claimed && claimed.error().code() == node_errc::protocol_violation)
        return std::unexpected{std::move(claimed).error()};
      if (!claimed)
        element.lost = claimed.error();
      else if (element.descriptor.frames[i].place == frame_place::chunks)
        beside.chunk_bytes += claimed->size_bytes();
      if (element.descriptor.frames[i].place == frame_place::stored)
        add_behind_handles(beside, element.descriptor.frames[i], frames_are_repeated);
      element.frames.push_back(claimed ? *std::move(claimed) : frame{});
    }
    for (const auto& mention : element.descriptor.actors) {
      auto side = mention.readers ? actor_name::side::yours : actor_name::side::mine;
      auto actor = import_actor({side, mention.number});
      if (!actor)
        return std::unexpected{std::move(actor).error()};
      beside.mention_bytes += mention.readers ? 0 : mention_cost_bytes;
      element.actors.push_back(*std::move(actor));
    }
    objects += element.descriptor.objects;
  }
  for (const auto& mentioned : mentions_) {
    if (mentioned.is_repeated) {
      beside.repeated_objects.push_back(mentioned.handle.name);
      continue;
    }
    beside.handle_bytes = handle_cost(beside.handle_bytes, mentioned.handle.size_bytes);
    if (mentioned.what != object_mention::kind::lost)
      beside.counted_objects.push_back(mentioned.handle.name);
  }
  if (objects > 0 || !mentions_.empty())
    if (auto claimed = claim_mentions(objects); !claimed)
      return std::unexpected{std::move(claimed).error()};
  beside.mention_bytes += objects * mention_cost_bytes;
  return beside;
}

void link_core::add_behind_handles(bytes_beside_packet& beside, const frame_descriptor& frame, bool is_repeated) const {
  if (!agreed().shares_store)
    return; // It ends the link.
  const store::object_id object{node_->store()->number(), frame.object_index, frame.object_generation};
  if (!is_repeated)
    beside.handle_bytes = handle_cost(beside.handle_bytes, frame.size_bytes);
  (is_repeated ? beside.repeated_objects : beside.counted_objects).push_back(object);
}

std::expected<frame, node_error> link_core::claim_frame(packet_reader& in, const frame_descriptor& from, bool is_body) {
  switch (from.place) {
  case frame_place::inline_: {
    auto bytes = in.take(from.size_bytes);
    if (!in.ok())
      return violation("frame of " + grouped(from.size_bytes) + " bytes reaches beyond its packet");
    // The body is read before the packet's bytes go; other frames may be kept by the value.
    return is_body ? frame{bytes, nullptr} : frame::copy_of(bytes);
  }
  case frame_place::chunks:
    return transfers_.claim(from.transfer, from.size_bytes);
  case frame_place::stored:
    return claim_object(from);
  }
  return violation("a frame's place is not known");
}

std::expected<frame, node_error> link_core::claim_object(const frame_descriptor& from) {
  if (!agreed().shares_store)
    return violation("a frame lies in a store that this link does not share");
  auto imported = adopt_object({node_->store()->number(), from.object_index, from.object_generation});
  if (!imported)
    return std::unexpected{std::move(imported).error()};
  auto pinned = (*imported)->object().pin();
  if (!pinned)
    return std::unexpected{node_error{node_errc::object_lost, pinned.error().message()}};
  auto owner = std::make_shared<const imported_bytes>(*std::move(pinned), *std::move(imported));
  auto bytes = owner->bytes();
  if (from.object_offset > bytes.size() || from.size_bytes > bytes.size() - from.object_offset)
    return violation("frame of " + grouped(from.size_bytes) + " bytes at " + grouped(from.object_offset)
                     + " reaches beyond its object of " + grouped(bytes.size()));
  counters_.handle_bytes_received.fetch_add(from.size_bytes, std::memory_order_relaxed);
  return frame{bytes.subspan(from.object_offset, from.size_bytes), std::move(owner)};
}

/// Takes over what is in flight to here, and counts its receipt.
std::expected<std::shared_ptr<const imported_object>, node_error> link_core::adopt_object(const store::object_id& id) {
  // The count in flight becomes this process's own hold; a peer that has handed over nothing is refused here.
  auto adopted = store::object_store{*node_->store()}.adopt(id, agreed().peer.process, agreed().receive_channel());
  if (!adopted && adopted.error().code() == store::store_errc::not_found)
    return violation("object " + store::to_string(id) + " was not handed over: " + adopted.error().message());
  if (!adopted)
    return std::unexpected{node_error{node_errc::object_lost, adopted.error().message()}};
  auto held = mutex_.lock();
  auto owner = object_imports_.receive(id);
  held.unlock();
  if (!owner) {
    owner = std::make_shared<const imported_object>(*std::move(adopted), weak_from_this());
    held.lock();
    object_imports_.put(id, owner);
    held.unlock();
  }
  return owner;
}

// -- values

std::expected<void, node_error> link_core::decode(const signature& types, message_under_construction& into) {
  if (types.entries.size() < types.aliases.size()) { // The unknown one may be the empty text.
    refuse_type(types.unknown_alias, nullptr);
    return undecodable("type \"" + types.unknown_alias + "\" is not in this node's type registry");
  }
  // A message of many elements may cost no more than one payload: the elements divide these limits among them.
  auto& limits = received_context_.limits;
  const auto probes = limits.hash_probes;
  const auto free_bytes = limits.memory_free_bytes;
  limits.hash_probes = probes / std::max<std::size_t>(element_count_, 1);
  limits.memory_free_bytes = free_bytes / std::max<std::size_t>(element_count_, 1);
  std::expected<void, node_error> decoded;
  for (std::size_t i = 0; i < element_count_ && decoded; ++i)
    decoded = decode_element(elements_[i], *types.entries[i], into);
  limits.hash_probes = probes;
  limits.memory_free_bytes = free_bytes;
  return decoded;
}

std::expected<void, node_error> link_core::decode_element(const received_element& element, const type_entry& type,
                                                          message_under_construction& into) {
  if (element.lost)
    return undecodable(element.lost->message());
  auto header = header_of(element.descriptor.header_number, element.descriptor.header, type);
  if (!header)
    return std::unexpected{std::move(header).error()};
  incoming_extension extension{element.actors, element.objects, received_objects_};
  return decode_value_of(**header, type, element.frames, extension, into);
}

std::expected<void, node_error> link_core::decode_value_of(const received_header& header, const type_entry& type,
                                                           std::span<const frame> frames, link_extension& extension,
                                                           message_under_construction& into) {
  received_context_.extension = &extension;
  received_context_.taken_bytes = &decoded_bytes_;
  void* place = nullptr;
  try {
    place = into.construct_next();
  } catch (const std::exception& failure) {
    return undecodable("type \"" + type.alias() + "\" cannot be made: " + std::string{exception_text(failure)});
  } catch (...) {
    return undecodable("type \"" + type.alias() + "\" cannot be made: its constructor threw something");
  }
  if (place == nullptr)
    return undecodable("type \"" + type.alias()
                       + "\" cannot be received: message elements need a default and a copy constructor");
  auto* const counted_as = header.counted_as != nullptr ? header.counted_as : received_as(header.by, type.alias());
  traffic_timer timer{counted_as != nullptr ? counted_as->timed_for() : 0};
  decoded_bytes_ += type.value_bytes();
  auto decoded = decode_value(type, place, *header.by, header.fields, frames, received_context_);
  if (decoded) {
    if (counted_as != nullptr)
      count_decoded(*counted_as, timer, frames);
    return {};
  }
  if (!std::ranges::equal(header.fields.schema, type.schema())) // Else it was the value.
    refuse_type(type.alias(), &type);
  return undecodable(decoded.error().message());
}

std::expected<const received_header*, node_error> link_core::numbered_header(std::uint64_t number) const {
  if (number == 0 || number > received_headers_.size())
    return violation("an element names header " + grouped(number) + " of " + grouped(received_headers_.size()));
  const auto* header = received_headers_[number - 1].get();
  if (header->by == nullptr) // Any more.
    return violation(check_accepted(header->fields.family, accepted_.families).error().message());
  return header;
}

/// The header that an element names, or brings itself: that one stays until the next such element.
std::expected<const received_header*, node_error> link_core::header_of(std::uint64_t number, bytes_view own,
                                                                       const type_entry& type) {
  const received_header* header = nullptr;
  if (number > 0) {
    auto numbered = numbered_header(number);
    if (!numbered)
      return numbered;
    header = *numbered;
  } else {
    auto admitted = admit_header(own);
    if (!admitted)
      return std::unexpected{std::move(admitted).error()};
    header = &own_header_.emplace(*std::move(admitted));
  }
  if (header->type.get() != &type && header->fields.type != type.alias())
    return violation("a payload of type \"" + std::string{header->fields.type} + "\" stands where the signature says \""
                     + type.alias() + '"');
  return header;
}

} // namespace troupe::internal
