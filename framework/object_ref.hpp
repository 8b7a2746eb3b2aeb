// Counted references to large values. The value stays in the store, and messages carry the reference.
#pragma once

#include <algorithm>
#include <array>
#include <cassert>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/framework/internal/objects/object_environment.hpp>
#include <troupe/framework/internal/objects/object_source.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/array.hpp>
#include <troupe/serializers/codec.hpp>
#include <troupe/serializers/describe.hpp>
#include <troupe/serializers/serialize_calls.hpp>

namespace troupe {

namespace internal {

struct object_access;

/// The place of one frame of a payload in its object.
struct frame_extent {
  std::uint64_t offset = 0;
  std::uint64_t size_bytes = 0;
};
TROUPE_DESCRIBE(frame_extent, offset, size_bytes)

/// What an object's bytes are: either the elements of one array as they lie in memory, or the frames of a payload.
struct object_layout {
  // An array: its shape and the name of its element type, which is empty for payloads.
  std::string element;
  std::vector<std::uint64_t> shape;
  // A payload.
  std::vector<std::byte> header;
  std::vector<frame_extent> frames;
};
TROUPE_DESCRIBE(object_layout, element, shape, header, frames)

/// The name of an element type, such as "f64", "i32" or "char". Two processes must agree on it to read the same array.
template <class T>
[[nodiscard]] std::string element_name() {
  if constexpr (std::is_same_v<T, std::byte>)
    return "byte";
  else if constexpr (std::is_same_v<T, char>)
    return "char";
  else if constexpr (std::is_same_v<T, bool>)
    return "bool";
  else
    return (std::is_floating_point_v<T> ? "f" : std::is_signed_v<T> ? "i" : "u") + std::to_string(8 * sizeof(T));
}

template <class T>
inline constexpr bool is_array = false;
template <class T>
inline constexpr bool is_array<array<T>> = true;

/// Shared by all copies of an object_ref.
struct object_state {
  object_layout layout;
  object_source_ptr source;
  std::shared_ptr<const object_environment> environment;
};
using object_state_ptr = std::shared_ptr<const object_state>;

/// The encoded form of an object_ref.
struct object_form {
  object_layout layout;
  std::uint32_t mention = 0; // Position among the objects that the element mentions; 0: none, the bytes are in the
                             // payload.
  frame bytes;
};
TROUPE_DESCRIBE(object_form, layout, mention, bytes)

[[nodiscard]] TROUPE_EXPORT std::expected<object_form, serialize_error> reduce_object(const object_state_ptr& state,
                                                                                      const context& ctx);
[[nodiscard]] TROUPE_EXPORT std::expected<object_state_ptr, serialize_error> rebuild_object(object_form&& from,
                                                                                            const context& ctx);
/// Returns the bytes if they are on this host. Fails with `object_lost` for an empty reference, with the reason if the
/// bytes are known to be lost, else with `fetch_timed_out`.
[[nodiscard]] TROUPE_EXPORT std::expected<frame, node_error> bytes_here(const object_state_ptr& state);
/// Waits for the bytes and returns them. Fails as bytes_here() does, and with `unsupported` if the thread must not
/// wait.
[[nodiscard]] TROUPE_EXPORT std::expected<frame, node_error> bytes_within(const object_state_ptr& state,
                                                                          std::chrono::milliseconds timeout);
/// Returns `bytes` as a payload whose frames are parts of them. Fails with `object_lost` if the layout does not fit the
/// bytes, and with `undecodable` if the object is an array.
[[nodiscard]] TROUPE_EXPORT std::expected<payload, node_error> payload_of(const object_state& state,
                                                                          const frame& bytes);
/// Whether both references are empty, or name the same object.
[[nodiscard]] TROUPE_EXPORT bool is_same_object(const object_state_ptr& one, const object_state_ptr& other);
/// Checks that the object is an array of the element type `element`. Fails with `undecodable`.
[[nodiscard]] TROUPE_EXPORT std::expected<void, node_error> check_array(const object_state& state,
                                                                        const std::string& element);
/// The context for decoding the references inside the object's value.
[[nodiscard]] TROUPE_EXPORT std::unique_ptr<context_extension> captured_by(const object_state& object);
[[nodiscard]] TROUPE_EXPORT node_error misfit(const object_state& state);
[[nodiscard]] TROUPE_EXPORT node_error read_failure(const serialize_error& error);

/// Decodes the value from the object's `bytes`. Fails as object_ref::get() does.
template <class T>
[[nodiscard]] std::expected<T, node_error> value_of(const object_state& state, const frame& bytes) {
  if constexpr (is_array<T>) {
    using element = std::remove_cvref_t<decltype(*std::declval<T>().data())>;
    if (auto checked = check_array(state, element_name<element>()); !checked)
      return std::unexpected{std::move(checked).error()};
    const auto& shape = state.layout.shape;
    auto view = shape.size() <= array_dimensions_max ? T::view_of(bytes, {shape.begin(), shape.end()}) : std::nullopt;
    if (!view)
      return std::unexpected{misfit(state)};
    return *std::move(view);
  } else {
    auto encoded = payload_of(state, bytes);
    if (!encoded)
      return std::unexpected{std::move(encoded).error()};
    const auto& with = *state.environment;
    deserialize_options options;
    options.deserializers = with.deserializers;
    options.context.limits = with.limits;
    options.context.allow_cycles = with.allow_cycles;
    options.context.circles = with.circles.get();
    const auto captured = captured_by(state);
    options.context.extension = captured.get();
    auto value = deserialize<T>(*encoded, options, with.types, with.families);
    if (!value)
      return std::unexpected{read_failure(value.error())};
    return *std::move(value);
  }
}

} // namespace internal

/// A counted reference to an immutable value whose type is not stated here, for lists of references of several types.
/// It does not travel in messages.
/// Threads and lifetime: as for object_ref.
class any_object_ref {
public:
  /// An empty reference.
  any_object_ref() = default;

