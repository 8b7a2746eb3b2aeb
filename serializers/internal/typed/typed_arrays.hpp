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

} // namespace troupe::detail
