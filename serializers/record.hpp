// Values whose type is known only at run time.
#pragma once

#include <cmath>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <troupe/base/export.hpp>
#include <troupe/serializers/array.hpp>
#include <troupe/serializers/frame.hpp>
#include <troupe/serializers/limits.hpp>
#include <troupe/serializers/number.hpp>

namespace troupe {

/// The kinds of records, in the order of record's alternatives. `array` stands for arrays of every kind of number.
enum class record_kind : std::uint8_t { null, boolean, integer, natural, real, text, bytes, list, map, array };

/// Nothing, a boolean, a number, a text, bytes, an array of numbers, a list of records, or records by name. Intended
/// for data whose C++ type this process does not have. Every family carries a record, and a payload of `typed`,
/// `msgpack` or `json` of any type can be read as one.
///
/// Forms that a record lacks are mapped to those that it has. An enum value becomes a text, and a variant a map of one
/// entry. A map becomes a list of pairs if a key is not a text, or, in `typed` and `json`, if a multimap has equal
/// keys. (`msgpack` refuses equal keys, because it does not distinguish a multimap from a struct.) An object that
/// several pointers share is copied for each pointer. Arrays stay arrays in `typed` and become a map of "shape" and
/// "data" elsewhere; as_array() reads both.
///
/// Each record takes 48 bytes besides its content, and an entry of a map about 270 bytes while it is read. Lists of
/// small numbers fit into the default limits. For large maps of small numbers, raise limits::memory_ratio.
///
/// Threads: as for any standard container.
class TROUPE_EXPORT record {
public:
  using list = std::vector<record>;
  using map = std::vector<std::pair<std::string, record>>; // Each name once, in order of arrival.
  using variant = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double, std::string, frame, list, map,
                               array<std::int8_t>, array<std::int16_t>, array<std::int32_t>, array<std::int64_t>,
                               array<std::uint8_t>, array<std::uint16_t>, array<std::uint32_t>, array<std::uint64_t>,
                               array<float>, array<double>>;

  record() = default;
  record(std::nullptr_t) {}
  record(bool value) : value_(value) {}
  template <std::integral T>
  requires(!std::same_as<T, bool>) record(T value) {
    // One form per number, so that equal numbers compare equal. A natural is used only if no int64 holds the number.
    if (std::in_range<std::int64_t>(value))
      value_ = static_cast<std::int64_t>(value);
    else
      value_ = static_cast<std::uint64_t>(value);
  }
  record(std::floating_point auto value) : value_(static_cast<double>(value)) {}
  record(std::string value) : value_(std::move(value)) {}
  record(std::string_view value) : value_(std::string(value)) {}
  record(const char* value) : value_(std::string(value)) {}
  record(frame bytes) : value_(std::move(bytes)) {}
  record(list elements) : value_(std::move(elements)) {}
  record(map fields) : value_(std::move(fields)) {}
  template <array_element T>
  requires(!std::same_as<T, std::byte> && !std::same_as<T, char>) record(array<T> numbers)
      : value_(std::move(numbers)) {}

  /// A map of these fields, as in `record::of({{"sensor", "roof"}, {"celsius", 21.5}})`.
  [[nodiscard]] static record of(std::initializer_list<map::value_type> fields) { return map(fields); }

  [[nodiscard]] record_kind kind() const;
  [[nodiscard]] bool is_null() const { return value_.index() == 0; }
  /// Nullopt if the record is something else; likewise integer().
  [[nodiscard]] std::optional<bool> boolean() const { return value_of<bool>(); }
  [[nodiscard]] std::optional<std::int64_t> integer() const { return value_of<std::int64_t>(); }
  /// Any number as a double, rounded if a double cannot hold it exactly. Nullopt if the record is no number.
  [[nodiscard]] std::optional<double> real() const;
  /// Null if the record is something else; likewise bytes(), elements() and fields(). Valid while the record lives
  /// unchanged.
  [[nodiscard]] const std::string* text() const { return std::get_if<std::string>(&value_); }
  [[nodiscard]] const frame* bytes() const { return std::get_if<frame>(&value_); }
  [[nodiscard]] const list* elements() const { return std::get_if<list>(&value_); }
  [[nodiscard]] const map* fields() const { return std::get_if<map>(&value_); }
  /// The field of that name; null if there is none, or if the record has no fields.
  [[nodiscard]] const record* find(std::string_view name) const;
  /// The array, also if the record is a list, or a map of "shape" and "data" ("data" may be bytes if "type" names their
  /// element type). Nullopt if the record is none of these, if one of its numbers does not fit into a T, if lists side
  /// by side differ in length, if there are more than 64 dimensions, or if repeated elements would take more memory
  /// than a decoder accepts by default.
  template <array_element T>
  [[nodiscard]] std::optional<array<T>> as_array() const;

  [[nodiscard]] const variant& value() const { return value_; }
  [[nodiscard]] variant& value() { return value_; }

