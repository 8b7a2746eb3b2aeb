// Writes any value in the `typed` family's compact form, and reads it if the sender's layout is the reader's own.
// Layout: typed/format.md.
//
// The hot path has no virtual call, and no branch per field of fixed size. Room is reserved once for each run of such
// fields, which are then stored without a check.
#pragma once

#include <cstring>

#include <troupe/base/export.hpp>
#include <troupe/serializers/internal/coding/walk_read.hpp>
#include <troupe/serializers/internal/coding/walk_write.hpp>
#include <troupe/serializers/internal/typed/typed_arrays.hpp>
#include <troupe/serializers/internal/typed/typed_reader.hpp>
#include <troupe/serializers/internal/typed/typed_writer.hpp>

namespace troupe::detail {

TROUPE_EXPORT bool check_written_names(coding& state, const record& value);
/// The memory that readers charge for the check that no name occurs twice.
[[nodiscard]] TROUPE_EXPORT std::size_t names_bytes(const record& value);
template <class T>
bool typed_write_array(typed_writer& to, const array<T>& values);

/// Requires: room for fixed_bytes<T>().
template <class T>
bool typed_put(typed_writer& to, const T& value) {
  constexpr auto of = shape_of<T>;
  if constexpr (of == shape::structure) {
    return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      return (
          true && ...
          && (typed_put(to, value.*std::get<Index>(fields_of<T>::members)) || to.within(fields_of<T>::names[Index])));
    }
    (std::make_index_sequence<fields_of<T>::count>{});
  } else if constexpr (of == shape::tuple) {
    return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      return (true && ... && (typed_put(to, std::get<Index>(value)) || to.within(Index)));
    }
    (std::make_index_sequence<std::tuple_size_v<T>>{});
  } else if constexpr (of == shape::fixed) {
    for (std::size_t i = 0; i < fixed_extent<T>::count; ++i)
      if (!typed_put(to, std::data(value)[i]))
        return to.within(i);
    return true;
  } else if constexpr (of == shape::duration) {
    return typed_put(to, value.count());
  } else if constexpr (of == shape::time_point) {
    return typed_put(to, value.time_since_epoch().count());
  } else if constexpr (of == shape::boolean) {
    to.put<std::uint8_t>(value ? 1 : 0);
    return true;
  } else {
    if constexpr (described_enum<T>)
      if (!is_enumerator(value) && enumerator_name(to, value).empty())
        return false;
    to.put(value);
    return true;
  }
}

/// Fields, alternatives and objects by position; values of a fixed size as in memory.
struct typed_sink {
  using writer = typed_writer;

  template <class T>
  static constexpr bool is_leaf = fixed_bytes<T>() > 0
                                  || (row_of<T>.parts == holding::none && shape_of<T> != shape::unsupported);

  template <class T>
  static bool leaf(writer& to, const T& value) {
    constexpr auto of = shape_of<T>;
    if constexpr (fixed_bytes<T>() > 0) {
      to.reserve(fixed_bytes<T>());
      return typed_put(to, value);
    } else if constexpr (of == shape::text) {
      to.weigh(text_memory_bytes<T>(value));
      return to.contiguous(value.data(), value.size(), 1), true;
    } else if constexpr (of == shape::path) {
      to.weigh(text_memory_bytes<T>(value.native()));
      return to.contiguous(value.native().data(), value.native().size(), 1), true;
    } else if constexpr (of == shape::numbers) {
      to.weigh(value.size() * sizeof(typename T::value_type));
      return to.contiguous(value.data(), value.size(), sizeof(typename T::value_type)), true;
    } else if constexpr (of == shape::unit) {
      return true;
    } else if constexpr (of == shape::record) {
      to.weigh(names_bytes(value));
      return check_written_names(to, value) && walk_variant<typed_sink>(to, value.value());
    } else if constexpr (of == shape::frame) {
      return to.attach(value), true;
    } else if constexpr (of == shape::array) {
      return typed_write_array(to, value);
    } else {
      static_assert(no_such_shape<T>);
    }
  }

  using form_scope = typed_writer::passing;

