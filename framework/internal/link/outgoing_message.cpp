#include <troupe/framework/internal/link/outgoing_message.hpp>

#include <algorithm>
#include <cassert>
#include <optional>
#include <string>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/actor_handles.hpp>
#include <troupe/framework/internal/caf_port/asker.hpp>
#include <troupe/framework/internal/caf_port/builtin_types.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/internal/objects/stored_bytes.hpp>
#include <troupe/framework/internal/wire/kept_memory.hpp>
#include <troupe/framework/internal/wire/message_extensions.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/text.hpp>
#include <troupe/serializers/compressed.hpp>

namespace troupe::internal {

outgoing_message::~outgoing_message() {
  clear();
}

void outgoing_message::clear() {
  claims_.clear();
  is_outdated_ = false;
  link_ = nullptr;
  empty_for_reuse(types_);
  empty_for_reuse(descriptor_.frames);
  empty_for_reuse(descriptor_.actors);
  output_.clear();
  empty_for_reuse(elements_, 64_KiB);
  empty_for_reuse(cargo_.transfers);
  empty_for_reuse(cargo_.mentions);
  empty_for_reuse(carried_);
  new_signature_.reset();
  socket_bytes_ = 0;
  inline_bytes_ = 0;
  transfer_bytes_ = 0;
  value_bytes_ = 0;
  decompressed_bytes_ = 0;
  cargo_.value.reset();
  kept_.reset();
  handle_bytes_ = 0;
  cargo_.frames.clear();
  owned_bytes_ = 0;
  urgency_ = link_core::urgency::ordinary;
  forwarded_types_ = nullptr;
  empty_for_reuse(extensions_);
}

// -- encoding

std::expected<void, node_error> outgoing_message::encode(link_core& link, std::uint64_t receiver,
                                                         const std::shared_ptr<message_owner>& message,
                                                         bool is_counted) {
  assert(!in_use());
  link_ = &link;
  claims_.begin(link.claim_desk_);
  take_terms(is_counted);
  if (context_.value_owner != message)
    context_.value_owner = message;
  const auto& content = std::as_const(*message->element).content(); // Else CAF copies what several hold.
  if (content.type_token() == caf::make_type_token<caf::error>())
    urgency_ = link_core::urgency::answers_anyway;
  else if (content.type_token() == caf::make_type_token<caf::exit_msg>())
    urgency_ = link_core::urgency::always_waits;
  if (content.size() > signature_aliases_max)
    return fail(node_errc::unserializable,
                "message of " + grouped(content.size()) + " elements, limit " + grouped(signature_aliases_max));
  if (link.values_ && passes(content)) {
    append_varint(elements_, value_bytes_);
    cargo_.value = message->element->move_content_to_message();
    return {};
  }
  // What several hold may go to others as well, or have gone.
  const auto is_shared = content.shared();
  const auto known_form = is_shared ? link.node().encodings().find(content, context_) : nullptr;
  if (is_shared && !known_form)
    kept_ = std::make_shared<encoded_message>();
  for (std::size_t i = 0; i < content.size(); ++i) {
    auto rtti = content.type(i);
    auto* type = known(rtti);
    if (type == nullptr)
      return fail(node_errc::unserializable, "type " + name_of_type(rtti)
                                                 + " has no alias; add it to the node's type "
                                                   "registry with types.add<T>(\"alias\")");
    if (terms_->refused && !actor_exports::is_foreign(receiver)) // Who is behind the peer may know the type.
      if (const auto refused = terms_->refused->find(type->type); refused != terms_->refused->end())
        return fail(node_errc::undecodable, refused->second + "; " + link.lists_text(*terms_));
    types_.push_back(type->type);
    last_known_ = type;
    const auto* form = known_form && (*known_form)[i] ? &*(*known_form)[i] : nullptr;
    if (auto encoded = encode_element(*type, content.get(i), form); !encoded)
      return encoded;
    if (type->type->is_self_contained())
      owned_bytes_ += type->type->owned_bytes(content.get(i));
  }
  // Small values are covered by what each message costs at the least.
  if (owned_bytes_ > cost_without_head() && link.agreed().features.has(feature::value_bytes))
    append_value_bytes(extensions_, owned_bytes_);
  if (kept_ && std::ranges::any_of(*kept_, [](const auto& each) { return each.has_value(); }))
    link.node().encodings().put(message->element->copy_content_to_message(), context_, kept_);
  return check_size();
}

std::expected<void, node_error> outgoing_message::check_size() const {
  if (elements_.size() + 64 > packet_body_bytes_max)
    return fail(node_errc::unserializable, "message needs " + grouped(elements_.size())
                                               + " bytes beside its large frames, limit "
                                               + grouped(packet_body_bytes_max));
  if (socket_bytes_ > link_->agreed().peer.message_bytes)
    return fail(node_errc::unserializable,
                "message of " + grouped(socket_bytes_) + " bytes, " + link_->peer_name() + " takes at most "
                    + grouped(link_->agreed().peer.message_bytes)
                    + "; share a store and send it as an object_ref, or raise message_bytes");
  return {};
}

/// The link's newest ones, for one message. Mostly they are known, and those of the message before.
void outgoing_message::take_terms(bool is_counted) {
  auto& known = known_terms_[link_->serial() % known_terms_.size()];
  if (is_counted || !known || known->number != link_->terms_number_.load(std::memory_order_acquire)) {
    auto older = std::move(known); // Ends outside of the lock.
    const auto held = link_->mutex_.lock();
    known = link_->terms_;
    if (is_counted)
      claims_.epoch(held, known->peer_epoch);
  }
  terms_ = known.get();
  if (context_terms_ == terms_->number)
    return;
  context_terms_ = terms_->number;
  auto owner = std::move(context_.value_owner);
  context_ = terms_->context;
  context_.extension = this;
  context_.value_owner = std::move(owner);
}

std::unexpected<node_error> outgoing_message::outdated() {
  is_outdated_ = true;
  return fail(node_errc::link_busy, link_->peer_name() + " has changed what it accepts; send again");
}

/// Whether all of it means the same at the other end, which is in this process; then value_bytes_ is what it takes.
bool outgoing_message::passes(const caf::type_erased_tuple& content) {
  value_bytes_ = 0;
  for (std::size_t i = 0; i < content.size(); ++i) {
    auto* type = known(content.type(i));
    if (type == nullptr || !type->type->is_self_contained()) {
      carried_.clear();
      return false;
    }
    const auto bytes = type->type->memory_bytes(content.get(i));
    value_bytes_ += bytes;
    carries(*type, nullptr, bytes);
  }
  return true;
}

/// Notes a payload to be counted once the message is sent; a null family says that the value is handed over as it is.
void outgoing_message::carries(known_type& type, const family* by, std::uint64_t size_bytes) {
  if (type.by != by) {
    type.by = by;
    type.header = 0;
    type.counted_as = nullptr;
  }
  if (!link_->is_detailed())
    return;
  if (type.counted_as == nullptr)
    type.counted_as = link_->sent_as(by, *type.type);
  carried_.emplace_back(type.counted_as, size_bytes);
}

std::uint64_t outgoing_message::weigh(link_core& link, const caf::type_erased_tuple& content, std::uint64_t enough) {
  link_ = &link;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < content.size() && bytes < enough; ++i)
    if (const auto* type = known(content.type(i)); type != nullptr && type->type->is_self_contained())
      bytes += type->type->memory_bytes(content.get(i));
  if (link.values_ && bytes > 0 && passes(content))
    bytes = 0;
  link_ = nullptr;
  value_bytes_ = 0;
  carried_.clear();
  return bytes;
}

