// array<T>: an immutable n-dimensional array that travels without being copied. writable_array<T>: an array that can be
// filled.
#pragma once

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/serializers/codec.hpp>
#include <troupe/serializers/frame.hpp>
#include <troupe/serializers/internal/words/array_layout.hpp>
#include <troupe/serializers/number.hpp>

namespace troupe {

/// The element types of arrays.
template <class T>
concept array_element = numeric<T>;

template <array_element T>
class writable_array;

/// The maximum number of dimensions of an array that travels, in every family. The same as in numpy.
inline constexpr std::size_t array_dimensions_max = 64;

/// An immutable, shared view of numbers with a shape and strides. Copies and slices share the same bytes, wherever
/// these are: heap, a received frame, a store. Assigning to an element does not compile; `copy()` returns a writable
/// array.
///
/// Elements are in C order unless the array was made otherwise: rows first, and the last index changes fastest. An
/// array of no dimensions holds one element. Positions, counts and strides are in elements, not in bytes.
///
/// Threads: as for std::shared_ptr.
/// Lifetime: an array keeps its elements alive, and with them the whole frame in which they lie, even if the array is a
/// slice. A copy (copy(), or contiguous() if it has to copy) does not keep the frame.
template <array_element T>
class array {
public:
  using value_type = T;
  class iterator;
  using const_iterator = iterator;

  /// One dimension of length 0.
  array() = default;

  explicit array(std::vector<T> values) {
    std::vector<std::size_t> shape{values.size()};
    *this = array(std::move(values), std::move(shape));
  }
  /// Takes ownership of `values` without a copy. Requires: the shape's product is the number of values.
  array(std::vector<T> values, std::vector<std::size_t> shape, memory_order order = memory_order::c)
      : array(adopted(std::move(values)), std::move(shape), order) {}

  [[nodiscard]] static array copy_of(std::span<const T> values) { return copy_of(values, {values.size()}); }
  /// Requires: the shape's product is the number of values.
  [[nodiscard]] static array copy_of(std::span<const T> values, std::vector<std::size_t> shape,
                                     memory_order order = memory_order::c) {
    assert(detail::count_of(shape) == values.size());
    return {frame::copy_of(std::as_bytes(values)), std::move(shape), order};
  }
  /// An array of that shape with the same value everywhere, stored once. Nullopt if the shape's product overflows.
  [[nodiscard]] static std::optional<array> filled(T value, const std::vector<std::size_t>& shape) {
    return copy_of(std::span<const T>(&value, 1), {}).broadcast_to(shape);
  }

  /// Views a frame in place. Nullopt if the frame's size does not match the shape, or if its bytes are not aligned for
  /// T.
  [[nodiscard]] static std::optional<array> view_of(frame bytes, std::vector<std::size_t> shape,
                                                    memory_order order = memory_order::c) {
    const auto count = detail::count_of(shape);
    if (!count || bytes.size_bytes() % sizeof(T) != 0 || bytes.size_bytes() / sizeof(T) != *count || !is_aligned(bytes))
      return std::nullopt;
    return array{std::move(bytes), std::move(shape), order};
  }
  [[nodiscard]] static std::optional<array> view_of(frame bytes) {
    const auto count = bytes.size_bytes() / sizeof(T);
    return view_of(std::move(bytes), {count});
  }
  /// Views a frame with any strides. `first` is the position in the frame of the element of index 0. Nullopt if shape
  /// and strides differ in length, if an element would lie outside the frame, or if the frame is not aligned for T.
  [[nodiscard]] static std::optional<array> view_of(const frame& bytes, std::vector<std::size_t> shape,
                                                    std::vector<std::ptrdiff_t> strides, std::size_t first) {
    const auto count = detail::count_of(shape);
    if (!count || shape.size() != strides.size() || !is_aligned(bytes))
      return std::nullopt;
    if (*count == 0)
      return array{frame(), std::move(shape), memory_order::c};
    const auto extent = detail::extent_of(shape, strides);
    const auto room = bytes.size_bytes() / sizeof(T);
    if (!extent || extent->below > first || first >= room || extent->above >= room - first)
      return std::nullopt;
    const auto* const at = reinterpret_cast<const T*>(bytes.bytes().data()) + first;
    return array{bytes.owner(), at, std::move(shape), std::move(strides)};
  }