  template <class T>
  static bool begin_structure(writer&) {
    return true;
  }
  /// Reserves room for a run of fields of fixed size once, at the first of these fields.
  template <class T, std::size_t Index, class Member>
  static bool field(writer& to, const Member& member) {
    constexpr const auto& name = fields_of<T>::names[Index];
    if constexpr (fixed_bytes<Member>() > 0) {
      if constexpr (run_bytes<T, Index>() > 0)
        to.reserve(run_bytes<T, Index>());
      return typed_put(to, member) || to.within(name);
    } else {
      return walk_write<typed_sink>(to, member) || to.within(name);
    }
  }
  static bool end_structure(writer&) { return true; }

  static bool begin_tuple(writer&, std::size_t) { return true; }
  static bool end_tuple(writer&) { return true; }
  static bool begin_fixed(writer&, std::size_t) { return true; }
  static bool begin_list(writer& to, std::size_t count) { return to.varint(count), true; }
  static bool end_list(writer&) { return true; }
  template <class T>
  static bool begin_map(writer& to, std::size_t count) {
    return to.varint(count), true;
  }
  static bool end_map(writer&) { return true; }

  static constexpr bool is_absent_nested = false;
  static bool absent(writer& to) { return put_byte(to, 0); }
  template <bool Shell>
  static bool begin_some(writer& to) {
    return put_byte(to, 1);
  }
  template <bool Shell>
  static bool end_some(writer&) {
    return true;
  }

  // 0 for no object, 1 for a new object, else the number of the object plus 2.
  static bool no_object(writer& to) { return to.varint(0), true; }
  static bool object_again(writer& to, std::size_t number) { return to.varint(number + 2), true; }
  static bool begin_object(writer& to, std::size_t) { return to.varint(1), true; }
  static bool end_object(writer&) { return true; }

  template <class T>
  static bool begin_option(writer& to, const T& value) {
    return to.varint(value.index()), true;
  }
  static bool end_option(writer&) { return true; }

  template <class T>
  static std::size_t elements_bytes(writer&, std::size_t count) {
    return count * element_memory<T>();
  }

private:
  static bool put_byte(writer& to, std::uint8_t value) {
    to.reserve(1);
    to.put(value);
    return true;
  }
};

template <class T>
bool typed_write(typed_writer& to, const T& value) {
  return walk_write<typed_sink>(to, value);
}

/// Brings a record that was read into normal form, in which equal records compare equal. False if it has a name twice.
TROUPE_EXPORT bool normalize_record(decoding& from, record& read);

/// Requires: need(fixed_bytes<T>()).
template <class T>
bool typed_take(typed_reader& from, T& target) {
  constexpr auto of = shape_of<T>;
  if constexpr (of == shape::structure) {
    return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      return (true && ...
              && (typed_take(from, target.*std::get<Index>(fields_of<T>::members))
                  || from.within(fields_of<T>::names[Index])));
    }
    (std::make_index_sequence<fields_of<T>::count>{});
  } else if constexpr (of == shape::tuple) {
    return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      return (true && ... && (typed_take(from, std::get<Index>(target)) || from.within(Index)));
    }
    (std::make_index_sequence<std::tuple_size_v<T>>{});
  } else if constexpr (of == shape::fixed) {
    for (std::size_t i = 0; i < fixed_extent<T>::count; ++i)
      if (!typed_take(from, std::data(target)[i]))
        return from.within(i);
    return true;
  } else if constexpr (of == shape::duration) {
    typename T::rep count{};
    const auto taken = typed_take(from, count);
    target = T(count);
    return taken;
  } else if constexpr (of == shape::time_point) {
    typename T::rep count{};
    const auto taken = typed_take(from, count);
    target = T(typename T::duration(count));
    return taken;
  } else if constexpr (of == shape::boolean) {
    const auto value = from.take<std::uint8_t>();
    target = value == 1;
    return value <= 1 || from.fail(serialize_errc::malformed, "a boolean of " + std::to_string(value));
  } else if constexpr (of == shape::enumeration) {
    using underlying = std::underlying_type_t<T>;
    if constexpr (std::is_same_v<underlying, bool>) {
      bool value = false;
      const auto taken = typed_take(from, value);
      target = static_cast<T>(value);
      return taken;
    } else {
      target = static_cast<T>(from.take<underlying>());
      if constexpr (described_enum<T>)
        return is_enumerator(target) || fail_enumerator(from, target, serialize_errc::malformed);
      return true;
    }
  } else {
    target = from.take<T>();
    return true;
  }
}

