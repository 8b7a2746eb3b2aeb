#include <troupe/serializers/record.hpp>

#include <algorithm>
#include <iterator>
#include <list>

#include <troupe/serializers/internal/registry/record_entry.hpp>
#include <troupe/serializers/internal/shape/self_contained.hpp>
#include <troupe/serializers/internal/visit/record.hpp>
#include <troupe/serializers/internal/visit/visit_read.hpp>
#include <troupe/serializers/internal/visit/visit_write.hpp>

namespace troupe {

template type_entry::type_entry(std::in_place_type_t<record>, std::string, std::optional<own_codec>);

record_kind record::kind() const {
  return static_cast<record_kind>(std::min(value_.index(), static_cast<std::size_t>(record_kind::array)));
}

std::optional<double> record::real() const {
  switch (kind()) {
  case record_kind::integer:
    return static_cast<double>(std::get<std::int64_t>(value_));
  case record_kind::natural:
    return static_cast<double>(std::get<std::uint64_t>(value_));
  case record_kind::real:
    return std::get<double>(value_);
  default:
    return std::nullopt;
  }
}

const record* record::find(std::string_view name) const {
  if (const auto* all = fields())
    for (const auto& [known, value] : *all)
      if (known == name)
        return &value;
  return nullptr;
}

bool record::add_lengths(std::vector<std::size_t>& all) const {
  if (const auto* raw = bytes())
    all.push_back(raw->size_bytes());
  const auto* within = elements();
  if (within == nullptr)
    return true;
  const auto own = all.size();
  all.push_back(within->size());
  for (std::size_t i = 0; i < within->size(); ++i) {
    std::vector<std::size_t> lengths;
    if (!(*within)[i].add_lengths(lengths))
      return false;
    if (i == 0)
      all.insert(all.end(), lengths.begin(), lengths.end());
    else if (!std::equal(lengths.begin(), lengths.end(), all.begin() + static_cast<std::ptrdiff_t>(own) + 1, all.end()))
      return false;
  }
  return true;
}

bool operator==(const record& left, const record& right) {
  if (left.value_.index() != right.value_.index())
    return false;
  return std::visit(
      [&]<class T>(const T& value) {
        const auto& other = std::get<T>(right.value_);
        if constexpr (std::is_same_v<T, frame>)
          return std::ranges::equal(value.bytes(), other.bytes());
        else
          return value == other;
      },
      left.value_);
}

std::string to_text(const record& value) {
  static const type_entry entry(std::in_place_type<record>, "record", std::nullopt);
  return to_text(entry, &value);
}

namespace detail {

namespace {

// Small enough that lists of small numbers, which take one byte each in msgpack and two in json, fit into
// limits::memory_ratio.
static_assert(sizeof(record) <= 48);

// The memory of a copy of the record.
std::size_t weight_of(const record& value) {
  auto bytes = sizeof(record);
  if (const auto* text = value.text())
    bytes += text->size();
  if (const auto* list = value.elements())
    for (const auto& each : *list)
      bytes += weight_of(each);
  if (const auto* map = value.fields())
    for (const auto& [name, each] : *map)
      bytes += sizeof(std::string) + name.size() + weight_of(each);
  return bytes;
}

bool read_number_record(value_reader& from, record& target) {
  constexpr std::size_t longest_unit = 100;
  troupe::number value;
  std::string_view unit;
  if (!from.take_unit(unit))
    return false;
  const auto suffix = unit.empty() ? std::string() : unit_suffix(unit.substr(0, longest_unit));
  if (!from.number(value))
    return false;
  if (!suffix.empty()) {
    auto text = value.text() + suffix;
    if (!from.charge_memory(text.size()))
      return false;
    target = std::move(text);
    return true;
  }
  switch (value.form()) {
  case number::sort::integer:
    target = value.integer();
    break;
  case number::sort::natural:
    target = value.natural();
    break;
  case number::sort::real:
  case number::sort::rounded:
    target = value.real();
    break;
  }
  return true;
}

bool read_text_record(value_reader& from, std::string& target) {
  std::string_view text;
  if (!from.text(text) || !from.charge(1, text.size()))
    return false;
  target = text;
  return true;
}

using pairs = std::list<std::pair<record, record>>; // A list, so that elements do not move while it grows.

// Whether no name occurs twice.
bool are_distinct(std::vector<std::string_view>& names) {
  std::ranges::sort(names);
  return std::ranges::adjacent_find(names) == names.end();
}

// The memory that are_distinct() needs for `count` names.
constexpr std::size_t names_bytes(std::size_t count) {
  return count < 2 ? 0 : count * sizeof(std::string_view);
}

bool check_names(decoding& from, const record::map& map) {
  if (map.size() < 2)
    return true;
  if (!from.charge_memory(names_bytes(map.size())))
    return false;
  std::vector<std::string_view> names;
  names.reserve(map.size());
  for (const auto& [name, value] : map)
    names.emplace_back(name);
  return are_distinct(names) || from.fail(serialize_errc::malformed, "the same key twice");
}

// Sets `found` to whether all keys are texts and all different. False, with the failure set, if a text occurs twice and
// must not, or if there is no memory for the check.
bool are_names(decoding& from, const pairs& read, bool& found, bool may_repeat) {
  found = std::ranges::all_of(read, [](const auto& each) { return each.first.text() != nullptr; });
  if (!found || read.size() < 2)
    return true;
  if (!from.charge_memory(names_bytes(read.size())))
    return false;
  std::vector<std::string_view> keys;
  keys.reserve(read.size());
  for (const auto& [key, value] : read)
    keys.emplace_back(*key.text());
  found = are_distinct(keys);
  return found || may_repeat || from.fail(serialize_errc::malformed, "the same key twice");
}

record list_of_pairs(pairs&& read) {
  record::list list;
  list.reserve(read.size());
  for (auto& [key, value] : read) {
    record::list pair;
    pair.reserve(2);
    pair.push_back(std::move(key));
    pair.push_back(std::move(value));
    list.emplace_back(std::move(pair));
  }
  return list;
}

// Requires: all keys are texts.
record::map by_name(pairs&& read) {
  record::map map;
  map.reserve(read.size());
  for (auto& [key, value] : read)
    map.emplace_back(std::move(std::get<std::string>(key.value())), std::move(value));
  return map;
}

// The memory of an entry while all entries are collected, plus the memory of the record which replaces the entry.
constexpr std::size_t pair_bytes = sizeof(pairs::value_type) + node_bytes + 3 * sizeof(record);

bool read_structure_record(value_reader& from, record& target) {
  pairs read;
  if (!from.begin_structure())
    return false;
  for (;;) {
    std::string_view name;
    bool more = false;
    if (!from.field(name, more))
      return false;
    if (!more) {
      auto map = by_name(std::move(read));
      if (!check_names(from, map))
        return false;
      target = std::move(map);
      return true;
    }
    if (!from.charge(1, pair_bytes + name.size()))
      return false;
    auto& [key, value] = read.emplace_back(std::string(name), record());
    if (!read_record(from, value))
      return from.within(*key.text());
  }
}

// Makes records by name, or a list of pairs if a key is not a text or if a multimap has a key several times.
bool read_map_record(value_reader& from, record& target) {
  pairs read;
  const bool may_repeat = from.at_container_map();
  std::size_t expected = 0;
  if (!from.begin_map(expected))
    return false;
  for (;;) {
    bool more = false;
    if (!from.next(more))
      return false;
    if (!more) {
      bool named = false;
      if (!are_names(from, read, named, may_repeat))
        return false;
      target = named ? record(by_name(std::move(read))) : list_of_pairs(std::move(read));
      return true;
    }
    if (!from.charge(1, pair_bytes))
      return false;
    auto& [key, value] = read.emplace_back();
    if (!read_record(from, key))
      return false;
    if (!read_record(from, value))
      return key.text() != nullptr ? from.within(*key.text()) : from.within(read.size() - 1);
  }
}

// For lists of unknown length. The elements behind the first ones are collected in blocks that do not grow. A record
// takes many times the bytes of a small number on the wire, so there is no memory for moving records repeatedly.
using record_blocks = std::list<record::list>;
constexpr std::size_t block_records_min = 32;
constexpr std::size_t block_records(std::size_t count) {
  return std::max(block_records_min, count / 8);
}
constexpr std::size_t block_bytes(std::size_t records) {
  return records * sizeof(record) + sizeof(record_blocks::value_type) + node_bytes;
}

// The memory for a list of `count` records: its blocks, and the final list into which they are moved.
std::size_t list_bytes(bool counts_ahead, std::size_t count) {
  if (counts_ahead || count <= block_records_min)
    return (counts_ahead ? count : capacity_for(count, 0)) * sizeof(record);
  auto bytes = (block_records_min + count) * sizeof(record);
  for (auto read = block_records_min; read < count; read += block_records(read))
    bytes += block_bytes(block_records(read));
  return bytes;
}

/// The place of the element that has `count` others before it; null if there is no memory for the element.
record::list* room_for_element(value_reader& from, record::list& first, record_blocks& blocks, std::size_t expected,
                               std::size_t count) {
  if (count < std::max(expected, block_records_min))
    return make_room(from, first, expected) ? &first : nullptr;
  if (blocks.empty() || blocks.back().size() == blocks.back().capacity()) {
    const auto size = block_records(count);
    if (!from.charge_memory(block_bytes(size)))
      return nullptr;
    blocks.emplace_back().reserve(size);
  }
  return from.charge(1, 0) ? &blocks.back() : nullptr;
}

bool read_list_record(value_reader& from, record& target) {
  record::list values;
  record_blocks blocks;
  std::size_t expected = 0;
  std::size_t count = 0;
  if (!from.enter() || !from.begin_list(expected) || !from.charge(expected, sizeof(record)))
    return false;
  values.reserve(expected);
  const auto done = visit_read_each(from, [&] {
    auto* const into = room_for_element(from, values, blocks, expected, count++);
    return into != nullptr && read_record(from, into->emplace_back());
  });
  if (!done)
    return false;
  if (!blocks.empty()) {
    if (!from.charge_memory(count * sizeof(record)))
      return false;
    record::list all;
    all.reserve(count);
    std::ranges::move(values, std::back_inserter(all));
    for (auto& block : blocks)
      std::ranges::move(block, std::back_inserter(all));
    values = std::move(all);
  }
  target = std::move(values);
  from.leave();
  return true;
}

// An object that several pointers share is copied at each reference, and each copy is charged.
bool read_shared_record(value_reader& from, record& target) {
  bool first = true;
  std::size_t number = 0;
  if (!from.shared(first, number))
    return false;
  if (first) {
    if (number != from.shared_count())
      return from.fail(serialize_errc::malformed, "shared object out of order");
    static_cast<void>(from.number_shared());
    if (!read_record(from, target) || !from.charge_memory(weight_of(target)))
      return false;
    from.keep_shared(number, typeid(record), std::make_shared<record>(target), [](void*) {});
    return true;
  }
  const auto known = std::static_pointer_cast<const record>(from.find_shared(number, typeid(record), false));
  if (!known || !from.charge_memory(weight_of(*known)))
    return false;
  target = *known;
  return true;
}

bool read_record_of_kind(value_reader& from, value_kind kind, record& target) {
  switch (kind) {
  case value_kind::null:
    target = {};
    return from.null();
  case value_kind::boolean: {
    bool value = false;
    if (!from.boolean(value))
      return false;
    target = value;
    return true;
  }
  case value_kind::number:
    return read_number_record(from, target);
  case value_kind::text: {
    std::string value;
    if (!read_text_record(from, value))
      return false;
    target = std::move(value);
    return true;
  }
  case value_kind::bytes: {
    std::span<const std::byte> view;
    if (!from.bytes(view) || !from.charge(1, detail::copied_bytes(view.size())))
      return false;
    target = frame::copy_of(view);
    return true;
  }
  case value_kind::frame: {
    frame value;
    if (!from.attached(value))
      return false;
    target = std::move(value);
    return true;
  }
  case value_kind::list:
    return read_list_record(from, target);
  case value_kind::map:
    return from.at_structure() ? read_structure_record(from, target) : read_map_record(from, target);
  case value_kind::shared:
    return read_shared_record(from, target);
  case value_kind::some:
    return from.begin_some() && read_record(from, target) && from.end_some();
  case value_kind::invalid:
    break;
  }
  return from.unexpected("a value");
}

} // namespace

bool read_record(value_reader& from, record& target) {
  const auto kind = from.kind();
  if (kind != value_kind::map && kind != value_kind::shared && kind != value_kind::some)
    return read_record_of_kind(from, kind, target); // read_list_record() calls enter() itself.
  if (!from.enter() || !read_record_of_kind(from, kind, target))
    return false;
  from.leave();
  return true;
}

bool normalize_record(decoding& from, record& read) {
  if (const auto* natural = std::get_if<std::uint64_t>(&read.value()))
    read = *natural;
  const auto* map = read.fields();
  return map == nullptr || check_names(from, *map);
}

std::size_t names_bytes(const record& value) {
  const auto* map = value.fields();
  return map == nullptr ? 0 : names_bytes(map->size());
}

bool check_written_names(coding& state, const record& value) {
  const auto* map = value.fields();
  if (map == nullptr || map->size() < 2)
    return true;
  std::vector<std::string_view> names;
  names.reserve(map->size());
  for (const auto& [name, each] : *map)
    names.emplace_back(name);
  std::ranges::sort(names);
  const auto twice = std::ranges::adjacent_find(names);
  return twice == names.end()
         || state.fail(serialize_errc::codec_failed,
                       "a record with the name '" + std::string(twice->substr(0, 100)) + "' twice");
}

std::size_t record_of_array_bytes(const value_writer& to, const weighed_array& of) {
  constexpr std::size_t fields = 5;      // At most.
  constexpr std::size_t text_bytes = 32; // The names of the fields, and the texts that two of them hold.
  const auto ahead = to.counts_ahead();
  auto bytes = fields * pair_bytes + names_bytes(fields) + text_bytes + list_bytes(ahead, of.shape.size())
               + list_bytes(ahead, of.data_shape.size());
  std::size_t lists = 1;
  for (const auto length : of.data_shape) {
    bytes += of.is_attached || lists == 0 ? 0 : lists * list_bytes(ahead, length);
    lists *= length;
  }
  return of.is_in_bytes && !of.is_attached ? bytes + copied_bytes(lists) : bytes;
}

bool write_record(value_writer& to, const record& value) {
  if (!check_written_names(to, value))
    return false;
  return std::visit(
      [&]<class T>(const T& content) {
        if constexpr (std::is_same_v<T, record::map>) {
          if (!to.enter() || !to.begin_text_map(content.size()))
            return false;
          to.weigh(content.size() * pair_bytes + names_bytes(content.size()));
          for (const auto& [name, each] : content) {
            to.weigh(name.size());
            if (!to.text(name) || !write_record(to, each))
              return to.within(name);
          }
          to.leave();
          return to.end_map();
        } else if constexpr (std::is_same_v<T, record::list>) {
          if (!to.enter() || !to.begin_list(content.size()))
            return false;
          to.weigh(list_bytes(to.counts_ahead(), content.size()));
          for (std::size_t i = 0; i < content.size(); ++i)
            if (!write_record(to, content[i]))
              return to.within(i);
          to.leave();
          return to.end_list();
        } else if constexpr (shape_of<T> == shape::array) {
          return visit_write_array(to, content, true);
        } else {
          return visit_write(to, content);
        }
      },
      value.value());
}

} // namespace detail
} // namespace troupe
