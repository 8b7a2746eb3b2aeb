// The places of the elements of an n-dimensional array: shapes, strides, and copying between layouts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <troupe/base/export.hpp>

namespace troupe {

/// The index that changes fastest along the memory: the last one (c), or the first one (fortran).
enum class memory_order : std::uint8_t { c, fortran };

namespace detail {

using array_shape = std::vector<std::size_t>;
/// The stride of each dimension, in elements. May be negative or 0.
using array_strides = std::vector<std::ptrdiff_t>;

/// The layout that an array shares with its copies.
struct array_layout {
  std::size_t size; // The shape's product. Kept because loops of users need it each time.
  array_shape shape;
  array_strides strides; // Empty: C order.
};
/// The memory that decoders charge for one layout, beyond its lengths. It includes the reference count, and the bytes
/// that malloc adds to the block of the lengths.
inline constexpr std::size_t array_layout_bytes = sizeof(array_layout) + 7 * sizeof(void*);
/// The memory that decoders charge for the layouts of several arrays of one rank, including their lengths.
[[nodiscard]] constexpr std::size_t layouts_bytes(std::size_t arrays, std::size_t rank) {
  return arrays * (array_layout_bytes + rank * (sizeof(std::size_t) + sizeof(std::ptrdiff_t)));
}

/// The product of a shape; nullopt on overflow.
[[nodiscard]] TROUPE_EXPORT std::optional<std::size_t> count_of(std::span<const std::size_t> shape);

/// Requires: count_of(shape) has a value.
[[nodiscard]] TROUPE_EXPORT array_strides strides_of(std::span<const std::size_t> shape, memory_order order);

/// Whether the elements lie one after the other in that order. The stride of a dimension of length 1 does not matter.
[[nodiscard]] TROUPE_EXPORT bool is_contiguous(std::span<const std::size_t> shape,
                                               std::span<const std::ptrdiff_t> strides, memory_order order);

/// Makes a layout that arrays share. Empty strides mean C order; strides of C order are dropped. Requires:
/// count_of(shape) has a value.
[[nodiscard]] TROUPE_EXPORT std::shared_ptr<const array_layout> shared_layout(array_shape shape, array_strides strides);

/// The distance of the other elements from the first one, in elements: `below` in front of it, `above` behind it.
/// extent_of() returns nullopt on overflow. It requires as many strides as lengths, and no length of 0.
struct array_extent {
  std::size_t below = 0;
  std::size_t above = 0;
};
[[nodiscard]] TROUPE_EXPORT std::optional<array_extent> extent_of(std::span<const std::size_t> shape,
                                                                  std::span<const std::ptrdiff_t> strides);

/// Copies the elements to `to`, one after the other in that order. The element of index 0 is at `first`.
TROUPE_EXPORT void pack(const std::byte* first, std::size_t element_bytes, std::span<const std::size_t> shape,
                        std::span<const std::ptrdiff_t> strides, memory_order order, std::byte* to);

/// The offset, in elements, of the `index`-th element in C order.
[[nodiscard]] TROUPE_EXPORT std::ptrdiff_t offset_of(std::size_t index, std::span<const std::size_t> shape,
                                                     std::span<const std::ptrdiff_t> strides);

/// The strides that make an array of one shape look like an array of the other, as in numpy: dimensions of length 1,
/// and missing ones in front, are repeated with stride 0. Nullopt if that is impossible.
[[nodiscard]] TROUPE_EXPORT std::optional<array_strides>
broadcast(std::span<const std::size_t> shape, std::span<const std::ptrdiff_t> strides, std::span<const std::size_t> to);

/// The part of a dimension that a slice keeps: `count` elements from `first` on.
struct array_cut {
  std::size_t first;
  std::size_t count;
};
/// Computes a slice as Python does. Negative positions count from the end, and positions beyond an end are cut off.
/// Requires: a step other than 0.
[[nodiscard]] TROUPE_EXPORT array_cut cut_of(std::size_t length, std::ptrdiff_t start, std::ptrdiff_t stop,
                                             std::ptrdiff_t step);

} // namespace detail
} // namespace troupe
