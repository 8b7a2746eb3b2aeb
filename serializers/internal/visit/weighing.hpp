// The memory that readers of visitors' output charge for arrays and records, which they make step by step.
#pragma once

#include <cstddef>
#include <span>

#include <troupe/base/export.hpp>
#include <troupe/serializers/extend/value_writer.hpp>
#include <troupe/serializers/internal/coding/common.hpp>

namespace troupe::detail {

/// A vector<bool> with one element has memory for 64 elements.
inline constexpr std::size_t bools_at_least = 64;

/// The number of layouts of an array and of the arrays that are made on the way to it, each with its own shape and
/// strides.
constexpr std::size_t visited_layouts(bool is_attached, bool is_fortran, bool is_repeated) {
  return 1U + (is_attached ? 1U : 0U) + (is_fortran ? 1U : 0U) + (is_repeated ? 1U : 0U);
}

// The charge for a numbered array in addition to the array itself, and for each repeat of it.
inline constexpr std::size_t numbered_array_bytes = sizeof(array<double>) + shared_bytes;
inline constexpr std::size_t array_again_bytes = 1;

/// An array as value_writer::begin_array() writes it.
struct weighed_array {
  std::span<const std::size_t> shape;
  std::span<const std::size_t> data_shape;
  std::size_t element_bytes = 0;
  bool is_attached = false; // As a frame.
  bool is_fortran = false;
  bool is_in_bytes = false; // Else as a list, or nested lists.
};

/// The memory that readers of that writer's output charge for an array.
[[nodiscard]] TROUPE_EXPORT std::size_t array_bytes(const value_writer& to, const weighed_array& of);

/// The memory that readers charge for such an array if they make a record of it, with its fields and a record for each
/// number.
[[nodiscard]] TROUPE_EXPORT std::size_t record_of_array_bytes(const value_writer& to, const weighed_array& of);

} // namespace troupe::detail
