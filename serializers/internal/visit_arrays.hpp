// Reads arrays from a value_reader; visit_read.hpp includes this.
#pragma once

#include <troupe/serializers/internal/visit_read.hpp>

namespace troupe::detail {

/// The elements of an array while they are read, and what lists they lie in.
template <class T>
struct array_rows {
  std::vector<T> values;
  std::vector<std::size_t> lengths; // Of the lists, outermost first.
  std::size_t rank = 0;             // 0 until the first number.
  std::size_t reserved = 0;         // Room in `values` that is paid for.
};

// A list of numbers, or of lists of the same length each.
template <class T>
bool visit_read_rows(value_reader& from, array_rows<T>& rows, std::size_t level) {
  constexpr auto unknown = static_cast<std::size_t>(-1);
  const auto fail_ragged = [&] {
    return from.fail(serialize_errc::malformed, "an array whose lists within each other differ in length");
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
    return make_room(from, rows.values, rows.reserved) && read_back(from, rows.values, visitor_into(from));
  });
  if (!done)
    return false;
  from.leave();
  if (rows.lengths[level] == unknown)
    rows.lengths[level] = count;
  return rows.lengths[level] == count || fail_ragged();
}

// The data of an array in whatever form it has: bytes, one number, a list, or lists within lists.
template <class T>
bool visit_read_rows(value_reader& from, array_rows<T>& rows) {
  const auto as_bytes = from.at_bytes();
  if (!as_bytes && from.kind() != value_kind::list)
    return read_back(from, rows.values, visitor_into(from)); // Of no dimension.
  if (!as_bytes)
    return visit_read_rows(from, rows, 0);
  if (!visit_read_numbers(from, rows.values))
    return false;
  rows.lengths = {rows.values.size()};
  return true;
}

/// What says of an array how its elements lie.
struct array_parts {
  frame whole;      // The elements in C order, where they came as a frame ...
  std::string type; // ... and of which type they are.
  bool is_whole = false;
  bool has_type = false;
  std::vector<std::size_t> shape;
  std::vector<std::size_t> data_shape;
  bool is_fortran = false;
  bool has_shape = false;
  bool has_data_shape = false;
  bool has_order = false;
  bool has_data = false;
};

// Whether a field comes for the first time.
inline bool once(value_reader& from, bool& seen) {
  return !std::exchange(seen, true) || from.fail(serialize_errc::malformed, "a field twice");
}

// One field of an array that is not its data; `known` says whether it is one.
inline bool read_array_field(value_reader& from, std::string_view name, array_parts& parts, bool& known) {
  known = true;
  if (name == "shape")
    return (once(from, parts.has_shape) && visit_read_numbers(from, parts.shape)
            && check_dimensions(from, parts.shape.size()))
           || from.within("shape");
  if (name == "data_shape")
    return (once(from, parts.has_data_shape) && visit_read_numbers(from, parts.data_shape)
            && check_dimensions(from, parts.data_shape.size()))
           || from.within("data_shape");
  if (name == "type") {
    std::string_view type;
    if (from.kind() != value_kind::text) // It is for others, unless there is a frame.
      return (from.charge(1, 0) && from.skip()) || from.within("type");
    if (!once(from, parts.has_type) || !from.text(type))
      return from.within("type");
    parts.type = type.substr(0, 8);
    return true;
  }
  known = name == "order";
  if (!known)
    return true;
  std::string_view order;
  if (!once(from, parts.has_order) || !from.text(order))
    return from.within("order");
  parts.is_fortran = order == "F";
  return parts.is_fortran || order == "C" || from.fail(serialize_errc::malformed, "an array in an unknown order")
         || from.within("order");
}

