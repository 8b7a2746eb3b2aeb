// Arrays in the `typed` family's form: shape, and the elements in the order of their memory. Layout: typed/format.md.
#pragma once

#include <troupe/base/export.hpp>
#include <troupe/serializers/array.hpp>
#include <troupe/serializers/internal/typed/typed_reader.hpp>
#include <troupe/serializers/internal/typed/typed_writer.hpp>

namespace troupe::detail {

/// The order of the elements. The values are part of the format: append only.
enum class array_form : std::uint8_t {
  c = 0,       // In C order.
  fortran = 1, // In Fortran order.
  once = 2,    // In C order, repeated elements once.
  strided = 3, // Anywhere in the bytes, by the strides.
};

/// An array as it was read, with elements of any type.
struct wire_array {
  array_form form{};
  array_shape shape;
  array_shape data_shape; // Of `once`.
  array_strides strides;  // Of `strided`.
  std::size_t first = 0;  // Of `strided`: the position of the element of index 0 in the data.
  typed_reader::block data;
};

TROUPE_EXPORT void write_array_head(typed_writer& to, array_form form, std::span<const std::size_t> shape);
TROUPE_EXPORT void write_strides(typed_writer& to, std::span<const std::ptrdiff_t> strides, std::size_t first);
/// Checks everything that does not depend on the type of the elements. Charges the bytes unless they came as a frame.
[[nodiscard]] TROUPE_EXPORT bool read_wire_array(typed_reader& from, std::size_t element_bytes, wire_array& found);
/// Copies the elements of an array that was read to `to`, in C order. Requires: no element is repeated.
[[nodiscard]] TROUPE_EXPORT bool pack_wire_array(const wire_array& from, std::size_t element_bytes,
                                                 std::span<std::byte> to);

/// Whether an array may leave as the memory in which it lies. False if elements overlap other than by a stride of 0,
/// because then there would be more elements than memory.
[[nodiscard]] TROUPE_EXPORT bool leaves_strided(std::span<const std::size_t> shape,
                                                std::span<const std::ptrdiff_t> strides);

} // namespace troupe::detail
