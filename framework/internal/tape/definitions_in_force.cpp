#include <troupe/framework/internal/tape/definitions_in_force.hpp>

#include <variant>

namespace troupe::internal {

void definitions_in_force::note(const tape_record& record, bytes_view encoded) {
  const auto keep = [&](std::uint64_t link) { links_[link].records.emplace_back(encoded.begin(), encoded.end()); };
  if (const auto* link = std::get_if<tape_link_began>(&record)) {
    keep(link->link);
  } else if (const auto* packet = std::get_if<tape_packet>(&record)) {
    if (is_definition(packet->kind))
      keep(packet->link);
  } else if (const auto* actor = std::get_if<tape_actor_named>(&record)) {
    if (links_[actor->link].names < names_max) {
      ++links_[actor->link].names;
      keep(actor->link);
    }
  }
}

void definitions_in_force::mark_repeated(const byte_vector& record, byte_vector& out) {
  packet_reader in{record};
  auto read = read_tape_record(in);
  if (auto* link = std::get_if<tape_link_began>(&*read)) {
    link->is_repeated = true;
    append_tape_record(out, *link);
  } else if (auto* packet = std::get_if<tape_packet>(&*read)) {
    packet->is_repeated = true;
    append_tape_record(out, *packet);
  } else {
    out = record;
  }
}

} // namespace troupe::internal
