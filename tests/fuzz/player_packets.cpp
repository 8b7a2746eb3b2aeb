// Packets of peers other than admin messages.
#include "player.hpp"

#include <algorithm>
#include <iterator>

#include <troupe/framework/internal/wire/message_extensions.hpp>
#include <troupe/framework/internal/wire/message_trace.hpp>
#include <troupe/framework/internal/wire/request_identity.hpp>

#include "decoding.hpp"

namespace fuzz {

using namespace troupe;
using namespace troupe::internal;

bool player::take_packet_step(step what, script& in) {
  auto& one = current();
  switch (what) {
  case step::raw_packet: {
    const auto kind = static_cast<packet_kind>(in.byte());
    const auto detail = in.byte();
    one.write_raw({});
    one.write(kind, detail, in.bytes());
    return true;
  }
  case step::raw_bytes:
    defined().is_framed = false;
    one.write_raw(in.bytes());
    return true;
  case step::signature:
    define_signature(in);
    return true;
  case step::header:
    define_header(in.byte() % samples_.size());
    return true;
  case step::message:
    write_message(in);
    return true;
  case step::chunk:
    write_chunk(in);
    return true;
  case step::answer:
    answer(in);
    return true;
  case step::split:
    one.bytes().set_piece_bytes(in.byte());
    return true;
  case step::stall:
    defined().is_stalled = (in.byte() & 1) != 0;
    one.bytes().set_stalled(defined().is_stalled);
    return true;
  case step::other_peer:
    current_ = (current_ + 1) % peers;
    if (const auto how = in.byte(); !peers_[current_])
      meet(current_, how);
    return true;
  default:
    return false;
  }
}

void player::define_signature(script& in) {
  const auto how = in.byte();
  signature_definition definition{.number = defined().signatures.size() + (how >= 250 ? 1 : 0)};
  for (std::size_t i = how % 4u; i > 0; --i)
    definition.aliases.push_back(alias(in));
  const auto is_active = std::ranges::all_of(definition.aliases, [](const auto& one) { return one.size() <= 1024; });
  byte_vector body;
  append_signature(body, definition);
  current().write(packet_kind::signature, 0, body);
  if (is_active && how < 250)
    defined().signatures.push_back(definition.aliases);
}

void player::define_header(std::size_t sample) {
  auto& headers = defined().headers;
  headers.push_back(sample);
  byte_vector body;
  append_header(body, {headers.size(), samples_[sample].header.bytes()});
  current().write(packet_kind::header, 0, body);
}

void player::write_message(script& in) {
  auto& one = current();
  message_head head{.flags = static_cast<std::uint8_t>(in.byte() & message_flags::known)};
  const auto how = in.byte();
  head.receiver = number(in);
  head.sender = number(in);
  head.request_number = amount(in, 1);
  const auto& signatures = defined().signatures;
  head.signature = signatures.empty() ? how : how % signatures.size();
  byte_vector map; // Mostly a valid one.
  if ((head.flags & message_flags::extended) != 0) {
    if (how % 4 == 3) { // One with a trace.
      append_trace(map, trace_context::parse("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01").value(), false,
                   std::nullopt);
      append_extension(map, 4 + how % 3u, in.bytes());
    } else if (how % 4 == 2) { // One with an identity: of few callers, so that requests are repeated.
      append_request_identity(
          map, {.key = {.caller = {std::byte{static_cast<std::uint8_t>(how & 16)}}, .number = 1u + in.byte() % 4u},
                .settled_below = std::uint64_t{how} >> 6u,
                .age = std::chrono::microseconds{how & 32}});
    } else {
      append_extension(map, 1 + how % 3u, in.bytes());
      append_extension(map, 2 + how % 5u, in.bytes());
    }
    head.extensions = map;
  }
  byte_vector message;
  append_message_head(message, head);
  price cost;
  if (!signatures.empty())
    for (const auto& each : std::vector{signatures[head.signature]})
      write_element(in, each, message, cost);
  if (how >= 250)
    message.push_back(std::byte{0});
  if ((head.flags & message_flags::returned) == 0)
    one.mention(head.sender);
  cost.bytes = std::max(cost.bytes + message.size() + message_cost_bytes, value_bytes_of(map));
  one.owe(cost);
  one.write(packet_kind::message, head.flags, message);
}

/// Bits of the first byte: 1 a value of another type, 2 its own header, 4 a changed byte, 8 no mentions, 16 chunks, 32
/// stored frames, 64 a header that is not defined, 128 as many mentions as the script says.
void player::write_element(script& in, const std::string& alias, byte_vector& message, price& cost) {
  const auto how = in.byte();
  std::size_t which = in.byte();
  if ((how & 1) == 0) // Picks a sample of that type.
    for (std::size_t tries = 0; tries < samples_.size() && samples_[which % samples_.size()].alias != alias; ++tries)
      ++which;
  which %= samples_.size();
  const auto& value = samples_[which];
  element_descriptor element{.header_number = 0, .header = value.header.bytes()};
  if ((how & 64) != 0) {
    element.header_number = 100;
  } else if ((how & 2) == 0) {
    auto& headers = defined().headers;
    const auto known = std::ranges::find(headers, which);
    if (known == headers.end())
      define_header(which);
    element.header_number = static_cast<std::uint64_t>(std::ranges::find(headers, which) - headers.begin()) + 1;
  }
  byte_vector body(value.frames[0].bytes().begin(), value.frames[0].bytes().end());
  if ((how & 4) != 0 && !body.empty()) {
    const auto place = in.byte() % body.size();
    body[place] = static_cast<std::byte>(in.byte());
  }
  std::vector<frame> frames{frame::copy_of(body)};
  std::copy(value.frames.begin() + 1, value.frames.end(), std::back_inserter(frames));
  for (const auto& each : frames)
    element.frames.push_back(place_frame(each, how, cost));
  for (std::size_t i = (how & 128) != 0 ? in.below(4) : (how & 8) != 0 ? 0 : value.mentions; i > 0; --i) {
    const auto side = in.byte();
    element.actors.push_back({.number = number(in), .readers = (side & 1) != 0});
    if ((side & 1) == 0)
      current().mention(element.actors.back().number);
    cost.bytes += mention_cost_bytes;
  }
  cost.bytes += 64_KiB; // For what compressed frames become.
  append_element(message, element);
  for (std::size_t i = 0; i < frames.size(); ++i)
    if (element.frames[i].place == frame_place::inline_)
      message.insert(message.end(), frames[i].bytes().begin(), frames[i].bytes().end());
}

/// Writes the chunk that must precede the message, if any.
frame_descriptor player::place_frame(const frame& of, std::uint8_t how, price& cost) {
  if ((how & 32) != 0) {
    cost.handle_bytes += of.size_bytes();
    return {.place = frame_place::stored, .size_bytes = of.size_bytes(), .object_index = 1, .object_generation = 1};
  }
  if ((how & 16) == 0)
    return {.size_bytes = of.size_bytes()};
  const auto number = defined().next_transfer++;
  byte_vector chunk;
  append_chunk_head(chunk, {number, of.size_bytes()}, true);
  chunk.insert(chunk.end(), of.bytes().begin(), of.bytes().end());
  current().write(packet_kind::chunk, chunk_flags::first, chunk);
  cost.bytes += of.size_bytes();
  return {.place = frame_place::chunks, .size_bytes = of.size_bytes(), .transfer = number};
}

void player::write_chunk(script& in) {
  const auto how = in.byte();
  const auto first = (how & 1) != 0;
  auto& next = defined().next_transfer;
  const chunk_head head{.transfer = (how & 2) != 0 ? next++ : next - 1, .total_bytes = amount(in, 40) << (how >> 4)};
  byte_vector chunk;
  append_chunk_head(chunk, head, first);
  const auto bytes = in.bytes();
  chunk.insert(chunk.end(), bytes.begin(), bytes.end());
  current().write(packet_kind::chunk, first ? chunk_flags::first : std::uint8_t{0}, chunk);
}

/// Answers the node's oldest request, with a sample as the script says.
void player::answer(script& in) {
  auto& one = current();
  const auto how = in.byte();
  if (one.questions().empty())
    return;
  const auto asked = one.questions().front();
  if ((how & 1) == 0)
    one.questions().pop_front();
  auto& signatures = defined().signatures;
  const auto alias = samples_[how % samples_.size()].alias;
  const auto known = std::ranges::find(signatures, std::vector{alias});
  message_head head{.flags = message_flags::response,
                    .receiver = asked.sender,
                    .sender = asked.receiver,
                    .request_number = asked.number,
                    .signature = static_cast<std::uint64_t>(known - signatures.begin())};
  if (known == signatures.end()) {
    byte_vector body;
    append_signature(body, {.number = signatures.size(), .aliases = {alias}});
    one.write(packet_kind::signature, 0, body);
    signatures.push_back({alias});
  }
  byte_vector message;
  append_message_head(message, head);
  price cost;
  write_element(in, alias, message, cost);
  one.mention(head.sender);
  one.write(packet_kind::message, head.flags, message);
}

} // namespace fuzz