// The elements that came as a frame: where they lie, or converted.
template <class T>
bool read_whole(value_reader& from, const array_parts& parts, array_rows<T>& rows, std::optional<array<T>>& made) {
  const auto bytes = parts.whole.bytes();
  if (parts.type == name_of(kind_of<T>)) {
    made = array<T>::view_of(parts.whole);
    if (!made && bytes.size() % sizeof(T) == 0) // Where it does not lie aligned.
      made = from.charge_memory(bytes.size()) ? array<T>::view_of(frame::copy_of(bytes)) : std::nullopt;
    return made || fail_array(from);
  }
  for (auto code = std::uint8_t{0}; code < 16; ++code) {
    if (!is_number_kind(code) || parts.type != name_of(number_kind{code}))
      continue;
    const auto element_bytes = size_of(number_kind{code});
    const auto count = bytes.size() / element_bytes;
    if (bytes.size() % element_bytes != 0)
      return fail_array(from);
    if (!from.charge(1, 0) || !from.charge_memory(count * sizeof(T)))
      return false;
    rows.values.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      const auto value = number::load(number_kind{code}, bytes.data() + i * element_bytes);
      if (!value.to(rows.values[i]))
        return from.fail(serialize_errc::malformed, value.text() + " does not fit " + std::string(name_of(kind_of<T>)));
    }
    return true;
  }
  return from.fail(serialize_errc::malformed, "an array in a frame that does not say of what type");
}

// The array of the rows, repeated and ordered as the parts say.
template <class T>
bool make_array(value_reader& from, array_parts& parts, array_rows<T>& rows, array<T>& target) {
  const auto& lengths = parts.has_data_shape ? parts.data_shape : parts.has_shape ? parts.shape : rows.lengths;
  if (!check_dimensions(from, lengths.size()))
    return false;
  // Lists within each other say the shape once more; one list says nothing but how many elements there are.
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
  // The array and each that is made of it has a shape and strides of its own.
  const auto arrays = 1U + (parts.is_fortran ? 1U : 0U) + (parts.has_data_shape ? 1U : 0U);
  if (!from.charge_memory(arrays * lengths.size() * (sizeof(std::size_t) + sizeof(std::ptrdiff_t))))
    return false;
  auto made = whole ? *array<T>::view_of(whole->bytes(), lengths) : array<T>(std::move(rows.values), lengths);
  if (parts.is_fortran) {
    if (!from.charge_memory(made.size() * sizeof(T)))
      return false;
    made = made.contiguous(memory_order::fortran);
  }
  if (parts.has_data_shape) {
    auto repeated =
        parts.has_shape && parts.shape.size() == lengths.size() ? made.broadcast_to(parts.shape) : std::nullopt;
    if (!repeated)
      return fail_array(from);
    if (!check_repeated(from, repeated->size(), sizeof(T)))
      return false;
    made = *std::move(repeated);
  }
  target = std::move(made);
  return true;
}

template <class T>
bool visit_read_array(value_reader& from, array<T>& target) {
  array_parts parts;
  array_rows<T> rows;
  std::size_t number = 0;
  bool again = false;
  const auto is_numbered = from.at_numbered_array(number, again);
  if (is_numbered && again)
    if (const auto* known = static_cast<const array<T>*>(from.find_array(number, typeid(array<T>)))) {
      target = *known; // Where it is of another type, it is read once more.
      return from.charge(1, known->rank() * (sizeof(std::size_t) + sizeof(std::ptrdiff_t))) && from.skip();
    }
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
      parts.is_whole = from.kind() == value_kind::frame;
      if (!once(from, parts.has_data) || !(parts.is_whole ? from.attached(parts.whole) : visit_read_rows(from, rows)))
        return from.within("data");
      continue;
    }
    bool known = false;
    if (!read_array_field(from, name, parts, known) || (!known && (!from.charge(1, 0) || !from.skip())))
      return false;
  }
  if (!parts.has_data)
    rows.lengths = {0};
  if (!make_array(from, parts, rows, target))
    return false;
  if (is_numbered && from.find_array(number, typeid(array<T>)) == nullptr) {
    if (!from.charge_memory(sizeof(target) + shared_bytes))
      return false;
    from.keep_array(number, typeid(array<T>), std::make_shared<const array<T>>(target));
  }
  return true;
}

} // namespace troupe::detail
