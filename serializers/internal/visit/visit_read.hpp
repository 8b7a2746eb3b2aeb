// Reads any value from a value_reader: fields by name, numbers checked, all memory charged before it is allocated.
#pragma once

#include <algorithm>
#include <array>
#include <cstring>

#include <troupe/base/export.hpp>
#include <troupe/serializers/extend/value_reader.hpp>
#include <troupe/serializers/internal/coding/walk_read.hpp>
#include <troupe/serializers/internal/visit/field_names.hpp>
#include <troupe/serializers/internal/visit/whole.hpp>

namespace troupe::detail {

TROUPE_EXPORT bool read_record(value_reader& from, record& target);

struct visit_source;

template <class T>
bool visit_read_number(value_reader& from, T& target) {
  troupe::number value;
  if (!from.number(value))
    return from.expected_exactly("a number", name_of(kind_of<T>));
  return value.to(target)
         || from.fail(serialize_errc::layout_mismatch,
                      value.text() + " does not fit " + std::string(name_of(kind_of<T>)));
}

/// The count of a duration or point in time T: a text with its unit, or a number whose unit the reader checks.
template <class T>
bool visit_read_count(value_reader& from, typename T::rep& target) {
  if (from.kind() != value_kind::text)
    return from.unit(unit_of<T>()) && visit_read_number(from, target);
  std::string_view text;
  std::string_view suffix;
  troupe::number count;
  if (!from.text(text))
    return false;
  if (!split_count(text, count, suffix) || suffix != suffix_of<T>())
    return from.fail(serialize_errc::layout_mismatch,
                     "'" + std::string(text.substr(0, 100)) + "' is no time in units of '" + suffix_of<T>() + "'");
  return count.to(target)
         || from.fail(serialize_errc::layout_mismatch,
                      count.text() + " does not fit " + std::string(name_of(kind_of<typename T::rep>)));
}

template <class T>
bool visit_read_enum(value_reader& from, T& target) {
  const auto kind = from.kind();
  if (kind == value_kind::number || kind == value_kind::boolean) {
    std::underlying_type_t<T> value{};
    if (!walk_read<visit_source>(from, value))
      return false;
    target = static_cast<T>(value);
    if constexpr (described_enum<T>)
      if (!is_enumerator(target))
        return from.fail(serialize_errc::layout_mismatch,
                         std::to_string(value) + " is no value of the enum " + std::string(spelled_name<T>));
    return true;
  }
  if constexpr (described_enum<T>) {
    constexpr auto description = troupe_description(describe_tag<T>{});
    std::string_view name;
    if (!from.text(name))
      return false;
    for (std::size_t i = 0; i < description.names.size(); ++i)
      if (description.names[i] == name) {
        target = description.values[i];
        return true;
      }
    return from.fail(serialize_errc::layout_mismatch, "'" + std::string(name.substr(0, 100))
                                                          + "' is no value of the enum "
                                                          + std::string(description.name));
  } else {
    return from.unexpected("a number");
  }
}

template <class T, std::size_t... Index>
bool visit_read_field(value_reader& from, T& target, std::size_t index, std::index_sequence<Index...>) {
  bool read = false;
  static_cast<void>(
      (false || ... || (Index == index && ((read = read_field<visit_source, Index>(from, target)), true))));
  return read;
}

template <class T>
bool visit_read_fields(value_reader& from, T& target) {
  constexpr auto count = fields_of<T>::count;
  constexpr const auto& names = fields_of<T>::names;
  if (!from.begin_structure())
    return false;
  std::array<bool, (count > 0 ? count : 1)> seen{};
  std::size_t likely = 0; // Fields usually come in the order of this type.
  for (;;) {
    std::string_view name;
    bool more = false;
    if (!from.field(name, more))
      return false;
    if (!more)
      break;
    const auto index = likely < count && names[likely] == name ? likely : place_of(name, names);
    if (index == count) { // Not a field of this version of the type.
      if (!from.charge(1, 0) || !from.skip())
        return false;
      continue;
    }
    if (seen[index])
      return from.fail(serialize_errc::malformed, "a field twice") || from.within(names[index]);
    seen[index] = true;
    if (!visit_read_field(from, target, index, std::make_index_sequence<count>{}))
      return false;
    likely = index + 1;
  }
  return true;
}

inline bool fail_count(value_reader& from, std::size_t expected) {
  return from.fail(serialize_errc::layout_mismatch,
                   "the list does not have the expected " + grouped(expected) + " elements");
}

/// `element` reads one element and returns false on failure.
bool visit_read_each(value_reader& from, auto&& element) {
  for (std::size_t at = 0;; ++at) {
    bool more = false;
    if (!from.next(more))
      return false;
    if (!more)
      return true;
    if (!element())
      return from.within(at);
  }
}

/// Makes room for one more element of a container for which `charged` elements were charged ahead. The input did not
/// announce further elements. For these the container grows here, where each step is charged before it is taken.
template <class T>
bool make_room(value_reader& from, T& values, std::size_t charged) {
  using element = typename T::value_type;
  if (values.size() < charged)
    return true;
  if constexpr (grows_at_once<T> && requires { values.reserve(values.capacity()); }) {
    if (values.size() == values.capacity()) {
      const auto before = values.capacity() > charged ? values.capacity() : 0; // Else charged with the elements.
      const auto capacity = grown_capacity(values.capacity());
      if (!from.charge_memory(capacity * sizeof(element)))
        return false;
      values.reserve(capacity);
      from.outgrow(before * sizeof(element));
    }
    return from.charge(1, new_value_bytes<element>() - sizeof(element));
  } else {
    return from.charge(1, new_node_bytes<element>());
  }
}

/// Reads bytes in place of a list of numbers. Each byte is one number, which is passed to `take`.
template <class Number>
bool visit_read_each_byte(value_reader& from, auto&& take) {
  std::span<const std::byte> view;
  if (!from.bytes(view))
    return false;
  for (std::size_t at = 0; at < view.size(); ++at) {
    const auto value = troupe::number::of(std::to_integer<std::uint64_t>(view[at]));
    Number made{};
    if (!value.to(made))
      return from.fail(serialize_errc::layout_mismatch,
                       value.text() + " does not fit " + std::string(name_of(kind_of<Number>)))
             || from.within(at);
    if (!take(made))
      return from.within(at);
  }
  return true;
}

template <class T>
bool visit_read_text(value_reader& from, T& target) {
  std::string_view value;
  if (!from.text(value) || !from.charge(1, text_memory_bytes<T>(value)))
    return false;
  target = value;
  return true;
}

template <class Numbers>
bool visit_read_numbers(value_reader& from, Numbers& target) {
  if constexpr (is_byte<typename Numbers::value_type>) {
    if (from.at_bytes()) {
      std::span<const std::byte> view;
      if (!from.bytes(view) || !from.charge(1, view.size()))
        return false;
      target.resize(view.size());
      if (!view.empty())
        std::memcpy(target.data(), view.data(), view.size());
      return true;
    }
  }
  return walk_read_elements<visit_source>(from, target);
}

/// For arrays of numbers.
template <class T>
bool visit_read_fixed(value_reader& from, T& target) {
  using element = typename fixed_extent<T>::element;
  constexpr auto count = fixed_extent<T>::count;
  if constexpr (is_byte<element>) {
    if (from.at_bytes()) {
      std::span<const std::byte> view;
      if (!from.bytes(view) || (view.size() != count && !fail_count(from, count)))
        return false;
      if constexpr (count > 0)
        std::memcpy(std::data(target), view.data(), count);
      return true;
    }
  }
  if constexpr (!is_byte<element>)
    if (from.at_bytes()) {
      std::size_t at = 0;
      const auto put = [&](element value) {
        return at < count ? (std::data(target)[at++] = value, true) : fail_count(from, count);
      };
      return visit_read_each_byte<element>(from, put) && (at == count || fail_count(from, count));
    }
  return walk_read_fixed<visit_source>(from, target);
}

template <class T>
bool visit_read_array(value_reader& from, array<T>& target); // In visit_arrays.hpp.

/// The counterpart of visit_sink.
struct visit_source {
  using reader = value_reader;

