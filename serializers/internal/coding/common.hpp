// Code that the readers and writers of all families share: rebuilding, shared objects, enumerators, adding elements.
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
#include <troupe/serializers/extend/coding.hpp>
#include <troupe/serializers/internal/coding/dynamic.hpp>
#include <troupe/serializers/internal/coding/memory.hpp>
#include <troupe/serializers/internal/coding/unit_text.hpp>
#include <troupe/serializers/internal/shape/self_contained.hpp>
#include <troupe/serializers/internal/shape/type_answers.hpp>
#include <troupe/serializers/internal/shape/type_node.hpp>
#include <troupe/serializers/internal/words/failing.hpp>
#include <troupe/serializers/internal/words/type_text.hpp>

namespace troupe::detail {

/// Completes "T has ..." for a type without any codec.
inline constexpr std::string_view no_codec =
    "neither TROUPE_DESCRIBE, nor a codec<T>, nor reduce() and rebuild(), nor a codec in the registry";

/// Describes the object of a pointer to T.
template <class T>
pointed_object pointed_by(const T& object) {
  return {.is = typeid(object), .as = typeid(T), .whole = dynamic_cast<const void*>(&object), .part = &object};
}

/// Numbers the object, and tells whether this is its first appearance. The class of the pointer makes no difference.
template <class T>
encoding::appearance appear(encoding& state, const T* object) {
  if constexpr (std::is_polymorphic_v<T>)
    return state.appear(dynamic_cast<const void*>(object), typeid(*object));
  else
    return state.appear(object, typeid(T));
}

/// Whether another array may view the same memory. If so, the same elements may come again in one value.
template <class T>
bool may_come_again(const array<T>& values) {
  return !values.empty() && (!values.owner() || values.owner().use_count() > 1);
}

/// The array with its elements one after the other, in C order. An array that comes again is packed only once.
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
                    type_text(typeid(T))
                        + " contains a value that can neither be moved nor copied: hold a pointer to it");
}

/// Calls a user's codec and turns its exceptions into errors.
template <class Step>
auto called_codec(Step step) -> decltype(step()) {
  try {
    return step();
  } catch (const std::exception& thrown) {
    return std::unexpected(thrown_by_codec(thrown));
  } catch (...) {
    return std::unexpected(thrown_by_codec("an object that is not a std::exception"));
  }
}

/// A value that has been read, but not yet put into its place. While a nested value is read, all values around it are
/// incomplete. Large values are kept on the heap meanwhile, so that the stack suffices for any allowed depth.
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

/// The memory that rebuilding a T from the form takes, as its codec reports it; 0 if the codec does not report it.
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
/// Like rebuilt_here(), but never inlined, so that the caller's stack frame needs no room for the codec's result.
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

/// The text behind the count of a duration or point in time that travels as a text.
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

/// Whether read_new() can make a T, although it may still fail.
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
    made<memory_for<T>> place(std::in_place); // A codec in the registry may make a T.
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

/// Gives the target a new value: by assignment or, if T cannot be assigned, by destroying the target and moving the
/// value to its place.
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

/// Reads into a value, or into memory for a value if the type has no default constructor.
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
/// Checks an array's number of dimensions against array_dimensions_max and limits::depth.
[[nodiscard]] TROUPE_EXPORT bool check_dimensions(coding& state, std::size_t count);
/// Charges the shapes and strides of `arrays` arrays, each of `rank` dimensions.
[[nodiscard]] inline bool charge_layouts(decoding& state, std::size_t arrays, std::size_t rank) {
  return state.charge_memory(layouts_bytes(arrays, rank));
}
/// Checks repeated elements of an array against limits::memory_bytes. They take no memory, but a copy of the array
/// would.
[[nodiscard]] TROUPE_EXPORT bool check_repeated(coding& state, std::size_t count, std::size_t element_bytes);

// The memory of a node of a list, set or map, beyond its element.
inline constexpr std::size_t node_bytes = 32;
// The memory of a shared object beyond the object itself: its reference counts, and its entries in the tables of
// readers.
inline constexpr std::size_t shared_bytes = node_bytes + 128;

