// Reads arrays from a value_reader. visit_read.hpp includes this header.
#pragma once

#include <troupe/serializers/internal/visit/visit_read.hpp>
#include <troupe/serializers/internal/visit/weighing.hpp>

namespace troupe::detail {

/// The elements of an array while they are read, and the shape of the lists that contain them.
template <class T>
struct array_rows {
  std::vector<T> values;
  std::vector<std::size_t> lengths; // Of the lists, outermost first.
  std::size_t rank = 0;             // 0 until the first number.
  std::size_t reserved = 0;         // Room in `values` that has been charged.
};

// Reads a list of numbers, or a list of lists of equal length.
template <class T>
bool visit_read_rows(value_reader& from, array_rows<T>& rows, std::size_t level) {
  constexpr auto unknown = static_cast<std::size_t>(-1);
  const auto fail_ragged = [&] {
    return from.fail(serialize_errc::malformed, "an array whose nested lists differ in length");
  };
  std::size_t expected = 0;
  if (!from.enter() || !from.begin_list(expected) || !from.charge(expected, sizeof(T)))
    return false;
  if (level == 0) {
    rows.values.reserve(expected);
    rows.reserved = expected;
  }
  if (rows.lengths.size() <= level)
    rows.lengths.resize(level + 1, unknown);
  std::size_t count = 0;
  bool of_lists = false;
  const auto done = visit_read_each(from, [&] {
    if (count++ == 0) {
      of_lists = from.kind() == value_kind::list;
      if (rows.rank == 0 && !of_lists)
        rows.rank = level + 1;
      if (rows.rank > 0 && of_lists != (level + 1 < rows.rank))
        return fail_ragged();
    }
    if (of_lists)
      return (rows.reserved > 0 || from.charge(1, 0)) && visit_read_rows(from, rows, level + 1);
    return make_room(from, rows.values, rows.reserved)
           && read_back(from, rows.values, reading_into<visit_source>(from));
  });
  if (!done)
    return false;
  from.leave();
  if (rows.lengths[level] == unknown)
    rows.lengths[level] = count;
  return rows.lengths[level] == count || fail_ragged();
}

// Reads the data of an array in any form: bytes, one number, a list, or nested lists.
template <class T>
bool visit_read_rows(value_reader& from, array_rows<T>& rows) {
  const auto as_bytes = from.at_bytes();
  if (!as_bytes && from.kind() != value_kind::list)
    return read_back(from, rows.values, reading_into<visit_source>(from)); // Of no dimension.
  if (!as_bytes)
    return visit_read_rows(from, rows, 0);
  if (!visit_read_numbers(from, rows.values))
    return false;
  rows.lengths = {rows.values.size()};
  return true;
}

/// The fields of an array apart from its data in lists.
struct array_parts {
  decoding::array_from_frame as; // The elements are set if they came as a frame.
  frame whole;                   // The frame of the elements.
  bool is_whole = false;         // The data came as that frame, in C order.
  bool has_type = false;
  bool has_shape = false;
  bool has_data_shape = false;
  bool has_order = false;
  bool has_data = false;
};

// The memory that is needed to find an array again by its frame. `lengths` counts the lengths of all its shapes.
constexpr std::size_t made_array_bytes(std::size_t lengths) {
  return sizeof(array_parts) + lengths * sizeof(std::size_t) + sizeof(array<double>) + shared_bytes;
}

// Fails if a field occurs a second time.
inline bool once(value_reader& from, bool& seen) {
  return !std::exchange(seen, true) || from.fail(serialize_errc::malformed, "a field twice");
}

// Reads one field of an array other than its data. Sets `known` to whether it is such a field.
inline bool read_array_field(value_reader& from, std::string_view name, array_parts& parts, bool& known) {
  known = true;
  if (name == "shape")
    return (once(from, parts.has_shape) && visit_read_numbers(from, parts.as.shape)
            && check_dimensions(from, parts.as.shape.size()))
           || from.within("shape");
  if (name == "data_shape")
    return (once(from, parts.has_data_shape) && visit_read_numbers(from, parts.as.data_shape)
            && check_dimensions(from, parts.as.data_shape.size()))
           || from.within("data_shape");
  if (name == "type") {
    std::string_view type;
    if (from.kind() != value_kind::text) // The type matters only if there is a frame.
      return (from.charge(1, 0) && from.skip()) || from.within("type");
    if (!once(from, parts.has_type) || !from.text(type))
      return from.within("type");
    parts.as.type = type.substr(0, 8);
    return true;
  }
  known = name == "order";
  if (!known)
    return true;
  std::string_view order;
  if (!once(from, parts.has_order) || !from.text(order))
    return from.within("order");
  parts.as.is_fortran = order == "F";
  return parts.as.is_fortran || order == "C" || from.fail(serialize_errc::malformed, "an array in an unknown order")
         || from.within("order");
}

// Takes elements that came as a frame: in place, or converted.
template <class T>
bool read_whole(value_reader& from, const array_parts& parts, array_rows<T>& rows, std::optional<array<T>>& made) {
  const auto bytes = parts.whole.bytes();
  if (parts.as.type == name_of(kind_of<T>)) {
    made = array<T>::view_of(parts.whole);
    if (!made && bytes.size() % sizeof(T) == 0) // If the frame is not aligned.
      made = from.charge_memory(copied_bytes(bytes.size())) ? array<T>::view_of(frame::copy_of(bytes)) : std::nullopt;
    return made || fail_array(from);
  }
  const auto kind = number_kind_named(parts.as.type);
  if (!kind)
    return from.fail(serialize_errc::malformed, "an array in a frame does not state its element type");
  const auto element_bytes = size_of(*kind);
  const auto count = bytes.size() / element_bytes;
  if (bytes.size() % element_bytes != 0)
    return fail_array(from);
  if (!from.charge(1, 0) || !from.charge_memory(count * sizeof(T)))
    return false;
  rows.values.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = number::load(*kind, bytes.data() + i * element_bytes);
    if (!value.to(rows.values[i]))
      return from.fail(serialize_errc::malformed, value.text() + " does not fit " + std::string(name_of(kind_of<T>)));
  }
  return true;
}

