// Parses the layout by which a sender describes its type, into the tree that schema_reader walks.
#include <algorithm>
#include <array>

#include <troupe/serializers/internal/typed/schema_reader.hpp>
#include <troupe/serializers/record.hpp>

namespace troupe::detail {

namespace {

constexpr std::size_t nodes_max = 16'384;
constexpr std::size_t depth_max = 128;

// In the order of record::variant.
constexpr std::array array_kinds = {number_kind::i8,  number_kind::i16, number_kind::i32, number_kind::i64,
                                    number_kind::u8,  number_kind::u16, number_kind::u32, number_kind::u64,
                                    number_kind::f32, number_kind::f64};

bool take_text(typed_reader& from, std::string_view& text) {
  std::size_t size = 0;
  if (!from.count(size, 1))
    return false;
  text = {reinterpret_cast<const char*>(from.position()), size};
  from.advance(size);
  return true;
}

bool take_kind(typed_reader& from, number_kind& kind) {
  if (!from.need(1))
    return false;
  const auto code = from.take<std::uint8_t>();
  kind = static_cast<number_kind>(code);
  return is_number_kind(code) || from.fail(serialize_errc::malformed, "a layout with an unknown number");
}

} // namespace

bool schema_reader::parse(std::span<const std::byte> schema, std::size_t& root) {
  typed_reader from(context(), schema, {}, schema.size());
  std::vector<std::size_t> structures;
  if (parse_node(from, root, 0, structures) && from.finish())
    return true;
  root = 0;
  if (nodes_.empty())
    nodes_.emplace_back();
  return failed() || fail(serialize_errc::malformed, "the sender's layout: " + from.reason());
}

bool schema_reader::parse_parts(typed_reader& from, std::size_t index, std::size_t count, bool named, std::size_t depth,
                                std::vector<std::size_t>& structures) {
  if (!charge_scratch(count * (sizeof(std::size_t) + (named ? sizeof(std::string_view) : 0))))
    return false;
  nodes_[index].parts.reserve(count);
  nodes_[index].names.reserve(named ? count : 0);
  for (std::size_t i = 0; i < count; ++i) {
    std::string_view name;
    std::size_t part = 0;
    if ((named && !take_text(from, name)) || !parse_node(from, part, depth + 1, structures))
      return false;
    nodes_[index].parts.push_back(part);
    if (named)
      nodes_[index].names.push_back(name);
  }
  return true;
}

bool schema_reader::add_node(std::uint8_t code, std::size_t& index) {
  if (nodes_.size() >= nodes_max)
    return fail(
        serialize_errc::limit_exceeded,
        "the sender's layout of the type has more than " + grouped(nodes_max)
            + " parts, the limit for reading another version: use one version at both ends, or divide the type");
  if (nodes_.size() == nodes_.capacity()) {
    const auto capacity = std::max<std::size_t>(8, 2 * nodes_.capacity());
    if (!charge_scratch(capacity * sizeof(schema_node)))
      return false;
    nodes_.reserve(capacity);
  }
  index = nodes_.size();
  nodes_.emplace_back().code = code;
  return true;
}

// A record's alternatives, in the order of record::variant.
bool schema_reader::add_record(std::size_t index) {
  constexpr std::size_t alternatives = std::variant_size_v<record::variant>;
  bool added = charge_scratch((alternatives + 3) * sizeof(std::size_t));
  if (added)
    nodes_[index].parts.reserve(alternatives);
  const auto add = [&](std::uint8_t code) {
    std::size_t made = index;
    added = added && add_node(code, made);
    if (added)
      nodes_[index].parts.push_back(made);
  };
  const auto plain = [&](schema_code code) { add(static_cast<std::uint8_t>(code)); };
  const auto number = [&](number_kind kind) { add(static_cast<std::uint8_t>(kind)); };
  plain(schema_code::none);
  plain(schema_code::boolean);
  number(number_kind::i64);
  number(number_kind::u64);
  number(number_kind::f64);
  plain(schema_code::text);
  plain(schema_code::frame);
  plain(schema_code::list);
  plain(schema_code::map);
  for (std::size_t i = 0; i < array_kinds.size(); ++i)
    plain(schema_code::array);
  if (!added)
    return false;
  const auto& parts = nodes_[index].parts;
  nodes_[parts[7]].parts = {index};
  nodes_[parts[8]].parts = {parts[5], index};
  for (std::size_t i = 0; i < array_kinds.size(); ++i)
    nodes_[parts[9 + i]].kind = array_kinds[i];
  return true;
}

bool schema_reader::parse_enumeration(typed_reader& from, std::size_t index) {
  std::size_t count = 0;
  if (!take_kind(from, nodes_[index].kind) || !from.count(count, 2))
    return false;
  auto& enumerators = nodes_[index].enumerators;
  if (!charge_scratch(count * sizeof(schema_node::enumerator)))
    return false;
  enumerators.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::string_view name;
    std::uint64_t value = 0;
    if (!take_text(from, name) || !from.varint(value))
      return false;
    enumerators.emplace_back(static_cast<std::int64_t>(value), name);
  }
  // If a value has two names, the first one counts, which has the lower address.
  std::ranges::sort(enumerators, {}, [](const schema_node::enumerator& of) {
    return std::pair(of.first, reinterpret_cast<std::uintptr_t>(of.second.data()));
  });
  return true;
}

