// The visitor to which a described value is written. A family implements it to carry every described type.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include <troupe/base/export.hpp>
#include <troupe/serializers/extend/coding.hpp>
#include <troupe/serializers/frame.hpp>
#include <troupe/serializers/internal/words/array_layout.hpp>
#include <troupe/serializers/number.hpp>

namespace troupe {

/// Takes one value, piece by piece, in the order of the calls. Each call returns false if it fails (see `fail()`); no
/// further call follows a failure. The later members have defaults that use the first ones.
///
/// Threads: one at a time.
class TROUPE_EXPORT value_writer : public encoding {
public:
  using encoding::encoding;
  virtual ~value_writer();

  virtual bool null() = 0; ///< An empty optional or pointer. Others are written as their value; see begin_some().
  virtual bool boolean(bool value) = 0;
  virtual bool integer(std::int64_t value) = 0;
  virtual bool natural(std::uint64_t value) = 0;
  virtual bool real64(double value) = 0;
  virtual bool text(std::string_view value) = 0; ///< Any bytes; not checked for UTF-8.
  virtual bool bytes(std::span<const std::byte> value) = 0;

  /// Default: real64(), which preserves every float.
  virtual bool real32(float value) { return real64(value); }

  virtual bool begin_list(std::size_t count) = 0; ///< `count` values follow.
  virtual bool end_list() = 0;
  virtual bool begin_map(std::size_t count) = 0; ///< `count` times a key and its value follow; keys may be any values.
  virtual bool end_map() = 0;
  /// Begins a map whose keys are texts, all different. Default: begin_map(). Ends with end_map() as well.
  virtual bool begin_text_map(std::size_t count) { return begin_map(count); }

  virtual bool begin_structure(std::size_t count) { return begin_map(count); } ///< `count` times field() and a value.
  virtual bool field(std::string_view name) { return text(name); }
  virtual bool end_structure() { return end_map(); }

  virtual bool enumeration(std::string_view name, std::int64_t) { return text(name); }
  /// Writes contiguous numbers. Default: a list of them.
  virtual bool numbers(const number_block& block);
  /// Writes the elements of an array. Default: nested lists, or bytes().
  virtual bool array_numbers(const number_block& block);
  virtual bool array_bytes(std::span<const std::byte> value) { return bytes(value); }

  /// An n-dimensional array. The elements of `data_shape` follow in C order, as one call of array_numbers() or
  /// array_bytes(). If `data_shape` has the length 1 in a dimension and `shape` has another, the elements are repeated,
  /// as in numpy. `order` is the order in which the array lay in memory.
  struct array_form {
    number_kind of;
    std::span<const std::size_t> shape; // Both stay valid until end_array().
    std::span<const std::size_t> data_shape;
    memory_order order;
  };
  /// Called first for an array whose memory other arrays view. True: the array was written before, and this call has
  /// written a reference to it, so nothing more follows. Default: false.
  virtual bool array_again(const array_form&, const frame&) { return false; }
  /// Called before begin_array() for arrays that are large or whose memory other arrays view. True: the elements leave
  /// as that frame, without a copy, and attach() follows instead of array_numbers() or array_bytes(). Default: false.
  virtual bool attaches_array(const frame&) { return false; }
  /// Begins an array. Default: a structure of "shape", "data_shape" if elements are repeated, "order" ("F") for Fortran
  /// order, and "data".
  virtual bool begin_array(const array_form& form);
  virtual bool end_array() { return end_structure(); }

  /// Begins one alternative of a variant: exactly one value follows. Default: a map of one entry.
  virtual bool begin_variant(std::string_view label) { return begin_map(1) && text(label); }
  virtual bool end_variant() { return end_map(); }

  /// The first appearance of an object to which shared pointers point: the object's value follows. Numbers count up
  /// from 0. Default: writes only the value. Then a second appearance fails, because identity would be lost.
  virtual bool begin_shared(std::size_t) { return true; }
  virtual bool end_shared() { return true; }
  virtual bool shared_again(std::size_t number);

  /// Begins the value of an optional or pointer that could itself be null. Default: a list of that value.
  virtual bool begin_some() { return begin_list(1); }
  virtual bool end_some() { return end_list(); }

  /// Writes a frame that should leave out of band. Default: bytes().
  virtual bool attach(const frame& attached);

  /// Whether the family's readers know the length of a list before its elements. If they do not, their containers grow
  /// step by step, which takes more memory.
  enum class list_counts : std::uint8_t { unknown, ahead, never };
  /// The answer of this family. If it is `unknown`, the memory of values is counted as the larger of `ahead` and
  /// `never`. Default: unknown.
  [[nodiscard]] virtual list_counts counts() const { return list_counts::unknown; }
  [[nodiscard]] bool counts_ahead() const { return counts() == list_counts::ahead; }

  /// Writes a number of any arithmetic type.
  template <numeric T>
  bool number(T value) {
    if constexpr (std::is_same_v<T, std::byte>)
      return natural(std::to_integer<std::uint64_t>(value));
    else if constexpr (std::is_floating_point_v<T>)
      return sizeof(T) == 4 ? real32(static_cast<float>(value)) : real64(static_cast<double>(value));
    else if constexpr (kind_of<T> >= number_kind::u8)
      return natural(static_cast<std::uint64_t>(static_cast<std::make_unsigned_t<T>>(value)));
    else
      return integer(value);
  }

protected:
  /// The data shape of the array whose elements come next.
  [[nodiscard]] std::span<const std::size_t> data_shape() const { return data_shape_; }
  /// This family's additional fields for arrays: their number, and the function that writes them.
  [[nodiscard]] virtual std::size_t array_fields() const { return 0; }
  virtual bool add_array_fields(const array_form&) { return true; }

private:
  bool number(const number_block& block, std::size_t index);
  bool rows(const number_block& block, std::size_t dimension);

  std::span<const std::size_t> data_shape_;
};

} // namespace troupe
