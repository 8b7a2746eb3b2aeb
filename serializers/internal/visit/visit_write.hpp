// Writes any value to a value_writer, by its shape.
#pragma once

#include <algorithm>
#include <typeinfo>

#include <troupe/base/export.hpp>
#include <troupe/serializers/internal/coding/common.hpp>
#include <troupe/serializers/internal/words/type_text.hpp>
#include <troupe/serializers/value_writer.hpp>

namespace troupe::detail {

template <class T>
bool visit_write(value_writer& to, const T& value);
TROUPE_EXPORT bool write_record(value_writer& to, const record& value);
TROUPE_EXPORT bool check_written_names(coding& state, const record& value);

/// Whether an object of a derived class has an alias, which a second pointer to it will need even where the first one
/// did not.
template <class T>
bool can_be_named(coding& state, const T& object) {
  if constexpr (may_be_derived<T>)
    return (makeable<T>() && typeid(object) == typeid(T)) || check_class(state, pointed_by(object));
  else
    return true;
}

/// The value in the form in which it travels; nullopt, with the failure set, when its codec refuses.
template <class T>
auto reduced(coding& state, const T& value) -> std::optional<typename hook<T>::form> {
  auto form = called_codec([&] { return hook<T>::reduce(value, state.context()); });
  if (form)
    return std::move(*form);
  state.fail(form.error());
  return std::nullopt;
}

template <class T, std::size_t... Index>
bool visit_write_fields(value_writer& to, const T& value, std::index_sequence<Index...>) {
  using fields = fields_of<T>;
  [[maybe_unused]] const auto write = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
    return to.field(fields::names[I])
           && (visit_write(to, value.*std::get<I>(fields::members)) || to.within(fields::names[I]));
  };
  return to.begin_structure(fields::count) && (true && ... && write(std::integral_constant<std::size_t, Index>{}))
         && to.end_structure();
}

template <class T, std::size_t... Index>
bool visit_write_parts(value_writer& to, const T& value, std::index_sequence<Index...>) {
  return to.begin_list(sizeof...(Index))
         && (true && ... && (visit_write(to, std::get<Index>(value)) || to.within(Index))) && to.end_list();
}

template <class Range>
bool visit_write_list(value_writer& to, const Range& values, std::size_t count) {
  if (!to.enter() || !to.begin_list(count))
    return false;
  std::size_t at = 0;
  for (const auto& value : values) {
    if (!visit_write<std::remove_cvref_t<typename std::iterator_traits<decltype(std::begin(values))>::value_type>>(
            to, value))
      return to.within(at);
    ++at;
  }
  to.leave();
  return to.end_list();
}

template <class T>
bool visit_write_map(value_writer& to, const T& values) {
  if (!to.enter() || !(text_keyed<T>() ? to.begin_text_map(values.size()) : to.begin_map(values.size())))
    return false;
  std::size_t at = 0;
  for (const auto& [key, value] : values) {
    if (!visit_write(to, key) || !visit_write(to, value))
      return to.within(at);
    ++at;
  }
  to.leave();
  return to.end_map();
}

// Whatever may be absent: nothing, or the value, marked where that itself can look like nothing.
template <class T>
bool visit_write_pointee(value_writer& to, const T* value) {
  if constexpr (nullable<T>()) {
    return value == nullptr ? to.null() : to.begin_some() && visit_write(to, *value) && to.end_some();
  } else {
    return value == nullptr ? to.null() : visit_write(to, *value);
  }
}

// What a pointer points to, which is there: where it may be of a derived class, with the alias.
template <class T>
bool visit_write_pointed(value_writer& to, const T* object) {
  if constexpr (!may_be_derived<T>) {
    return visit_write(to, *object);
  } else {
    if constexpr (makeable<T>())
      if (typeid(*object) == typeid(T))
        return begin_own_class(to) && visit_write(to, *object) && end_own_class(to);
    return write_pointee(to, pointed_by(*object));
  }
}

template <class T>
bool visit_write_unique(value_writer& to, const T* object) {
  if (!check_owned(to, object) || !to.enter())
    return false;
  if constexpr (may_be_derived<T>) {
    if (object == nullptr ? !to.null() : !visit_write_pointed(to, object))
      return false;
  } else if (!visit_write_pointee(to, object)) {
    return false;
  }
  to.leave();
  return true;
}

/// `owned`: the pointer is no weak one.
template <class T>
bool visit_write_shared(value_writer& to, const T* object, bool owned) {
  if (object == nullptr)
    return to.null();
  if (!can_be_named(to, *object))
    return false;
  const auto [number, first] = appear(to, object);
  if (!first)
    return (!owned || to.may_refer(number)) && to.shared_again(number);
  if (!to.enter())
    return false;
  to.begin_shared_content(number, owned);
  if (!to.begin_shared(number) || !visit_write_pointed(to, object) || !to.end_shared() || !to.end_shared_content())
    return false;
  to.leave();
  return true;
}

