// Where the elements of an n-dimensional array lie: shapes, strides, and moving elements from one layout to another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <troupe/base/export.hpp>

namespace troupe {

/// Which index counts up fastest from one element in memory to the next: the last one, or the first.
enum class memory_order : std::uint8_t { c, fortran };

namespace detail {

using array_shape = std::vector<std::size_t>;
/// In elements, per dimension; may be negative or 0.
using array_strides = std::vector<std::ptrdiff_t>;

/// What an array and its copies share.
struct array_layout {
  std::size_t size; // The shape's product: users' loops ask for it each time.
  array_shape shape;
  array_strides strides; // Empty: those of C order.
};
/// What a decoder is charged for one layout, beyond its lengths. The charge includes the counter of the layout's
/// owners, and what malloc adds to the block of the lengths.
inline constexpr std::size_t array_layout_bytes = sizeof(array_layout) + 7 * sizeof(void*);
/// The same for those of several arrays of one rank, with their lengths.
[[nodiscard]] constexpr std::size_t layouts_bytes(std::size_t arrays, std::size_t rank) {
  return arrays * (array_layout_bytes + rank * (sizeof(std::size_t) + sizeof(std::ptrdiff_t)));
}

/// The product of a shape; nothing when it overflows.
[[nodiscard]] TROUPE_EXPORT std::optional<std::size_t> count_of(std::span<const std::size_t> shape);

/// Requires: count_of() gives something.
[[nodiscard]] TROUPE_EXPORT array_strides strides_of(std::span<const std::size_t> shape, memory_order order);

/// Whether the elements lie one after the other in that order. Lengths of 1 have any stride.
[[nodiscard]] TROUPE_EXPORT bool is_contiguous(std::span<const std::size_t> shape,
                                               std::span<const std::ptrdiff_t> strides, memory_order order);

/// To be shared. Strides are dropped where they are those of C order; none are those. Requires: count_of() gives
/// something.
[[nodiscard]] TROUPE_EXPORT std::shared_ptr<const array_layout> shared_layout(array_shape shape, array_strides strides);

/// How far from the first element the others lie: `below` in front of it, `above` behind it, in elements. Nothing when
/// that overflows. Requires: as many strides as lengths, no length is 0.
struct array_extent {
  std::size_t below = 0;
  std::size_t above = 0;
};
[[nodiscard]] TROUPE_EXPORT std::optional<array_extent> extent_of(std::span<const std::size_t> shape,
                                                                  std::span<const std::ptrdiff_t> strides);

/// Copies elements, `first` on, to where they lie one after the other in that order.
TROUPE_EXPORT void pack(const std::byte* first, std::size_t element_bytes, std::span<const std::size_t> shape,
                        std::span<const std::ptrdiff_t> strides, memory_order order, std::byte* to);

/// The offset, in elements, of the element that comes `index`-th in C order.
[[nodiscard]] TROUPE_EXPORT std::ptrdiff_t offset_of(std::size_t index, std::span<const std::size_t> shape,
                                                     std::span<const std::ptrdiff_t> strides);

/// The strides that make an array of the one shape look like one of the other, as numpy does: lengths of 1 and missing
/// ones in front are repeated, with stride 0. Nothing where that is impossible.
[[nodiscard]] TROUPE_EXPORT std::optional<array_strides>
broadcast(std::span<const std::size_t> shape, std::span<const std::ptrdiff_t> strides, std::span<const std::size_t> to);

/// What of a dimension a slice keeps: `count` elements from `first` on.
struct array_cut {
  std::size_t first;
  std::size_t count;
};
/// As Python's slices do it: negative positions count from the end, what reaches beyond an end is cut off. Requires: a
/// step other than 0.
[[nodiscard]] TROUPE_EXPORT array_cut cut_of(std::size_t length, std::ptrdiff_t start, std::ptrdiff_t stop,
                                             std::ptrdiff_t step);

} // namespace detail
} // namespace troupe
