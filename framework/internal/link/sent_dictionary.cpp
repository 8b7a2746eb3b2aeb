#include <troupe/framework/internal/link/sent_dictionary.hpp>

#include <troupe/framework/internal/wire/packet.hpp>

namespace troupe::internal {

namespace {

/// Gives what the definition costs its reader.
std::size_t define_signature(std::uint64_t number, std::vector<std::string> aliases, outbox& out) {
  const signature_definition definition{.number = number, .aliases = std::move(aliases)};
  byte_vector body;
  append_signature(body, definition);
  out.append_packet(packet_kind::signature, 0, body);
  return body.size() + alias_cost_bytes * (1 + definition.aliases.size());
}

} // namespace

std::size_t sent_dictionary::types_hash::operator()(const std::vector<const type_entry*>& types) const noexcept {
  std::size_t hash = types.size();
  for (const auto* type : types)
    hash = (hash ^ reinterpret_cast<std::uintptr_t>(type) >> 4) * 0x9e3779b97f4a7c15u;
  return hash;
}

sent_dictionary::numbered sent_dictionary::signature(const link_held&, const std::vector<const type_entry*>& types,
                                                     outbox& out) {
  if (auto known = own_signatures_.find(types); known != own_signatures_.end())
    return {known->second};
  const auto number = signatures_++;
  own_signatures_.emplace(types, number);
  std::vector<std::string> aliases;
  for (const auto* type : types)
    aliases.emplace_back(type->alias());
  define_signature(number, std::move(aliases), out);
  return {number, true};
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
  const auto [known, is_new] = own_headers_.try_emplace({&by, &type}, headers_ + 1);
  if (is_new) {
    ++headers_;
    const auto header = standard_header(by, type);
    byte_vector body;
    append_header(body, {known->second, header.bytes()});
    if (out != nullptr)
      out->append_packet(packet_kind::header, 0, body);
  }
  return {known->second, is_new};
}

bool sent_dictionary::admits_for_others(const link_held&, const std::vector<std::string>& aliases) const {
  return others_signatures_.contains(aliases)
         || (others_signatures_.size() < others_signatures_max && others_bytes_ < others_definition_bytes_max);
}

std::uint64_t sent_dictionary::signature_for_others(const link_held&, const std::vector<std::string>& aliases,
                                                    outbox& out) {
  const auto [known, is_new] = others_signatures_.try_emplace(aliases, signatures_);
  if (is_new)
    others_bytes_ += define_signature(signatures_++, aliases, out);
  return known->second;
}

sent_dictionary::numbered sent_dictionary::header_for_others(const link_held&, bytes_view header, outbox& out) {
  std::string bytes{reinterpret_cast<const char*>(header.data()), header.size()};
  if (auto known = others_headers_.find(bytes); known != others_headers_.end())
    return {known->second};
  if (others_headers_.size() >= others_headers_max || others_bytes_ >= others_definition_bytes_max)
    return {};
  const auto number = ++headers_;
  byte_vector body;
  append_header(body, {number, header});
  others_bytes_ += body.size() + header_cost_bytes;
  out.append_packet(packet_kind::header, 0, body);
  others_headers_.emplace(std::move(bytes), number);
  return {number, true};
}

} // namespace troupe::internal