  [[nodiscard]] bool empty() const noexcept { return state_ == nullptr; }

  /// The size of the value in the store, in bytes; 0 for an empty reference.
  [[nodiscard]] std::size_t size_bytes() const noexcept { return state_ ? state_->source->size_bytes() : 0; }

  /// Whether both refer to the same object, or both are empty.
  friend bool operator==(const any_object_ref& one, const any_object_ref& other) {
    return internal::is_same_object(one.state_, other.state_);
  }

private:
  friend struct internal::object_access;

  internal::object_state_ptr state_;
};

template <class T>
class object_ref;

namespace internal {

/// Converts between references and their state.
struct object_access {
  [[nodiscard]] static const object_state_ptr& state(const any_object_ref& ref) noexcept { return ref.state_; }

  template <class Ref>
  [[nodiscard]] static Ref ref(object_state_ptr state) noexcept {
    Ref result;
    static_cast<any_object_ref&>(result).state_ = std::move(state);
    return result;
  }
};

[[nodiscard]] inline const object_state_ptr& state_of(const any_object_ref& ref) noexcept {
  return object_access::state(ref);
}

template <class T>
[[nodiscard]] object_ref<T> ref_to(object_state_ptr state) noexcept {
  return object_access::ref<object_ref<T>>(std::move(state));
}

} // namespace internal

/// A counted reference to an immutable value of type T. Copies are cheap and refer to the same value. The value lives
/// as long as any reference to it, in this process, in another one, or in a message in flight.
///
/// If both nodes of a link have a store, shared or not, a message carries the reference as a handle. Otherwise the
/// message carries the bytes. The bytes cannot be sent in two cases: the receiving node has no store and the bytes are
/// on another host; or the value contains references and the nodes share no store. Then the message fails with
/// `unserializable`, or with `unsupported` if this node only passes it on.
/// Threads: as for std::shared_ptr. Lifetime: the registry and the families of the node must outlive the reference.
template <class T>
class object_ref : public any_object_ref {
public:
  /// An empty reference; get() fails with `object_lost`.
  object_ref() = default;

  /// Returns the value. Its arrays are read-only views of the bytes in place, and keep the bytes alive.
  ///
  /// Bytes on another host are fetched. The call waits at most `timeout` for them, and up to 100 ms more for the reason
  /// of a failure. With 0 it fetches nothing. With `milliseconds::max()` it waits until the bytes have arrived or are
  /// lost. Do not pass `hours::max()`: chrono converts it to a wrong number.
  /// An object that the store has moved to disk is read back. The call waits at most `timeout` for room; with 0 it
  /// tries once. The time of reading is not bounded. If another process is reading the object back, the call waits for
  /// that process: `timeout`, but at least 200 ms and at most 30 s.
  ///
  /// Fails with
  /// - `object_lost`: the bytes are lost, or the reference is empty. A loss that is known here is reported even if the
  /// timeout is 0.
  /// - `link_down`: the node has ended, and the bytes are elsewhere.
  /// - `store_full`, `disk_full`: the store has no room; the text names the store.
  /// - `fetch_timed_out`: the bytes did not arrive in time; the text has their size and the time.
  /// - `undecodable`, `refused_family`: the bytes are not a T that this end accepts.
  /// - `object_freed`: the reference came from outside of a message, and the object has been freed.
  /// - `unsupported`: the timeout is not 0, and the thread belongs to the actor system or the node. Handlers use get()
  ///   without a timeout, node::fetch or resolving.hpp. Also if a fetched object refers, directly or through others, to
  ///   more than 65,536 objects.
  ///
  /// For many references, see fetching.hpp.
  [[nodiscard]] std::expected<T, node_error>
  get(std::chrono::milliseconds timeout = std::chrono::milliseconds(0)) const {
    const auto& state = internal::state_of(*this);
    auto bytes = internal::bytes_within(state, timeout);
    if (!bytes)
      return std::unexpected{std::move(bytes).error()};
    return internal::value_of<T>(*state, *bytes);
  }
};

/// References travel in every family. They may be encoded in messages and in objects, where they are counted. Elsewhere
/// encoding fails with `out_of_band_handle`, unless out_of_band.hpp allows it.
template <class T>
struct codec<object_ref<T>> {
  using form = internal::object_form;