  template <class T>
  static constexpr bool is_leaf = is_visited_whole<T>();

  template <class T>
  static bool leaf(reader& from, T& target) {
    constexpr auto of = shape_of<T>;
    if constexpr (of == shape::boolean) {
      return from.boolean(target);
    } else if constexpr (of == shape::number) {
      return visit_read_number(from, target);
    } else if constexpr (of == shape::enumeration) {
      return visit_read_enum(from, target);
    } else if constexpr (of == shape::text || of == shape::path) {
      return visit_read_text(from, target);
    } else if constexpr (of == shape::duration || of == shape::time_point) {
      typename T::rep count{};
      if (!visit_read_count<T>(from, count))
        return false;
      if constexpr (of == shape::duration)
        target = T(count);
      else
        target = T(typename T::duration(count));
      return true;
    } else if constexpr (of == shape::unit) {
      return from.null();
    } else if constexpr (of == shape::record) {
      return read_record(from, target);
    } else if constexpr (of == shape::frame) {
      return from.attached(target);
    } else if constexpr (of == shape::array) {
      return visit_read_array(from, target);
    } else if constexpr (of == shape::numbers) {
      return visit_read_numbers(from, target);
    } else if constexpr (of == shape::fixed) {
      return visit_read_fixed(from, target);
    } else {
      static_assert(no_such_shape<T>);
    }
  }