template <class T>
bool typed_read_text(typed_reader& from, T& target) {
  typed_reader::block found;
  if (!from.contiguous(found, 1) || !from.check_text(found.bytes.size()))
    return false;
  const std::string_view value(reinterpret_cast<const char*>(found.bytes.data()), found.bytes.size());
  if (!from.charge(1, text_memory_bytes<T>(value)))
    return false;
  if constexpr (requires { target.capacity(); }) {
    // A new text is written only once. Assigning would first make room for the old content.
    if (target.capacity() < value.size()) {
      target = T(value);
      return true;
    }
  }
  target = value;
  return true;
}

template <class Numbers>
bool typed_read_numbers(typed_reader& from, Numbers& target) {
  using T = typename Numbers::value_type;
  typed_reader::block found;
  if (!from.contiguous(found, sizeof(T)) || !from.charge(1, found.bytes.size()))
    return false;
  const auto* data = found.bytes.data();
  if (reinterpret_cast<std::uintptr_t>(data) % alignof(T) == 0) {
    // assign() copies once. resize() would first write zeros.
    target.assign(reinterpret_cast<const T*>(data), reinterpret_cast<const T*>(data) + found.bytes.size() / sizeof(T));
  } else {
    target.resize(found.bytes.size() / sizeof(T));
    if (!target.empty())
      std::memcpy(target.data(), data, found.bytes.size());
  }
  return true;
}

template <class T>
bool typed_read_array(typed_reader& from, array<T>& target);

/// The counterpart of typed_sink.
struct typed_source {
  using reader = typed_reader;

  template <class T>
  static constexpr bool is_leaf = typed_sink::is_leaf<T>;

  template <class T>
  static bool leaf(reader& from, T& target) {
    constexpr auto of = shape_of<T>;
    if constexpr (fixed_bytes<T>() > 0) {
      return from.need(fixed_bytes<T>()) && typed_take(from, target);
    } else if constexpr (of == shape::text || of == shape::path) {
      return typed_read_text(from, target);
    } else if constexpr (of == shape::numbers) {
      return typed_read_numbers(from, target);
    } else if constexpr (of == shape::unit) {
      return true;
    } else if constexpr (of == shape::record) {
      return walk_read_variant<typed_source>(from, target.value()) && normalize_record(from, target);
    } else if constexpr (of == shape::frame) {
      const frame* found = nullptr;
      if (!from.next_frame(found))
        return false;
      target = *found;
      return true;
    } else if constexpr (of == shape::array) {
      return typed_read_array(from, target);
    } else {
      static_assert(no_such_shape<T>);
    }
  }

  template <class T>
  static bool structure(reader& from, T& target) {
    return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      return (true && ... && read_field<typed_source, Index>(from, target));
    }
    (std::make_index_sequence<fields_of<T>::count>{});
  }
  /// Checks the length of a run of fields of fixed size once, at the first of these fields.
  template <class T, std::size_t Index, class Member>
  static bool member(reader& from, Member& member) {
    constexpr const auto& name = fields_of<T>::names[Index];
    if constexpr (fixed_bytes<Member>() > 0) {
      if constexpr (run_bytes<T, Index>() > 0)
        if (!from.need(run_bytes<T, Index>()))
          return from.within(name);
      return typed_take(from, member) || from.within(name);
    } else {
      return walk_read<typed_source>(from, member) || from.within(name);
    }
  }

  static bool begin_tuple(reader&, std::size_t) { return true; }
  static bool part(reader&, std::size_t) { return true; }
  static bool end_tuple(reader&, std::size_t) { return true; }
  static bool begin_fixed(reader&, std::size_t) { return true; }
  static bool end_fixed(reader&, std::size_t) { return true; }

  template <class T>
  static constexpr bool at_whole(reader&) {
    return false;
  }
  template <class T>
  static bool whole(reader&, T&) {
    return false;
  }
  static constexpr bool is_count_known = true;
  template <class T>
  static bool begin_elements(reader& from, std::size_t& count) {
    return from.count(count, least_element_bytes<T>());
  }
  static bool element(reader&, std::size_t at, std::size_t count, bool& more) { return more = at < count, true; }
  template <class T>
  static bool room(reader&, T&, std::size_t) {
    return true;
  }

  static constexpr bool is_absent_nested = false;
  static bool present(reader& from, bool& is_there) { return leaf(from, is_there); }
  template <class T>
  static bool some(reader&, auto&& read) {
    return read();
  }

  static bool find_object(reader& from, met_object& met) {
    std::uint64_t code = 0;
    if (!from.varint(code))
      return false;
    met = {.is_there = code != 0, .is_first = code == 1, .number = code - 2};
    return true;
  }
  static bool begin_object(reader&, met_object&) { return true; }

  template <class T>
  static bool begin_option(reader& from, const T&, std::size_t& index) {
    std::uint64_t found = 0;
    if (!from.varint(found))
      return false;
    if (found >= std::variant_size_v<T>)
      return from.fail(serialize_errc::malformed,
                       "alternative " + grouped(found) + " of a variant of " + grouped(std::variant_size_v<T>));
    index = found;
    return true;
  }
  static bool end_option(reader&) { return true; }
};