/// What the link knows of a type, or null when the registry does not have it.
outgoing_message::known_type* outgoing_message::known(const caf::rtti_pair& rtti) {
  auto hash = rtti.first + (reinterpret_cast<std::uintptr_t>(rtti.second) >> 4) + link_->serial() * 7;
  auto& slot = known_types_[hash % known_types_.size()];
  if (slot.link != link_->serial() || slot.rtti != rtti) {
    const auto* type = entry_of(rtti, link_->node().types());
    if (type == nullptr)
      return nullptr;
    slot = {.link = link_->serial(), .rtti = rtti, .type = type};
  }
  return &slot;
}

// What values that nobody can measure, as they have pointers or codecs of their own, take where they are decoded, per
// byte of their bodies.
constexpr std::size_t rebuilt_ratio = 4;

/// `form` is what was encoded of it for another link; null where it has to be encoded.
std::expected<void, node_error> outgoing_message::encode_element(known_type& known, const void* value,
                                                                 const encoded_element* form) {
  const auto& type = *known.type;
  descriptor_.frames.clear();
  descriptor_.actors.clear();
  descriptor_.objects = 0;
  std::optional<encoded_element> made;
  const auto* by = form != nullptr ? form->by : nullptr;
  traffic_timer timer{form != nullptr || !link_->is_detailed() ? 0
                      : known.counted_as == nullptr            ? 1
                                                               : known.counted_as->timed_for()};
  if (form == nullptr) {
    auto used = encode_value(type, value, terms_->families, context_, output_);
    if (!used)
      return std::unexpected{describe(used.error())};
    timer.stop();
    by = *used;
    made = take_encoded(by, type);
    if (made)
      form = &*made;
  }
  const auto body = form != nullptr ? form->frames[0].bytes() : output_.body().bytes();
  const auto attached = form != nullptr ? std::span(form->frames).subspan(1) : std::span(output_.frames());
  auto payload_bytes = body.size();
  for (const auto& each : attached)
    payload_bytes += each.size_bytes();
  if (!type.is_self_contained())
    owned_bytes_ += rebuilt_ratio * body.size();
  carries(known, by, payload_bytes);
  if (known.counted_as != nullptr)
    timer.add_to(*known.counted_as);
  descriptor_.header_number = 0;
  if (form != nullptr ? form->header.size_bytes() == 0 : output_.has_standard_header()) {
    if (known.header == 0) {
      const auto number = link_->header_number(*by, type, *terms_, claims_.has_epoch());
      if (!number)
        return outdated();
      known.header = *number;
    }
    descriptor_.header_number = known.header;
  } else {
    header_ = form != nullptr ? form->header : header_of(*by, type, output_);
    descriptor_.header = header_.bytes();
    decompressed_bytes_ +=
        form != nullptr ? form->decompressed_bytes : decompressed_bytes(output_.frame_codecs().bytes());
  }
  auto appended = form != nullptr
                      ? append_frames(form->frames[0].bytes(), form->frames.data(), std::span(form->frames).subspan(1))
                      : append_frames(output_.body().bytes(), nullptr, output_.frames());
  if (!appended)
    return appended;
  if (kept_)
    kept_->push_back(std::move(made));
  return {};
}