  template <class T>
  static bool structure(reader& from, T& target) {
    return visit_read_fields(from, target);
  }
  template <class T, std::size_t Index, class Member>
  static bool member(reader& from, Member& member) {
    return walk_read<visit_source>(from, member) || from.within(fields_of<T>::names[Index]);
  }

  static bool begin_tuple(reader& from, std::size_t) { return begin_parts(from); }
  static bool part(reader& from, std::size_t count) {
    bool more = false;
    return from.next(more) && (more || fail_count(from, count));
  }
  static bool end_tuple(reader& from, std::size_t count) {
    bool more = false;
    return from.next(more) && (!more || fail_count(from, count));
  }
  static bool begin_fixed(reader& from, std::size_t) { return begin_parts(from); }
  static bool end_fixed(reader& from, std::size_t count) {
    bool more = false;
    return from.next(more) && (!more || fail_count(from, count) || from.within(count));
  }

  template <class T>
  static bool at_whole(reader& from) {
    if constexpr (numeric<typename T::value_type>)
      return from.at_bytes();
    else
      return false;
  }
  template <class T>
  static bool whole(reader& from, T& target) {
    if constexpr (numeric<typename T::value_type>)
      return visit_read_each_byte<typename T::value_type>(
          from, [&](auto value) { return make_room(from, target, 0) && put_element(from, target, std::move(value)); });
    else
      return false;
  }
  static constexpr bool is_count_known = false;
  template <class T>
  static bool begin_elements(reader& from, std::size_t& count) {
    return shape_of<T> == shape::map ? from.begin_map(count) : from.begin_list(count);
  }
  static bool element(reader& from, std::size_t, std::size_t, bool& more) { return from.next(more); }
  template <class T>
  static bool room(reader& from, T& target, std::size_t charged) {
    return make_room(from, target, charged);
  }

  static constexpr bool is_absent_nested = true;
  static bool present(reader& from, bool& is_there) {
    is_there = from.kind() != value_kind::null;
    return is_there || from.null();
  }
  /// The sender marks the value if it could be null in the sender's type.
  template <class T>
  static bool some(reader& from, auto&& read) {
    if (from.kind() == value_kind::some || (nullable<T>() && from.at_some()))
      return from.begin_some() && read() && from.end_some();
    return read();
  }

  static bool find_object(reader& from, met_object& met) { return present(from, met.is_there); }
  static bool begin_object(reader& from, met_object& met) {
    met.number = from.shared_count();
    met.is_numbered = from.kind() == value_kind::shared; // Else the sender had no shared pointer here.
    if (met.is_numbered && !from.shared(met.is_first, met.number))
      return false;
    return !met.is_first || met.number == from.shared_count()
           || from.fail(serialize_errc::malformed, "shared object out of order");
  }

  template <class T>
  static bool begin_option(reader& from, const T& target, std::size_t& index) {
    std::size_t expected = 0;
    bool more = false;
    std::string_view name;
    if (!from.begin_map(expected) || !from.next(more) || (!more && !fail_count(from, 1)) || !from.text(name))
      return false;
    const auto& labels = variant_labels(&target);
    index = static_cast<std::size_t>(std::find(labels.begin(), labels.end(), name) - labels.begin());
    return index < labels.size()
           || from.fail(serialize_errc::layout_mismatch,
                        "'" + std::string(name.substr(0, 100)) + "' is no alternative of this variant");
  }
  static bool end_option(reader& from) {
    bool more = false;
    return from.next(more) && (!more || fail_count(from, 1));
  }

private:
  static bool begin_parts(reader& from) {
    std::size_t expected = 0;
    return from.begin_list(expected);
  }
};

template <class T>
bool visit_read(value_reader& from, T& target) {
  return walk_read<visit_source>(from, target);
}

} // namespace troupe::detail

#include <troupe/serializers/internal/visit/visit_arrays.hpp>
