#include <troupe/framework/internal/tape/link_recording.hpp>

#include <algorithm>
#include <utility>

#include <troupe/framework/internal/tape/stored_parts.hpp>
#include <troupe/framework/internal/wire/admin.hpp>

namespace troupe::internal {

namespace {

constexpr std::size_t questions_max = 1024;
// Actors of one name at a time, for a tape that wants some actors only.
constexpr std::size_t actors_max = 65'536;
// A message may be described by several packets.
constexpr std::size_t descriptions_max = 1024;

/// The body of a packet, in `memory` if it consists of two parts.
bytes_view whole_of(bytes_view begin, bytes_view end, byte_vector& memory) {
  if (end.empty())
    return begin;
  memory.assign(begin.begin(), begin.end());
  memory.insert(memory.end(), end.begin(), end.end());
  return memory;
}

} // namespace

void link_recording::add(const recording_target& target, const tape_link_began& link, const known_words& known) {
  auto made = std::make_unique<track>();
  made->target = target;
  made->link = target.to->begin_link(link);
  for (const auto& each : known.definitions)
    target.to->packet(made->link, each.writer, each.kind, 0, each.body);
  for (const auto& each : known.names)
    name(*made, {each.exporter, each.number}, each.name);
  tracks_.push_back(std::move(made));
}

void link_recording::on_sent(packet_kind kind, std::uint8_t detail, bytes_view begin, bytes_view end) noexcept {
  if (is_recorded(kind))
    record(tape_side::recorder, kind, detail, begin, end);
  else if (kind == packet_kind::admin && end.empty())
    learn(tape_side::recorder, detail, begin);
}

void link_recording::on_received(packet_kind kind, std::uint8_t detail, bytes_view body) noexcept {
  if (is_recorded(kind))
    record(tape_side::peer, kind, detail, body, {});
  else if (kind == packet_kind::admin)
    learn(tape_side::peer, detail, body);
}

void link_recording::end(std::string_view reason) noexcept {
  for (const auto& each : tracks_)
    each->target.to->end_link(each->link, reason);
}

bool link_recording::has(const tape_queue* to) const noexcept {
  return std::ranges::any_of(tracks_, [&](const auto& each) { return each->target.to.get() == to; });
}

bool link_recording::is_over() const noexcept {
  return std::ranges::all_of(tracks_, [](const auto& each) { return each->target.to->is_closed(); });
}

void link_recording::record(tape_side writer, packet_kind kind, std::uint8_t detail, bytes_view begin,
                            bytes_view end) noexcept {
  for (const auto& each : tracks_)
    if (each->target.actors.empty()) {
      if (each->target.store)
        record_objects(*each, kind, detail, begin, end);
      each->target.to->packet(each->link, writer, kind, detail, begin, end);
    } else {
      record_some(*each, writer, kind, detail, begin, end);
    }
}

/// Records the bytes in the shared store that the packet mentions. They are held for as long as it takes to write them,
/// because the receiver may be done with them at once.
void link_recording::record_objects(track& of, packet_kind kind, std::uint8_t detail, bytes_view begin,
                                    bytes_view end) noexcept {
  auto& target = of.target;
  try {
    byte_vector whole;
    for (const auto& each : stored_parts_of(kind, detail, whole_of(begin, end, whole)))
      if (each.size_bytes <= target.object_bytes_max) {
        auto held = target.store->find({target.store->number(), each.index, each.generation});
        target.to->object({.link = of.link,
                           .store = target.store->number(),
                           .index = each.index,
                           .generation = each.generation,
                           .offset = each.offset},
                          each.offset + each.size_bytes, held ? *std::move(held) : store::handle{});
      }
  } catch (...) { // No memory: the bytes are missing, and reading says so.
    return;
  }
}

/// Records a packet if it belongs to an actor that is wanted. Descriptions and chunks wait for their message.
void link_recording::record_some(track& of, tape_side writer, packet_kind kind, std::uint8_t detail, bytes_view begin,
                                 bytes_view end) noexcept {
  byte_vector whole; // If the body has two parts.
  auto& waiting = writer == tape_side::peer ? of.by_peer : of.by_recorder;
  auto& chunks = writer == tape_side::peer ? of.chunks_by_peer : of.chunks_by_recorder;
  try {
    if (kind == packet_kind::handles) {
      if (waiting.size() < descriptions_max) {
        waiting.push_back({detail, {begin.begin(), begin.end()}});
        waiting.back().body.insert(waiting.back().body.end(), end.begin(), end.end());
      }
    } else if (kind == packet_kind::chunk) {
      chunks.add(detail, begin, end);
    } else if (is_definition(kind)) {
      of.target.to->packet(of.link, writer, kind, detail, begin, end);
    } else if (is_message(kind)) {
      const auto wanted = is_wanted(of, writer, detail, begin);
      if (kind == packet_kind::message)
        for (const auto transfer : transfers_of(detail, whole_of(begin, end, whole)))
          for (const auto& each : chunks.take(transfer))
            if (wanted)
              of.target.to->packet(of.link, writer, packet_kind::chunk, each.detail, each.body);
      if (wanted) {
        for (const auto& each : waiting)
          of.target.to->packet(of.link, writer, packet_kind::handles, each.detail, each.body);
        of.target.to->packet(of.link, writer, kind, detail, begin, end);
      }
      waiting.clear();
    }
  } catch (...) { // No memory: the description is missing, and reading says so.
    return;
  }
}

/// `begin` has at least the head of the message.
bool link_recording::is_wanted(const track& of, tape_side writer, std::uint8_t detail, bytes_view begin) {
  packet_reader in{begin};
  const auto head = read_message_head(in, detail);
  if (!in.ok())
    return false;
  const auto is_returned = (head.flags & message_flags::returned) != 0;
  const std::lock_guard guard{mutex_};
  return of.actors.contains({other_end(writer), head.receiver})
         || of.actors.contains({is_returned ? other_end(writer) : writer, head.sender});
}

/// Notes that the actor is found under that name.
void link_recording::name(track& of, const actor_key& actor, const std::string& name) noexcept {
  of.target.to->name_actor(of.link, actor.first, actor.second, name);
  if (std::ranges::find(of.target.actors, name) == of.target.actors.end())
    return;
  try {
    const std::lock_guard guard{mutex_};
    if (of.actors.size() < actors_max)
      of.actors.insert(actor);
  } catch (...) { // No memory: the actor's messages are not recorded.
    return;
  }
}

/// Learns the name of an actor from the question for a name and its answer.
void link_recording::learn(tape_side writer, std::uint8_t operation, bytes_view body) noexcept {
  const auto op = static_cast<admin_op>(operation);
  if (op != admin_op::find && op != admin_op::found)
    return;
  try {
    if (op == admin_op::find) {
      auto asked = decode_admin<find_query>(body);
      std::lock_guard guard{mutex_};
      auto& open = writer == tape_side::peer ? of_peer_ : of_recorder_;
      if (asked && open.size() < questions_max)
        open.insert_or_assign(asked->query, std::move(asked->name));
      return;
    }
    const auto answer = decode_admin<found>(body);
    if (!answer)
      return;
    std::unique_lock held{mutex_};
    auto& open = writer == tape_side::peer ? of_recorder_ : of_peer_; // The other end has asked.
    const auto asked = open.extract(answer->query);
    held.unlock();
    const auto asker = writer == tape_side::peer ? tape_side::recorder : tape_side::peer;
    if (asked && answer->actor != 0)
      for (const auto& each : tracks_)
        name(*each, {answer->readers ? asker : writer, answer->actor}, asked.mapped());
  } catch (...) { // No memory: the actor has no name on the tape.
    return;
  }
}

} // namespace troupe::internal
