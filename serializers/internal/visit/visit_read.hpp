// Reads any value from a value_reader, by its shape: fields by name, numbers checked, everything charged first.
#pragma once

#include <algorithm>
#include <bitset>
#include <cstring>

#include <troupe/base/export.hpp>
#include <troupe/serializers/internal/coding/taking.hpp>
#include <troupe/serializers/value_reader.hpp>

namespace troupe::detail {

template <class T>
bool visit_read(value_reader& from, T& target);
TROUPE_EXPORT bool read_record(value_reader& from, record& target);

/// For helpers that take "read into any T&".
inline auto visitor_into(value_reader& from) {
  return [&from](auto& target) { return visit_read(from, target); };
}

template <class T>
bool visit_read_number(value_reader& from, T& target) {
  troupe::number value;
  if (!from.number(value))
    return false;
  return value.to(target)
         || from.fail(serialize_errc::layout_mismatch,
                      value.text() + " does not fit " + std::string(name_of(kind_of<T>)));
}

/// The count of a duration or point in time T: a text with its unit, or a number in whatever unit the reader knows.
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
    if (!visit_read(from, value))
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
  using fields = fields_of<T>;
  static_cast<void>((
      false || ... || (Index == index && ((read = visit_read(from, target.*std::get<Index>(fields::members))), true))));
  return read;
}

template <class T>
bool visit_read_fields(value_reader& from, T& target) {
  constexpr auto count = fields_of<T>::count;
  constexpr const auto& names = fields_of<T>::names;
  if (!from.begin_structure())
    return false;
  std::bitset<(count > 0 ? count : 1)> seen;
  std::size_t likely = 0; // Fields mostly come in the order in which this type has them.
  for (;;) {
    std::string_view name;
    bool more = false;
    if (!from.field(name, more))
      return false;
    if (!more)
      break;
    auto index = likely < count && names[likely] == name
                     ? likely
                     : static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
    if (index == count) { // A field that this version of the type does not have.
      if (!from.charge(1, 0) || !from.skip())
        return false;
      continue;
    }
    if (seen[index])
      return from.fail(serialize_errc::malformed, "a field twice") || from.within(names[index]);
    seen[index] = true;
    if (!visit_read_field(from, target, index, std::make_index_sequence<count>{}))
      return from.within(names[index]);
    likely = index + 1;
  }
  return true;
}

inline bool fail_count(value_reader& from, std::size_t expected) {
  return from.fail(serialize_errc::layout_mismatch, "a list of other than " + grouped(expected) + " elements");
}

template <class T, std::size_t... Index>
bool visit_read_parts(value_reader& from, T& target, std::index_sequence<Index...>) {
  std::size_t expected = 0;
  if (!from.begin_list(expected))
    return false;
  bool more = false;
  [[maybe_unused]] const auto read = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
    return from.next(more) && (more || fail_count(from, sizeof...(Index)))
           && (visit_read(from, std::get<I>(target)) || from.within(I));
  };
  return (true && ... && read(std::integral_constant<std::size_t, Index>{})) && from.next(more)
         && (!more || fail_count(from, sizeof...(Index)));
}

/// `element` reads one element; false when it failed.
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

