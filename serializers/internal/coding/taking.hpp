// The way in which all readers make a value from its parts. `read`, a callable that reads into a T& of any type that
// travels, makes each part, which is then put into its place.
#pragma once

#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

#include <troupe/serializers/internal/coding/common.hpp>

namespace troupe::detail {

/// Reads a value in the form in which it travels, and rebuilds it.
template <class T>
bool take_rebuilt(decoding& state, T& target, auto&& read) {
  auto form = read_new<typename hook<T>::form>(state, read);
  auto value = form ? rebuilt<T>(state, std::move(*form)) : made<T>();
  if (!value)
    return false;
  const auto put = put_value(target, std::move(*value));
  return put || state.fail(put.error());
}

/// Reads the value of an optional.
template <class T>
bool take_optional(decoding& state, T& target, auto&& read) {
  auto value = read_new<typename T::value_type>(state, read);
  if (value)
    target.emplace(std::move(*value));
  return value.has_value();
}

/// The smallest number of bytes of an element of a list, set or map in the body of `typed`.
template <class T>
consteval std::size_t least_element_bytes() {
  return []<class... Parts>(part_list<Parts...>) {
    return (std::size_t{0} + ... + least_bytes<typename Parts::type>());
  }(parts_of<T>());
}

/// Reserves memory for elements that have been charged.
template <class T>
void make_room_for(T& target, std::size_t count) {
  if constexpr (grows_at_once<T>)
    target.reserve(count);
}

/// Appends one element, read by `read`.
template <class T>
bool read_back(decoding& state, T& values, auto&& read) {
  using element = typename T::value_type;
  if constexpr (std::is_same_v<element, bool>) {
    bool value = false;
    if (!read(value))
      return false;
    values.push_back(value);
    return true;
  } else if constexpr (std::is_default_constructible_v<element> && requires { values.emplace_back(); }) {
    values.emplace_back();
    return read(values.back());
  } else {
    auto value = read_new<element>(state, read);
    if (value)
      values.push_back(std::move(*value));
    return value.has_value();
  }
}

/// Whether elements are placed by key.
template <class T>
inline constexpr bool is_keyed = shape_of<T> == shape::set || shape_of<T> == shape::map;

/// Puts one element, or a key and its value, into a list, set or map. False, with the failure set, if the element is
/// refused.
template <class T>
bool put_element(decoding& state, T& target, auto&&... element) {
  if constexpr (is_keyed<T>)
    return insert_once(state, target, std::move(element)...);
  else
    return target.push_back(std::move(element)...), true;
}

/// Reads one more element of a list, set or map.
template <class T>
bool take_element(decoding& state, T& target, auto&& read) {
  if constexpr (shape_of<T> == shape::map) {
    auto key = read_new<typename T::key_type>(state, read);
    if (!key)
      return false;
    auto value = read_new<typename T::mapped_type>(state, read);
    return value && insert_once(state, target, std::move(*key), std::move(*value));
  } else if constexpr (shape_of<T> == shape::set) {
    auto value = read_new<typename T::value_type>(state, read);
    return value && insert_once(state, target, std::move(*value));
  } else {
    return read_back(state, target, read);
  }
}

template <class T>
using pointee_of = std::remove_const_t<typename T::element_type>;

/// Reads the object of a unique pointer, of exactly the pointer's class.
template <class T>
bool take_owned(decoding& state, T& target, auto&& read) {
  using pointee = pointee_of<T>;
  if (!state.charge(1, new_node_bytes<pointee>()))
    return false;
  if constexpr (std::is_default_constructible_v<pointee>) {
    auto object = std::make_unique<pointee>();
    if (!read(*object))
      return false;
    target = std::move(object);
    return true;
  } else if constexpr (movable_new<pointee>()) {
    auto value = read_new<pointee>(state, read);
    if (value)
      target = std::make_unique<pointee>(std::move(*value));
    return value.has_value();
  } else {
    return fail_unreadable<pointee>(state);
  }
}

/// Reads the object of a unique pointer to a base class. The input names the object's class.
template <class T>
bool adopt_pointee(auto& from, std::unique_ptr<T>& target, const named_class& of) {
  using object = std::remove_const_t<T>;
  if constexpr (std::has_virtual_destructor_v<object>) {
    target.reset(static_cast<object*>(read_pointee(from, of)));
    return target != nullptr;
  } else {
    return from.fail(serialize_errc::not_supported,
                     type_text(typeid(object)) + " has no virtual destructor: a unique_ptr to it cannot own a '"
                         + std::string(alias_of(of)) + "'");
  }
}

/// Reads the object of a unique pointer that is not null.
template <class T>
bool take_unique(auto& from, T& target, auto&& read) {
  using pointee = pointee_of<T>;
  if constexpr (may_be_derived<pointee>) {
    named_class found;
    if (!begin_pointee(from, typeid(pointee), found))
      return false;
    if (found.entry != nullptr ? !adopt_pointee(from, target, found) : !take_owned(from, target, read))
      return false;
    return end_pointee(from);
  } else {
    return take_owned(from, target, read);
  }
}

/// Lives while the content of a shared object is read, after enter(). The object owns everything to which the content
/// points.
class shared_content {
public:
  shared_content(decoding& state, const shared_place& place, std::size_t number)
      : state_(place.is_numbered ? &state : nullptr) {
    if (state_ != nullptr)
      state_->begin_shared_content(number, place.is_owned);
  }
  /// Called once the content has been read. False, with the failure set, if the object is refused.
  [[nodiscard]] bool complete() { return state_ == nullptr || state_->end_shared_content(); }

private:
  decoding* state_;
};

/// Reads the object of a shared pointer at its first appearance, with `read`, into `target`.
template <class T>
bool read_shared_object(decoding& state, std::shared_ptr<T>& target, const shared_place& place, auto&& read) {
  const bool is_numbered = place.is_numbered;
  const auto number = is_numbered ? state.number_shared() : 0;
  if (!state.charge(1, new_shared_bytes<T>()))
    return false;
  shared_content content(state, place, number);
  if constexpr (std::is_default_constructible_v<T>) {
    auto object = std::make_shared<T>();
    if (is_numbered) // Recorded before the content is read, which may point back at the object.
      state.keep_shared(number, typeid(T), object, [](void* at) {
        if constexpr (std::is_move_assignable_v<T>)
          *static_cast<T*>(at) = T();
        else if constexpr (std::is_nothrow_default_constructible_v<T>)
          std::destroy_at(static_cast<T*>(at)), ::new (at) T();
      });
    if (!read(*object))
      return false;
    target = std::move(object);
  } else if constexpr (movable_new<T>()) {
    auto value = read_new<T>(state, read);
    if (!value)
      return false;
    target = std::make_shared<T>(std::move(*value));
    if (is_numbered)
      state.keep_shared(number, typeid(T), target, [](void*) {});
  } else {
    return fail_unreadable<T>(state); // For example an abstract class.
  }
  return content.complete();
}

/// Like read_shared_object(), for an object that may be of a derived class, which the input then names.
template <class T>
bool read_shared_of_any_class(auto& from, std::shared_ptr<T>& target, const shared_place& place, auto&& read) {
  if constexpr (may_be_derived<T>) {
    named_class found;
    if (!begin_pointee(from, typeid(T), found))
      return false;
    if (found.entry != nullptr) {
      target = std::static_pointer_cast<T>(read_shared_pointee(from, found, place));
      return target != nullptr && end_pointee(from);
    }
    return read_shared_object(from, target, place, read) && end_pointee(from);
  } else {
    return read_shared_object(from, target, place, read);
  }
}

/// Reads the object of a shared or weak pointer, at its first appearance.
template <class T>
bool take_shared(auto& from, T& target, bool is_numbered, auto&& read) {
  constexpr bool is_owned = shape_of<T> == shape::shared;
  std::shared_ptr<pointee_of<T>> object;
  if (!from.enter()
      || !read_shared_of_any_class(from, object, {.is_numbered = is_numbered, .is_owned = is_owned}, read))
    return false;
  from.leave();
  target = std::move(object);
  return !from.failed();
}

/// Takes the object that has already appeared under that number.
template <class T>
bool take_shared_again(decoding& state, T& target, std::size_t number) {
  using pointee = pointee_of<T>;
  auto object =
      std::static_pointer_cast<pointee>(state.find_shared(number, typeid(pointee), shape_of<T> == shape::shared));
  if (object)
    target = std::move(object);
  return !state.failed();
}

/// Reads the alternative of that index into a variant. `read` reads into a T&.
template <class T>
bool read_alternative(decoding& state, T& target, std::size_t index, auto&& read) {
  return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
    bool done = false;
    const auto attempt = [&]<std::size_t I>(std::integral_constant<std::size_t, I>) {
      auto value = read_new<std::variant_alternative_t<I, T>>(state, read);
      if (value)
        target.template emplace<I>(std::move(*value));
      done = value.has_value();
    };
    static_cast<void>(
        (false || ... || (Index == index && (attempt(std::integral_constant<std::size_t, Index>{}), true))));
    return done;
  }
  (std::make_index_sequence<std::variant_size_v<T>>{});
}

} // namespace troupe::detail
