#include <troupe/serializers/internal/words/array_layout.hpp>

#include <algorithm>
#include <cstring>

namespace troupe::detail {

namespace {

template <std::size_t Bytes>
void copy_elements(const std::byte* from, std::ptrdiff_t stride_bytes, std::size_t count, std::byte* to) {
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(to + i * Bytes, from + static_cast<std::ptrdiff_t>(i) * stride_bytes, Bytes);
}

/// Copies one row. Returns the place for the next one.
std::byte* copy_row(const std::byte* from, std::size_t element_bytes, std::ptrdiff_t stride, std::size_t count,
                    std::byte* to) {
  const auto stride_bytes = stride * static_cast<std::ptrdiff_t>(element_bytes);
  if (stride == 1)
    std::memcpy(to, from, count * element_bytes);
  else if (element_bytes == 1)
    copy_elements<1>(from, stride_bytes, count, to);
  else if (element_bytes == 2)
    copy_elements<2>(from, stride_bytes, count, to);
  else if (element_bytes == 4)
    copy_elements<4>(from, stride_bytes, count, to);
  else
    copy_elements<8>(from, stride_bytes, count, to);
  return to + count * element_bytes;
}

bool is_empty(std::span<const std::size_t> shape) {
  return std::ranges::find(shape, std::size_t{0}) != shape.end();
}

} // namespace

std::optional<std::size_t> count_of(std::span<const std::size_t> shape) {
  if (is_empty(shape))
    return 0;
  std::size_t count = 1;
  for (const auto length : shape)
    if (__builtin_mul_overflow(count, length, &count) || count > PTRDIFF_MAX)
      return std::nullopt;
  return count;
}

array_strides strides_of(std::span<const std::size_t> shape, memory_order order) {
  array_strides strides(shape.size());
  if (is_empty(shape))
    return strides;
  std::ptrdiff_t step = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto at = order == memory_order::c ? shape.size() - 1 - i : i;
    strides[at] = step;
    step *= static_cast<std::ptrdiff_t>(shape[at]);
  }
  return strides;
}

bool is_contiguous(std::span<const std::size_t> shape, std::span<const std::ptrdiff_t> strides, memory_order order) {
  if (is_empty(shape))
    return true;
  std::ptrdiff_t step = 1;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto at = order == memory_order::c ? shape.size() - 1 - i : i;
    if (shape[at] != 1 && strides[at] != step)
      return false;
    step *= static_cast<std::ptrdiff_t>(shape[at]);
  }
  return true;
}

std::shared_ptr<const array_layout> shared_layout(array_shape shape, array_strides strides) {
  if (!strides.empty() && is_contiguous(shape, strides, memory_order::c))
    strides.clear();
  const auto size = *count_of(shape);
  return std::make_shared<const array_layout>(
      array_layout{.size = size, .shape = std::move(shape), .strides = std::move(strides)});
}

std::optional<array_extent> extent_of(std::span<const std::size_t> shape, std::span<const std::ptrdiff_t> strides) {
  array_extent extent;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const auto stride = strides[i];
    const auto step = stride < 0 ? std::size_t{0} - static_cast<std::size_t>(stride) : static_cast<std::size_t>(stride);
    auto& side = stride < 0 ? extent.below : extent.above;
    std::size_t reach = 0;
    if (__builtin_mul_overflow(shape[i] - 1, step, &reach) || __builtin_add_overflow(side, reach, &side)
        || side > PTRDIFF_MAX)
      return std::nullopt;
  }
  return extent;
}

void pack(const std::byte* first, std::size_t element_bytes, std::span<const std::size_t> shape,
          std::span<const std::ptrdiff_t> strides, memory_order order, std::byte* to) {
  if (is_empty(shape))
    return;
  const auto rank = shape.size();
  if (rank == 0) {
    std::memcpy(to, first, element_bytes);
    return;
  }
  const auto dimension = [&](std::size_t level) { return order == memory_order::c ? level : rank - 1 - level; };
  const auto innermost = dimension(rank - 1);
  array_shape index(rank);
  const auto* at = first;
  for (;;) {
    to = copy_row(at, element_bytes, strides[innermost], shape[innermost], to);
    auto level = rank - 1;
    for (;; --level) { // Goes to the next row: counts up like an odometer.
      if (level == 0)
        return;
      const auto outer = dimension(level - 1);
      const auto step = strides[outer] * static_cast<std::ptrdiff_t>(element_bytes);
      at += step;
      if (++index[outer] < shape[outer])
        break;
      at -= step * static_cast<std::ptrdiff_t>(shape[outer]);
      index[outer] = 0;
    }
  }
}

std::ptrdiff_t offset_of(std::size_t index, std::span<const std::size_t> shape,
                         std::span<const std::ptrdiff_t> strides) {
  std::ptrdiff_t offset = 0;
  for (auto i = shape.size(); i-- > 0; index /= shape[i])
    offset += static_cast<std::ptrdiff_t>(index % shape[i]) * strides[i];
  return offset;
}

std::optional<array_strides> broadcast(std::span<const std::size_t> shape, std::span<const std::ptrdiff_t> strides,
                                       std::span<const std::size_t> to) {
  if (shape.size() > to.size() || !count_of(to))
    return std::nullopt;
  array_strides made(to.size(), 0);
  const auto missing = to.size() - shape.size();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == to[missing + i])
      made[missing + i] = strides[i];
    else if (shape[i] != 1)
      return std::nullopt;
  }
  return made;
}

array_cut cut_of(std::size_t length, std::ptrdiff_t start, std::ptrdiff_t stop, std::ptrdiff_t step) {
  const auto end = static_cast<std::ptrdiff_t>(length);
  // If the slice goes backward, positions range from -1, in front of the first element, to the last element.
  const std::ptrdiff_t least = step > 0 ? 0 : -1;
  const auto most = step > 0 ? end : end - 1;
  const auto within = [&](std::ptrdiff_t position) {
    return std::clamp(position < 0 ? std::max(position, -end - 1) + end : position, least, most);
  };
  const auto first = within(start);
  const auto last = within(stop);
  const auto way = step > 0 ? last - first : first - last;
  if (way <= 0)
    return {0, 0};
  const auto size = step > 0 ? static_cast<std::size_t>(step) : std::size_t{0} - static_cast<std::size_t>(step);
  return {static_cast<std::size_t>(first), (static_cast<std::size_t>(way) - 1) / size + 1};
}

} // namespace troupe::detail