/// Makes room for one more element of a container that was charged `charged` elements ahead. Beyond those the input
/// did not know how many would come: the container grows here, where each step can be charged before it is taken.
template <class T>
bool make_room(value_reader& from, T& values, std::size_t charged) {
  using element = typename T::value_type;
  if (values.size() < charged)
    return true;
  if constexpr (grows_at_once<T> && requires { values.reserve(values.capacity()); }) {
    if (values.size() == values.capacity()) {
      const auto before = values.capacity() > charged ? values.capacity() : 0; // Else charged with its elements.
      const auto capacity = std::max<std::size_t>(1, 2 * values.capacity());
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

/// Bytes where a list of numbers is expected: each of them is one. `take` gets it.
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

/// Lists, sets and maps.
template <class T>
bool visit_read_elements(value_reader& from, T& target) {
  constexpr bool is_map = shape_of<T> == shape::map;
  target.clear();
  if constexpr (numeric<typename T::value_type>)
    if (from.at_bytes())
      return visit_read_each_byte<typename T::value_type>(
          from, [&](auto value) { return make_room(from, target, 0) && put_element(from, target, std::move(value)); });
  std::size_t expected = 0;
  if (!from.enter() || !(is_map ? from.begin_map(expected) : from.begin_list(expected)))
    return false;
  const auto charged = is_keyed<T> ? 0 : expected; // Keys are charged one by one.
  if (!from.charge(charged, element_memory<T>()))
    return false;
  make_room_for(target, charged);
  const auto done = visit_read_each(
      from, [&] { return make_room(from, target, charged) && take_element(from, target, visitor_into(from)); });
  if (done)
    from.leave();
  return done;
}

/// `read` reads what a pointer or optional has: a T, marked by the sender where its own type can be nothing.
template <class T>
bool visit_read_some(value_reader& from, auto&& read) {
  if (from.kind() == value_kind::some || (nullable<T>() && from.at_some()))
    return from.begin_some() && read() && from.end_some();
  return read();
}

/// Reads what visit_write_pointee wrote, or only the value, from senders where it was always there: `absent` is called
/// when there is nothing, `present` reads the value.
template <class T>
bool visit_read_pointee(value_reader& from, auto&& absent, auto&& present) {
  if (from.kind() == value_kind::null)
    return absent() && from.null();
  return visit_read_some<T>(from, present);
}

template <class T>
bool visit_read_optional(value_reader& from, T& target) {
  return visit_read_pointee<typename T::value_type>(
      from, [&] { return target.reset(), true; }, [&] { return take_optional(from, target, visitor_into(from)); });
}

template <class T>
bool visit_read_unique(value_reader& from, T& target) {
  if (!from.enter())
    return false;
  const auto done = visit_read_pointee<pointee_of<T>>(
      from, [&] { return target.reset(), true; }, [&] { return take_unique(from, target, visitor_into(from)); });
  if (done)
    from.leave();
  return done;
}

template <class T>
bool visit_read_shared_object(value_reader& from, T& target) {
  bool first = true;
  std::size_t number = from.shared_count();
  const bool is_numbered = from.kind() == value_kind::shared; // Else it was no shared pointer there.
  if (is_numbered && !from.shared(first, number))
    return false;
  if (!first)
    return take_shared_again(from, target, number);
  if (number != from.shared_count())
    return from.fail(serialize_errc::malformed, "shared object out of order");
  return take_shared(from, target, is_numbered, visitor_into(from));
}

template <class T>
bool visit_read_shared(value_reader& from, T& target) {
  return visit_read_pointee<pointee_of<T>>(
      from, [&] { return target.reset(), true; }, [&] { return visit_read_shared_object(from, target); });
}

template <class T>
bool visit_read_variant(value_reader& from, T& target) {
  std::size_t expected = 0;
  bool more = false;
  std::string_view name;
  if (!from.begin_map(expected) || !from.next(more) || (!more && !fail_count(from, 1)) || !from.text(name))
    return false;
  const auto& labels = variant_labels(&target);
  const auto index = static_cast<std::size_t>(std::find(labels.begin(), labels.end(), name) - labels.begin());
  if (index == labels.size())
    return from.fail(serialize_errc::layout_mismatch,
                     "'" + std::string(name.substr(0, 100)) + "' is no alternative of this variant");
  return read_alternative(from, target, index, visitor_into(from)) && from.next(more) && (!more || fail_count(from, 1));
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
  return visit_read_elements(from, target);
}

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
  std::size_t expected = 0;
  std::size_t at = 0;
  if constexpr (numeric<element> && !is_byte<element>)
    if (from.at_bytes())
      return visit_read_each_byte<element>(from,
                                           [&](element value) {
                                             return at < count ? (std::data(target)[at++] = value, true)
                                                               : fail_count(from, count);
                                           })
             && (at == count || fail_count(from, count));
  if (!from.begin_list(expected))
    return false;
  const auto done = visit_read_each(
      from, [&] { return at < count ? visit_read(from, std::data(target)[at++]) : fail_count(from, count); });
  return done && (at == count || fail_count(from, count));
}

template <class T>
bool visit_read_array(value_reader& from, array<T>& target); // In visit_arrays.hpp.

template <class T>
bool visit_read(value_reader& from, T& target) {
  constexpr auto of = shape_of<T>;
  if constexpr (is_memory<T>) {
    return read_foreign(from, typeid(target.value), placing::construct, &target.value);
  } else if constexpr (holds_unmovable<T>()) {
    return fail_unmovable<T>(from);
  } else if constexpr (of == shape::hook) {
    return take_rebuilt(from, target, visitor_into(from));
  } else if constexpr (of == shape::structure) {
    return visit_read_fields(from, target);
  } else if constexpr (of == shape::boolean) {
    return from.boolean(target);
  } else if constexpr (of == shape::number) {
    return visit_read_number(from, target);
  } else if constexpr (of == shape::enumeration) {
    return visit_read_enum(from, target);
  } else if constexpr (of == shape::text || of == shape::path) {
    return visit_read_text(from, target);
  } else if constexpr (of == shape::duration) {
    typename T::rep count{};
    if (!visit_read_count<T>(from, count))
      return false;
    target = T(count);
    return true;
  } else if constexpr (of == shape::time_point) {
    typename T::rep count{};
    if (!visit_read_count<T>(from, count))
      return false;
    target = T(typename T::duration(count));
    return true;
  } else if constexpr (of == shape::unit) {
    return from.null();
  } else if constexpr (of == shape::optional) {
    return visit_read_optional(from, target);
  } else if constexpr (of == shape::unique) {
    return visit_read_unique(from, target);
  } else if constexpr (of == shape::shared || of == shape::weak) {
    return visit_read_shared(from, target);
  } else if constexpr (of == shape::variant) {
    return visit_read_variant(from, target);
  } else if constexpr (of == shape::record) {
    return read_record(from, target);
  } else if constexpr (of == shape::tuple) {
    return visit_read_parts(from, target, std::make_index_sequence<std::tuple_size_v<T>>{});
  } else if constexpr (of == shape::fixed) {
    return visit_read_fixed(from, target);
  } else if constexpr (of == shape::frame) {
    return from.attached(target);
  } else if constexpr (of == shape::array) {
    return visit_read_array(from, target);
  } else if constexpr (of == shape::numbers) {
    return visit_read_numbers(from, target);
  } else if constexpr (of == shape::sequence || of == shape::set || of == shape::map) {
    return visit_read_elements(from, target);
  } else if constexpr (of == shape::unsupported) {
    return read_foreign(from, typeid(T), placing::assign, const_cast<std::remove_cv_t<T>*>(&target));
  } else {
    static_assert(no_such_shape<T>);
  }
}

} // namespace troupe::detail

#include <troupe/serializers/internal/visit/visit_arrays.hpp>
