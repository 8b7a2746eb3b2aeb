#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/link/message_encoder.hpp>

#include <algorithm>
#include <span>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/actor_handles.hpp>
#include <troupe/framework/internal/link/actor_tables.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/text.hpp>
#include <troupe/serializers/compressed.hpp>
#include <troupe/serializers/family.hpp>

namespace troupe::internal {

namespace {

// The estimated memory per body byte of decoded values that cannot be measured, because they have their own codecs.
constexpr std::size_t rebuilt_ratio = 4;

/// Returns the memory of a decoded element. `weighed`: what its family has weighed of its content.
std::size_t element_bytes(const type_entry& type, const void* value, std::size_t weighed, std::size_t body_bytes) {
  if (!type.is_self_contained())
    return std::max(type.value_bytes() + weighed, rebuilt_ratio * body_bytes);
  return weighed > 0 ? type.value_bytes() + weighed : type.owned_bytes(value); // A user's family weighs nothing.
}

/// Null if nothing is counted. A null family stands for a value that is passed unencoded.
traffic* row_of(const message_encoder::parts& link, const family* by, const type_entry& type) {
  return link.counts != nullptr ? &link.counts->of(by != nullptr ? by->name() : no_family, type.alias()) : nullptr;
}

unsent because_of_type(node_error why) {
  unsent result{std::move(why)};
  result.is_of_type = true;
  return result;
}

/// Notes a payload to be counted once the message is sent.
void carries(const message_encoder::parts& link, known_type& type, const family* by, std::uint64_t size_bytes,
             message_draft& in) {
  type.encoded_by(by);
  if (link.counts == nullptr)
    return;
  if (type.counted_as == nullptr)
    type.counted_as = row_of(link, by, *type.type);
  in.carry(*type.counted_as, size_bytes);
}

/// Returns true if all elements have the same meaning at the other end, which is in this process.
bool is_passable(const message_encoder::parts& link, known_types& known, const message_view& content) {
  for (std::size_t i = 0; i < content.size(); ++i)
    if (const auto* type = known.find(link.serial, content.type(i), link.types);
        type == nullptr || !type->type->is_self_contained())
      return false;
  return true;
}

} // namespace

void message_encoder::clear() {
  output_.clear();
  kept_.reset();
  taken_bytes_ = 0;
}

/// The terms are mostly those of the message before.
void message_encoder::use(const sending_terms& terms, message_draft& into) {
  if (context_terms_ != terms.number) {
    context_terms_ = terms.number;
    auto owner = std::move(context_.value_owner);
    context_ = terms.context;
    context_.value_owner = std::move(owner);
  }
  context_.extension = &into.mentions();
  context_.taken_bytes = &taken_bytes_;
}

std::expected<void, unsent> message_encoder::encode(const parts& link, std::uint64_t receiver,
                                                    const std::shared_ptr<message_owner>& message,
                                                    message_draft& into) {
  const auto& terms = into.terms();
  use(terms, into);
  if (context_.value_owner != message)
    context_.value_owner = message;
  const message_view content{*message->element};
  const auto kind = content.kind();
  if (kind == message_kind::error)
    into.set_urgency(urgency::answers_anyway);
  else if (kind == message_kind::exit)
    into.set_urgency(urgency::always_waits);
  if (kind != message_kind::ordinary)
    into.types().be_vital();
  const auto size = content.size();
  if (size > signature_aliases_max)
    return fail(node_errc::unserializable, "message of " + grouped(size) + " elements, limit "
                                               + grouped(signature_aliases_max)
                                               + "; put several of them into one described struct");
  if (link.takes_raw) [[unlikely]]
    if (size == 1 && content.type(0).entry_in(link.types) == link.types.find<raw_message>())
      return copy_raw(link, *static_cast<const raw_message*>(content.value(0)), into);
  if (link.values && is_passable(link, known_, content)) {
    const auto bytes = carry_values(link, content, into);
    into.pass_value(message->element->move_content_to_message(), bytes);
    return {};
  }
  // A shared message may go, or have gone, to other links as well.
  const auto is_shared = content.is_shared();
  const auto known_form = is_shared ? link.encodings.find(content, context_) : nullptr;
  if (is_shared && !known_form)
    kept_ = std::make_shared<encoded_message>();
  for (std::size_t i = 0; i < size; ++i) {
    const auto type = type_of(link, receiver, content.type(i), terms);
    if (!type)
      return std::unexpected{because_of_type(type.error())};
    into.types().add(*(*type)->type, (*type)->signature);
    const auto* form = known_form && (*known_form)[i] ? &*(*known_form)[i] : nullptr;
    if (auto encoded = encode_element(link, **type, content.value(i), form, into); !encoded)
      return encoded;
  }
  // The minimum cost of a message covers small values.
  if (taken_bytes_ > into.cost_without_head())
    into.state_value_bytes(taken_bytes_);
  if (kept_ && std::ranges::any_of(*kept_, [](const auto& each) { return each.has_value(); }))
    link.encodings.put(message->element->copy_content_to_message(), context_, kept_);
  return into.check_size();
}

/// Copies payloads that are encoded already, as a message with these elements.
std::expected<void, unsent> message_encoder::copy_raw(const parts& link, const raw_message& message,
                                                      message_draft& into) {
  into.types().forward(*message.types);
  for (std::size_t i = 0; i < message.elements.size(); ++i)
    if (auto copied = copy_raw(link, message.types->aliases[i], message.elements[i], into); !copied)
      return std::unexpected{std::move(copied).error()};
  return into.check_size();
}

std::expected<void, node_error> message_encoder::copy_raw(const parts& link, const std::string& alias,
                                                          const raw_element& element, message_draft& into) {
  const auto header = element.content.header.bytes();
  const auto fields = parse_header(header);
  if (!fields || fields->type != alias || element.content.frames.empty())
    return fail(node_errc::unserializable, "a payload that was encoded before is not one of type \"" + alias + '"');
  const auto& accepted = into.terms().peer_accepts;
  if (std::ranges::find(accepted, fields->family) == accepted.end())
    return fail(node_errc::refused_family, '"' + alias + "\" is encoded by " + std::string{fields->family} + ", and "
                                               + link.link.peer_name() + " accepts " + bracketed(accepted));
  auto& made = into.begin_element();
  for (const auto& actor : element.actors)
    if (auto named = into.mentions().mention(to_handle(actor)); !named)
      return std::unexpected{failure_of_encoding(named.error(), link.own_name, link.link.peer_name(), into.terms())};
  const auto is_standard = fields->extra.empty() && fields->frame_codecs.empty() && fields->frame_pieces.empty()
                           && fields->frame_repeats.empty();
  made.header_number = is_standard ? link.headers.number_for_others(header) : 0;
  made.header = header;
  into.add_decompressed(decompressed_bytes(fields->frame_codecs));
  if (link.counts != nullptr)
    into.carry(link.counts->of(fields->family, alias), element.content.size_bytes() - header.size());
  const auto& body = element.content.frames.front();
  return into.end_element(body.bytes(), body.owner() ? &body : nullptr, std::span{element.content.frames}.subspan(1));
}

/// Returns the memory that the values take. Requires: is_passable().
std::uint64_t message_encoder::carry_values(const parts& link, const message_view& content, message_draft& into) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < content.size(); ++i) {
    auto& type = *known_.find(link.serial, content.type(i), link.types);
    const auto size_bytes = type.type->memory_bytes(content.value(i));
    bytes += size_bytes;
    carries(link, type, nullptr, size_bytes, into);
  }
  return bytes;
}

