// Arrays in the `typed` family's form: shape, and the elements in whichever order they lie. Layout: typed/format.md.
#pragma once

#include <troupe/base/export.hpp>
#include <troupe/serializers/array.hpp>
#include <troupe/serializers/internal/typed/typed_reader.hpp>
#include <troupe/serializers/internal/typed/typed_writer.hpp>

namespace troupe::detail {

/// How the elements stand there. Values stand in the format: append only.
enum class array_form : std::uint8_t {
  c = 0,       // in C order
  fortran = 1, // in Fortran order
  once = 2,    // in C order, those that are repeated once
  strided = 3, // anywhere in the bytes, as the strides say
};

/// An array of any type of element as it was read.
struct wire_array {
  array_form form{};
  array_shape shape;
  array_shape data_shape; // of `once`
  array_strides strides;  // of `strided`
  std::size_t first = 0;  // of `strided`: where among the data the element of index 0 is
  typed_reader::block data;
};

TROUPE_EXPORT void write_array_head(typed_writer& to, array_form form, std::span<const std::size_t> shape);
TROUPE_EXPORT void write_strides(typed_writer& to, std::span<const std::ptrdiff_t> strides, std::size_t first);
/// Checks all that does not depend on the type of element, and charges the bytes when they come in no frame of their
/// own.
[[nodiscard]] TROUPE_EXPORT bool read_wire_array(typed_reader& from, std::size_t element_bytes, wire_array& found);
/// The elements of one that has been read, one after the other in C order, into `to`. Requires: nothing is repeated.
[[nodiscard]] TROUPE_EXPORT bool pack_wire_array(const wire_array& from, std::size_t element_bytes,
                                                 std::span<std::byte> to);

/// Whether an array may leave as the memory in which it lies: not where elements overlap otherwise than by a stride of
/// 0, so that they are more than lie there.
[[nodiscard]] TROUPE_EXPORT bool leaves_strided(std::span<const std::size_t> shape,
                                                std::span<const std::ptrdiff_t> strides);

template <class T>
bool typed_write_array(typed_writer& to, const array<T>& values) {
  if (!check_dimensions(to, values.rank()))
    return false;
  const auto is_shared = may_come_again(values);
  if (values.is_contiguous()) {
    write_array_head(to, array_form::c, values.shape());
    return to.in_or_out_of_band(values.bytes(), values.size(), is_shared), true;
  }
  const auto& owner = values.owner();
  const auto once = values.without_repeats();
  const bool is_repeated = once.shape() != values.shape();
  const bool is_fortran = !is_repeated && !once.is_contiguous() && once.is_contiguous(memory_order::fortran);
  if (!is_fortran && !once.is_contiguous() && to.context().shared_store && owner && owner->is_shared()
      && leaves_strided(values.shape(), values.strides())) {
    const auto bytes = values.bytes();
    write_array_head(to, array_form::strided, values.shape());
    write_strides(to, values.strides(),
                  static_cast<std::size_t>(values.data() - reinterpret_cast<const T*>(bytes.bytes().data())));
    return to.in_or_out_of_band(bytes, bytes.size_bytes() / sizeof(T), is_shared), true;
  }
  const auto sent = is_fortran ? once : packed_once(to, once, is_shared);
  write_array_head(to,
                   is_fortran    ? array_form::fortran
                   : is_repeated ? array_form::once
                                 : array_form::c,
                   values.shape());
  if (is_repeated)
    for (const auto length : sent.shape())
      to.varint(length);
  return to.in_or_out_of_band(sent.bytes(), sent.size(), is_shared), true;
}

/// The array of those elements, where `bytes` are the data, aligned.
template <class T>
std::optional<array<T>> made_of(wire_array&& found, frame bytes) {
  switch (found.form) {
  case array_form::c:
    return array<T>::view_of(std::move(bytes), std::move(found.shape));
  case array_form::fortran:
    return array<T>::view_of(std::move(bytes), std::move(found.shape), memory_order::fortran);
  case array_form::once: {
    const auto data = array<T>::view_of(std::move(bytes), std::move(found.data_shape));
    return data ? data->broadcast_to(found.shape) : std::nullopt;
  }
  case array_form::strided:
    return array<T>::view_of(bytes, std::move(found.shape), std::move(found.strides), found.first);
  }
  return std::nullopt;
}

template <class T>
bool typed_read_array(typed_reader& from, array<T>& target) {
  wire_array found;
  if (!read_wire_array(from, sizeof(T), found))
    return false;
  const auto* whole = found.data.whole;
  if (whole != nullptr && reinterpret_cast<std::uintptr_t>(found.data.bytes.data()) % alignof(T) != 0) {
    if (!from.charge(1, copied_bytes(found.data.bytes.size())))
      return false;
    whole = nullptr;
  }
  auto bytes = whole != nullptr ? *whole : frame::copy_of(found.data.bytes);
  auto made = made_of<T>(std::move(found), std::move(bytes));
  if (!made)
    return fail_array(from);
  target = *std::move(made);
  return true;
}

} // namespace troupe::detail