  [[nodiscard]] std::size_t rank() const noexcept { return shape().size(); }
  [[nodiscard]] const std::vector<std::size_t>& shape() const noexcept { return layout().shape; }
  /// The distance in memory to the next element of each dimension, in elements, not in bytes.
  [[nodiscard]] std::vector<std::ptrdiff_t> strides() const {
    return is_plain() ? detail::strides_of(shape(), memory_order::c) : layout().strides;
  }
  [[nodiscard]] std::size_t size() const noexcept { return layout_ ? layout_->size : 0; }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  /// Whether the elements lie one after the other in that order.
  [[nodiscard]] bool is_contiguous(memory_order order = memory_order::c) const {
    return (is_plain() && order == memory_order::c) || detail::is_contiguous(shape(), strides(), order);
  }

  /// The address of the element of index 0. Unspecified if the array is empty.
  [[nodiscard]] const T* data() const noexcept { return first_; }
  /// The elements in place. Throws std::logic_error unless is_contiguous(). Valid while the array lives.
  [[nodiscard]] std::span<const T> span() const {
    if (!is_contiguous())
      throw std::logic_error("array::span: the elements are not contiguous; call contiguous() first");
    return {first_, size()};
  }
  /// The element at these indices: `values[row, column]`. Requires: an index for each dimension, each less than its
  /// length.
  template <std::convertible_to<std::size_t>... Index>
  [[nodiscard]] const T& operator[](Index... index) const noexcept {
    assert(sizeof...(Index) == rank());
    std::ptrdiff_t offset = 0;
    std::size_t dimension = 0;
    const auto& at = *layout_; // There are no indexes into an array without one.
    if (at.strides.empty())
      ((offset = offset * static_cast<std::ptrdiff_t>(at.shape[dimension++]) + static_cast<std::ptrdiff_t>(index)),
       ...);
    else
      ((offset += at.strides[dimension++] * static_cast<std::ptrdiff_t>(index)), ...);
    return first_[offset];
  }
  /// Iterates over all elements in C order, whatever the strides. Fast if is_contiguous(). Valid while the array lives.
  [[nodiscard]] iterator begin() const { return {*this, 0}; }
  [[nodiscard]] iterator end() const { return {*this, size()}; }

  /// Every `step`-th element of a dimension, from `start` up to but not including `stop`, as in Python. Negative
  /// positions count from the end; positions beyond the ends are cut off. No copy. Requires: the dimension exists, and
  /// `step` is not 0.
  [[nodiscard]] array slice(std::size_t dimension, std::ptrdiff_t start, std::ptrdiff_t stop,
                            std::ptrdiff_t step = 1) const {
    assert(dimension < rank() && step != 0);
    auto lengths = shape();
    auto steps = strides();
    const auto cut = detail::cut_of(lengths[dimension], start, stop, step);
    const auto* const first = first_ + static_cast<std::ptrdiff_t>(cut.first) * steps[dimension];
    steps[dimension] *= step;
    lengths[dimension] = cut.count;
    return {owner_, first, std::move(lengths), std::move(steps)};
  }
  /// One position of a dimension, with that dimension removed. No copy. Requires: the dimension and the position exist.
  [[nodiscard]] array select(std::size_t dimension, std::size_t index) const {
    assert(dimension < rank() && index < shape()[dimension]);
    auto lengths = shape();
    auto steps = strides();
    const auto* const first = first_ + static_cast<std::ptrdiff_t>(index) * steps[dimension];
    steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(dimension));
    lengths.erase(lengths.begin() + static_cast<std::ptrdiff_t>(dimension));
    return {owner_, first, std::move(lengths), std::move(steps)};
  }
  /// The same elements with the dimensions in reverse order. No copy.
  [[nodiscard]] array transposed() const {
    auto lengths = shape();
    auto steps = strides();
    std::ranges::reverse(lengths);
    std::ranges::reverse(steps);
    return {owner_, first_, std::move(lengths), std::move(steps)};
  }
  /// Broadcasts to that shape as numpy does: dimensions of length 1, and missing ones in front, are repeated without a
  /// copy. Nullopt if the shapes do not fit.
  [[nodiscard]] std::optional<array> broadcast_to(const std::vector<std::size_t>& lengths) const {
    auto steps = detail::broadcast(shape(), strides(), lengths);
    if (!steps)
      return std::nullopt;
    return array{owner_, first_, lengths, *std::move(steps)};
  }
  /// The array with each repeated element once: dimensions with a stride of 0 get the length 1.
  [[nodiscard]] array without_repeats() const {
    if (is_plain())
      return *this;
    auto lengths = shape();
    for (std::size_t i = 0; i < lengths.size(); ++i)
      if (layout().strides[i] == 0 && lengths[i] > 1)
        lengths[i] = 1;
    return {owner_, first_, std::move(lengths), strides()};
  }
  /// The same elements in C order, in another shape. Copies them only if not is_contiguous(). Nullopt if the shape's
  /// product is not size().
  [[nodiscard]] std::optional<array> reshaped(std::vector<std::size_t> lengths) const {
    if (detail::count_of(lengths) != size())
      return std::nullopt;
    auto made = contiguous();
    made.layout_ = detail::shared_layout(std::move(lengths), {});
    return made;
  }
  /// The array itself if is_contiguous(order), else a contiguous copy.
  [[nodiscard]] array contiguous(memory_order order = memory_order::c) const {
    if (is_contiguous(order))
      return *this;
    std::byte* into = nullptr;
    const auto bytes = frame::uninitialized(size() * sizeof(T), into);
    pack_to(into, order);
    return {bytes, shape(), order};
  }

