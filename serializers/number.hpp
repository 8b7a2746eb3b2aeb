// Numbers in the form in which they travel, and their checked conversion to a C++ type.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include <troupe/base/export.hpp>

namespace troupe {

static_assert(std::endian::native == std::endian::little, "formats are little-endian and so far only such machines");

/// The arithmetic types that travel, by width and sign. The values are part of formats: append only.
enum class number_kind : std::uint8_t {
  i8 = 2,
  i16 = 3,
  i32 = 4,
  i64 = 5,
  u8 = 6,
  u16 = 7,
  u32 = 8,
  u64 = 9,
  f32 = 10,
  f64 = 11
};

[[nodiscard]] TROUPE_EXPORT std::string_view name_of(number_kind kind);
/// The kind of that name. Nullopt if no kind has it.
[[nodiscard]] TROUPE_EXPORT std::optional<number_kind> number_kind_named(std::string_view name);
[[nodiscard]] TROUPE_EXPORT std::size_t size_of(number_kind kind);
/// Whether the code is the value of a kind.
[[nodiscard]] constexpr bool is_number_kind(std::uint8_t code) {
  return code >= 2 && code <= 11;
}

/// Arithmetic types except bool and those of more than 64 bits. std::byte counts as u8.
template <class T>
concept numeric = (std::is_arithmetic_v<T> && !std::is_same_v<T, bool> && sizeof(T) <= 8)
                  || std::is_same_v<T, std::byte>;

template <numeric T>
inline constexpr number_kind kind_of = [] {
  using enum number_kind;
  if constexpr (std::is_floating_point_v<T>)
    return sizeof(T) == 4 ? f32 : f64;
  else if constexpr (std::is_signed_v<T> && !std::is_same_v<T, char> && !std::is_same_v<T, wchar_t>)
    return sizeof(T) == 1 ? i8 : sizeof(T) == 2 ? i16 : sizeof(T) == 4 ? i32 : i64;
  else // Plain char is an unsigned byte, whatever its sign on this machine.
    return sizeof(T) == 1 ? u8 : sizeof(T) == 2 ? u16 : sizeof(T) == 4 ? u32 : u64;
}();

/// One number, stored in the widest type of its sort: an int64, a uint64 or a double.
class TROUPE_EXPORT number {
public:
  enum class sort : std::uint8_t { integer, natural, real, rounded };

  number() = default;
  static number of(std::int64_t value) { return {sort::integer, std::bit_cast<std::uint64_t>(value)}; }
  static number of(std::uint64_t value) { return {sort::natural, value}; }
  static number of(double value) { return {sort::real, std::bit_cast<std::uint64_t>(value)}; }
  /// A whole number of more than 64 bits, as the nearest double. No integer type can hold it.
  static number rounded(double close) { return {sort::rounded, std::bit_cast<std::uint64_t>(close)}; }
  /// Reads a number of that kind at `bytes`, which may be unaligned.
  static number load(number_kind kind, const std::byte* bytes);

  [[nodiscard]] sort form() const { return sort_; }
  [[nodiscard]] std::int64_t integer() const { return std::bit_cast<std::int64_t>(bits_); }
  [[nodiscard]] std::uint64_t natural() const { return bits_; }
  [[nodiscard]] double real() const { return std::bit_cast<double>(bits_); }
  [[nodiscard]] std::string text() const;
  /// Parses the output of text(). -0 and numbers with a fraction become doubles. Nullopt unless the whole text is a
  /// number.
  [[nodiscard]] static std::optional<number> parse(std::string_view text);
  /// Parses the text as a T. Nullopt also if T cannot hold the number; see to().
  template <class T>
  [[nodiscard]] static std::optional<T> parse_as(std::string_view text) {
    T value{};
    const auto parsed = parse(text);
    return parsed && parsed->to(value) ? std::optional(value) : std::nullopt;
  }

  /// Converts the number to a T. Returns false if T cannot hold the number: out of range, or a fraction for an integer.
  /// Between floating types, rounding is allowed and overflow is not. A whole number fits a floating type only if it is
  /// exact there. After false, `target` is unspecified.
  template <class T>
  [[nodiscard]] bool to(T& target) const {
    if constexpr (std::is_same_v<T, std::byte>) {
      std::uint8_t value = 0;
      const auto fits = to(value);
      target = std::byte{value};
      return fits;
    } else if constexpr (std::is_floating_point_v<T>) {
      return to_real(target);
    } else if constexpr (std::is_same_v<T, char>) {
      unsigned char value = 0;
      std::int8_t below = 0;
      const auto fits = to(value);
      target = static_cast<char>(value);
      if (!fits && to(below)) {
        target = static_cast<char>(below);
        return true;
      }
      return fits;
    } else {
      return to_integer(target);
    }
  }

private:
  number(sort form, std::uint64_t bits) : sort_(form), bits_(bits) {}

  template <class T>
  [[nodiscard]] bool to_integer(T& target) const {
    using wide = std::conditional_t<sizeof(T) == 8 && std::is_unsigned_v<T>, std::uint64_t, std::int64_t>;
    if (sort_ == sort::rounded)
      return false;
    if (sort_ == sort::real) {
      const auto value = real();
      // Both ends are powers of two, so they are exact as doubles; NaN compares false.
      if (!(value >= -0x1p63 && value < 0x1p64) || value != std::trunc(value))
        return false;
      return value < 0 ? of(static_cast<std::int64_t>(value)).to(target)
                       : of(static_cast<std::uint64_t>(value)).to(target);
    }
    if (sort_ == sort::integer && integer() < 0) {
      target = static_cast<T>(integer());
      return std::is_signed_v<T> && integer() >= static_cast<std::int64_t>(std::numeric_limits<T>::min());
    }
    target = static_cast<T>(static_cast<wide>(bits_));
    return bits_ <= static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  }

  template <class T>
  [[nodiscard]] bool to_real(T& target) const {
    if (sort_ == sort::real || sort_ == sort::rounded) {
      target = static_cast<T>(real());
      return sizeof(T) == 8 || !std::isinf(target) || std::isinf(real());
    }
    // A whole number must convert back to the same value.
    target = sort_ == sort::integer ? static_cast<T>(integer()) : static_cast<T>(bits_);
    number again = of(static_cast<double>(target));
    std::int64_t as_integer = 0;
    std::uint64_t as_natural = 0;
    return sort_ == sort::integer ? again.to(as_integer) && as_integer == integer()
                                  : again.to(as_natural) && as_natural == bits_;
  }

  sort sort_ = sort::natural;
  std::uint64_t bits_ = 0;
};

/// Numbers of one kind that lie one after another in memory.
struct number_block {
  number_kind kind;
  std::size_t count;
  std::span<const std::byte> bytes;
};

template <numeric T>
[[nodiscard]] number_block block_of(const T* data, std::size_t count) {
  return {kind_of<T>, count, std::as_bytes(std::span(data, count))};
}

} // namespace troupe