/// Gives each frame its place, and appends the element that descriptor_ begins. `shared_body` is the body as a frame
/// that may be kept; null where its bytes are used for something else afterwards.
std::expected<void, node_error> outgoing_message::append_frames(bytes_view body, const frame* shared_body,
                                                                std::span<const frame> attached) {
  auto placed_body = place(body, shared_body);
  if (!placed_body)
    return std::unexpected{std::move(placed_body).error()};
  descriptor_.frames.push_back(*placed_body);
  for (const auto& each : attached) {
    auto placed = place(each.bytes(), &each);
    if (!placed)
      return std::unexpected{std::move(placed).error()};
    descriptor_.frames.push_back(*placed);
  }
  append_element(elements_, descriptor_);
  auto append_inline = [&](const frame_descriptor& placed, bytes_view bytes) {
    if (placed.place == frame_place::inline_)
      elements_.insert(elements_.end(), bytes.begin(), bytes.end());
  };
  append_inline(descriptor_.frames[0], body);
  for (std::size_t i = 0; i < attached.size(); ++i)
    append_inline(descriptor_.frames[i + 1], attached[i].bytes());
  return {};
}

/// What was just encoded, where it is worth keeping for other links and the same for all of them.
std::optional<encoded_element> outgoing_message::take_encoded(const family* by, const type_entry& type) {
  if (!kept_ || !type.is_self_contained())
    return std::nullopt;
  auto size_bytes = output_.body().size();
  for (const auto& each : output_.frames())
    size_bytes += each.size_bytes();
  if (size_bytes < encoding_cache::encoded_bytes_min)
    return std::nullopt;
  encoded_element made{.by = by,
                       .header = output_.has_standard_header() ? frame() : header_of(*by, type, output_),
                       .decompressed_bytes = decompressed_bytes(output_.frame_codecs().bytes()),
                       .frames = {}};
  made.frames.reserve(1 + output_.frames().size());
  made.frames.push_back(put_once(output_.body().bytes(), nullptr));
  for (const auto& each : output_.frames())
    made.frames.push_back(put_once(each.bytes(), &each));
  return made;
}

