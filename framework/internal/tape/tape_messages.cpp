#include <troupe/framework/internal/tape/tape_messages.hpp>

#include <algorithm>
#include <functional>
#include <utility>
#include <variant>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

namespace {

using std::chrono::nanoseconds;

// The memory of one transfer beside its bytes, and how many there may be.
constexpr std::size_t open_transfers_max = 65'536;

nanoseconds time_of(std::uint64_t at) {
  return nanoseconds{static_cast<nanoseconds::rep>(std::min<std::uint64_t>(at, INT64_MAX))};
}

std::vector<std::string> strings(const std::vector<std::string_view>& texts) {
  return {texts.begin(), texts.end()};
}

/// Of what a beginning says about the link. Never 0.
std::uint64_t hash_of(const tape_link_began& record) {
  std::string all;
  const auto add = [&](std::string_view text) {
    all += std::to_string(text.size());
    all += ':';
    all += text;
  };
  for (const auto text : {record.recorder_name, record.peer_name, record.recorder_address, record.peer_address,
                          record.transport, record.compression})
    add(text);
  for (const auto* const texts : {&record.sends, &record.accepts, &record.features}) {
    add(std::to_string(texts->size()));
    for (const auto text : *texts)
      add(text);
  }
  return std::hash<std::string>{}(all) | 1;
}

std::string why_dropped(const tape_dropped& record) {
  switch (record.why) {
  case tape_loss::too_slow:
    return "the recorder could not follow the link";
  case tape_loss::write_error:
    return "the tape could not be written: " + std::string{record.text};
  case tape_loss::no_room:
    return "the tape had reached its bound";
  }
  return std::string{record.text};
}

/// Notes a reason unless there is one.
void note(std::string& to, std::string reason) {
  if (to.empty())
    to = std::move(reason);
}

} // namespace

std::optional<tape_event> tape_messages::take(const tape_record& record, std::uint64_t place) {
  auto taken = take_any(record, place);
  if (!taken)
    return tape_damage{place, place, "in the block that begins here: " + std::move(taken).error()};
  return *std::move(taken);
}

void tape_messages::note_gap() {
  for (auto& [number, link] : links_)
    for (auto* each : {&link.of_recorder, &link.of_peer}) {
      each->described_objects = 0;
      each->described.clear();
      each->described_bytes = 0;
    }
}

std::expected<std::optional<tape_event>, std::string> tape_messages::take_any(const tape_record& record,
                                                                              std::uint64_t place) {
  if (const auto* link = std::get_if<tape_link_began>(&record))
    return begin(*link);
  if (const auto* packet = std::get_if<tape_packet>(&record))
    return take_packet(*packet, place);
  if (const auto* actor = std::get_if<tape_actor_named>(&record)) {
    if (auto named = name(*actor); !named)
      return fault{std::move(named).error()};
  } else if (const auto* object = std::get_if<tape_object>(&record)) {
    if (auto link = find(object->link); !link)
      return fault{std::move(link).error()};
    objects_.add(*object);
  } else if (const auto* lost = std::get_if<tape_dropped>(&record)) {
    if (const auto link = links_.find(lost->link); link != links_.end()) {
      auto& by = link->second.written_by(lost->writer);
      by.described_objects = 0;
      by.described.clear();
      by.described_bytes = 0;
    }
    return tape_drop{.link = lost->link,
                     .writer = lost->writer,
                     .first_at = time_of(lost->first_at),
                     .last_at = time_of(lost->last_at),
                     .packets = lost->packets,
                     .messages = lost->messages,
                     .bytes = lost->bytes,
                     .why = why_dropped(*lost)};
  } else if (const auto* ended = std::get_if<tape_link_ended>(&record)) {
    end(ended->link);
    return tape_link_end{.link = ended->link, .at = time_of(ended->at), .reason = std::string{ended->reason}};
  }
  return std::nullopt;
}

// -- links

std::expected<tape_messages::link_state*, std::string> tape_messages::find(std::uint64_t link) {
  if (const auto known = links_.find(link); known != links_.end())
    return &known->second;
  if (links_.size() >= bounds_.links)
    return fault{"more than " + grouped(bounds_.links) + " links are open"};
  return &links_.try_emplace(link, link).first->second; // Its beginning may be damaged.
}

