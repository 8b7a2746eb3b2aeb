// The walk that writes a value by its shape, from the value to its parts, for writers of any kind.
//
// A `Sink` adapts the writers of one kind. It has a type `writer`, which is an encoding, and these static members,
// which return false on failure:
//   is_leaf<T>, leaf(to, value)                 values without parts, or written as a whole
//   form_scope(to)                              lives as long as the form of a value that travels as another type
//   begin_structure<T>, field<T, Index>, end_structure
//   begin_tuple, end_tuple                      with the count
//   begin_fixed, begin_list, end_list           with the count, which the reader knows if it is fixed
//   begin_map<T>, end_map                       with the count
//   absent, begin_some<shell>, end_some<shell>  values that may be absent; with a shell if a value can look absent
//   is_absent_nested                            whether an absent object of a unique pointer counts as a level
//   no_object, object_again, begin_object, end_object
//   begin_option, end_option                    with the variant
//   elements_bytes<T>(to, count)                the memory that readers charge for the elements of a list, set or map,
//                                               without the content of these elements
// Everything is inlined: writers without virtual calls are as fast as if written by hand.
#pragma once

#include <iterator>
#include <memory>
#include <optional>
#include <tuple>
#include <typeinfo>
#include <utility>
#include <variant>

#include <troupe/serializers/internal/coding/common.hpp>

