// What reading and writing share whatever the family: rebuilding, shared objects, enumerators, taking in elements.
#pragma once

#include <algorithm>
#include <concepts>
#include <deque>
#include <exception>
#include <expected>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <type_traits>
#include <typeinfo>
#include <utility>

#include <troupe/base/export.hpp>
#include <troupe/serializers/coding.hpp>
#include <troupe/serializers/internal/coding/dynamic.hpp>
#include <troupe/serializers/internal/coding/memory.hpp>
#include <troupe/serializers/internal/coding/unit_text.hpp>
#include <troupe/serializers/internal/shape/self_contained.hpp>
#include <troupe/serializers/internal/shape/type_answers.hpp>
#include <troupe/serializers/internal/shape/type_node.hpp>
#include <troupe/serializers/internal/words/failing.hpp>
#include <troupe/serializers/internal/words/type_text.hpp>

namespace troupe::detail {

/// What a type without any codec "has".
inline constexpr std::string_view no_codec =
    "neither TROUPE_DESCRIBE, nor a codec<T>, nor reduce() and rebuild(), nor a codec in the registry";

/// What a pointer to T points to.
template <class T>
pointed_object pointed_by(const T& object) {
  return {.is = typeid(object), .as = typeid(T), .whole = dynamic_cast<const void*>(&object), .part = &object};
}

/// The object's number, and whether this is its first appearance: whatever class the pointers to it are of.
template <class T>
encoding::appearance appear(encoding& state, const T* object) {
  if constexpr (std::is_polymorphic_v<T>)
    return state.appear(dynamic_cast<const void*>(object), typeid(*object));
  else
    return state.appear(object, typeid(T));
}

/// Whether another array may view the memory of this one: then the same elements may come again in one value.
template <class T>
bool may_come_again(const array<T>& values) {
  return !values.empty() && (!values.owner() || values.owner().use_count() > 1);
}

/// The array with its elements one after the other, in C order. One that comes again is packed once.
template <class T>
array<T> packed_once(encoding& state, const array<T>& values, bool is_shared) {
  if (!is_shared || values.is_contiguous())
    return values.contiguous();
  const encoding::strided_block block{values.data(), sizeof(T), values.shape(), values.strides()};
  if (const auto* known = state.find_packed(block, values.owner()))
    return *array<T>::view_of(*known, values.shape());
  auto made = values.contiguous();
  state.keep_packed(block, values.owner(), made.bytes());
  return made;
}

template <class T>
bool fail_unreadable(coding& state) {
  return state.fail(serialize_errc::not_supported,
                    type_text(typeid(T))
                        + " has no default constructor: give it a codec<T>, or reduce() and rebuild()");
}

template <class T>
bool fail_unmovable(coding& state) {
  return state.fail(serialize_errc::not_supported,
                    type_text(typeid(T)) + " holds what can neither be moved nor copied: hold a pointer to it");
}

/// What a user's codec gives; what it throws is an error like any other.
template <class Step>
auto called_codec(Step step) -> decltype(step()) {
  try {
    return step();
  } catch (const std::exception& thrown) {
    return std::unexpected(thrown_by_codec(thrown));
  } catch (...) {
    return std::unexpected(thrown_by_codec("something that is no std::exception"));
  }
}

/// A value that has been read and not yet put into its place. Values lie within values, and all those on the way to the
/// innermost are being read at once: so what is large lies on the heap meanwhile, and the stack holds any allowed
/// depth.
template <class T>
class made_on_heap {
public:
  made_on_heap() = default;
  made_on_heap(std::nullopt_t) {}
  template <class... Arguments>
  explicit made_on_heap(std::in_place_t, Arguments&&... arguments)
      : value_(std::make_unique<std::optional<T>>(std::in_place, std::forward<Arguments>(arguments)...)) {}