/// The same bytes where every link finds them: in the store where the link shares one and they are large enough, as
/// place_in_store() would put them there. `as` is the frame where there is one.
frame outgoing_message::put_once(bytes_view bytes, const frame* as) {
  const auto is_stored = as != nullptr && stored_bytes_of(*as) != nullptr;
  if (link_->shares_store() && !is_stored && bytes.size() >= terms_->spill_bytes) {
    auto store = *link_->node().store();
    if (auto put = store.put(bytes, {}, {}, std::chrono::milliseconds{0}))
      if (auto pinned = put->pin()) {
        link_->counters_.spilled_bytes.fetch_add(bytes.size(), std::memory_order_relaxed);
        auto owner = std::make_shared<stored_bytes>(*std::move(pinned));
        return {owner->bytes(), owner};
      }
  }
  return as != nullptr ? *as : frame::copy_of(bytes);
}

/// Decides how a frame travels. `shared` is the frame itself where it has an owner, null for the reused body.
std::expected<frame_descriptor, node_error> outgoing_message::place(bytes_view bytes, const frame* shared) {
  if (link_->shares_store()) {
    auto in_store = place_in_store(bytes, shared);
    if (!in_store)
      return std::unexpected{std::move(in_store).error()};
    if (*in_store)
      return **in_store;
  }
  socket_bytes_ += bytes.size();
  frame_descriptor placed{.place = frame_place::inline_, .size_bytes = bytes.size()};
  if (bytes.size() > inline_frame_bytes_max || inline_bytes_ + bytes.size() > inline_frames_bytes_max) {
    placed.place = frame_place::chunks;
    placed.transfer = link_->next_transfer_.fetch_add(1, std::memory_order_relaxed);
    transfer_bytes_ += bytes.size();
    cargo_.transfers.push_back({placed.transfer, shared != nullptr ? *shared : frame::copy_of(bytes)});
  } else {
    inline_bytes_ += bytes.size();
  }
  return placed;
}

/// By handle, where the bytes lie in the store already or are large enough to go there; else nullopt. Also nullopt when
/// the store has no room: then they go through the socket, slower, but nothing is lost.
std::expected<std::optional<frame_descriptor>, node_error> outgoing_message::place_in_store(bytes_view bytes,
                                                                                            const frame* shared) {
  auto store = *link_->node().store();
  const auto* stored = shared != nullptr ? stored_bytes_of(*shared) : nullptr;
  store::handle object;
  std::uint64_t offset = 0;
  std::string failure;
  if (stored != nullptr && stored->object().id().store == store.number()) {
    object = stored->object();
    offset = static_cast<std::uint64_t>(bytes.data() - stored->bytes().data());
  } else if (bytes.size() < terms_->spill_bytes) {
    return std::nullopt;
  } else if (auto put = store.put(bytes, {}, {}, std::chrono::milliseconds{0})) { // A sender does not wait for room.
    object = *std::move(put);
    link_->counters_.spilled_bytes.fetch_add(bytes.size(), std::memory_order_relaxed);
  } else {
    failure = put.error().message();
  }
  if (failure.empty()) {
    auto counted = claims_.flights().hand_over(object);
    if (counted) {
      handle_bytes_ += bytes.size();
      cargo_.frames.push_back({object.id(), bytes.size()});
      return frame_descriptor{.place = frame_place::stored,
                              .size_bytes = bytes.size(),
                              .object_index = object.id().index,
                              .object_generation = object.id().generation,
                              .object_offset = offset};
    }
    if (counted.error().code() == store::store_errc::peer_gone)
      return fail(node_errc::link_down, link_->peer_name() + " is gone: " + counted.error().message());
    failure = counted.error().message();
  }
  link_->counters_.store_fallbacks.fetch_add(1, std::memory_order_relaxed);
  link_->warnings_.say(log_level::debug, [&] { return "a frame goes through the socket: " + failure; });
  return std::nullopt;
}