/// The memory of a string or path beyond the object itself. A path stores each of its parts once more while it grows.
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

/// The heap memory of a default value. Deques allocate their first block at once.
template <class T>
consteval std::size_t idle_heap_bytes() {
  constexpr std::size_t deque_bytes = 64 + 512 + 2 * 16; // The map and one block, as the library and malloc size them.
  if constexpr (is_deque<T>)
    return deque_bytes;
  else if constexpr (row_of<T>.parts == holding::in_place)
    return []<class... Parts>(part_list<Parts...>) {
      return times_each<T> * (std::size_t{0} + ... + idle_heap_bytes<typename Parts::type>());
    }(parts_of<T>());
  else
    return 0;
}

/// The memory of an empty value of the type.
template <class T>
inline constexpr std::size_t value_bytes = sizeof(T) + idle_heap_bytes<T>();

/// The memory of a new value. If its constructor may fill members, one value is made and measured.
template <class T>
std::size_t new_value_bytes() {
  if constexpr (may_begin_filled<T>()) {
    static const std::size_t held = [] {
      try {
        made<T> specimen(std::in_place);
        return held_bytes<held::owned>(*specimen);
      } catch (...) { // Values to be decoded into will throw as well.
        return std::size_t{0};
      }
    }();
    return value_bytes<T> + held;
  } else {
    return value_bytes<T>;
  }
}

/// The memory of a new value in a node of its own, including malloc's overhead.
template <class T>
std::size_t new_node_bytes() {
  return malloc_bytes(new_value_bytes<T>() + node_bytes);
}

/// The memory of an object behind shared pointers, without its future content.
template <class T>
std::size_t new_shared_bytes() {
  return new_value_bytes<T>() + shared_bytes;
}

/// Sequences that allocate memory for many elements at once.
template <class T>
inline constexpr bool grows_at_once = (shape_of<T> == shape::sequence || shape_of<T> == shape::numbers)
                                      && requires(T& values) {
  values.reserve(0);
};

/// The memory of each element of a list, set or map.
template <class T>
std::size_t element_memory() {
  if constexpr (grows_at_once<T>)
    return new_value_bytes<typename T::value_type>();
  else
    return new_node_bytes<typename T::value_type>();
}

/// The next capacity of a container that grows without knowing its final size.
[[nodiscard]] constexpr std::size_t grown_capacity(std::size_t capacity) {
  return std::max<std::size_t>(1, 2 * capacity);
}
/// The capacity of a container with room for `reserved` elements after it has grown to `count`; 0 if it does not have
/// to grow.
[[nodiscard]] constexpr std::size_t capacity_for(std::size_t count, std::size_t reserved) {
  auto capacity = reserved;
  while (capacity < count)
    capacity = grown_capacity(capacity);
  return capacity > reserved ? capacity : 0;
}

/// Containers that find a key by its hash, in a bucket that can be iterated.
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

/// The cost of comparing the key with another one that differs only at its end, in comparisons of numbers.
template <class T>
std::size_t comparison_weight(const T& key) {
  constexpr std::size_t bytes_at_once = 32;
  constexpr std::size_t path_bytes_at_once = 2; // The library compares part by part, and a part may be "/a".
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
    return 1 + key.size(); // Repeated elements are compared each time.
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
    return 1; // Compared by address, or at an unknown cost.
  else
    static_assert(no_such_shape<T>);
}

/// Charges the cost of finding the place for a key in an unordered container. A peer can choose keys that all fall into
/// one bucket. Then each key is compared with all keys before it. Equal keys are adjacent, and need one comparison.
template <hashed T>
bool charge_probes(decoding& state, const T& container, const typename T::key_type& key) {
  constexpr std::size_t free_least = 8; // As in tables that are filled well.
  constexpr std::size_t free_most = 64; // As with weak hashes in small tables.
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

/// Inserts an element into a set or map. Fails with `malformed` if the container refuses an equal key.
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
                         type_text(typeid(T)) + " has no virtual destructor: a unique_ptr to it cannot own "
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

/// The name of a described enum's value; empty, with the failure set, if it has none.
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
