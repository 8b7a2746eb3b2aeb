// Writes any value in the `typed` family's compact form. Layout: typed/format.md.
//
// What is fast here: no virtual call and no branch per field of fixed size. Room is reserved once for each run of such
// fields, which are then stored without a check.
#pragma once

#include <cstring>
#include <memory>
#include <utility>

#include <troupe/base/export.hpp>
#include <troupe/base/varint.hpp>
#include <troupe/serializers/encode_output.hpp>
#include <troupe/serializers/internal/coding/walk_write.hpp>
#include <troupe/serializers/internal/typed/body_arrays.hpp>

namespace troupe::detail {

/// The cursor. Invariant: what lies before at_ is written; between at_ and end_ may be written.
class TROUPE_EXPORT typed_writer final : public encoding {
public:
  typed_writer(const troupe::context& ctx, encode_output& out)
      : encoding(ctx), out_(out), at_(out.body().end()), end_(out.body().capacity_end()) {}

  /// Room for `count` bytes of put().
  void reserve(std::size_t count) {
    if (static_cast<std::size_t>(end_ - at_) < count) [[unlikely]]
      grow(count);
  }
  /// Requires: reserved.
  template <class T>
  void put(T value) {
    std::memcpy(at_, &value, sizeof(value));
    at_ += sizeof(value);
  }
  /// Requires: room for ten bytes.
  void put_varint(std::uint64_t value) {
    write_varint(value, [this](std::byte each) { *at_++ = each; });
  }
  void varint(std::uint64_t value) {
    reserve(varint_bytes_max);
    put_varint(value);
  }

  /// Contiguous memory with its count: in the body, or from `out_of_band_bytes` on as a frame.
  void contiguous(const void* data, std::size_t count, std::size_t element_bytes) {
    const auto size = count * element_bytes;
    if (size >= out_of_band_bytes) [[unlikely]]
      return leave_as_frame(data, count, size);
    reserve(size + varint_bytes_max);
    put_varint(count << 1);
    if (size > 0)
      std::memcpy(at_, data, size);
    at_ += size;
  }
  void attach(frame bytes) { out_.attach(std::move(bytes)); }
  /// The same of an array's elements. Where they could come again, as `is_shared` says, all of them are one frame.
  void in_or_out_of_band(const frame& bytes, std::size_t count, bool is_shared);

  /// While it lives, what is written is not the value's own memory and gone soon: nothing of it is borrowed.
  class passing {
  public:
    explicit passing(typed_writer& to) : to_(to), before_(std::exchange(to.borrows_, false)) {}
    passing(const passing&) = delete;
    passing& operator=(const passing&) = delete;
    ~passing() { to_.borrows_ = before_; }

  private:
    typed_writer& to_;
    const bool before_;
  };

  /// Hands what was written to the output.
  void finish() {
    out_.body().advance_to(at_);
    if (arrays_) [[unlikely]]
      arrays_->settle(out_);
  }
  /// Whether small arrays left the body for frames.
  [[nodiscard]] bool found_repeats() const { return arrays_ && arrays_->found_repeats(); }
  /// All small arrays stay in the body, however often they come.
  void keep_repeats() { tracks_arrays_ = false; }

private:
  [[gnu::cold, gnu::noinline]] void grow(std::size_t count);
  [[gnu::noinline]] void leave_as_frame(const void* data, std::size_t count, std::size_t size_bytes);

  encode_output& out_;
  std::byte* at_;
  std::byte* end_;
  bool borrows_ = true; // Where there is somebody who keeps the value.
  bool tracks_arrays_ = true;
  std::unique_ptr<body_arrays> arrays_; // Made for the first one that could come again.
};

TROUPE_EXPORT bool check_written_names(coding& state, const record& value);
template <class T>
bool typed_write_array(typed_writer& to, const array<T>& values); // In typed_arrays.hpp.

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

/// Fields, alternatives and objects by position; what has a fixed size as it lies in memory.
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
    } else if constexpr (of == shape::text)
      return to.contiguous(value.data(), value.size(), 1), true;
    else if constexpr (of == shape::path)
      return to.contiguous(value.native().data(), value.native().size(), 1), true;
    else if constexpr (of == shape::numbers)
      return to.contiguous(value.data(), value.size(), sizeof(typename T::value_type)), true;
    else if constexpr (of == shape::unit)
      return true;
    else if constexpr (of == shape::record)
      return check_written_names(to, value) && walk_variant<typed_sink>(to, value.value());
    else if constexpr (of == shape::frame)
      return to.attach(value), true;
    else if constexpr (of == shape::array)
      return typed_write_array(to, value);
    else
      static_assert(no_such_shape<T>);
  }

  using form_scope = typed_writer::passing;

  template <class T>
  static bool begin_structure(writer&) {
    return true;
  }
  /// A run of fields of fixed size gets its room once, at the first of them.
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

  // 0, 1 and then the numbers.
  static bool no_object(writer& to) { return to.varint(0), true; }
  static bool object_again(writer& to, std::size_t number) { return to.varint(number + 2), true; }
  static bool begin_object(writer& to, std::size_t) { return to.varint(1), true; }
  static bool end_object(writer&) { return true; }

  template <class T>
  static bool begin_option(writer& to, const T& value) {
    return to.varint(value.index()), true;
  }
  static bool end_option(writer&) { return true; }

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

} // namespace troupe::detail