std::expected<std::optional<tape_event>, std::string> tape_messages::begin(const tape_link_began& record) {
  auto link = find(record.link);
  if (!link)
    return fault{std::move(link).error()};
  const auto beginning = hash_of(record);
  // The beginning of a file repeats it, also before the record itself.
  if (const auto known = std::exchange((*link)->beginning, beginning); known != 0) {
    (*link)->beginning = known;
    if (known != beginning)
      return fault{"link " + grouped(record.link) + " begins again, with another content"};
    return std::nullopt;
  }
  return tape_link{.number = record.link,
                   .at = time_of(record.at),
                   .is_repeated = record.is_repeated,
                   .recorder_name = std::string{record.recorder_name},
                   .peer_name = std::string{record.peer_name},
                   .recorder_address = std::string{record.recorder_address},
                   .peer_address = std::string{record.peer_address},
                   .transport = std::string{record.transport},
                   .compression = std::string{record.compression},
                   .sends = strings(record.sends),
                   .accepts = strings(record.accepts),
                   .features = strings(record.features)};
}

std::expected<void, std::string> tape_messages::name(const tape_actor_named& record) {
  auto link = find(record.link);
  if (!link)
    return fault{std::move(link).error()};
  const auto bytes = record.name.size() + 128;
  if (kept_bytes_ + bytes > bounds_.definition_bytes)
    return fault{"definitions of more than " + grouped(bounds_.definition_bytes) + " bytes"};
  auto& named = (*link)->names[{record.exporter, record.number}];
  if (named.empty()) {
    kept_bytes_ += bytes;
    (*link)->name_bytes += bytes;
  }
  named = std::string{record.name};
  return {};
}

void tape_messages::end(std::uint64_t link) {
  const auto known = links_.find(link);
  if (known == links_.end())
    return;
  for (auto* each : {&known->second.of_recorder, &known->second.of_peer}) {
    kept_bytes_ -= each->words.kept_bytes();
    drop_transfers(*each);
  }
  kept_bytes_ -= known->second.name_bytes;
  objects_.forget(link);
  links_.erase(known);
}

void tape_messages::drop_transfers(direction& of) {
  for (const auto& [number, each] : of.transfers)
    open_bytes_ -= each.bytes.size();
  open_transfers_ -= of.transfers.size();
  of.transfers.clear();
}

tape_actor tape_messages::actor_of(const link_state& link, tape_side exporter, std::uint64_t number) const {
  tape_actor actor{.number = number, .exporter = exporter};
  if (const auto named = link.names.find({exporter, number}); named != link.names.end())
    actor.name = named->second;
  return actor;
}

// -- packets

std::expected<std::optional<tape_event>, std::string> tape_messages::take_packet(const tape_packet& packet,
                                                                                 std::uint64_t place) {
  auto link = find(packet.link);
  if (!link)
    return fault{std::move(link).error()};
  auto& by = (*link)->written_by(packet.writer);
  std::expected<void, std::string> taken;
  switch (packet.kind) {
  case packet_kind::signature:
  case packet_kind::header:
    taken = define(by, packet);
    break;
  case packet_kind::handles:
    taken = describe(by, packet.body);
    break;
  case packet_kind::chunk:
    taken = take_chunk(by, packet);
    break;
  case packet_kind::message:
  case packet_kind::value: {
    auto message = message_of(**link, packet);
    by.described_objects = 0;
    by.described.clear();
    by.described_bytes = 0;
    if (!message)
      return fault{std::move(message).error()};
    message->place = place;
    return *std::move(message);
  }
  default:
    return fault{"a packet of kind " + std::to_string(static_cast<int>(packet.kind)) + ", which no message has"};
  }
  if (!taken)
    return fault{std::move(taken).error()};
  return std::nullopt;
}

std::expected<void, std::string> tape_messages::define(direction& by, const tape_packet& packet) {
  if (kept_bytes_ > bounds_.definition_bytes) // One definition may exceed it.
    return fault{"definitions of more than " + grouped(bounds_.definition_bytes) + " bytes"};
  auto added =
      packet.kind == packet_kind::header ? by.words.add_header(packet.body) : by.words.add_signature(packet.body);
  if (!added)
    return fault{std::move(added).error()};
  kept_bytes_ += *added;
  return {};
}

std::expected<void, std::string> tape_messages::describe(direction& by, bytes_view body) {
  by.described_bytes += packet_head_bytes + body.size();
  packet_reader in{body};
  while (in.ok() && !in.rest().empty()) {
    auto mention = read_object_mention(in);
    ++by.described_objects;
    if (in.ok() && by.described.size() < bounds_.frames)
      by.described.push_back(std::move(mention));
  }
  if (!in.ok())
    return fault{"a description of objects cannot be read"};
  return {};
}