template <class T>
bool typed_read(typed_reader& from, T& target) {
  return walk_read<typed_source>(from, target);
}

template <class T>
bool typed_write_array(typed_writer& to, const array<T>& values) {
  if (!check_dimensions(to, values.rank()))
    return false;
  const auto is_shared = may_come_again(values);
  if (values.is_contiguous()) {
    write_array_head(to, array_form::c, values.shape());
    return to.in_or_out_of_band(values.bytes(), values.size(), is_shared), true;
  }
  const auto& owner = values.owner();
  const auto once = values.without_repeats();
  const bool is_repeated = once.shape() != values.shape();
  const bool is_fortran = !is_repeated && !once.is_contiguous() && once.is_contiguous(memory_order::fortran);
  if (!is_fortran && !once.is_contiguous() && to.context().shared_store && owner && owner->is_shared()
      && leaves_strided(values.shape(), values.strides())) {
    const auto bytes = values.bytes();
    write_array_head(to, array_form::strided, values.shape());
    write_strides(to, values.strides(),
                  static_cast<std::size_t>(values.data() - reinterpret_cast<const T*>(bytes.bytes().data())));
    return to.in_or_out_of_band(bytes, bytes.size_bytes() / sizeof(T), is_shared), true;
  }
  const auto sent = is_fortran ? once : packed_once(to, once, is_shared);
  write_array_head(to,
                   is_fortran    ? array_form::fortran
                   : is_repeated ? array_form::once
                                 : array_form::c,
                   values.shape());
  if (is_repeated)
    for (const auto length : sent.shape())
      to.varint(length);
  return to.in_or_out_of_band(sent.bytes(), sent.size(), is_shared), true;
}

/// Makes the array from aligned data in `bytes`.
template <class T>
std::optional<array<T>> made_of(wire_array&& found, frame bytes) {
  switch (found.form) {
  case array_form::c:
    return array<T>::view_of(std::move(bytes), std::move(found.shape));
  case array_form::fortran:
    return array<T>::view_of(std::move(bytes), std::move(found.shape), memory_order::fortran);
  case array_form::once: {
    const auto data = array<T>::view_of(std::move(bytes), std::move(found.data_shape));
    return data ? data->broadcast_to(found.shape) : std::nullopt;
  }
  case array_form::strided:
    return array<T>::view_of(bytes, std::move(found.shape), std::move(found.strides), found.first);
  }
  return std::nullopt;
}

template <class T>
bool typed_read_array(typed_reader& from, array<T>& target) {
  wire_array found;
  if (!read_wire_array(from, sizeof(T), found))
    return false;
  const auto* whole = found.data.whole;
  if (whole != nullptr && reinterpret_cast<std::uintptr_t>(found.data.bytes.data()) % alignof(T) != 0) {
    if (!from.charge(1, copied_bytes(found.data.bytes.size())))
      return false;
    whole = nullptr;
  }
  auto bytes = whole != nullptr ? *whole : frame::copy_of(found.data.bytes);
  auto made = made_of<T>(std::move(found), std::move(bytes));
  if (!made)
    return fail_array(from);
  target = *std::move(made);
  return true;
}

} // namespace troupe::detail