// Makes the array from the rows, repeated and ordered as `parts` says.
template <class T>
bool make_array(value_reader& from, array_parts& parts, array_rows<T>& rows, array<T>& target) {
  const auto& lengths = parts.has_data_shape ? parts.as.data_shape : parts.has_shape ? parts.as.shape : rows.lengths;
  if (!check_dimensions(from, lengths.size()))
    return false;
  // Nested lists repeat the shape. A flat list has only the number of elements.
  std::optional<array<T>> whole;
  if (parts.is_whole && !read_whole(from, parts, rows, whole))
    return from.within("data");
  const auto count = whole ? whole->size() : rows.values.size();
  if (parts.is_whole)
    rows.lengths = {count};
  const auto rank = static_cast<std::ptrdiff_t>(std::min(rows.lengths.size(), lengths.size()));
  const auto fits =
      rows.lengths.size() < 2
      || (rows.lengths.size() == lengths.size()
          && std::equal(rows.lengths.begin(), rows.lengths.end(), lengths.begin(), lengths.begin() + rank));
  if (!fits || count_of(lengths) != count)
    return fail_array(from);
  if (!charge_layouts(from, visited_layouts(whole.has_value(), parts.as.is_fortran, parts.has_data_shape),
                      lengths.size()))
    return false;
  auto made = whole ? *array<T>::view_of(whole->bytes(), lengths) : array<T>(std::move(rows.values), lengths);
  if (parts.as.is_fortran) {
    if (!from.charge_memory(made.size() * sizeof(T)))
      return false;
    made = made.contiguous(memory_order::fortran);
  }
  if (parts.has_data_shape) {
    auto repeated =
        parts.has_shape && parts.as.shape.size() == lengths.size() ? made.broadcast_to(parts.as.shape) : std::nullopt;
    if (!repeated)
      return fail_array(from);
    if (!check_repeated(from, repeated->size(), sizeof(T)))
      return false;
    made = *std::move(repeated);
  }
  target = std::move(made);
  return true;
}

