// Reads the layout that a sender describes its type with, into the tree that schema_reader walks.
#include <troupe/serializers/internal/schema_reader.hpp>

#include <algorithm>

namespace troupe::detail {

namespace {

constexpr std::size_t nodes_max = 16'384;
constexpr std::size_t depth_max = 128;

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
  root = nodes_.size();
  nodes_.emplace_back();
  return failed() || fail(serialize_errc::malformed, "the sender's layout: " + from.reason());
}

bool schema_reader::parse_parts(typed_reader& from, std::size_t index, std::size_t count, bool named, std::size_t depth,
                                std::vector<std::size_t>& structures) {
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

// A record's alternatives, in the order of record::variant.
void schema_reader::add_record(std::size_t index) {
  const auto add = [&](std::uint8_t code) {
    nodes_.emplace_back().code = code;
    nodes_[index].parts.push_back(nodes_.size() - 1);
  };
  const auto plain = [&](schema_code code) { add(static_cast<std::uint8_t>(code)); };
  const auto number = [&](number_kind kind) { add(static_cast<std::uint8_t>(kind)); };
  plain(schema_code::none);
  plain(schema_code::boolean);
  number(number_kind::i64);
  number(number_kind::u64);
  number(number_kind::f64);
  plain(schema_code::text);
  const auto text = nodes_[index].parts.back();
  plain(schema_code::frame);
  plain(schema_code::list);
  nodes_.back().parts = {index};
  plain(schema_code::map);
  nodes_.back().parts = {text, index};
  for (const auto kind : {number_kind::i8, number_kind::i16, number_kind::i32, number_kind::i64, number_kind::u8,
                          number_kind::u16, number_kind::u32, number_kind::u64, number_kind::f32, number_kind::f64}) {
    plain(schema_code::array);
    nodes_.back().kind = kind;
  }
}

// Sorted, so that values are found soon however many there are; of two names for one value the first counts.
bool schema_reader::parse_enumerators(typed_reader& from, std::size_t index) {
  std::size_t count = 0;
  if (!take_kind(from, nodes_[index].kind) || !from.count(count, 2))
    return false;
  if (count > nodes_max - enumerators_)
    return from.fail(serialize_errc::limit_exceeded, "too many enum values");
  enumerators_ += count;
  std::vector<std::pair<std::int64_t, std::string_view>> all(count);
  for (auto& [value, name] : all) {
    std::uint64_t stored = 0;
    if (!take_text(from, name) || !from.varint(stored))
      return false;
    value = static_cast<std::int64_t>(stored);
  }
  std::ranges::stable_sort(all, {}, [](const auto& each) { return each.first; });
  for (const auto& [value, name] : all) {
    nodes_[index].values.push_back(value);
    nodes_[index].names.push_back(name);
  }
  return true;
}

bool schema_reader::parse_node(typed_reader& from, std::size_t& index, std::size_t depth,
                               std::vector<std::size_t>& structures) {
  if (depth > depth_max || nodes_.size() >= nodes_max)
    return from.fail(serialize_errc::limit_exceeded, "too many parts");
  if (!from.need(1))
    return false;
  const auto code = from.take<std::uint8_t>();
  std::size_t count = 0;
  if (code == static_cast<std::uint8_t>(schema_code::again)) {
    if (!from.count(count, 0))
      return false;
    if (count >= structures.size())
      return from.fail(serialize_errc::malformed, "refers to a structure that is not there");
    index = structures[count];
    return true;
  }
  // With its place among the parts of another.
  if (!charge_memory(sizeof(schema_node) + 2 * sizeof(std::string_view)))
    return from.fail(serialize_errc::limit_exceeded, "more parts than there is memory for");
  index = nodes_.size();
  nodes_.emplace_back().code = code;
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
    return add_record(index), true;
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
    structures.push_back(index);
    return from.count(count, 1) && parse_parts(from, index, count, true, depth, structures);
  case schema_code::variant:
    return from.count(count, 1) && parse_parts(from, index, count, true, depth, structures);
  case schema_code::tuple:
    return from.count(count, 1) && parse_parts(from, index, count, false, depth, structures);
  case schema_code::enumeration:
    return parse_enumerators(from, index);
  case schema_code::again:
  case schema_code::unsupported:
    break;
  }
  return from.fail(serialize_errc::malformed, "an unknown part, " + std::to_string(code));
}

} // namespace troupe::detail