  static std::expected<form, serialize_error> reduce(const object_ref<T>& ref, const context& ctx) {
    return internal::reduce_object(internal::state_of(ref), ctx);
  }

  static std::expected<object_ref<T>, serialize_error> rebuild(form&& from, const context& ctx) {
    auto state = internal::rebuild_object(std::move(from), ctx);
    if (!state)
      return std::unexpected{std::move(state).error()};
    return internal::ref_to<T>(*std::move(state));
  }
};

namespace internal {

/// Bytes of an array that is being filled, already in their final place.
class object_room {
public:
  virtual ~object_room() = default;
  [[nodiscard]] virtual std::span<std::byte> bytes() = 0;
  /// Makes the first `size_bytes` immutable; the rest is dropped.
  [[nodiscard]] virtual std::expected<object_state_ptr, node_error> seal(std::size_t size_bytes,
                                                                         object_layout layout) = 0;
};

/// Whether the array has an element at that index.
[[nodiscard]] TROUPE_EXPORT bool holds(std::span<const std::size_t> shape, std::span<const std::size_t> index);
/// Requires: holds().
[[nodiscard]] constexpr std::size_t offset_in(std::span<const std::size_t> shape, std::span<const std::size_t> index) {
  std::size_t offset = 0;
  for (std::size_t i = 0; i < index.size(); ++i)
    offset = offset * shape[i] + index[i];
  return offset;
}
[[nodiscard]] TROUPE_EXPORT node_error out_of_bounds(std::span<const std::size_t> shape,
                                                     std::span<const std::size_t> index);

} // namespace internal

/// Room for an array in the store, to be filled in place in C order, so that the values are written only once.
/// node::make_array makes it. If it is destroyed without seal(), the room is freed.
///
/// Threads: one at a time. Lifetime: as for object_ref.
template <class T>
class array_builder {
public:
  array_builder(std::unique_ptr<internal::object_room> room, std::vector<std::size_t> shape)
      : room_(std::move(room)), shape_(std::move(shape)), count_(room_->bytes().size() / sizeof(T)) {}

  [[nodiscard]] const std::vector<std::size_t>& shape() const noexcept { return shape_; }

  /// The values, in C order; their initial content is unspecified. Must not be accessed after seal().
  [[nodiscard]] std::span<T> values() { return {reinterpret_cast<T*>(room_->bytes().data()), count_}; }

  /// The value at these indices: `build[row, column] = 1`. Requires: one index per dimension, each less than the length
  /// of its dimension.
  template <std::convertible_to<std::size_t>... Index>
  [[nodiscard]] T& operator[](Index... index) noexcept {
    const std::array<std::size_t, sizeof...(Index)> place{static_cast<std::size_t>(index)...};
    assert(internal::holds(shape_, place));
    return values()[internal::offset_in(shape_, place)];
  }

  /// Like operator[], but checks the indices. Fails with `bad_option` if their number is wrong or one is out of bounds.
  template <std::convertible_to<std::size_t>... Index>
  [[nodiscard]] std::expected<std::reference_wrapper<T>, node_error> at(Index... index) {
    const std::array<std::size_t, sizeof...(Index)> place{static_cast<std::size_t>(index)...};
    if (!internal::holds(shape_, place))
      return std::unexpected{internal::out_of_bounds(shape_, place)};
    return std::ref(values()[internal::offset_in(shape_, place)]);
  }

  /// Keeps the first `count` values, as an array of one dimension. Requires: `count` is at most the number of values.
  void shrink(std::size_t count) {
    count_ = std::min(count, count_);
    shape_ = {count_};
  }

  /// Makes the values immutable and returns a reference to them. Fails with `timed_out` (after shrink(): a stopped
  /// process holds the store's lock; may be retried), or with `object_lost` (the store is unusable, or the array is
  /// sealed already).
  [[nodiscard]] std::expected<object_ref<array<T>>, node_error> seal() && {
    auto sealed = room_->seal(
        count_ * sizeof(T),
        {.element = internal::element_name<T>(), .shape = {shape_.begin(), shape_.end()}, .header = {}, .frames = {}});
    if (!sealed)
      return std::unexpected{std::move(sealed).error()};
    return internal::ref_to<array<T>>(*std::move(sealed));
  }

private:
  std::unique_ptr<internal::object_room> room_;
  std::vector<std::size_t> shape_;
  std::size_t count_;
};

} // namespace troupe

#include <troupe/framework/object_inspect.hpp>