std::expected<void, std::string> tape_messages::take_chunk(direction& by, const tape_packet& packet) {
  const auto is_first = (packet.detail & chunk_flags::first) != 0;
  packet_reader in{packet.body};
  const auto head = read_chunk_head(in, is_first);
  if (!in.ok())
    return fault{"a chunk cannot be read"};
  const auto bytes = in.rest();
  const auto found = by.transfers.find(head.transfer);
  const auto is_known = found != by.transfers.end();
  if (!is_known && open_transfers_ >= open_transfers_max)
    return fault{"more than " + grouped(open_transfers_max) + " frames in chunks are open"};
  if (is_first && is_known) { // The message that had it was not recorded.
    open_bytes_ -= found->second.bytes.size();
    found->second = {};
  }
  auto& to = is_known ? found->second : by.transfers[head.transfer];
  open_transfers_ += is_known ? 0 : 1;
  to.wire_bytes += packet_head_bytes + packet.body.size();
  if (is_first)
    to.total_bytes = head.total_bytes;
  const auto begins_whole = is_first || is_known;
  const auto fits = to.total_bytes <= bounds_.frame_bytes && bytes.size() <= to.total_bytes - to.bytes.size()
                    && bytes.size() <= bounds_.open_frame_bytes - open_bytes_;
  if (to.is_broken)
    return {};
  if (!begins_whole || !fits) {
    open_bytes_ -= to.bytes.size();
    to.bytes = {};
    to.is_broken = true;
    return {};
  }
  to.bytes.insert(to.bytes.end(), bytes.begin(), bytes.end());
  open_bytes_ += bytes.size();
  return {};
}

// -- messages

std::expected<tape_message, std::string> tape_messages::message_of(link_state& link, const tape_packet& packet) {
  auto& by = link.written_by(packet.writer);
  packet_reader in{packet.body};
  const auto head = read_message_head(in, packet.detail);
  if (!in.ok())
    return fault{"the head of a message cannot be read: " + in.fault()};
  tape_message message;
  message.at = time_of(packet.at);
  message.link = packet.link;
  message.writer = packet.writer;
  message.kind = (head.flags & message_flags::request) != 0    ? tape_message_kind::request
                 : (head.flags & message_flags::response) != 0 ? tape_message_kind::answer
                                                               : tape_message_kind::plain;
  message.is_urgent = (head.flags & message_flags::urgent) != 0;
  const auto is_returned = (head.flags & message_flags::returned) != 0;
  message.from = actor_of(link, is_returned ? other_end(packet.writer) : packet.writer, head.sender);
  message.to = actor_of(link, other_end(packet.writer), head.receiver);
  message.request_number = head.request_number;
  message.wire_bytes = packet_head_bytes + packet.body.size() + by.described_bytes;
  if (packet.kind == packet_kind::value) {
    message.value_bytes = in.varint();
    if (!in.finished())
      return fault{"a message that was passed as values cannot be read"};
  }
  message.number = ++messages_;
  match(message);
  if (packet.kind == packet_kind::value)
    return message;
  if (auto read = read_elements(link, packet, head.signature, in, message); !read)
    note(message.missing, std::move(read).error());
  return message;
}

std::expected<void, std::string> tape_messages::read_elements(link_state& link, const tape_packet& packet,
                                                              std::uint64_t signature, packet_reader& in,
                                                              tape_message& message) {
  auto& by = link.written_by(packet.writer);
  const auto* types = by.words.signature(signature);
  std::uint64_t objects = 0;
  // Without the signature the elements still end where the packet ends.
  for (std::size_t i = 0; types != nullptr ? i < types->size() : !in.rest().empty(); ++i) {
    if (i == signature_aliases_max)
      return fault{"the message has more than " + grouped(signature_aliases_max) + " elements"};
    auto& element = message.elements.emplace_back();
    if (types != nullptr)
      element.type = (*types)[i];
    if (auto read = read_one(link, packet, in, message, element); !read) {
      message.elements.pop_back();
      return read;
    }
    objects += element.objects;
    if (types != nullptr && !element.family.empty())
      if (const auto fields = parse_header(element.content.header.bytes(), taped_header_limits());
          fields && fields->type != element.type)
        note(element.missing,
             "its header says \"" + cut(fields->type) + "\", and the signature \"" + element.type + '"');
  }
  if (!in.finished())
    return fault{"the message has bytes behind its elements"};
  if (types == nullptr)
    return fault{"signature " + grouped(signature) + " is not on the tape"};
  if (objects != by.described_objects)
    for (auto& each : message.elements)
      if (each.objects > 0)
        note(each.missing, "descriptions of its objects are not on the tape");
  return {};
}

