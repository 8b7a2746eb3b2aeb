#include <troupe/serializers/json/json_writer.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <utility>

#include <troupe/base/utf8.hpp>
#include <troupe/serializers/internal/visit/weighing.hpp>
#include <troupe/serializers/json/json_text.hpp>

namespace troupe {

namespace {

constexpr std::size_t number_bytes_max = 32;

/// The shortest text that reads back as the same double, rounded to T.
template <class T>
std::size_t write_real(T value, char* at) {
  auto* end = std::to_chars(at, at + number_bytes_max, value).ptr;
  if constexpr (sizeof(T) == sizeof(float)) { // Readers round to double first, which may yield the neighboring float.
    double read = 0;
    std::from_chars(at, end, read);
    if (static_cast<T>(read) != value)
      end = std::to_chars(at, at + number_bytes_max, static_cast<double>(value)).ptr;
  }
  const std::string_view text(at, static_cast<std::size_t>(end - at));
  if (text.find_first_of(".e") == std::string_view::npos) { // A whole number must read back as real.
    *end++ = '.';
    *end++ = '0';
  }
  return static_cast<std::size_t>(end - at);
}

} // namespace

// Called before each value and key. Writes the separator from the one before. Fails if only a text is allowed here.
bool json_writer::before() {
  if (levels_.empty())
    return true;
  auto& top = levels_.back();
  if (top.of == form::members && top.at_key)
    return fail(serialize_errc::not_supported, "a key that is no text, in a map of texts");
  if (top.of == form::pairs && !top.at_key)
    put(",");
  if (top.of == form::list || (top.of == form::pairs && top.at_key)) {
    if (std::exchange(top.begun, true))
      put(",");
    if (top.of == form::pairs)
      put("[");
  }
  return true;
}

// Called after each value.
void json_writer::after() {
  if (levels_.empty())
    return;
  auto& top = levels_.back();
  if (top.of == form::pairs && !top.at_key)
    put("]");
  if (top.of == form::pairs || top.of == form::members)
    top.at_key = !top.at_key;
}

bool json_writer::word(std::string_view characters) {
  if (!before())
    return false;
  put(characters);
  after();
  return true;
}

template <class T>
void json_writer::put_number(T value) {
  body_.reserve(number_bytes_max);
  auto* const at = reinterpret_cast<char*>(body_.end());
  if constexpr (!std::is_floating_point_v<T>) {
    body_.advance_to(reinterpret_cast<std::byte*>(std::to_chars(at, at + number_bytes_max, value).ptr));
  } else if (std::isfinite(value)) {
    body_.advance_to(body_.end() + write_real(value, at));
  } else {
    put(std::isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"");
  }
}

bool json_writer::integer(std::int64_t value) {
  if (!before())
    return false;
  put_number(value);
  after();
  return true;
}

bool json_writer::natural(std::uint64_t value) {
  if (!before())
    return false;
  put_number(value);
  after();
  return true;
}

template <class T>
bool json_writer::real(T value) {
  if (!before())
    return false;
  put_number(value);
  after();
  return true;
}

bool json_writer::real32(float value) {
  return real(value);
}

bool json_writer::real64(double value) {
  return real(value);
}

bool json_writer::text(std::string_view value) {
  if (!levels_.empty() && levels_.back().of == form::members && levels_.back().at_key)
    return key(value);
  if (!before())
    return false;
  if (is_utf8(value)) {
    put("\"");
    json::append_escaped(body_, value);
    put("\"");
  } else {
    put("{\"$text\":\"");
    json::append_base64(body_, std::as_bytes(std::span(value)));
    put("\"}");
  }
  after();
  return true;
}

bool json_writer::key(std::string_view value) {
  auto& top = levels_.back();
  put(std::exchange(top.begun, true) ? ",\"" : "\"");
  if (!is_utf8(value)) {
    put("$text:");
    json::append_base64(body_, std::as_bytes(std::span(value)));
  } else {
    if (value.starts_with('$')) // Otherwise a user's key could look like a key of the format.
      put("$");
    json::append_escaped(body_, value);
  }
  put("\":");
  top.at_key = false;
  return true;
}

bool json_writer::bytes(std::span<const std::byte> value) {
  if (!before())
    return false;
  put("{\"$bytes\":\"");
  json::append_base64(body_, value);
  put("\"}");
  after();
  return true;
}

bool json_writer::open(form of, char bracket) {
  if (!before())
    return false;
  body_.append(static_cast<std::byte>(bracket));
  if (std::exchange(array_begins_, false))
    arrays_.back().at = body_.size();
  levels_.push_back({.of = of, .at_key = of != form::list});
  return true;
}

bool json_writer::end() {
  const auto of = levels_.back().of;
  levels_.pop_back();
  put(of == form::list || of == form::pairs ? "]" : "}");
  after();
  return true;
}

bool json_writer::begin_list(std::size_t) {
  return open(form::list, '[');
}

bool json_writer::begin_map(std::size_t) {
  return open(form::pairs, '[');
}

bool json_writer::begin_text_map(std::size_t) {
  return open(form::members, '{');
}

bool json_writer::add_array_fields(const array_form& of) {
  return field("type") && text(name_of(of.of));
}

bool json_writer::array_numbers(const number_block& block) {
  return rows(block);
}

bool json_writer::array_bytes(std::span<const std::byte> value) {
  return rows({number_kind::u8, value.size(), value});
}

void json_writer::put_element(const number_block& block, std::size_t index) {
  const auto value = troupe::number::load(block.kind, block.bytes.data() + index * size_of(block.kind));
  if (block.kind == number_kind::f32)
    put_number(static_cast<float>(value.real()));
  else if (value.form() == troupe::number::sort::real)
    put_number(value.real());
  else if (value.form() == troupe::number::sort::integer)
    put_number(value.integer());
  else
    put_number(value.natural());
}

// Writes the elements of an array in nested lists, one level per dimension. Writes one empty list if there are no
// elements, because the lengths of the other dimensions may then be anything.
bool json_writer::rows(const number_block& block) {
  if (!before())
    return false;
  const auto rank = block.count == 0 ? 1 : data_shape().size();
  for (std::size_t i = 0; i < rank; ++i)
    put("[");
  for (std::size_t i = 0; i < block.count; ++i) {
    std::size_t ended = 0; // Lists of which the previous element was the last.
    for (std::size_t stride = 1; i > 0 && ended < rank; ++ended)
      if (stride *= data_shape()[rank - 1 - ended]; i % stride != 0)
        break;
    for (std::size_t j = 0; j < ended; ++j)
      put("]");
    if (i > 0)
      put(",");
    for (std::size_t j = 0; j < ended; ++j)
      put("[");
    put_element(block, i);
  }
  for (std::size_t i = 0; i < rank; ++i)
    put("]");
  after();
  return true;
}

bool json_writer::begin_shared(std::size_t number) {
  if (!before())
    return false;
  put("{\"$id\":");
  put_number(static_cast<std::uint64_t>(number));
  put(",\"$value\":");
  levels_.push_back({.of = form::shell, .at_key = false});
  return true;
}

bool json_writer::begin_some() {
  if (!before())
    return false;
  put("{\"$some\":");
  levels_.push_back({.of = form::shell, .at_key = false});
  return true;
}

bool json_writer::array_again(const array_form& array, const frame& elements) {
  const auto [begin, end] = arrays_by_place_.equal_range(elements.bytes().data());
  for (auto at = begin; at != end; ++at) {
    auto& known = arrays_[at->second];
    if (known.elements.size_bytes() != elements.size_bytes() || known.elements.owner() != elements.owner()
        || known.of != array.of || known.order != array.order || !std::ranges::equal(known.shape, array.shape)
        || !std::ranges::equal(known.data_shape, array.data_shape))
      continue;
    if (!before())
      return true;
    if (!known.number) {
      weigh(detail::numbered_array_bytes);
      known.number = numbered_arrays_++;
    }
    put("{\"$array\":");
    put_number(static_cast<std::uint64_t>(*known.number));
    put(",\"data\":null}");
    after();
    return true;
  }
  arrays_by_place_.emplace(elements.bytes().data(), arrays_.size());
  arrays_.push_back({.elements = elements,
                     .of = array.of,
                     .shape = {array.shape.begin(), array.shape.end()},
                     .data_shape = {array.data_shape.begin(), array.data_shape.end()},
                     .order = array.order});
  array_begins_ = true;
  return false;
}

void json_writer::finish() {
  if (numbered_arrays_ == 0)
    return;
  byte_buffer whole;
  std::size_t copied = 0;
  const auto copy_until = [&](std::size_t end) {
    whole.append(body_.bytes().subspan(copied, end - copied));
    copied = end;
  };
  for (const auto& each : arrays_) {
    if (!each.number)
      continue;
    copy_until(each.at);
    const auto field = "\"$array\":" + std::to_string(*each.number) + ",";
    whole.append(std::as_bytes(std::span(field)));
  }
  copy_until(body_.size());
  body_ = std::move(whole);
}

bool json_writer::shared_again(std::size_t number) {
  if (!before())
    return false;
  put("{\"$ref\":");
  put_number(static_cast<std::uint64_t>(number));
  put("}");
  after();
  return true;
}

} // namespace troupe
