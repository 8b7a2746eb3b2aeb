#include <troupe/framework/internal/link/sent_dictionary.hpp>

#include <span>
#include <utility>

#include <troupe/framework/internal/wire/packet.hpp>

namespace troupe::internal {

namespace {

byte_vector body_of(std::uint64_t number, const std::vector<std::string>& aliases) {
  byte_vector body;
  append_signature(body, {.number = number, .aliases = aliases});
  return body;
}

} // namespace

std::size_t sent_dictionary::types_hash::operator()(const std::vector<const type_entry*>& types) const noexcept {
  std::size_t hash = types.size();
  for (const auto* type : types)
    hash = (hash ^ reinterpret_cast<std::uintptr_t>(type) >> 4) * 0x9e3779b97f4a7c15u;
  return hash;
}

/// Returns true if the peer has room for a signature that takes `bytes` there, beside the reserved numbers.
bool sent_dictionary::has_room(std::size_t reserved_numbers, std::size_t bytes) const {
  return signatures_ + reserved_numbers < kept_definitions::signatures_max && kept_.has_room_for(bytes);
}

std::optional<sent_dictionary::numbered>
sent_dictionary::signature(const link_held&, const std::vector<const type_entry*>& types, bool vital, outbox& out) {
  if (auto known = own_signatures_.find(types); known != own_signatures_.end())
    return numbered{known->second};
  std::vector<std::string> aliases;
  for (const auto* type : types)
    aliases.emplace_back(type->alias());
  const auto body = body_of(signatures_, aliases);
  const auto bytes = kept_definitions::bytes_of_signature(body.size(), aliases.size());
  if (!has_room(vital ? 0 : reserved_signatures, bytes + (vital ? 0 : reserved_bytes)))
    return std::nullopt;
  out.append_packet(packet_kind::signature, 0, body);
  kept_.add(bytes);
  const auto number = signatures_++;
  own_signatures_.emplace(types, number);
  return numbered{number, true};
}

std::optional<std::uint64_t> sent_dictionary::find_signature(const link_held&,
                                                             std::span<const type_entry* const> types) const {
  const auto known = own_signatures_.find({types.begin(), types.end()});
  if (known == own_signatures_.end())
    return std::nullopt;
  return known->second;
}

sent_dictionary::numbered sent_dictionary::header(const link_held&, const family& by, const type_entry& type,
                                                  outbox* out) {
  if (const auto known = own_headers_.find({&by, &type}); known != own_headers_.end())
    return {known->second};
  const auto number = headers_ + 1;
  const auto header = standard_header(by, type);
  byte_vector body;
  append_header(body, {number, header.bytes()});
  const auto bytes = kept_definitions::bytes_of_header(body.size());
  if (!kept_.has_room_for(bytes + reserved_bytes))
    return {};
  if (out != nullptr)
    out->append_packet(packet_kind::header, 0, body);
  kept_.add(bytes);
  own_headers_.emplace(std::pair{&by, &type}, number);
  return {++headers_, true};
}

bool sent_dictionary::admits_for_others(const link_held&, const std::vector<std::string>& aliases) const {
  if (others_signatures_.contains(aliases))
    return true;
  const auto bytes = kept_definitions::bytes_of_signature(body_of(signatures_, aliases).size(), aliases.size());
  return others_signatures_.size() < others_signatures_max && others_bytes_ < others_definition_bytes_max
         && has_room(reserved_signatures, bytes + reserved_bytes);
}

std::optional<std::uint64_t>
sent_dictionary::signature_for_others(const link_held& held, const std::vector<std::string>& aliases, outbox& out) {
  if (const auto known = others_signatures_.find(aliases); known != others_signatures_.end())
    return known->second;
  if (!admits_for_others(held, aliases))
    return std::nullopt;
  const auto body = body_of(signatures_, aliases);
  const auto bytes = kept_definitions::bytes_of_signature(body.size(), aliases.size());
  out.append_packet(packet_kind::signature, 0, body);
  kept_.add(bytes);
  others_bytes_ += bytes;
  const auto number = signatures_++;
  others_signatures_.emplace(aliases, number);
  return number;
}

sent_dictionary::numbered sent_dictionary::header_for_others(const link_held&, bytes_view header, outbox& out) {
  std::string text{reinterpret_cast<const char*>(header.data()), header.size()};
  if (auto known = others_headers_.find(text); known != others_headers_.end())
    return {known->second};
  const auto number = headers_ + 1;
  byte_vector body;
  append_header(body, {number, header});
  const auto bytes = kept_definitions::bytes_of_header(body.size());
  if (others_headers_.size() >= others_headers_max || others_bytes_ >= others_definition_bytes_max
      || !kept_.has_room_for(bytes + reserved_bytes))
    return {};
  out.append_packet(packet_kind::header, 0, body);
  kept_.add(bytes);
  others_bytes_ += bytes;
  others_headers_.emplace(std::move(text), number);
  return {++headers_, true};
}

void sent_dictionary::each(const link_held&, const std::function<void(packet_kind, byte_vector)>& tell) const {
  for (const auto& [types, number] : own_signatures_) {
    std::vector<std::string> aliases;
    for (const auto* type : types)
      aliases.emplace_back(type->alias());
    tell(packet_kind::signature, body_of(number, aliases));
  }
  for (const auto& [aliases, number] : others_signatures_)
    tell(packet_kind::signature, body_of(number, aliases));
  const auto tell_header = [&](std::uint64_t number, bytes_view header) {
    byte_vector body;
    append_header(body, {number, header});
    tell(packet_kind::header, std::move(body));
  };
  for (const auto& [what, number] : own_headers_)
    tell_header(number, standard_header(*what.first, *what.second).bytes());
  for (const auto& [header, number] : others_headers_)
    tell_header(number, std::as_bytes(std::span{header}));
}

} // namespace troupe::internal
