#include <troupe/framework/internal/outgoing_message.hpp>

#include <algorithm>
#include <cassert>
#include <optional>
#include <string>

#include <troupe/framework/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/builtin_types.hpp>
#include <troupe/framework/internal/log.hpp>
#include <troupe/framework/internal/node_core.hpp>
#include <troupe/framework/internal/text.hpp>
#include <troupe/serializers/compressed.hpp>

namespace troupe::internal {

namespace {

std::unexpected<node_error> fail(node_errc code, std::string text) {
  return std::unexpected{node_error{code, std::move(text)}};
}

} // namespace

outgoing_message::~outgoing_message() {
  clear();
}

void outgoing_message::clear() {
  if (link_ != nullptr && !committed_) {
    for (const auto& object : objects_)
      object.take_back(link_->peer_process_, link_->send_channel());
    for (auto number : actors_)
      link_->take_back_actor(number);
  }
  link_ = nullptr;
  committed_ = false;
  types_.clear();
  output_.clear();
  elements_.clear();
  transfers_.clear();
  objects_.clear();
  actors_.clear();
  proxies_.clear();
  socket_bytes_ = 0;
  inline_bytes_ = 0;
  transfer_bytes_ = 0;
  value_bytes_ = 0;
  decompressed_bytes_ = 0;
  value_.reset();
  kept_.reset();
  handle_bytes_ = 0;
}

// -- encoding

std::expected<void, node_error> outgoing_message::encode(link_core& link,
                                                         const std::shared_ptr<message_owner>& message) {
  assert(!in_use());
  link_ = &link;
  if (context_link_ != link.serial()) {
    context_ = link.context_;
    context_.extension = this;
    context_link_ = link.serial();
  }
  if (context_.value_owner != message)
    context_.value_owner = message;
  const auto& content = std::as_const(*message->element).content(); // Else CAF copies what several hold.
  is_bare_error_ = content.type_token() == caf::make_type_token<caf::error>();
  if (content.size() > signature_aliases_max)
    return fail(node_errc::unserializable,
                "message of " + grouped(content.size()) + " elements, limit " + grouped(signature_aliases_max));
  if (link.values_ && passes(content)) {
    append_varint(elements_, value_bytes_);
    value_ = message->element->move_content_to_message();
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
    types_.push_back(type->type);
    last_known_ = type;
    const auto* form = known_form && (*known_form)[i] ? &*(*known_form)[i] : nullptr;
    if (auto encoded = encode_element(*type, content.get(i), form); !encoded)
      return encoded;
  }
  if (kept_ && std::ranges::any_of(*kept_, [](const auto& each) { return each.has_value(); }))
    link.node().encodings().put(message->element->copy_content_to_message(), context_, kept_);
  if (elements_.size() + 64 > packet_body_bytes_max)
    return fail(node_errc::unserializable, "message needs " + grouped(elements_.size())
                                               + " bytes beside its large frames, limit "
                                               + grouped(packet_body_bytes_max));
  if (socket_bytes_ > link.peer_message_bytes_)
    return fail(node_errc::unserializable,
                "message of " + grouped(socket_bytes_) + " bytes, " + link.peer_name() + " takes at most "
                    + grouped(link.peer_message_bytes_)
                    + "; share a store and send it as an object_ref, or raise message_bytes");
  return {};
}

/// Whether all of it means the same at the other end, which is in this process; then value_bytes_ is what it takes.
bool outgoing_message::passes(const caf::type_erased_tuple& content) {
  value_bytes_ = 0;
  for (std::size_t i = 0; i < content.size(); ++i) {
    const auto* type = known(content.type(i));
    if (type == nullptr || !type->type->is_self_contained())
      return false;
    value_bytes_ += type->type->memory_bytes(content.get(i));
  }
  return true;
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

/// `form` is what was encoded of it for another link; null where it has to be encoded.
std::expected<void, node_error> outgoing_message::encode_element(known_type& known, const void* value,
                                                                 const encoded_element* form) {
  const auto& type = *known.type;
  descriptor_.frames.clear();
  descriptor_.actors.clear();
  std::optional<encoded_element> made;
  const auto* by = form != nullptr ? form->by : nullptr;
  if (form == nullptr) {
    auto used = encode_value(type, value, link_->send_families_, context_, output_);
    if (!used)
      return std::unexpected{describe(used.error())};
    by = *used;
    made = take_encoded(by, type);
    if (made)
      form = &*made;
  }
  descriptor_.header_number = 0;
  if (form != nullptr ? form->header.size_bytes() == 0 : output_.has_standard_header()) {
    if (known.by != by)
      known = {
          .link = known.link, .rtti = known.rtti, .type = &type, .by = by, .header = link_->header_number(*by, type)};
    descriptor_.header_number = known.header;
  } else {
    header_ = form != nullptr ? form->header : header_of(*by, type, output_);
    descriptor_.header = header_.bytes();
    decompressed_bytes_ +=
        form != nullptr ? form->decompressed_bytes : decompressed_bytes(output_.frame_codecs().bytes());
  }
  const auto body = form != nullptr ? form->frames[0].bytes() : output_.body().bytes();
  const auto attached = form != nullptr ? std::span(form->frames).subspan(1) : std::span(output_.frames());
  auto placed_body = place(body, form != nullptr ? &form->frames[0] : nullptr);
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
  if (kept_)
    kept_->push_back(std::move(made));
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
  const auto is_stored = as != nullptr && dynamic_cast<const stored_bytes*>(as->owner().get()) != nullptr;
  if (link_->shares_store() && !is_stored && bytes.size() >= link_->options().spill_bytes) {
    auto store = *link_->node().store();
    if (auto put = store.put(bytes, {}, {}, std::chrono::milliseconds{0}))
      if (auto pinned = put->pin()) {
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
    transfers_.push_back({placed.transfer, shared != nullptr ? *shared : frame::copy_of(bytes)});
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
  const auto* stored = shared != nullptr ? dynamic_cast<const stored_bytes*>(shared->owner().get()) : nullptr;
  store::handle object;
  std::uint64_t offset = 0;
  std::string failure;
  if (stored != nullptr && stored->object().id().store == store.number()) {
    object = stored->object();
    offset = static_cast<std::uint64_t>(bytes.data() - stored->bytes().data());
  } else if (bytes.size() < link_->options().spill_bytes) {
    return std::nullopt;
  } else if (auto put = store.put(bytes, {}, {}, std::chrono::milliseconds{0})) { // A sender does not wait for room.
    object = *std::move(put);
  } else {
    failure = put.error().message();
  }
  if (failure.empty()) {
    auto counted = object.hand_over(link_->peer_process_, link_->send_channel());
    if (counted) {
      objects_.push_back(object);
      handle_bytes_ += bytes.size();
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
  log(log_level::debug, "a frame goes through the socket: " + failure);
  return std::nullopt;
}

node_error outgoing_message::describe(const serialize_error& error) const {
  if (error.code() != serialize_errc::not_supported)
    return {node_errc::unserializable, error.message()};
  return {node_errc::refused_family, error.message() + "; " + link_->node().options().name + " sends with "
                                         + bracketed(link_->serializers_.names) + ", " + link_->peer_name()
                                         + " accepts " + bracketed(link_->peer_accepts_)};
}

// -- handles inside the message

std::expected<actor_name, serialize_error> outgoing_message::name_of(const caf::strong_actor_ptr& actor) {
  auto name = link_->export_actor(actor);
  if (name.whose == actor_name::side::mine)
    actors_.push_back(name.number);
  else if (name.whose == actor_name::side::yours)
    proxies_.push_back(actor);
  if (name.whose != actor_name::side::nobody)
    descriptor_.actors.push_back({name.number, name.whose == actor_name::side::yours});
  return name;
}

std::expected<caf::strong_actor_ptr, serialize_error> outgoing_message::actor_of(const actor_name&) {
  return std::unexpected{serialize_error{serialize_errc::codec_failed, "an actor was to be decoded while encoding"}};
}

std::shared_ptr<const object_environment> outgoing_message::objects() const {
  return nullptr;
}

// -- writing

std::expected<void, node_error> outgoing_message::commit(std::uint64_t receiver, const caf::mailbox_element& element) {
  auto& link = *link_;
  message_head head{.receiver = receiver};
  if (element.mid.is_urgent_message())
    head.flags |= message_flags::urgent;
  if (element.mid.is_request())
    head.flags |= message_flags::request;
  else if (element.mid.is_response())
    head.flags |= message_flags::response;
  head.request_number = element.mid.request_id().integer_value();

  constexpr std::uint64_t message_head_bytes_max = 40; // Four numbers of at most ten bytes.
  std::vector<packed_message> dropped;
  std::unique_lock guard{link.mutex_};
  auto admitted = link.admit(guard, head, cost_without_head() + message_head_bytes_max, dropped, is_bare_error_);
  if (admitted) {
    pending_requests::key question{};
    if (element.sender) {
      auto name = link.name_of_actor(element.sender);
      head.sender = name.number;
      if (name.whose == actor_name::side::yours) {
        head.flags |= message_flags::returned; // The answer will not cross this link.
        proxies_.push_back(element.sender);
      } else if (element.mid.is_request())
        question = {name.number, head.request_number};
    }
    if (question.asker != 0)
      link.pending_.add(question, {.asker = caf::weak_actor_ptr{element.sender.get()},
                                   .urgent = element.mid.is_urgent_message(),
                                   .receiver = receiver,
                                   .reserved_bytes = 0,
                                   .since = {}});
    if (*admitted == send_window::admission::leaves)
      link.reserve_answer(question, receiver);
    write_or_pack(head, *admitted, question);
    add_alone(link.counters_.messages_sent, 1);
    add_alone(link.counters_.handle_bytes_sent, handle_bytes_);
    link.connection_->flush(guard);
  } else {
    guard.unlock();
  }
  for (auto& message : dropped)
    link.undo_dropped(std::move(message));
  if (!admitted)
    return std::unexpected{std::move(admitted).error()};
  return {};
}

/// Requires the link's mutex.
std::uint64_t outgoing_message::signature_number(outbox& out) {
  if (types_.size() != 1)
    return link_->signature_number(types_, out);
  if (last_known_->signature == unknown_signature)
    last_known_->signature = link_->signature_number(types_, out);
  return last_known_->signature;
}

/// Requires the link's mutex and an open link.
void outgoing_message::write_or_pack(message_head& head, send_window::admission admitted,
                                     const pending_requests::key& question) {
  auto& link = *link_;
  auto& out = *link.connection_->open_outbox();
  head.signature = value_ ? 0 : signature_number(out);
  start_.clear();
  append_message_head(start_, head);
  bool data = (head.flags & message_flags::response) == 0;
  auto cost = data ? start_.size() + cost_without_head() : 0;
  for (const auto& object : objects_)
    link.object_exports_.add(object);
  committed_ = true;
  if (data && admitted == send_window::admission::leaves)
    link.sending_.charge(head.receiver, cost);
  bool behind_bulk = link.bulk_.has(bulk_lanes::key_of(head.receiver, head.sender, head.flags));
  if (admitted == send_window::admission::leaves && transfers_.empty() && !behind_bulk) {
    out.append_packet(value_ ? packet_kind::value : packet_kind::message, head.flags, start_, elements_);
    if (value_)
      link.values_->push(*value_);
    return;
  }
  packed_message packed{
      .receiver = head.receiver, .sender = head.sender, .flags = head.flags, .cost = cost, .body = {}};
  packed.body.reserve(start_.size() + elements_.size());
  packed.body.insert(packed.body.end(), start_.begin(), start_.end());
  packed.body.insert(packed.body.end(), elements_.begin(), elements_.end());
  packed.value = std::exchange(value_, std::nullopt);
  packed.transfers = std::move(transfers_);
  packed.objects = std::move(objects_);
  packed.actors = std::move(actors_);
  packed.proxies = std::move(proxies_);
  packed.proxies.push_back(link.actor_imports_.find(head.receiver));
  packed.question = question;
  if (admitted == send_window::admission::waits) {
    link.sending_.wait(std::move(packed));
  } else {
    link.bulk_.add(std::move(packed));
    link.connection_->write_refills();
  }
}

} // namespace troupe::internal