  [[nodiscard]] bool has_value() const { return value_ != nullptr; }
  explicit operator bool() const { return has_value(); }
  /// Requires: has_value().
  [[nodiscard]] T& operator*() & { return **value_; }
  [[nodiscard]] T&& operator*() && { return std::move(**value_); }
  void reset() { value_.reset(); }

private:
  std::unique_ptr<std::optional<T>> value_;
};
template <class T>
inline constexpr bool is_large = sizeof(T) > 1024;
template <class T>
using made = std::conditional_t<is_large<T>, made_on_heap<T>, std::optional<T>>;

/// What rebuilding a T from the form takes, where its codec says so.
template <class T>
std::size_t rebuilding_bytes(const typename hook<T>::form& form) {
  if constexpr (requires { codec<T>::rebuilt_bytes(form); })
    return codec<T>::rebuilt_bytes(form);
  else
    return 0;
}

template <class T>
made<T> rebuilt_here(decoding& state, typename hook<T>::form&& form) {
  if (!state.charge_memory(rebuilding_bytes<T>(form)))
    return std::nullopt;
  auto value = called_codec([&] { return hook<T>::rebuild(std::move(form), state.context()); });
  if (value)
    return made<T>(std::in_place, std::move(*value));
  state.fail(value.error());
  return std::nullopt;
}
/// The same apart from the caller, whose part of the stack must not have room for what the codec gives.
template <class T>
[[gnu::noinline]] made<T> rebuilt_apart(decoding& state, typename hook<T>::form&& form) {
  return rebuilt_here<T>(state, std::move(form));
}
template <class T>
made<T> rebuilt(decoding& state, typename hook<T>::form&& form) {
  if constexpr (is_large<T>)
    return rebuilt_apart<T>(state, std::move(form));
  else
    return rebuilt_here<T>(state, std::move(form));
}

/// What stands behind the count of a duration or point in time where it travels as a text.
template <class T>
const std::string& suffix_of() {
  static const auto text = unit_suffix(unit_of<T>());
  return text;
}

template <class T>
std::string count_text(const typename T::rep& count) {
  const auto bytes = std::as_bytes(std::span(&count, 1));
  return number::load(kind_of<typename T::rep>, bytes.data()).text() + suffix_of<T>();
}

/// Whether read_new() can give one, although it may yet fail.
template <class T>
consteval bool movable_new() {
  return !std::is_abstract_v<
             T> && std::move_constructible<T> && (std::is_default_constructible_v<T> || shape_of<T> == shape::hook || shape_of<T> == shape::unsupported);
}

/// Makes a T with `read`, a callable that reads into a T& of any type that travels.
template <class T>
made<T> read_new(decoding& state, auto&& read) {
  if constexpr (std::is_default_constructible_v<T>) {
    made<T> value(std::in_place);
    if (!read(*value))
      value.reset();
    return value;
  } else if constexpr (shape_of<T> == shape::hook) {
    auto form = read_new<typename hook<T>::form>(state, read);
    return form ? rebuilt<T>(state, std::move(*form)) : made<T>();
  } else if constexpr (shape_of<T> == shape::unsupported && std::move_constructible<T>) {
    made<memory_for<T>> place(std::in_place); // A codec of the registry's may make one.
    if (!read(*place))
      return std::nullopt;
    made<T> value(std::in_place, std::move((*place).value));
    std::destroy_at(&(*place).value);
    return value;
  } else {
    fail_unreadable<T>(state);
    return std::nullopt;
  }
}

/// Gives the target its value, also where that cannot be assigned.
template <class T>
std::expected<void, serialize_error> put_value(T& target, T&& value) {
  if constexpr (std::is_move_assignable_v<T>)
    target = std::move(value);
  else if constexpr (std::is_nothrow_move_constructible_v<T>)
    std::destroy_at(&target), ::new (&target) T(std::move(value));
  else
    return failure(serialize_errc::not_supported,
                   type_text(typeid(T)) + " cannot be assigned, and moving it may throw");
  return {};
}

/// Reads into a value, or into memory for one where the type has no default constructor.
template <class T>
bool read_into(decoding& state, void* target, auto&& read) {
  if constexpr (std::is_default_constructible_v<T>) {
    return read(*static_cast<T*>(target));
  } else if constexpr (movable_new<T>()) {
    auto value = read_new<T>(state, read);
    if (value)
      ::new (target) T(std::move(*value));
    return value.has_value();
  } else {
    return fail_unreadable<T>(state);
  }
}

TROUPE_EXPORT bool fail_array(coding& state);
/// Holds an array's number of dimensions to what travels, whatever the family.
[[nodiscard]] TROUPE_EXPORT bool check_dimensions(coding& state, std::size_t count);
/// Charges the shapes and strides of `arrays` arrays, each of `rank` dimensions.
[[nodiscard]] inline bool charge_layouts(decoding& state, std::size_t arrays, std::size_t rank) {
  return state.charge_memory(layouts_bytes(arrays, rank));
}
/// Repeated elements of an array take no memory, but whoever copies it would need it: that is held to the limit.
[[nodiscard]] TROUPE_EXPORT bool check_repeated(coding& state, std::size_t count, std::size_t element_bytes);

// What a node of a list, set or map costs beyond its element.
inline constexpr std::size_t node_bytes = 32;
// What a shared object costs beyond itself: its counts, and its places in the tables of those that may be referred to.
inline constexpr std::size_t shared_bytes = node_bytes + 128;

/// What a string or path takes beyond itself. A path holds each of its parts once more, and gets there by growing.
template <class T>
std::size_t text_memory_bytes(std::string_view value) {
  if constexpr (shape_of<T> == shape::path) {
    constexpr std::size_t part_bytes = sizeof(T) + sizeof(void*);
    constexpr std::size_t parts_at_once = 64;
    constexpr std::size_t growing = 5;
    const auto parts = static_cast<std::size_t>(std::count(value.begin(), value.end(), '/')) + 1;
    return 2 * value.size() + parts * part_bytes * (parts > parts_at_once ? growing : 1);
  } else {
    return value.size();
  }
}

template <class T>
inline constexpr bool is_deque = false;
template <class... Arguments>
inline constexpr bool is_deque<std::deque<Arguments...>> = true;

/// What a default value takes from the heap: deques have their first block from the beginning.
template <class T>
consteval std::size_t idle_heap_bytes() {
  constexpr std::size_t deque_bytes = 64 + 512 + 2 * 16; // Its map and a block, as the library and malloc have them.
  if constexpr (is_deque<T>)
    return deque_bytes;
  else if constexpr (row_of<T>.parts == holding::in_place)
    return []<class... Parts>(part_list<Parts...>) {
      return times_each<T> * (std::size_t{0} + ... + idle_heap_bytes<typename Parts::type>());
    }(parts_of<T>());
  else
    return 0;
}

/// What a value of the type takes, empty as it is.
template <class T>
inline constexpr std::size_t value_bytes = sizeof(T) + idle_heap_bytes<T>();

/// The same for a new value, whose constructor may have filled members: one is made to look.
template <class T>
std::size_t new_value_bytes() {
  if constexpr (may_begin_filled<T>()) {
    static const std::size_t held = [] {
      try {
        made<T> specimen(std::in_place);
        return held_bytes<held::owned>(*specimen);
      } catch (...) { // So will those that are to be decoded into.
        return std::size_t{0};
      }
    }();
    return value_bytes<T> + held;
  } else {
    return value_bytes<T>;
  }
}

/// The same in a node of its own, with what malloc adds.
template <class T>
std::size_t new_node_bytes() {
  return malloc_bytes(new_value_bytes<T>() + node_bytes);
}

/// What an object takes that shared pointers lead to, apart from what it will hold.
template <class T>
std::size_t new_shared_bytes() {
  return new_value_bytes<T>() + shared_bytes;
}

/// Sequences that have memory for many elements, which is got at once.
template <class T>
inline constexpr bool grows_at_once = (shape_of<T> == shape::sequence || shape_of<T> == shape::numbers)
                                      && requires(T& values) {
  values.reserve(0);
};

/// What each element of a list, set or map takes.
template <class T>
std::size_t element_memory() {
  if constexpr (grows_at_once<T>)
    return new_value_bytes<typename T::value_type>();
  else
    return new_node_bytes<typename T::value_type>();
}

/// The next capacity of a container that is filled without knowing how much comes.
[[nodiscard]] constexpr std::size_t grown_capacity(std::size_t capacity) {
  return std::max<std::size_t>(1, 2 * capacity);
}
/// The capacity that one of `reserved` has once it has grown so for `count` elements; 0 where it has not.
[[nodiscard]] constexpr std::size_t capacity_for(std::size_t count, std::size_t reserved) {
  auto capacity = reserved;
  while (capacity < count)
    capacity = grown_capacity(capacity);
  return capacity > reserved ? capacity : 0;
}

/// Containers that find a key by its hash, in a bucket that can be walked.
template <class T>
concept hashed = requires(const T& of, const typename T::key_type& key) {
  of.begin(of.bucket(key)) == of.end(of.bucket(key));
  of.key_eq()(key, key);
};

template <class T>
inline constexpr bool has_equal_keys = requires(T& of, typename T::value_type&& element) {
  { of.insert(std::move(element)) } -> std::same_as<typename T::iterator>;
};

template <class T>
const typename T::key_type& key_of(const typename T::value_type& element) {
  if constexpr (requires { typename T::mapped_type; })
    return element.first;
  else
    return element;
}

/// What comparing the key with one that differs at its end costs, in comparisons of numbers.
template <class T>
std::size_t comparison_weight(const T& key) {
  constexpr std::size_t bytes_at_once = 32;
  constexpr std::size_t path_bytes_at_once = 2; // The library compares part by part, of which one may be "/a".
  constexpr auto of = shape_of<T>;
  if constexpr (fixed_bytes<T>() > 0)
    return 1 + sizeof(T) / bytes_at_once;
  else if constexpr (of == shape::text)
    return 1 + key.size() / bytes_at_once;
  else if constexpr (of == shape::path)
    return 1 + key.native().size() / path_bytes_at_once;
  else if constexpr (of == shape::frame)
    return 1 + key.size_bytes() / bytes_at_once;
  else if constexpr (of == shape::array)
    return 1 + key.size(); // Repeated elements are compared as often.
  else if constexpr (of == shape::numbers)
    return 1 + key.size() * sizeof(typename T::value_type) / bytes_at_once;
  else if constexpr (of == shape::optional)
    return key ? comparison_weight(*key) : 1;
  else if constexpr (holds_parts<T>) {
    std::size_t total = 1;
    each_part(key, [&](const auto& part) { total += comparison_weight(part); });
    return total;
  } else if constexpr (row_of<T>.parts != holding::none || of == shape::unit || of == shape::record
                       || of == shape::unsupported)
    return 1; // By its address, or nobody knows.
  else
    static_assert(no_such_shape<T>);
}

/// Charges what finding the place for a key costs in an unordered container. A peer can choose keys that all stand in
/// one bucket: then each is compared with all before it. Keys that are equal stand together, and need one comparison.
template <hashed T>
bool charge_probes(decoding& state, const T& container, const typename T::key_type& key) {
  constexpr std::size_t free_least = 8; // What tables have that are filled well,
  constexpr std::size_t free_most = 64; // and weak hashes in small ones.
  if (container.size() <= free_least)
    return true;
  const auto weight = comparison_weight(key);
  const auto free_probes = std::max(free_least, free_most / weight);
  if (container.size() <= free_probes)
    return true;
  const auto most = free_probes + std::min(state.probes_left() / weight, container.size());
  const auto bucket = container.bucket(key);
  std::size_t probes = 0;
  for (auto at = container.begin(bucket); at != container.end(bucket) && probes <= most; ++at, ++probes)
    if constexpr (has_equal_keys<T>)
      if (container.key_eq()(key_of<T>(*at), key))
        break;
  return probes <= free_probes || state.charge_probes((probes - free_probes) * weight, typeid(T));
}

/// Inserts an element into a set or map; twice the same is an error.
template <class T>
bool insert_once(decoding& state, T& container, auto&& key, auto&&... value) {
  if constexpr (hashed<T>)
    if (!charge_probes(state, container, key))
      return false;
  const auto before = container.size();
  container.emplace(std::move(key), std::move(value)...);
  return container.size() > before || state.fail(serialize_errc::malformed, "the same key twice");
}

/// Whether a unique pointer can own the object, which may be of a class that derives from T.
template <class T>
bool check_owned(coding& state, const T* object) {
  if constexpr (may_be_derived<T> && !std::has_virtual_destructor_v<T>)
    return object == nullptr || typeid(*object) == typeid(T)
           || state.fail(serialize_errc::not_supported,
                         type_text(typeid(T)) + " has no virtual destructor, so that no unique_ptr to it can own "
                             + type_text(typeid(*object)));
  else
    return true;
}

template <described_enum T>
bool is_enumerator(T value) {
  constexpr auto description = troupe_description(describe_tag<T>{});
  for (const auto known : description.values)
    if (known == value)
      return true;
  return false;
}

template <described_enum T>
bool fail_enumerator(coding& state, T value, serialize_errc code) {
  return state.fail(code, std::to_string(static_cast<std::int64_t>(value)) + " is no value of the enum "
                              + std::string(spelled_name<T>));
}

/// The name of a described enum's value; empty, with the failure set, when it has none.
template <described_enum T>
std::string_view enumerator_name(coding& state, T value) {
  constexpr auto description = troupe_description(describe_tag<T>{});
  for (std::size_t i = 0; i < description.values.size(); ++i)
    if (description.values[i] == value)
      return description.names[i];
  fail_enumerator(state, value, serialize_errc::codec_failed);
  return {};
}

} // namespace troupe::detail
