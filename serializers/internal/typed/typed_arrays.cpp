#include <troupe/serializers/internal/typed/typed_arrays.hpp>

#include <algorithm>

#include <troupe/serializers/internal/coding/common.hpp>

namespace troupe::detail {

namespace {

constexpr std::uint64_t form_bits = 2;

std::uint64_t zigzag(std::ptrdiff_t value) {
  return (static_cast<std::uint64_t>(value) << 1) ^ static_cast<std::uint64_t>(value >> 63);
}

std::ptrdiff_t unzigzag(std::uint64_t value) {
  return static_cast<std::ptrdiff_t>((value >> 1) ^ (std::uint64_t{0} - (value & 1)));
}

/// The number of arrays with their own shape and strides that are made from that form.
std::size_t layouts_of(array_form form) {
  return form == array_form::once ? 2 : 1;
}

bool read_lengths(typed_reader& from, std::size_t rank, array_shape& lengths) {
  if (!from.charge(rank, sizeof(std::size_t)))
    return false;
  lengths.resize(rank);
  for (auto& length : lengths) {
    std::uint64_t value = 0;
    if (!from.varint(value))
      return false;
    length = value;
  }
  return true;
}

bool read_strides(typed_reader& from, std::size_t rank, wire_array& found) {
  if (!from.charge(rank, sizeof(std::ptrdiff_t)))
    return false;
  found.strides.resize(rank);
  std::uint64_t value = 0;
  for (auto& stride : found.strides) {
    if (!from.varint(value))
      return false;
    stride = unzigzag(value);
  }
  if (!from.varint(value))
    return false;
  found.first = value;
  return true;
}

/// The number of elements if repeated ones, of stride 0, count once; nullopt on overflow.
std::optional<std::size_t> unrepeated_count(std::span<const std::size_t> shape,
                                            std::span<const std::ptrdiff_t> strides) {
  std::size_t count = 1;
  for (std::size_t i = 0; i < shape.size(); ++i)
    if (strides[i] != 0 && __builtin_mul_overflow(count, shape[i], &count))
      return std::nullopt;
  return count;
}

/// The memory that readers charge for an array's shape and strides: for reading them, and for keeping them.
std::size_t layout_bytes(array_form form, std::size_t rank) {
  const bool has_two_lists = form == array_form::once || form == array_form::strided;
  return (has_two_lists ? 2 : 1) * rank * sizeof(std::size_t) + layouts_bytes(layouts_of(form), rank);
}

/// The number of elements if the shape fits the data; else nullopt.
std::optional<std::size_t> elements_of(const wire_array& found, std::size_t data_count) {
  const auto count = count_of(found.shape);
  if (!count)
    return std::nullopt;
  if (found.form == array_form::strided) {
    if (*count == 0)
      return count;
    const auto extent = extent_of(found.shape, found.strides);
    // Other overlaps would make more bytes than were received as soon as the array is sent on.
    const auto once = unrepeated_count(found.shape, found.strides);
    const bool is_within = extent && once && *once <= data_count && found.first < data_count
                           && extent->below <= found.first && extent->above < data_count - found.first;
    return is_within ? count : std::nullopt;
  }
  if (found.form != array_form::once)
    return *count == data_count ? count : std::nullopt;
  const auto fits = count_of(found.data_shape) == data_count && found.data_shape.size() == found.shape.size()
                    && broadcast(found.data_shape, array_strides(found.data_shape.size()), found.shape);
  return fits ? count : std::nullopt;
}

} // namespace

bool leaves_strided(std::span<const std::size_t> shape, std::span<const std::ptrdiff_t> strides) {
  if (count_of(shape) == 0)
    return false;
  const auto extent = extent_of(shape, strides);
  const auto once = unrepeated_count(shape, strides);
  return extent && once && *once <= extent->below + extent->above + 1;
}

bool check_dimensions(coding& state, std::size_t count) {
  const auto most = std::min(array_dimensions_max, state.context().limits.depth);
  return count <= most
         || state.fail(serialize_errc::limit_exceeded, "an array of " + grouped(count) + " dimensions, limit "
                                                           + grouped(most)
                                                           + (most < array_dimensions_max ? " (limits::depth)" : ""));
}

bool check_repeated(coding& state, std::size_t count, std::size_t element_bytes) {
  const auto most = state.context().limits.memory_bytes;
  return count <= most / element_bytes
         || state.fail(serialize_errc::limit_exceeded,
                       "an array of " + grouped(count) + " elements of " + grouped(element_bytes)
                           + " bytes, repeated ones counted, limit " + grouped(most) + " bytes (limits::memory_bytes)");
}

void write_array_head(typed_writer& to, array_form form, std::span<const std::size_t> shape) {
  to.weigh(layout_bytes(form, shape.size()));
  to.varint(static_cast<std::uint64_t>(shape.size()) << form_bits | static_cast<std::uint64_t>(form));
  for (const auto length : shape)
    to.varint(length);
}

void write_strides(typed_writer& to, std::span<const std::ptrdiff_t> strides, std::size_t first) {
  for (const auto stride : strides)
    to.varint(zigzag(stride));
  to.varint(first);
}

bool fail_array(coding& state) {
  return state.fail(serialize_errc::malformed, "the array's shape is not that of its data");
}

bool read_wire_array(typed_reader& from, std::size_t element_bytes, wire_array& found) {
  std::uint64_t head = 0;
  if (!from.varint(head))
    return false;
  const auto rank = static_cast<std::size_t>(head >> form_bits);
  found.form = static_cast<array_form>(head & 3);
  if (!from.need(rank) || !check_dimensions(from, rank) || !read_lengths(from, rank, found.shape))
    return false;
  if (found.form == array_form::once && (!from.need(rank) || !read_lengths(from, rank, found.data_shape)))
    return false;
  if (found.form == array_form::strided && (!from.need(rank) || !read_strides(from, rank, found)))
    return false;
  if (!charge_layouts(from, layouts_of(found.form), rank) || !from.contiguous(found.data, element_bytes))
    return false;
  const auto data_bytes = found.data.bytes.size();
  const auto count = elements_of(found, data_bytes / element_bytes);
  if (!count)
    return fail_array(from);
  if (found.data.whole == nullptr && !from.charge(1, copied_bytes(data_bytes)))
    return false;
  return *count <= data_bytes / element_bytes || check_repeated(from, *count, element_bytes);
}

bool pack_wire_array(const wire_array& from, std::size_t element_bytes, std::span<std::byte> to) {
  const auto& shape = from.form == array_form::once ? from.data_shape : from.shape;
  if (to.size() / element_bytes != count_of(shape))
    return false;
  if (to.empty())
    return true; // In this case the place of the first element has not been checked.
  const auto strides =
      from.form == array_form::strided
          ? from.strides
          : strides_of(shape, from.form == array_form::fortran ? memory_order::fortran : memory_order::c);
  pack(from.data.bytes.data() + from.first * element_bytes, element_bytes, shape, strides, memory_order::c, to.data());
  return true;
}

} // namespace troupe::detail