node_error outgoing_message::describe(const serialize_error& error) const {
  if (error.code() != serialize_errc::not_supported)
    return {node_errc::unserializable, error.message()};
  return {node_errc::refused_family, error.message() + "; " + link_->lists_text(*terms_)};
}

// -- handles inside the message

std::expected<std::uint32_t, serialize_error> outgoing_message::mention(const actor_handle& handle) {
  const auto actor = to_actor(handle);
  if (!actor)
    return 0;
  if (descriptor_.actors.size() == element_actors_max)
    return std::unexpected{
        serialize_error{serialize_errc::limit_exceeded,
                        "a value with more than " + grouped(element_actors_max) + " handles of actors in it"}};
  if (!link_->actors_.can_name(itself(actor)))
    return std::unexpected{
        serialize_error{serialize_errc::codec_failed, "a handle cannot be sent: " + actor_names::why_not_named()}};
  const auto name = claims_.actor([&] { return link_->actors_.name(itself(actor)); });
  if (name.whose == actor_name::side::yours)
    claims_.keep(actor);
  descriptor_.actors.push_back({name.number, name.whose == actor_name::side::yours});
  return static_cast<std::uint32_t>(descriptor_.actors.size());
}

std::expected<actor_handle, serialize_error> outgoing_message::mentioned(std::uint32_t) {
  return std::unexpected{serialize_error{serialize_errc::codec_failed, "an actor was to be decoded while encoding"}};
}

std::expected<object_source_ptr, serialize_error> outgoing_message::mentioned_object(std::uint32_t) {
  return std::unexpected{serialize_error{serialize_errc::codec_failed, "an object was to be decoded while encoding"}};
}

std::shared_ptr<const object_environment> outgoing_message::objects() const {
  return nullptr;
}

bool outgoing_message::reads_mentions_of_parts() const {
  return link_->agreed().features.has(feature::nested_handles);
}

// -- writing

void outgoing_message::extend(bytes_view extensions) {
  if (link_->agreed().features.has(feature::extensions))
    extensions_.assign(extensions.begin(), extensions.end());
}

std::expected<void, node_error> outgoing_message::commit(std::uint64_t receiver, const caf::strong_actor_ptr& sender,
                                                         caf::message_id id) {
  auto& link = *link_;
  message_head head{.receiver = receiver};
  if (id.is_urgent_message())
    head.flags |= message_flags::urgent;
  if (id.is_request())
    head.flags |= message_flags::request;
  else if (id.is_response())
    head.flags |= message_flags::response;
  head.request_number = id.request_id().integer_value();
  if (!extensions_.empty()) {
    head.flags |= message_flags::extended;
    head.extensions = extensions_;
  }

  if (sender && !link.actors_.can_name(itself(sender)))
    return fail(node_errc::unserializable, "its sender cannot be named: " + actor_names::why_not_named());
  const std::uint64_t message_head_bytes_max = 50 + extensions_.size(); // With five numbers of at most ten bytes.
  std::vector<packed_message> dropped;
  auto held = link.mutex_.lock();
  stated_bytes_ = link.agreed().features.has(feature::value_bytes) ? value_bytes_of(extensions_) : 0;
  auto admitted = link.admit(held, head, std::max(cost_without_head() + message_head_bytes_max, stated_bytes_),
                             cargo_.behind(), dropped, urgency_);
  // Where it had to wait for room the peer may have changed its lists, and acknowledged that nothing older follows.
  const auto is_late =
      !cargo_.value.has_value() && !claims_.has_epoch() && terms_->peer_epoch != link.negotiation_.peer_epoch();
  if (admitted && !is_late) {
    if (sender)
      name_sender(held, head, sender, id, *admitted);
    if (*admitted == admission::leaves)
      link.reserve_answer(held, claims_.question(), receiver);
    write_or_pack(held, head, *admitted);
    add_alone(link.counters_.messages_sent, 1);
    add_alone(link.counters_.handle_bytes_sent, handle_bytes_);
    for (const auto& [counted_as, bytes] : carried_)
      counted_as->count(bytes);
    link.connection_->flush(held);
    if (new_signature_)
      log_new_signature();
  } else {
    held.unlock();
  }
  for (auto& message : dropped)
    link.drop(std::move(message));
  if (!admitted)
    return std::unexpected{std::move(admitted).error()};
  if (is_late)
    return outdated();
  return {};
}