// Reads the elements of an array. If an array was made from the same elements before, sets `known` to that array
// instead.
template <class T>
bool read_array_data(value_reader& from, array_parts& parts, array_rows<T>& rows, const array<T>*& known) {
  if (!once(from, parts.has_data))
    return false;
  parts.is_whole = from.kind() == value_kind::frame;
  if (parts.is_whole && !from.attached(parts.whole))
    return false;
  std::string_view type;
  const auto* const elements = parts.is_whole ? &parts.whole : from.array_frame(type);
  if (elements != nullptr) {
    parts.as.elements = elements->bytes().data();
    parts.as.size_bytes = elements->size_bytes();
  }
  if (parts.is_whole)
    return true;
  if (elements != nullptr) {
    parts.as.type = type;
    parts.whole = *elements;
    known = static_cast<const array<T>*>(from.find_array(parts.as));
    if (known != nullptr)
      return from.skip();
  }
  return visit_read_rows(from, rows);
}

// Refers to an existing array, and charges for the reference.
template <class T>
bool refer_to_array(value_reader& from, const array<T>& known, array<T>& target) {
  target = known;
  return from.charge(1, array_again_bytes);
}

// Keeps an array whose elements were copied or converted, so that repeats of its elements give the same array.
template <class T>
bool keep_made_array(value_reader& from, array_parts& parts, const array<T>& made) {
  const auto* const first = reinterpret_cast<const std::byte*>(made.data());
  if (parts.as.elements == nullptr || !parts.has_shape || first == parts.as.elements)
    return true;
  if (!from.charge_memory(made_array_bytes(parts.as.shape.size() + parts.as.data_shape.size())))
    return false;
  from.keep_array(std::move(parts.as), std::move(parts.whole), std::make_shared<const array<T>>(made));
  return true;
}

template <class T>
bool visit_read_array(value_reader& from, array<T>& target) {
  array_parts parts;
  parts.as.made = typeid(array<T>);
  array_rows<T> rows;
  const array<T>* known_array = nullptr;
  std::size_t number = 0;
  bool again = false;
  const auto is_numbered = from.at_numbered_array(number, again);
  if (is_numbered && again)
    if (const auto* known = static_cast<const array<T>*>(from.find_array(number, typeid(array<T>))))
      return refer_to_array(from, *known, target) && from.skip(); // An array of another type is read again.
  if (from.failed() || !from.begin_structure())
    return false;
  for (;;) {
    std::string_view name;
    bool more = false;
    if (!from.field(name, more))
      return false;
    if (!more)
      break;
    if (name == "data") {
      if (!read_array_data(from, parts, rows, known_array))
        return from.within("data");
      continue;
    }
    bool known = false;
    if (!read_array_field(from, name, parts, known) || (!known && (!from.charge(1, 0) || !from.skip())))
      return false;
  }
  if (!parts.has_data)
    rows.lengths = {0};
  if (parts.is_whole && parts.has_shape)
    known_array = static_cast<const array<T>*>(from.find_array(parts.as));
  if (known_array != nullptr)
    return refer_to_array(from, *known_array, target);
  if (!make_array(from, parts, rows, target) || !keep_made_array(from, parts, target))
    return false;
  if (is_numbered && from.find_array(number, typeid(array<T>)) == nullptr) {
    static_assert(sizeof(target) == sizeof(array<double>));
    if (!from.charge_memory(numbered_array_bytes))
      return false;
    from.keep_array(number, typeid(array<T>), std::make_shared<const array<T>>(target));
  }
  return true;
}

} // namespace troupe::detail