std::expected<known_type*, node_error> message_encoder::type_of(const parts& link, std::uint64_t receiver,
                                                                const element_type& of, const sending_terms& terms) {
  auto* type = known_.find(link.serial, of, link.types);
  if (type == nullptr)
    return fail(node_errc::unserializable, "type " + of.name()
                                               + " has no alias; add it to the node's type "
                                                 "registry with types.add<T>(\"alias\")");
  if (terms.refused && !actor_exports::is_foreign(receiver)) // Its own node may know the type.
    if (const auto refused = terms.refused->find(type->type); refused != terms.refused->end())
      return fail(node_errc::undecodable,
                  refused->second + "; " + lists_text(link.own_name, link.link.peer_name(), terms));
  return type;
}

/// `form` is the encoding that another link has made; null if the value has to be encoded.
std::expected<void, unsent> message_encoder::encode_element(const parts& link, known_type& known, const void* value,
                                                            const encoded_element* form, message_draft& into) {
  const auto& type = *known.type;
  auto& element = into.begin_element();
  std::optional<encoded_element> made;
  const auto* by = form != nullptr ? form->by : nullptr;
  const auto before = taken_bytes_;
  if (form != nullptr)
    taken_bytes_ += form->weighed_bytes;
  traffic_timer timer{form != nullptr || link.counts == nullptr ? 0
                      : known.counted_as == nullptr             ? 1
                                                                : known.counted_as->timed_for()};
  if (form == nullptr) {
    auto used = encode_value(type, value, into.terms().families, context_, output_);
    if (!used) {
      auto why = failure_of_encoding(used.error(), link.own_name, link.link.peer_name(), into.terms());
      const auto is_of_type = why.code() == node_errc::refused_family;
      return std::unexpected{is_of_type ? because_of_type(std::move(why)) : unsent{std::move(why)}};
    }
    timer.stop();
    by = *used;
    made = take_encoded(by, type, into.frames());
    if (made) {
      made->weighed_bytes = taken_bytes_ - before;
      form = &*made;
    }
  }
  const auto body = form != nullptr ? form->frames[0].bytes() : output_.body().bytes();
  const auto* shared_body = form != nullptr ? form->frames.data() : nullptr;
  const auto attached = form != nullptr ? std::span(form->frames).subspan(1) : std::span(output_.frames());
  auto payload_bytes = body.size();
  for (const auto& each : attached)
    payload_bytes += each.size_bytes();
  taken_bytes_ = before + element_bytes(type, value, taken_bytes_ - before, body.size());
  carries(link, known, by, payload_bytes, into);
  if (known.counted_as != nullptr)
    timer.add_to(*known.counted_as);
  const auto is_standard = form != nullptr ? form->header.size_bytes() == 0 : output_.has_standard_header();
  if (is_standard && known.header == 0) {
    const auto number = link.headers.number_of(*by, type, into.terms(), into.cargo().claims.has_epoch());
    if (!number)
      return outdated(link.link.peer_name());
    known.header = *number;
  }
  element.header_number = is_standard ? known.header : 0;
  if (is_standard && element.header_number == 0) {
    header_ = standard_header(*by, type);
    element.header = header_.bytes();
  } else if (!is_standard) {
    header_ = form != nullptr ? form->header : header_of(*by, type, output_);
    element.header = header_.bytes();
    into.add_decompressed(form != nullptr ? form->decompressed_bytes
                                          : decompressed_bytes(output_.frame_codecs().bytes()));
  }
  if (auto appended = into.end_element(body, shared_body, attached); !appended)
    return appended;
  if (kept_)
    kept_->push_back(std::move(made));
  return {};
}

