// Writes any value to a value_writer.
#pragma once

#include <algorithm>
#include <typeinfo>

#include <troupe/base/export.hpp>
#include <troupe/serializers/extend/value_writer.hpp>
#include <troupe/serializers/internal/coding/walk_write.hpp>
#include <troupe/serializers/internal/visit/weighing.hpp>
#include <troupe/serializers/internal/visit/whole.hpp>
#include <troupe/serializers/internal/words/type_text.hpp>

namespace troupe::detail {

TROUPE_EXPORT bool write_record(value_writer& to, const record& value);

/// The memory that readers charge for the elements of a list, set or map by this writer, without the content of the
/// elements.
template <class T>
std::size_t visited_elements_bytes(const value_writer& to, std::size_t count) {
  using element = typename T::value_type;
  if constexpr (grows_at_once<T> && requires(T & values) { values.reserve(values.capacity()); }) {
    if (to.counts_ahead())
      return count * element_memory<T>();
    const auto capacity =
        std::is_same_v<element, bool> && count > 0 && count <= bools_at_least ? 1 : capacity_for(count, 0);
    return capacity * sizeof(element) + count * (new_value_bytes<element>() - sizeof(element));
  } else if constexpr (grows_at_once<T>) {
    return count * std::max(element_memory<T>(), new_node_bytes<element>());
  } else {
    return count * element_memory<T>();
  }
}

template <class T>
bool visit_write_numbers(value_writer& to, const T* data, std::size_t count) {
  if constexpr (is_byte<T>)
    return to.bytes(std::as_bytes(std::span(data, count)));
  else
    return to.numbers(block_of(data, count));
}

/// `as_record`: readers make a record with the array's fields.
template <class T>
bool visit_write_array(value_writer& to, const array<T>& values, bool as_record = false) {
  if (!check_dimensions(to, values.rank()))
    return false;
  const auto is_shared = may_come_again(values);
  const auto once = values.without_repeats();
  const auto is_fortran = !once.is_contiguous() && once.is_contiguous(memory_order::fortran);
  const auto sent = packed_once(to, once, is_shared);
  const value_writer::array_form form{.of = kind_of<T>,
                                      .shape = values.shape(),
                                      .data_shape = sent.shape(),
                                      .order = is_fortran ? memory_order::fortran : memory_order::c};
  weighed_array weighed{.shape = form.shape,
                        .data_shape = form.data_shape,
                        .element_bytes = sizeof(T),
                        .is_fortran = is_fortran,
                        .is_in_bytes = is_byte<T>};
  if (is_shared && to.array_again(form, sent.bytes())) {
    to.weigh(as_record ? record_of_array_bytes(to, weighed) : array_again_bytes);
    return !to.failed();
  }
  const auto may_attach = is_shared || sent.size() * sizeof(T) >= out_of_band_bytes;
  const auto is_attached = may_attach && to.attaches_array(sent.bytes());
  weighed.is_attached = is_attached;
  to.weigh(as_record ? record_of_array_bytes(to, weighed) : array_bytes(to, weighed));
  if (to.failed() || !to.begin_array(form))
    return false;
  if (is_attached)
    return to.attach(sent.bytes()) && to.end_array();
  if constexpr (is_byte<T>)
    return to.array_bytes(std::as_bytes(sent.span())) && to.end_array();
  else
    return to.array_numbers(block_of(sent.data(), sent.size())) && to.end_array();
}

/// Fields by name, enumerators by name, durations as texts.
struct visit_sink {
  using writer = value_writer;

  template <class T>
  static constexpr bool is_leaf = is_visited_whole<T>();

  template <class T>
  static bool leaf(writer& to, const T& value) {
    constexpr auto of = shape_of<T>;
    if constexpr (of == shape::boolean)
      return to.boolean(value);
    else if constexpr (of == shape::number)
      return to.number(value);
    else if constexpr (described_enum<T>) {
      const auto name = enumerator_name(to, value);
      return !to.failed() && to.enumeration(name, static_cast<std::int64_t>(value));
    } else if constexpr (of == shape::enumeration)
      return leaf(to, static_cast<std::underlying_type_t<T>>(value));
    else if constexpr (of == shape::text) {
      to.weigh(text_memory_bytes<T>(value));
      return to.text(value);
    } else if constexpr (of == shape::path) {
      to.weigh(text_memory_bytes<T>(value.native()));
      return to.text(value.native());
    } else if constexpr (of == shape::duration)
      return to.text(count_text<T>(value.count()));
    else if constexpr (of == shape::time_point)
      return to.text(count_text<T>(value.time_since_epoch().count()));
    else if constexpr (of == shape::unit)
      return to.null();
    else if constexpr (of == shape::record)
      return write_record(to, value);
    else if constexpr (of == shape::frame)
      return to.attach(value);
    else if constexpr (of == shape::array)
      return visit_write_array(to, value);
    else if constexpr (of == shape::numbers || of == shape::fixed) {
      if constexpr (of == shape::numbers)
        to.weigh(is_byte<typename T::value_type> ? value.size() : elements_bytes<T>(to, value.size()));
      return visit_write_numbers(to, std::data(value), std::size(value));
    } else
      static_assert(no_such_shape<T>);
  }

  struct form_scope {
    explicit form_scope(writer&) {}
  };

  template <class T>
  static bool begin_structure(writer& to) {
    return to.begin_structure(fields_of<T>::count);
  }
  template <class T, std::size_t Index, class Member>
  static bool field(writer& to, const Member& member) {
    constexpr const auto& name = fields_of<T>::names[Index];
    return to.field(name) && (walk_write<visit_sink>(to, member) || to.within(name));
  }
  static bool end_structure(writer& to) { return to.end_structure(); }

  static bool begin_tuple(writer& to, std::size_t count) { return to.begin_list(count); }
  static bool end_tuple(writer& to) { return to.end_list(); }
  static bool begin_fixed(writer& to, std::size_t count) { return to.begin_list(count); }
  static bool begin_list(writer& to, std::size_t count) { return to.begin_list(count); }
  static bool end_list(writer& to) { return to.end_list(); }
  template <class T>
  static bool begin_map(writer& to, std::size_t count) {
    return text_keyed<T>() ? to.begin_text_map(count) : to.begin_map(count);
  }
  static bool end_map(writer& to) { return to.end_map(); }

  static constexpr bool is_absent_nested = true;
  static bool absent(writer& to) { return to.null(); }
  template <bool Shell>
  static bool begin_some(writer& to) {
    return !Shell || to.begin_some();
  }
  template <bool Shell>
  static bool end_some(writer& to) {
    return !Shell || to.end_some();
  }

  static bool no_object(writer& to) { return to.null(); }
  static bool object_again(writer& to, std::size_t number) { return to.shared_again(number); }
  static bool begin_object(writer& to, std::size_t number) { return to.begin_shared(number); }
  static bool end_object(writer& to) { return to.end_shared(); }

  template <class T>
  static bool begin_option(writer& to, const T& value) {
    return to.begin_variant(variant_labels(&value)[value.index()]);
  }
  static bool end_option(writer& to) { return to.end_variant(); }

  template <class T>
  static std::size_t elements_bytes(writer& to, std::size_t count) {
    return visited_elements_bytes<T>(to, count);
  }
};

template <class T>
bool visit_write(value_writer& to, const T& value) {
  return walk_write<visit_sink>(to, value);
}

} // namespace troupe::detail
