#include <troupe/serializers/number.hpp>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <iterator>

#include <fmt/core.h>

namespace troupe {

namespace {

constexpr std::string_view kind_names[] = {"i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "f32", "f64"};
constexpr std::size_t sizes[] = {1, 2, 4, 8, 1, 2, 4, 8, 4, 8};

template <class Stored, class Wide>
number load_as(const std::byte* bytes) {
  Stored value;
  std::memcpy(&value, bytes, sizeof(value));
  return number::of(static_cast<Wide>(value));
}

// Nullopt unless the whole text is a number.
template <class T>
std::optional<number> whole_text_as(std::string_view text) {
  T value{};
  const auto* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && at == end ? std::optional(number::of(value)) : std::nullopt;
}

} // namespace

std::string_view name_of(number_kind kind) {
  return kind_names[static_cast<std::size_t>(kind) - 2];
}

std::optional<number_kind> number_kind_named(std::string_view name) {
  const auto found = std::ranges::find(kind_names, name);
  if (found == std::end(kind_names))
    return std::nullopt;
  return static_cast<number_kind>(found - std::begin(kind_names) + 2);
}

std::size_t size_of(number_kind kind) {
  return sizes[static_cast<std::size_t>(kind) - 2];
}

number number::load(number_kind kind, const std::byte* bytes) {
  switch (kind) {
  case number_kind::i8:
    return load_as<std::int8_t, std::int64_t>(bytes);
  case number_kind::i16:
    return load_as<std::int16_t, std::int64_t>(bytes);
  case number_kind::i32:
    return load_as<std::int32_t, std::int64_t>(bytes);
  case number_kind::i64:
    return load_as<std::int64_t, std::int64_t>(bytes);
  case number_kind::u8:
    return load_as<std::uint8_t, std::uint64_t>(bytes);
  case number_kind::u16:
    return load_as<std::uint16_t, std::uint64_t>(bytes);
  case number_kind::u32:
    return load_as<std::uint32_t, std::uint64_t>(bytes);
  case number_kind::u64:
    return load_as<std::uint64_t, std::uint64_t>(bytes);
  case number_kind::f32:
    return load_as<float, double>(bytes);
  case number_kind::f64:
    return load_as<double, double>(bytes);
  }
  std::unreachable();
}

std::string number::text() const {
  switch (sort_) {
  case sort::integer:
    return fmt::format("{}", integer());
  case sort::natural:
    return fmt::format("{}", bits_);
  case sort::real:
  case sort::rounded:
    return fmt::format("{}", real());
  }
  std::unreachable();
}

std::optional<number> number::parse(std::string_view text) {
  if (text != "-0") {
    if (auto whole = whole_text_as<std::uint64_t>(text))
      return whole;
    if (auto whole = whole_text_as<std::int64_t>(text))
      return whole;
  }
  return whole_text_as<double>(text);
}

} // namespace troupe