std::uint64_t message_encoder::output_bytes() const {
  std::uint64_t bytes = output_.body().size();
  for (const auto& each : output_.frames())
    bytes += each.size_bytes();
  return bytes;
}

/// Returns the last encoding if it is worth keeping for other links and the same for all of them.
std::optional<encoded_element> message_encoder::take_encoded(const family* by, const type_entry& type,
                                                             frame_placer& frames) {
  if (!kept_ || !type.is_self_contained() || output_bytes() < encoding_cache::encoded_bytes_min)
    return std::nullopt;
  encoded_element made{.by = by,
                       .header = output_.has_standard_header() ? frame() : header_of(*by, type, output_),
                       .decompressed_bytes = decompressed_bytes(output_.frame_codecs().bytes()),
                       .frames = {}};
  made.frames.reserve(1 + output_.frames().size());
  made.frames.push_back(frames.put_once(output_.body().bytes(), nullptr));
  for (const auto& each : output_.frames())
    made.frames.push_back(frames.put_once(each.bytes(), &each));
  return made;
}

std::uint64_t weigh(const message_encoder::parts& link, known_types& known, const message_view& content,
                    std::uint64_t enough) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < content.size() && bytes < enough; ++i)
    if (const auto* type = known.find(link.serial, content.type(i), link.types);
        type != nullptr && type->type->is_self_contained())
      bytes += type->type->memory_bytes(content.value(i));
  if (link.values && bytes > 0 && is_passable(link, known, content))
    return 0;
  return bytes;
}

} // namespace troupe::internal