bool schema_reader::parse_node(typed_reader& from, std::size_t& index, std::size_t depth,
                               std::vector<std::size_t>& structures) {
  if (depth > depth_max)
    return from.fail(serialize_errc::limit_exceeded,
                     "types nested more than " + grouped(depth_max)
                         + " deep, the limit for reading another version: use one version at both ends");
  if (!from.need(1))
    return false;
  const auto code = from.take<std::uint8_t>();
  std::size_t count = 0;
  if (code == static_cast<std::uint8_t>(schema_code::again)) {
    if (!from.count(count, 0))
      return false;
    if (count >= structures.size())
      return from.fail(serialize_errc::malformed, "refers to a structure that does not exist");
    index = structures[count];
    return true;
  }
  if (code == static_cast<std::uint8_t>(schema_code::record) && record_node_) {
    index = *record_node_; // All records have the same node.
    return true;
  }
  if (!add_node(code, index))
    return false;
  if (is_number_kind(code))
    return true;
  switch (static_cast<schema_code>(code)) {
  case schema_code::boolean:
  case schema_code::text:
  case schema_code::none:
  case schema_code::frame:
  case schema_code::foreign:
    return true;
  case schema_code::record:
    record_node_ = index;
    return add_record(index);
  case schema_code::optional:
  case schema_code::shared:
  case schema_code::list:
  case schema_code::pointee:
    return parse_parts(from, index, 1, false, depth, structures);
  case schema_code::map:
    return parse_parts(from, index, 2, false, depth, structures);
  case schema_code::fixed: {
    std::uint64_t length = 0;
    if (!from.varint(length))
      return false;
    nodes_[index].count = length;
    return parse_parts(from, index, 1, false, depth, structures);
  }
  case schema_code::array:
  case schema_code::numbers:
    return take_kind(from, nodes_[index].kind);
  case schema_code::unit: {
    std::string_view text;
    if (!take_text(from, text))
      return false;
    nodes_[index].text = text;
    return parse_parts(from, index, 1, false, depth, structures);
  }
  case schema_code::structure:
    if (!charge_scratch(4 * sizeof(index)))
      return false;
    structures.push_back(index);
    return from.count(count, 1) && parse_parts(from, index, count, true, depth, structures);
  case schema_code::form:
    if (!charge_scratch(4 * sizeof(index)))
      return false;
    structures.push_back(index);
    return parse_parts(from, index, 1, false, depth, structures)
           && (behind_forms(index) != index
               || from.fail(serialize_errc::malformed, "a form that refers only to itself"));
  case schema_code::variant:
    return from.count(count, 1) && parse_parts(from, index, count, true, depth, structures);
  case schema_code::tuple:
    return from.count(count, 1) && parse_parts(from, index, count, false, depth, structures);
  case schema_code::enumeration:
    return parse_enumeration(from, index);
  case schema_code::again:
  case schema_code::unsupported:
    break;
  }
  return from.fail(serialize_errc::malformed, "an unknown part, " + std::to_string(code));
}

// Forms may be nested, and a form that is still being parsed has no part yet.
std::size_t schema_reader::behind_forms(std::size_t node) const {
  const auto first = node;
  while (nodes_[node].code == static_cast<std::uint8_t>(schema_code::form) && !nodes_[node].parts.empty()) {
    node = nodes_[node].parts[0];
    if (node == first)
      break;
  }
  return node;
}

} // namespace troupe::detail