std::uint64_t outgoing_message::signature_number(const link_held& held, outbox& out) {
  if (forwarded_types_ != nullptr)
    return link_->sent_words_.signature_for_others(held, forwarded_types_->aliases, out);
  if (types_.size() == 1 && last_known_->signature != unknown_signature)
    return last_known_->signature;
  const auto [number, is_new] = link_->sent_words_.signature(held, types_, out);
  if (is_new)
    new_signature_ = number;
  if (types_.size() == 1)
    last_known_->signature = number;
  return number;
}

void outgoing_message::log_new_signature() const {
  link_->warnings_.say(log_level::debug, [&] {
    std::vector<std::string> aliases;
    for (const auto* type : types_)
      aliases.push_back(type->alias());
    return "to " + link_->peer_name() + ": signature " + grouped(*new_signature_) + " is " + cut(bracketed(aliases));
  });
}

/// Counts the sender as named by the message, and its question as pending.
void outgoing_message::name_sender(const link_held& held, message_head& head, const caf::strong_actor_ptr& sender,
                                   caf::message_id id, admission admitted) {
  const auto name = link_->actors_.name(held, itself(sender));
  head.sender = name.number;
  auto* asking = id.is_request() ? as_asker(sender) : nullptr;
  if (name.whose == actor_name::side::yours) {
    head.flags |= message_flags::returned; // The answer will not cross this link.
    claims_.keep(sender);
    if (asking == nullptr)
      return;
    claims_.settles(sender);
    if (admitted == admission::leaves)
      claims_.settle();
    return;
  }
  claims_.sender(held, name.number);
  if (id.is_request())
    claims_.question(held, {name.number, head.request_number}, head.receiver,
                     {.who = caf::weak_actor_ptr{sender.get()},
                      .urgent = id.is_urgent_message(),
                      .forwarded_for = asking != nullptr ? sender : nullptr});
  else if (!id.is_response())
    claims_.allow_return(held);
}

/// Requires an open link.
void outgoing_message::write_or_pack(const link_held& held, message_head& head, admission admitted) {
  auto& link = *link_;
  auto& out = *link.connection_->open_outbox(held);
  head.signature = cargo_.value.has_value() ? 0 : signature_number(held, out);
  start_.clear();
  append_message_head(start_, head);
  const bool data = (head.flags & message_flags::response) == 0;
  const auto cost = data ? std::max(start_.size() + cost_without_head(), stated_bytes_) : 0;
  claims_.flights().count(held);
  if (data && admitted == admission::leaves && link.sending_.charge(head.receiver, cost, cargo_.behind()))
    head.flags |= message_flags::repeated;
  const bool behind_bulk = link.bulk_.has(bulk_key::of(head.receiver, head.sender, head.flags));
  if (admitted == admission::leaves && cargo_.transfers.empty() && !behind_bulk) {
    link.append_mentions(held, cargo_.mentions, out);
    auto& value = cargo_.value;
    out.append_packet(value.has_value() ? packet_kind::value : packet_kind::message, head.flags, start_, elements_);
    if (value.has_value())
      link.values_->push(value);
    claims_.commit(held, out);
    return;
  }
  if (!cargo_.value.has_value() && !claims_.has_epoch())
    claims_.epoch(held, terms_->peer_epoch);
  claims_.keep(link.actors_.proxy_of(held, head.receiver));
  packed_message packed{{std::move(cargo_)}, head.receiver, head.sender, head.flags, cost};
  cargo_.value.reset();
  packed.may_be_dropped = urgency_ == link_core::urgency::ordinary;
  packed.body.reserve(start_.size() + elements_.size());
  packed.body.insert(packed.body.end(), start_.begin(), start_.end());
  packed.body.insert(packed.body.end(), elements_.begin(), elements_.end());
  packed.claims = std::move(claims_);
  if (admitted == admission::waits) {
    link.sending_.wait(std::move(packed));
  } else {
    link.bulk_.add(std::move(packed));
    link.connection_->write_refills(held);
  }
}

} // namespace troupe::internal
