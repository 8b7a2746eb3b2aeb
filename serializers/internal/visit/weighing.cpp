#include <troupe/serializers/internal/visit/weighing.hpp>

#include <algorithm>

#include <troupe/serializers/internal/visit/visit_read.hpp>

namespace troupe::detail {

namespace {

std::size_t lengths_bytes(bool counts_ahead, std::size_t count) {
  return (counts_ahead ? count : capacity_for(count, 0)) * sizeof(std::size_t);
}

/// Nested lists of known lengths. Each list charges for its own elements. The outermost list reserves room for as many
/// numbers as it has elements, and the memory of all numbers grows from there.
std::size_t rows_bytes(const weighed_array& of) {
  if (of.data_shape.empty())
    return 0;
  std::size_t charged = 0;
  std::size_t count = 1;
  for (const auto length : of.data_shape)
    charged += count *= length;
  return (charged + capacity_for(count, of.data_shape.front())) * of.element_bytes;
}

std::size_t elements_bytes(value_writer::list_counts counts, const weighed_array& of, std::size_t count) {
  using enum value_writer::list_counts;
  if (of.is_attached)
    return 0;
  const auto known = counts == never ? 0 : of.is_in_bytes ? count : rows_bytes(of);
  const auto grown = counts == ahead ? 0 : capacity_for(count, 0) * of.element_bytes;
  return std::max(known, grown);
}

} // namespace

std::size_t array_bytes(const value_writer& to, const weighed_array& of) {
  const auto ahead = to.counts_ahead();
  const auto rank = of.shape.size();
  const bool is_repeated = !std::ranges::equal(of.shape, of.data_shape);
  std::size_t count = 1;
  for (const auto length : of.data_shape)
    count *= length;
  auto bytes = lengths_bytes(ahead, rank) + elements_bytes(to.counts(), of, count)
               + layouts_bytes(visited_layouts(of.is_attached, of.is_fortran, is_repeated), rank);
  if (is_repeated)
    bytes += lengths_bytes(ahead, rank);
  if (of.is_fortran) // The array is reordered, and kept if it came as a frame.
    bytes += count * of.element_bytes + (of.is_attached ? made_array_bytes(rank) : 0);
  return bytes;
}

} // namespace troupe::detail
