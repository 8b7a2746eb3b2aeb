// array<T>: an immutable n-dimensional array that travels without being copied.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <troupe/serializers/frame.hpp>

namespace troupe {

/// What an array may hold.
template <class T>
concept array_element = (std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8)
                        || std::is_same_v<T, std::byte>;

/// An immutable, shared view of numbers in C order, with a shape. Copies share the same bytes, on whatever they lie:
/// heap, a received frame, a store. `copy()` gives an owned, writable vector.
///
/// Lifetime: the elements live as long as any array of them.
template <array_element T>
class array {
public:
  using value_type = T;

  /// One dimension of length 0.
  array() : shape_{0} {}

  explicit array(std::vector<T> values) : shape_{values.size()} {
    auto owner = std::make_shared<const vector_owner>(std::move(values));
    bytes_ = frame{std::as_bytes(std::span(owner->values)), owner};
  }

  [[nodiscard]] static array copy_of(std::span<const T> values) { return copy_of(values, {values.size()}); }
  /// Requires: the shape's product is the number of values.
  [[nodiscard]] static array copy_of(std::span<const T> values, std::vector<std::size_t> shape) {
    assert(count_of(shape) == values.size());
    return array{frame::copy_of(std::as_bytes(values)), std::move(shape)};
  }

  /// Views a frame in place. Nothing when the frame's size is not what the shape needs or its bytes lie unaligned.
  [[nodiscard]] static std::optional<array> view_of(frame bytes, std::vector<std::size_t> shape) {
    const auto count = count_of(shape);
    const auto at = reinterpret_cast<std::uintptr_t>(bytes.bytes().data());
    if (!count || bytes.size_bytes() % sizeof(T) != 0 || bytes.size_bytes() / sizeof(T) != *count
        || at % alignof(T) != 0)
      return std::nullopt;
    return array{std::move(bytes), std::move(shape)};
  }
  [[nodiscard]] static std::optional<array> view_of(frame bytes) {
    const auto count = bytes.size_bytes() / sizeof(T);
    return view_of(std::move(bytes), {count});
  }

  [[nodiscard]] const T* data() const noexcept { return reinterpret_cast<const T*>(bytes_.bytes().data()); }
  [[nodiscard]] std::size_t size() const noexcept { return bytes_.size_bytes() / sizeof(T); }
  [[nodiscard]] bool empty() const noexcept { return size() == 0; }
  [[nodiscard]] std::span<const T> span() const noexcept { return {data(), size()}; }
  [[nodiscard]] const std::vector<std::size_t>& shape() const noexcept { return shape_; }
  [[nodiscard]] const T& operator[](std::size_t index) const noexcept { return data()[index]; }
  [[nodiscard]] const T* begin() const noexcept { return data(); }
  [[nodiscard]] const T* end() const noexcept { return data() + size(); }

  [[nodiscard]] std::vector<T> copy() const { return {begin(), end()}; }
  /// The bytes and what keeps them alive.
  [[nodiscard]] const frame& bytes() const noexcept { return bytes_; }

  friend bool operator==(const array& left, const array& right) {
    return left.shape_ == right.shape_ && std::equal(left.begin(), left.end(), right.begin());
  }

  /// The product of a shape; nothing when it overflows.
  [[nodiscard]] static std::optional<std::size_t> count_of(const std::vector<std::size_t>& shape) {
    std::size_t count = 1;
    bool fits = true;
    for (const auto length : shape)
      fits = !__builtin_mul_overflow(count, length, &count) && fits;
    return fits ? std::optional(count) : std::nullopt;
  }

private:
  struct vector_owner final : frame_owner {
    explicit vector_owner(std::vector<T> from) : values(std::move(from)) {}
    std::vector<T> values;
  };

  array(frame bytes, std::vector<std::size_t> shape) : bytes_(std::move(bytes)), shape_(std::move(shape)) {}

  frame bytes_;
  std::vector<std::size_t> shape_;
};

} // namespace troupe