  /// An owned, writable copy in C order.
  [[nodiscard]] writable_array<T> copy() const { return packed(memory_order::c).with_shape(shape()); }
  /// A copy of all elements in C order.
  [[nodiscard]] std::vector<T> to_vector() const {
    std::vector<T> all(size());
    pack_to(all.data(), memory_order::c);
    return all;
  }

  /// The memory from the first to the last element, with its owner. If the array is contiguous in any order, the memory
  /// contains only its elements.
  [[nodiscard]] frame bytes() const {
    if (empty())
      return {};
    if (is_plain())
      return {std::as_bytes(std::span(first_, size())), owner_};
    const auto extent = *detail::extent_of(shape(), strides());
    return {std::as_bytes(std::span(first_ - extent.below, extent.below + extent.above + 1)), owner_};
  }

  [[nodiscard]] const std::shared_ptr<const frame_owner>& owner() const noexcept { return owner_; }

  friend bool operator==(const array& left, const array& right) {
    return left.shape() == right.shape() && std::equal(left.begin(), left.end(), right.begin());
  }

private:
  friend class writable_array<T>;

  struct vector_owner final : frame_owner {
    explicit vector_owner(std::vector<T> from) : values(std::move(from)) {}
    std::vector<T> values;
  };

  array(const frame& bytes, std::vector<std::size_t> shape, memory_order order)
      : owner_(bytes.owner()), first_(reinterpret_cast<const T*>(bytes.bytes().data())) {
    auto strides = order == memory_order::c ? std::vector<std::ptrdiff_t>() : detail::strides_of(shape, order);
    layout_ = detail::shared_layout(std::move(shape), std::move(strides));
  }
  array(std::shared_ptr<const frame_owner> owner, const T* first, std::vector<std::size_t> shape,
        std::vector<std::ptrdiff_t> strides)
      : owner_(std::move(owner)), first_(first), layout_(detail::shared_layout(std::move(shape), std::move(strides))) {}

  static frame adopted(std::vector<T> values) {
    auto owner = std::make_shared<const vector_owner>(std::move(values));
    return {std::as_bytes(std::span(owner->values)), owner};
  }
  static bool is_aligned(const frame& bytes) {
    return reinterpret_cast<std::uintptr_t>(bytes.bytes().data()) % alignof(T) == 0;
  }
  /// Whether the elements are in C order; such strides are not stored.
  [[nodiscard]] bool is_plain() const noexcept { return layout().strides.empty(); }
  [[nodiscard]] const detail::array_layout& layout() const noexcept {
    static const detail::array_layout of_none{.size = 0, .shape = {0}, .strides = {}};
    return layout_ ? *layout_ : of_none;
  }
  void pack_to(void* to, memory_order order) const {
    detail::pack(reinterpret_cast<const std::byte*>(first_), sizeof(T), shape(), strides(), order,
                 static_cast<std::byte*>(to));
  }
  [[nodiscard]] writable_array<T> packed(memory_order order) const;

  // As few words as possible: each record has room for an array.
  std::shared_ptr<const frame_owner> owner_;
  const T* first_ = nullptr;
  std::shared_ptr<const detail::array_layout> layout_; // Null: one dimension of length 0.
};

/// A random access iterator. Valid while its array lives.
template <array_element T>
class array<T>::iterator {
public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = T;
  using difference_type = std::ptrdiff_t;
  using pointer = const T*;
  using reference = const T&;

  iterator() = default;
  iterator(const array& of, std::size_t index)
      : first_(of.first_), of_(of.is_plain() ? nullptr : &of), index_(static_cast<std::ptrdiff_t>(index)) {}