  friend bool operator==(const record& left, const record& right);

private:
  template <class T>
  [[nodiscard]] std::optional<T> value_of() const {
    const auto* value = std::get_if<T>(&value_);
    return value == nullptr ? std::nullopt : std::optional<T>(*value);
  }
  /// The numbers of a list. Nullopt if it contains anything else.
  template <array_element T>
  [[nodiscard]] std::optional<std::vector<T>> numbers() const {
    std::vector<T> all;
    std::vector<std::size_t> lengths;
    const bool has_numbers = (elements() != nullptr || bytes() != nullptr) && add_lengths(lengths) && add_numbers(all);
    return has_numbers ? std::optional(std::move(all)) : std::nullopt;
  }
  template <array_element T>
  bool add_numbers(std::vector<T>& all) const;
  /// Adds the lengths of the nested lists. False if lists side by side differ in length.
  bool add_lengths(std::vector<std::size_t>& all) const;
  template <array_element T>
  [[nodiscard]] std::optional<array<T>> flat_array() const;

  variant value_;
};
TROUPE_EXPORT bool operator==(const record& left, const record& right); // A friend cannot be exported.

// Adds all numbers, including those of nested lists. False if there is anything else.
template <array_element T>
bool record::add_numbers(std::vector<T>& all) const {
  if (const auto* within = elements()) {
    for (const auto& each : *within)
      if (!each.add_numbers(all))
        return false;
    return true;
  }
  if (const auto* raw = bytes()) {
    if (sizeof(T) > 1)
      return false;
    for (const auto each : raw->bytes())
      all.push_back(static_cast<T>(std::to_integer<std::uint8_t>(each)));
    return !std::is_signed_v<T> || std::is_same_v<T, char>;
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (const auto* written = text(); written != nullptr)
      for (const auto& [name, value] : {std::pair{"NaN", NAN}, {"Infinity", INFINITY}, {"-Infinity", -INFINITY}})
        if (*written == name) {
          all.push_back(static_cast<T>(value));
          return true;
        }
    if (const auto value = real()) {
      all.push_back(static_cast<T>(*value));
      return true;
    }
  } else {
    const auto* natural = std::get_if<std::uint64_t>(&value_);
    if (const auto value = integer(); value && std::in_range<T>(*value)) {
      all.push_back(static_cast<T>(*value));
      return true;
    }
    if (natural != nullptr && std::in_range<T>(*natural)) {
      all.push_back(static_cast<T>(*natural));
      return true;
    }
  }
  return false;
}

namespace detail {

/// The contiguous elements of a frame, whose type has that name: in place, or converted. Nullopt if the frame does not
/// contain such elements, or if one does not fit into a T.
template <array_element T>
std::optional<array<T>> elements_in(const frame& bytes, std::string_view type) {
  const auto kind = number_kind_named(type);
  if (!kind || bytes.size_bytes() % size_of(*kind) != 0)
    return std::nullopt;
  if (*kind == kind_of<T>) {
    auto in_place = array<T>::view_of(bytes);
    return in_place ? in_place : array<T>::view_of(frame::copy_of(bytes.bytes())); // Copied if it is not aligned.
  }
  std::vector<T> values(bytes.size_bytes() / size_of(*kind));
  const auto* at = bytes.bytes().data();
  for (auto& value : values) {
    if (!number::load(*kind, at).to(value))
      return std::nullopt;
    at += size_of(*kind);
  }
  return array<T>(std::move(values));
}

} // namespace detail

// The numbers as an array of one dimension.
template <array_element T>
std::optional<array<T>> record::flat_array() const {
  const auto* data = find("data");
  const auto* type = find("type");
  const auto& from = data != nullptr ? *data : *this;
  if (from.bytes() != nullptr && type != nullptr && type->text() != nullptr)
    return detail::elements_in<T>(*from.bytes(), *type->text());
  auto values = from.template numbers<T>();
  return values ? std::optional(array<T>(*std::move(values))) : std::nullopt;
}

template <array_element T>
std::optional<array<T>> record::as_array() const {
  if (const auto* same = std::get_if<array<T>>(&value_))
    return *same;
  const auto flat = flat_array<T>();
  const auto* shape = find("shape");
  if (!flat || shape == nullptr)
    return flat;
  const auto* data_shape = find("data_shape");
  const auto lengths = shape->template numbers<std::size_t>();
  const auto data_lengths = data_shape != nullptr ? data_shape->template numbers<std::size_t>() : lengths;
  if (!lengths || !data_lengths || lengths->size() > array_dimensions_max
      || data_lengths->size() > array_dimensions_max)
    return std::nullopt;
  const auto once = flat->reshaped(*data_lengths);
  const auto whole = once ? once->broadcast_to(*lengths) : std::nullopt;
  const bool is_repeated = whole && whole->size() > once->size();
  return is_repeated && whole->size() > limits().memory_bytes / sizeof(T) ? std::nullopt : whole;
}

/// The record as text, each name before its value: `{"sensor", "roof", "celsius", 21.5}`. Long values are cut.
[[nodiscard]] TROUPE_EXPORT std::string to_text(const record& value);

} // namespace troupe
