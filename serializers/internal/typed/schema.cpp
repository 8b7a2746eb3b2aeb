#include <troupe/serializers/internal/typed/schema.hpp>

#include <troupe/base/varint.hpp>
#include <troupe/serializers/internal/words/type_text.hpp>

namespace troupe::detail {

void schema_builder::put_count(std::uint64_t count) {
  write_varint(count, [this](std::byte each) { bytes_.push_back(each); });
}

void schema_builder::put_text(std::string_view text) {
  put_count(text.size());
  const auto bytes = std::as_bytes(std::span(text));
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
}

bool schema_builder::begin_numbered(schema_code code, std::type_index type) {
  const auto [known, first] = numbered_.try_emplace(type, numbered_.size());
  put(first ? code : schema_code::again);
  if (!first)
    put_count(known->second);
  return first;
}

// With all but what is known of types that contain themselves.
void schema_builder::start_again() {
  bytes_.clear();
  numbered_.clear();
  unsupported_.clear();
  foreign_.clear();
}

void schema_builder::refuse(const std::type_info& type, std::string_view why) {
  put(schema_code::unsupported);
  if (!unsupported_.empty())
    return;
  unsupported_ = path_.empty() ? "" : path_ + ": ";
  unsupported_ += type_text(type) + " has ";
  unsupported_ += why;
}

void schema_builder::add_foreign(const std::type_info& type) {
  put(schema_code::foreign);
  foreign_.push_back({.type = type, .place = path_});
}

// FNV-1a in 64 bits, folded to 32. It tells versions of one type apart; it guards against nobody.
std::uint32_t fingerprint_of(std::span<const std::byte> schema) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const auto byte : schema) {
    hash ^= std::to_integer<std::uint64_t>(byte);
    hash *= 0x100000001b3;
  }
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

} // namespace troupe::detail