template <class T>
bool visit_write_numbers(value_writer& to, const T* data, std::size_t count) {
  if constexpr (is_byte<T>)
    return to.bytes(std::as_bytes(std::span(data, count)));
  else
    return to.numbers(block_of(data, count));
}

template <class T>
bool visit_write_fixed(value_writer& to, const T& values) {
  using element = typename fixed_extent<T>::element;
  constexpr auto count = fixed_extent<T>::count;
  if constexpr (numeric<element>)
    return visit_write_numbers(to, std::data(values), count);
  else
    return visit_write_list(to, values, count);
}

template <class T>
bool visit_write_array(value_writer& to, const array<T>& values) {
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
  if (is_shared && to.array_again(form, sent.bytes()))
    return !to.failed();
  const auto may_attach = is_shared || sent.size() * sizeof(T) >= out_of_band_bytes;
  const auto is_attached = may_attach && to.attaches_array(sent.bytes());
  if (to.failed() || !to.begin_array(form))
    return false;
  if (is_attached)
    return to.attach(sent.bytes()) && to.end_array();
  if constexpr (is_byte<T>)
    return to.array_bytes(std::as_bytes(sent.span())) && to.end_array();
  else
    return to.array_numbers(block_of(sent.data(), sent.size())) && to.end_array();
}

template <class T>
bool visit_write_variant(value_writer& to, const T& value) {
  if (value.valueless_by_exception())
    return to.fail(serialize_errc::codec_failed, "the variant is valueless");
  return to.begin_variant(variant_labels(&value)[value.index()])
         && std::visit([&](const auto& option) { return visit_write(to, option); }, value) && to.end_variant();
}

template <class T>
bool visit_write(value_writer& to, const T& value) {
  constexpr auto of = shape_of<T>;
  if constexpr (of == shape::hook) {
    const auto form = reduced(to, value);
    return form && visit_write(to, *form);
  } else if constexpr (of == shape::structure) {
    return visit_write_fields(to, value, std::make_index_sequence<fields_of<T>::count>{});
  } else if constexpr (of == shape::boolean) {
    return to.boolean(value);
  } else if constexpr (of == shape::number) {
    return to.number(value);
  } else if constexpr (of == shape::enumeration && described_enum<T>) {
    const auto name = enumerator_name(to, value);
    return !to.failed() && to.enumeration(name, static_cast<std::int64_t>(value));
  } else if constexpr (of == shape::enumeration) {
    return visit_write(to, static_cast<std::underlying_type_t<T>>(value));
  } else if constexpr (of == shape::text) {
    return to.text(value);
  } else if constexpr (of == shape::path) {
    return to.text(value.native());
  } else if constexpr (of == shape::duration) {
    return to.text(count_text<T>(value.count()));
  } else if constexpr (of == shape::time_point) {
    return to.text(count_text<T>(value.time_since_epoch().count()));
  } else if constexpr (of == shape::unit) {
    return to.null();
  } else if constexpr (of == shape::optional) {
    return visit_write_pointee(to, value ? &*value : nullptr);
  } else if constexpr (of == shape::unique) {
    return visit_write_unique<std::remove_const_t<typename T::element_type>>(to, value.get());
  } else if constexpr (of == shape::shared) {
    return visit_write_shared<std::remove_const_t<typename T::element_type>>(to, value.get(), true);
  } else if constexpr (of == shape::weak) {
    return visit_write_shared<std::remove_const_t<typename T::element_type>>(to, value.lock().get(), false);
  } else if constexpr (of == shape::variant) {
    return visit_write_variant(to, value);
  } else if constexpr (of == shape::record) {
    return write_record(to, value);
  } else if constexpr (of == shape::tuple) {
    return visit_write_parts(to, value, std::make_index_sequence<std::tuple_size_v<T>>{});
  } else if constexpr (of == shape::fixed) {
    return visit_write_fixed(to, value);
  } else if constexpr (of == shape::frame) {
    return to.attach(value);
  } else if constexpr (of == shape::array) {
    return visit_write_array(to, value);
  } else if constexpr (of == shape::numbers) {
    return visit_write_numbers(to, value.data(), value.size());
  } else if constexpr (of == shape::sequence || of == shape::set) {
    return visit_write_list(to, value, value.size());
  } else if constexpr (of == shape::map) {
    return visit_write_map(to, value);
  } else if constexpr (of == shape::unsupported) {
    return write_foreign(to, typeid(T), const_cast<const std::remove_cv_t<T>*>(&value));
  } else {
    static_assert(no_such_shape<T>);
  }
}

} // namespace troupe::detail
