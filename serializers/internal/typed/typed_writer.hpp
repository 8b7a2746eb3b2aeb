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
#include <troupe/serializers/internal/coding/common.hpp>
#include <troupe/serializers/internal/typed/body_arrays.hpp>
#include <troupe/serializers/internal/visit/visit_write.hpp>

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

template <class T>
bool typed_write(typed_writer& to, const T& value);
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

template <class T, std::size_t Index>
bool typed_write_field(typed_writer& to, const T& value) {
  using field = typename fields_of<T>::template type<Index>;
  const auto& member = value.*std::get<Index>(fields_of<T>::members);
  if constexpr (fixed_bytes<field>() > 0) {
    if constexpr (run_bytes<T, Index>() > 0)
      to.reserve(run_bytes<T, Index>());
    return typed_put(to, member) || to.within(fields_of<T>::names[Index]);
  } else {
    return typed_write(to, member) || to.within(fields_of<T>::names[Index]);
  }
}

template <class Range>
bool typed_write_each(typed_writer& to, const Range& values) {
  using element = typename std::iterator_traits<decltype(std::begin(values))>::value_type;
  if (!to.enter())
    return false;
  std::size_t at = 0;
  for (const auto& value : values) {
    if (!typed_write<element>(to, value))
      return to.within(at);
    ++at;
  }
  to.leave();
  return true;
}

template <class T>
bool typed_write_map(typed_writer& to, const T& values) {
  to.varint(values.size());
  if (!to.enter())
    return false;
  std::size_t at = 0;
  for (const auto& [key, value] : values) {
    if (!typed_write(to, key) || !typed_write(to, value))
      return to.within(at);
    ++at;
  }
  to.leave();
  return true;
}

template <class T>
bool typed_write_pointee(typed_writer& to, const T* value) {
  to.reserve(1);
  to.put<std::uint8_t>(value != nullptr ? 1 : 0);
  return value == nullptr || typed_write(to, *value);
}

// What a pointer points to: where it may be of a derived class, behind the class's name.
template <class T>
bool typed_write_pointed(typed_writer& to, const T& object) {
  if constexpr (!may_be_derived<T>) {
    return typed_write(to, object);
  } else {
    if constexpr (makeable<T>())
      if (typeid(object) == typeid(T))
        return begin_own_class(to) && typed_write(to, object) && end_own_class(to);
    return write_pointee(to, pointed_by(object));
  }
}

/// `owned`: the pointer is no weak one.
template <class T>
bool typed_write_shared(typed_writer& to, const T* object, bool owned) {
  if (object == nullptr)
    return to.varint(0), true;
  if (!can_be_named(to, *object))
    return false;
  const auto [number, first] = appear(to, object);
  to.varint(first ? 1 : number + 2);
  if (!first)
    return !owned || to.may_refer(number);
  if (!to.enter())
    return false;
  to.begin_shared_content(number, owned);
  if (!typed_write_pointed(to, *object) || !to.end_shared_content())
    return false;
  to.leave();
  return true;
}

template <class T>
bool typed_write_variant(typed_writer& to, const T& value) {
  if (value.valueless_by_exception())
    return to.fail(serialize_errc::codec_failed, "the variant is valueless");
  to.varint(value.index());
  return std::visit([&](const auto& option) { return typed_write(to, option); }, value);
}

template <class T>
bool typed_write(typed_writer& to, const T& value) {
  constexpr auto of = shape_of<T>;
  if constexpr (fixed_bytes<T>() > 0) {
    to.reserve(fixed_bytes<T>());
    return typed_put(to, value);
  } else if constexpr (of == shape::hook) {
    const auto form = reduced(to, value);
    const typed_writer::passing form_passes(to);
    return form && typed_write(to, *form);
  } else if constexpr (of == shape::structure) {
    return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      return (true && ... && typed_write_field<T, Index>(to, value));
    }
    (std::make_index_sequence<fields_of<T>::count>{});
  } else if constexpr (of == shape::text) {
    return to.contiguous(value.data(), value.size(), 1), true;
  } else if constexpr (of == shape::path) {
    return to.contiguous(value.native().data(), value.native().size(), 1), true;
  } else if constexpr (of == shape::numbers) {
    return to.contiguous(value.data(), value.size(), sizeof(typename T::value_type)), true;
  } else if constexpr (of == shape::unit) {
    return true;
  } else if constexpr (of == shape::optional) {
    return typed_write_pointee(to, value ? &*value : nullptr);
  } else if constexpr (of == shape::unique) {
    to.reserve(1);
    to.put<std::uint8_t>(value ? 1 : 0);
    if (!value)
      return true;
    if (!check_owned(to, value.get()) || !to.enter()
        || !typed_write_pointed<std::remove_const_t<typename T::element_type>>(to, *value))
      return false;
    to.leave();
    return true;
  } else if constexpr (of == shape::shared) {
    return typed_write_shared<std::remove_const_t<typename T::element_type>>(to, value.get(), true);
  } else if constexpr (of == shape::weak) {
    return typed_write_shared<std::remove_const_t<typename T::element_type>>(to, value.lock().get(), false);
  } else if constexpr (of == shape::variant) {
    return typed_write_variant(to, value);
  } else if constexpr (of == shape::record) {
    return check_written_names(to, value) && typed_write_variant(to, value.value());
  } else if constexpr (of == shape::tuple) {
    return [&]<std::size_t... Index>(std::index_sequence<Index...>) {
      return (true && ... && (typed_write(to, std::get<Index>(value)) || to.within(Index)));
    }
    (std::make_index_sequence<std::tuple_size_v<T>>{});
  } else if constexpr (of == shape::fixed) {
    return typed_write_each(to, value);
  } else if constexpr (of == shape::frame) {
    return to.attach(value), true;
  } else if constexpr (of == shape::array) {
    return typed_write_array(to, value);
  } else if constexpr (of == shape::sequence || of == shape::set) {
    to.varint(value.size());
    return typed_write_each(to, value);
  } else if constexpr (of == shape::map) {
    return typed_write_map(to, value);
  } else if constexpr (of == shape::unsupported) {
    return write_foreign(to, typeid(T), const_cast<const std::remove_cv_t<T>*>(&value));
  } else {
    static_assert(no_such_shape<T>);
  }
}

} // namespace troupe::detail
