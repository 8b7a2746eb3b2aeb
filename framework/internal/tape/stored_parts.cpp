#include <troupe/framework/internal/tape/stored_parts.hpp>

namespace troupe::internal {

namespace {

// Of a message; more are recorded as sizes only.
constexpr std::size_t parts_max = 4096;

void add_described(std::vector<stored_part>& to, bytes_view body) {
  packet_reader in{body};
  while (in.ok() && !in.rest().empty() && to.size() < parts_max) {
    const auto mention = read_object_mention(in);
    if (in.ok() && mention.what == object_mention::kind::stored)
      to.push_back({mention.handle.name.index, mention.handle.name.generation, 0, mention.handle.size_bytes});
  }
}

/// The frames of a message that are not in its packet.
std::vector<frame_descriptor> frames_elsewhere(std::uint8_t detail, bytes_view message) {
  std::vector<frame_descriptor> found;
  packet_reader in{message};
  static_cast<void>(read_message_head(in, detail));
  element_descriptor element;
  while (in.ok() && !in.rest().empty() && found.size() < parts_max) {
    element = {};
    read_element(in, element, {packet_body_bytes_max, parts_max, element_actors_max, UINT64_MAX >> frame_place_bits});
    for (const auto& each : element.frames)
      if (each.place == frame_place::inline_)
        static_cast<void>(in.take(each.size_bytes));
      else if (in.ok())
        found.push_back(each);
  }
  return found;
}

} // namespace

std::vector<stored_part> stored_parts_of(packet_kind kind, std::uint8_t detail, bytes_view body) {
  std::vector<stored_part> parts;
  if (kind == packet_kind::handles)
    add_described(parts, body);
  else if (kind == packet_kind::message)
    for (const auto& each : frames_elsewhere(detail, body))
      if (each.place == frame_place::stored)
        parts.push_back({each.object_index, each.object_generation, each.object_offset, each.size_bytes});
  return parts;
}

std::vector<std::uint64_t> transfers_of(std::uint8_t detail, bytes_view message) {
  std::vector<std::uint64_t> transfers;
  for (const auto& each : frames_elsewhere(detail, message))
    if (each.place == frame_place::chunks)
      transfers.push_back(each.transfer);
  return transfers;
}

} // namespace troupe::internal