  reference operator*() const { return (*this)[0]; }
  pointer operator->() const { return &(*this)[0]; }
  reference operator[](difference_type by) const {
    const auto index = index_ + by;
    return first_[of_ == nullptr
                      ? index
                      : detail::offset_of(static_cast<std::size_t>(index), of_->shape(), of_->layout().strides)];
  }
  iterator& operator+=(difference_type by) { return index_ += by, *this; }
  iterator& operator-=(difference_type by) { return index_ -= by, *this; }
  iterator& operator++() { return *this += 1; }
  iterator& operator--() { return *this -= 1; }
  iterator operator++(int) { return std::exchange(*this, *this + 1); }
  iterator operator--(int) { return std::exchange(*this, *this - 1); }
  friend iterator operator+(iterator at, difference_type by) { return at += by; }
  friend iterator operator+(difference_type by, iterator at) { return at += by; }
  friend iterator operator-(iterator at, difference_type by) { return at -= by; }
  friend difference_type operator-(const iterator& left, const iterator& right) { return left.index_ - right.index_; }
  friend bool operator==(const iterator& left, const iterator& right) { return left.index_ == right.index_; }
  friend auto operator<=>(const iterator& left, const iterator& right) { return left.index_ <=> right.index_; }

private:
  const T* first_ = nullptr;
  const array* of_ = nullptr; // Null if the elements are in C order.
  difference_type index_ = 0;
};

/// An n-dimensional array of numbers that owns its elements, in C order. A program fills it, then freezes or sends it.
/// Its memory starts at a multiple of frame::alignment_bytes. A copy copies the elements. A receiver gets a writable
/// array of its own. A moved-from array has one dimension of length 0.
///
/// Threads: as for std::vector.
template <array_element T>
class writable_array {
public:
  using value_type = T;

  /// One dimension of length 0.
  writable_array() = default;
  /// An array of zeros. Requires: the shape's product does not overflow. Throws std::bad_alloc.
  explicit writable_array(std::vector<std::size_t> shape)
      : values_(detail::count_of(shape).value(), T{}), shape_(std::move(shape)) {}

  [[nodiscard]] std::size_t rank() const noexcept { return shape().size(); }
  [[nodiscard]] const std::vector<std::size_t>& shape() const noexcept {
    static const std::vector<std::size_t> of_none{0};
    return shape_.empty() && values_.empty() ? of_none : shape_;
  }
  [[nodiscard]] std::size_t size() const noexcept { return values_.size(); }
  [[nodiscard]] bool empty() const noexcept { return values_.empty(); }
  [[nodiscard]] T* data() noexcept { return values_.data(); }
  [[nodiscard]] const T* data() const noexcept { return values_.data(); }
  [[nodiscard]] std::span<T> span() noexcept { return values_; }
  [[nodiscard]] std::span<const T> span() const noexcept { return values_; }
  [[nodiscard]] T* begin() noexcept { return data(); }
  [[nodiscard]] T* end() noexcept { return data() + size(); }
  [[nodiscard]] const T* begin() const noexcept { return data(); }
  [[nodiscard]] const T* end() const noexcept { return data() + size(); }
  /// The element at these indices. Requires: an index for each dimension, each less than its length.
  template <std::convertible_to<std::size_t>... Index>
  [[nodiscard]] T& operator[](Index... index) noexcept {
    return values_[offset(index...)];
  }
  template <std::convertible_to<std::size_t>... Index>
  [[nodiscard]] const T& operator[](Index... index) const noexcept {
    return values_[offset(index...)];
  }

  /// Makes the elements immutable, without a copy.
  [[nodiscard]] array<T> freeze() && {
    auto lengths = shape();
    shape_.clear();
    return {std::move(*this).frozen(), std::move(lengths), memory_order::c};
  }
  /// Views the present elements in place. Requires: `owner` keeps them there, unchanged, while it lives.
  [[nodiscard]] array<T> borrowed(std::shared_ptr<const frame_owner> owner) const {
    return {frame(std::as_bytes(span()), std::move(owner)), shape(), memory_order::c};
  }

  friend bool operator==(const writable_array& left, const writable_array& right) {
    return left.shape() == right.shape() && left.values_ == right.values_;
  }

private:
  friend class array<T>;

  /// Memory for std::vector, aligned to frame::alignment_bytes. Elements without an initial value stay uninitialized.
  template <class U>
  struct aligned_memory {
    using value_type = U;
    aligned_memory() = default;
    template <class V>
    aligned_memory(const aligned_memory<V>&) {}
    U* allocate(std::size_t count) {
      return static_cast<U*>(::operator new (count * sizeof(U), std::align_val_t{frame::alignment_bytes}));
    }
    void construct(U* at) { ::new (static_cast<void*>(at)) U; }
    template <class... Arguments>
    void construct(U* at, Arguments&&... arguments) {
      ::new (static_cast<void*>(at)) U(std::forward<Arguments>(arguments)...);
    }
    void deallocate(U* at, std::size_t) { ::operator delete (at, std::align_val_t{frame::alignment_bytes}); }
    friend bool operator==(const aligned_memory&, const aligned_memory&) { return true; }
  };
  using vector = std::vector<T, aligned_memory<T>>;
  struct vector_owner final : frame_owner {
    explicit vector_owner(vector from) : values(std::move(from)) {}
    vector values;
  };