namespace troupe::detail {

template <class Sink, class T>
bool walk_write(typename Sink::writer& to, const T& value);

/// Whether an object of a derived class has an alias. A second pointer to it needs an alias even if the first one did
/// not.
template <class T>
bool can_be_named(coding& state, const T& object) {
  if constexpr (may_be_derived<T>)
    return (makeable<T>() && typeid(object) == typeid(T)) || check_class(state, pointed_by(object));
  else
    return true;
}

/// The memory that a value holds because of its codec. Readers do not charge it if rebuilding takes nothing.
template <class T>
std::size_t held_by_codec(const T& value) {
  if constexpr (requires { codec<T>::held_bytes(value); })
    return codec<T>::held_bytes(value);
  else
    return 0;
}

/// The value in the form in which it travels. Nullopt, with the failure set, if its codec refuses the value.
template <class T>
auto reduced(coding& state, const T& value) -> std::optional<typename hook<T>::form> {
  auto form = called_codec([&] { return hook<T>::reduce(value, state.context()); });
  if (form)
    return std::move(*form);
  state.fail(form.error());
  return std::nullopt;
}

// Walks parts by index in functions, because a closure that is not inlined would cost one more call.
template <class Sink, class T, std::size_t... Index>
bool walk_structure(typename Sink::writer& to, const T& value, std::index_sequence<Index...>) {
  return Sink::template begin_structure<T>(to)
         && (true && ... && Sink::template field<T, Index>(to, value.*std::get<Index>(fields_of<T>::members)))
         && Sink::end_structure(to);
}

template <class Sink, class T, std::size_t... Index>
bool walk_tuple(typename Sink::writer& to, const T& value, std::index_sequence<Index...>) {
  return Sink::begin_tuple(to, sizeof...(Index))
         && (true && ... && (walk_write<Sink>(to, std::get<Index>(value)) || to.within(Index))) && Sink::end_tuple(to);
}

/// Writes lists, sets, and containers with a fixed number of elements.
template <class Sink, class T>
bool walk_elements(typename Sink::writer& to, const T& values) {
  using element = std::remove_cvref_t<typename std::iterator_traits<decltype(std::begin(values))>::value_type>;
  constexpr bool is_fixed = shape_of<T> == shape::fixed;
  if (!to.enter() || !(is_fixed ? Sink::begin_fixed(to, std::size(values)) : Sink::begin_list(to, std::size(values))))
    return false;
  if constexpr (!is_fixed)
    to.weigh(Sink::template elements_bytes<T>(to, std::size(values)));
  std::size_t at = 0;
  for (const auto& value : values) {
    if (!walk_write<Sink, element>(to, value))
      return to.within(at);
    ++at;
  }
  to.leave();
  return Sink::end_list(to);
}

template <class Sink, class T>
bool walk_map(typename Sink::writer& to, const T& values) {
  if (!to.enter() || !Sink::template begin_map<T>(to, values.size()))
    return false;
  to.weigh(Sink::template elements_bytes<T>(to, values.size()));
  std::size_t at = 0;
  for (const auto& [key, value] : values) {
    if (!walk_write<Sink>(to, key) || !walk_write<Sink>(to, value))
      return to.within(at);
    ++at;
  }
  to.leave();
  return Sink::end_map(to);
}

template <class Sink, class T>
bool walk_optional(typename Sink::writer& to, const T& value) {
  constexpr bool shell = nullable<typename T::value_type>();
  return value ? Sink::template begin_some<shell>(to) && walk_write<Sink>(to, *value)
                     && Sink::template end_some<shell>(to)
               : Sink::absent(to);
}

/// Writes the object of a pointer, with the name of its class if that may be a derived one. `ObjectBytes` is the memory
/// that readers charge for a T. Objects of other classes are weighed where they are named.
template <class Sink, class T, std::size_t (*ObjectBytes)()>
bool walk_pointed(typename Sink::writer& to, const T& object) {
  if constexpr (!may_be_derived<T>) {
    to.weigh(ObjectBytes());
    return walk_write<Sink>(to, object);
  } else {
    if constexpr (makeable<T>())
      if (typeid(object) == typeid(T)) {
        to.weigh(ObjectBytes());
        return begin_own_class(to) && walk_write<Sink>(to, object) && end_own_class(to);
      }
    return write_pointee(to, pointed_by(object));
  }
}

template <class Sink, class T>
bool walk_unique(typename Sink::writer& to, const T* object) {
  constexpr bool shell = nullable<T>() && !may_be_derived<T>; // Else the class's name shows that there is an object.
  if (object == nullptr && !Sink::is_absent_nested)
    return Sink::absent(to);
  if (!check_owned(to, object) || !to.enter())
    return false;
  if (object == nullptr
          ? !Sink::absent(to)
          : !Sink::template begin_some<shell>(to) || !walk_pointed<Sink, T, &new_node_bytes<T>>(to, *object)
                || !Sink::template end_some<shell>(to))
    return false;
  to.leave();
  return true;
}

/// `owned`: the pointer is not a weak_ptr.
template <class Sink, class T>
bool walk_shared(typename Sink::writer& to, const T* object, bool owned) {
  if (object == nullptr)
    return Sink::no_object(to);
  if (!can_be_named(to, *object))
    return false;
  const auto [number, first] = appear(to, object);
  if (!first)
    return (!owned || to.may_refer(number)) && Sink::object_again(to, number);
  if (!to.enter())
    return false;
  to.begin_shared_content(number, owned);
  if (!Sink::begin_object(to, number) || !walk_pointed<Sink, T, &new_shared_bytes<T>>(to, *object)
      || !Sink::end_object(to) || !to.end_shared_content())
    return false;
  to.leave();
  return true;
}

template <class Sink, class T>
bool walk_variant(typename Sink::writer& to, const T& value) {
  if (value.valueless_by_exception())
    return to.fail(serialize_errc::codec_failed, "the variant is valueless");
  return Sink::begin_option(to, value)
         && std::visit([&](const auto& option) { return walk_write<Sink>(to, option); }, value) && Sink::end_option(to);
}

template <class Sink, class T>
bool walk_write(typename Sink::writer& to, const T& value) {
  constexpr auto of = shape_of<T>;
  if constexpr (Sink::template is_leaf<T>) {
    return Sink::leaf(to, value);
  } else if constexpr (of == shape::hook) {
    const auto form = reduced(to, value);
    if (form)
      to.weigh(std::max(rebuilding_bytes<T>(*form), held_by_codec(value)));
    [[maybe_unused]] const typename Sink::form_scope scope(to);
    return form && walk_write<Sink>(to, *form);
  } else if constexpr (of == shape::structure) {
    return walk_structure<Sink>(to, value, std::make_index_sequence<fields_of<T>::count>());
  } else if constexpr (of == shape::optional) {
    return walk_optional<Sink>(to, value);
  } else if constexpr (of == shape::unique) {
    return walk_unique<Sink, std::remove_const_t<typename T::element_type>>(to, value.get());
  } else if constexpr (of == shape::shared) {
    return walk_shared<Sink, std::remove_const_t<typename T::element_type>>(to, value.get(), true);
  } else if constexpr (of == shape::weak) {
    return walk_shared<Sink, std::remove_const_t<typename T::element_type>>(to, value.lock().get(), false);
  } else if constexpr (of == shape::variant) {
    return walk_variant<Sink>(to, value);
  } else if constexpr (of == shape::tuple) {
    return walk_tuple<Sink>(to, value, std::make_index_sequence<std::tuple_size_v<T>>());
  } else if constexpr (of == shape::fixed || of == shape::sequence || of == shape::set) {
    return walk_elements<Sink>(to, value);
  } else if constexpr (of == shape::map) {
    return walk_map<Sink>(to, value);
  } else if constexpr (of == shape::unsupported) {
    return write_foreign(to, typeid(T), const_cast<const std::remove_cv_t<T>*>(&value));
  } else {
    static_assert(no_such_shape<T>);
  }
}

} // namespace troupe::detail