std::expected<void, std::string> tape_messages::read_one(link_state& link, const tape_packet& packet, packet_reader& in,
                                                         tape_message& message, tape_element& element) {
  auto& by = link.written_by(packet.writer);
  element_descriptor descriptor;
  read_element(in, descriptor,
               {packet_body_bytes_max, bounds_.frames, element_actors_max, UINT64_MAX >> frame_place_bits});
  if (!in.ok())
    return fault{"an element cannot be read: " + in.fault()};
  if (descriptor.header_number == 0)
    element.content.header = frame::copy_of(descriptor.header);
  else if (const auto* known = by.words.header(descriptor.header_number))
    element.content.header = known->bytes;
  else
    element.missing = "header " + grouped(descriptor.header_number) + " is not on the tape";
  if (element.missing.empty()) {
    const auto fields = parse_header(element.content.header.bytes(), taped_header_limits());
    if (fields)
      element.family = std::string{fields->family};
    else
      element.missing = "its header cannot be read: " + fields.error().message();
    if (fields && element.type.empty())
      element.type = std::string{fields->type};
  }
  for (const auto& where : descriptor.frames) {
    if (where.place == frame_place::inline_) {
      const auto bytes = in.take(where.size_bytes);
      if (!in.ok())
        return fault{"the bytes of an element end within a frame"};
      element.content.frames.push_back(frame::copy_of(bytes));
      element.frames.push_back({tape_frame_place::message, where.size_bytes, true});
    } else {
      element.content.frames.push_back(claim(link, by, where, message, element));
    }
  }
  for (const auto& each : descriptor.actors)
    element.actors.push_back(actor_of(link, each.readers ? other_end(packet.writer) : packet.writer, each.number));
  element.objects = descriptor.objects;
  for (std::uint64_t i = 0; i < element.objects && !by.described.empty(); ++i) {
    element.mentions.push_back(mention_of(link, by.described.front()));
    by.described.pop_front();
  }
  return {};
}

tape_mention tape_messages::mention_of(const link_state& link, const object_mention& described) const {
  const auto& id = described.handle.name;
  tape_mention mention{.size_bytes = described.handle.size_bytes};
  if (described.what == object_mention::kind::lost)
    return mention;
  mention.object = to_string(id);
  if (described.what != object_mention::kind::stored)
    return mention;
  if (auto bytes = objects_.find(link.number, id.index, id.generation, 0, mention.size_bytes)) {
    mention.is_recorded = true;
    mention.content = *std::move(bytes);
  }
  return mention;
}

/// The bytes of a frame that is not in the message's packet; empty if the tape does not have them.
frame tape_messages::claim(link_state& link, direction& by, const frame_descriptor& where, tape_message& message,
                           tape_element& element) {
  if (where.place == frame_place::stored) {
    auto bytes =
        objects_.find(link.number, where.object_index, where.object_generation, where.object_offset, where.size_bytes);
    element.frames.push_back({tape_frame_place::store, where.size_bytes, bytes.has_value()});
    if (bytes)
      return *std::move(bytes);
    note(element.missing, "a frame of " + grouped(where.size_bytes) + " bytes was in the store that both ends shared");
    return {};
  }
  auto& row = element.frames.emplace_back(tape_frame{tape_frame_place::chunks, where.size_bytes, false});
  auto found = by.transfers.extract(where.transfer);
  if (!found) {
    note(element.missing, "the chunks of a frame of " + grouped(where.size_bytes) + " bytes are not on the tape");
    return {};
  }
  --open_transfers_;
  auto& came = found.mapped();
  open_bytes_ -= came.bytes.size();
  message.wire_bytes += came.wire_bytes;
  if (came.is_broken || came.total_bytes != where.size_bytes || came.bytes.size() != came.total_bytes) {
    note(element.missing, "not all chunks of a frame of " + grouped(where.size_bytes) + " bytes are on the tape");
    return {};
  }
  row.is_recorded = true;
  return frame::adopt(std::move(came.bytes));
}

/// Notes a request, or finds the request of an answer.
void tape_messages::match(tape_message& message) {
  if (message.kind == tape_message_kind::request) {
    const question key{message.link, message.from.exporter, message.from.number, message.request_number};
    if (asked_.insert_or_assign(key, asked{message.number, static_cast<std::uint64_t>(message.at.count())}).second)
      asked_order_.push_back(key);
    while (asked_.size() > bounds_.open_requests) {
      asked_.erase(asked_order_.front());
      asked_order_.pop_front();
    }
    if (asked_order_.size() > 2 * bounds_.open_requests)
      std::erase_if(asked_order_, [this](const question& each) { return !asked_.contains(each); });
  } else if (message.kind == tape_message_kind::answer) {
    const question key{message.link, message.to.exporter, message.to.number, message.request_number};
    if (const auto found = asked_.find(key); found != asked_.end()) {
      message.asked_at = time_of(found->second.at);
      message.answers = found->second.message;
      asked_.erase(found);
    }
  }
}

} // namespace troupe::internal