  struct unfilled {};
  writable_array(unfilled, std::size_t count) : values_(count), shape_{count} {}

  [[nodiscard]] frame frozen() && {
    auto owner = std::make_shared<const vector_owner>(std::exchange(values_, {}));
    return {std::as_bytes(std::span(owner->values)), owner};
  }
  [[nodiscard]] writable_array with_shape(std::vector<std::size_t> shape) && {
    shape_ = std::move(shape);
    return std::move(*this);
  }
  template <class... Index>
  [[nodiscard]] std::size_t offset(Index... index) const noexcept {
    assert(sizeof...(Index) == rank());
    std::size_t offset = 0;
    std::size_t dimension = 0;
    ((offset = offset * shape_[dimension++] + static_cast<std::size_t>(index)), ...);
    return offset;
  }

  vector values_;
  std::vector<std::size_t> shape_; // Empty if there are no elements: one dimension of length 0.
};

template <array_element T>
writable_array<T> array<T>::packed(memory_order order) const {
  writable_array<T> made(typename writable_array<T>::unfilled(), size());
  pack_to(made.data(), order);
  return made;
}

/// Concatenates arrays along their first dimension. Adjacent pieces of one array are joined without a copy. If there
/// are no pieces, the result is an empty array. Nullopt if the other dimensions differ, or if one piece has no
/// dimension.
template <array_element T>
[[nodiscard]] std::optional<array<T>> joined(std::span<const array<T>> pieces) {
  std::vector<std::size_t> shape;
  bool is_adjacent = true;
  for (const auto& each : pieces) {
    if (each.rank() == 0
        || (!shape.empty() && !std::ranges::equal(std::span(each.shape()).subspan(1), std::span(shape).subspan(1))))
      return std::nullopt;
    is_adjacent = is_adjacent && each.is_contiguous() && each.owner() == pieces[0].owner()
                  && each.data() == pieces[0].data() + (shape.empty() ? 0 : *detail::count_of(shape));
    if (shape.empty())
      shape = each.shape();
    else
      shape[0] += each.shape()[0];
  }
  if (pieces.empty())
    return array<T>();
  if (is_adjacent) {
    const frame whole{std::as_bytes(std::span(pieces[0].data(), *detail::count_of(shape))), pieces[0].owner()};
    return array<T>::view_of(whole, std::move(shape));
  }
  writable_array<T> made(shape);
  auto* to = made.data();
  for (const auto& each : pieces)
    to = std::ranges::copy(each, to).out;
  return std::move(made).freeze();
}

/// Travels as an array<T>; the receiver gets a writable copy.
template <array_element T>
struct codec<writable_array<T>> {
  using form = array<T>;
  static constexpr bool is_self_contained = true;
  static std::expected<form, serialize_error> reduce(const writable_array<T>& value, const context& ctx) {
    return ctx.value_owner ? value.borrowed(ctx.value_owner) : array<T>::copy_of(value.span(), value.shape());
  }
  static std::expected<writable_array<T>, serialize_error> rebuild(form&& from, const context&) { return from.copy(); }
  static std::size_t rebuilt_bytes(const form& from) { return from.size() * sizeof(T); }
  static std::size_t held_bytes(const writable_array<T>& value) { return value.size() * sizeof(T); }
};

namespace detail {

[[nodiscard]] TROUPE_EXPORT std::string array_text(number_kind of, const std::byte* first,
                                                   std::span<const std::size_t> shape,
                                                   std::span<const std::ptrdiff_t> strides);

} // namespace detail

/// Prints the array row by row, as numpy does. If it has more than 1,000 elements, only the first and last three of
/// each dimension are shown, or fewer if there are many dimensions. With more than 64 dimensions, only the numbers of
/// dimensions and elements are shown. The text stays below 1 MiB.
template <array_element T>
[[nodiscard]] std::string to_text(const array<T>& values) {
  return detail::array_text(kind_of<T>, reinterpret_cast<const std::byte*>(values.data()), values.shape(),
                            values.strides());
}
template <array_element T, class Traits>
std::basic_ostream<char, Traits>& operator<<(std::basic_ostream<char, Traits>& to, const array<T>& values) {
  return to << to_text(values);
}

} // namespace troupe
