#include <troupe/serializers/json/json_reader.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include <troupe/base/utf8.hpp>
#include <troupe/serializers/json/json_text.hpp>

namespace troupe {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string shown(char c) {
  constexpr auto* digits = "0123456789abcdef";
  const auto code = static_cast<unsigned char>(c);
  if (code > 0x20 && code < 0x7f)
    return "'" + std::string(1, c) + "'";
  return std::string("the byte 0x") + digits[code >> 4] + digits[code & 0x0f];
}

/// Whether a number that no double can hold is too large, and not too close to zero.
bool is_beyond(std::string_view token) {
  const auto exponent_at = std::min(token.find_first_of("eE"), token.size());
  const auto mantissa = token.substr(0, exponent_at);
  const auto first = mantissa.find_first_of("123456789");
  if (first == std::string_view::npos)
    return false;
  const auto point = std::min(mantissa.find('.'), mantissa.size());
  const auto magnitude = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);
  auto digits = token.substr(std::min(exponent_at + 1, token.size()));
  const auto negative = digits.starts_with('-');
  if (negative || digits.starts_with('+'))
    digits.remove_prefix(1);
  std::int64_t exponent = 0;
  constexpr auto enough = std::int64_t{1} << 60; // More than the number of digits of any text.
  for (const auto digit : digits)
    exponent = std::min(exponent * 10 + (digit - '0'), enough / 10);
  return magnitude + (negative ? -exponent : exponent) > 0;
}

} // namespace

json_reader::json_reader(const troupe::context& ctx, std::span<const std::byte> body, std::size_t received_bytes)
    : value_reader(ctx, received_bytes),
      begin_(reinterpret_cast<const char*>(body.data())),
      end_(begin_ + body.size()),
      at_(begin_) {}

bool json_reader::malformed(std::string reason) {
  return fail(serialize_errc::malformed,
              "at byte " + grouped(static_cast<std::size_t>(at_ - begin_)) + ": " + std::move(reason));
}

bool json_reader::cut() {
  return malformed("the text ends too early");
}

// Fails because another value was expected. If no value begins here, the error says that instead.
bool json_reader::refuse(std::string_view expected) {
  skip_space();
  if (left() == 0)
    return cut();
  if (kind() == value_kind::invalid)
    return malformed("no value begins with " + shown(*at_));
  return unexpected(expected);
}

void json_reader::skip_space() {
  while (at_ < end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t'))
    ++at_;
}

// Whether a value that begins with `first` is next, and is not the key of an object.
bool json_reader::at_value(std::string_view expected, char first) {
  skip_space();
  return (peek() == first && !at_member_key()) || refuse(expected);
}

bool json_reader::take(char expected, std::string_view where) {
  skip_space();
  if (left() > 0 && *at_ == expected) {
    ++at_;
    return true;
  }
  if (left() == 0)
    return cut();
  return malformed("expected '" + std::string(1, expected) + "' " + std::string(where) + ", found " + shown(*at_));
}

// Called after each value. Closes the shells that the value completes.
bool json_reader::complete() {
  while (!levels_.empty()) {
    auto& top = levels_.back();
    switch (top.of) {
    case form::list:
      return true;
    case form::members:
      top.at_key = true;
      return true;
    case form::pairs:
      top.at_key = !top.at_key;
      return top.at_key ? take(']', "behind a key and its value") : take(',', "between a key and its value");
    case form::shell:
      if (!take('}', "behind the only value"))
        return false;
      levels_.pop_back();
    }
  }
  return true;
}

bool json_reader::open(form of, bool all_keys) {
  if (levels_.size() >= open_max())
    return fail(serialize_errc::limit_exceeded,
                "nested deeper than " + grouped(context().limits.depth) + " (limits::depth)");
  if (levels_.size() == levels_.capacity() && !charge_scratch((2 * levels_.size() + 1) * sizeof(level)))
    return false;
  levels_.push_back(
      {.of = of, .at_key = of == form::members || of == form::pairs, .all_keys = all_keys, .first_key = keys_.size()});
  return true;
}

// Whether this is the first key of the object that is next. Reads a limited number of bytes.
bool json_reader::begins_with_key(std::string_view key) const {
  const auto* at = at_ + 1;
  while (at < end_ && (*at == ' ' || *at == '\n' || *at == '\r' || *at == '\t'))
    ++at;
  if (at == end_ || *at++ != '"')
    return false;
  for (const auto expected : key) {
    char found[12];
    const std::string_view rest(at, static_cast<std::size_t>(end_ - at));
    const auto length = rest.empty() ? 0 : rest[0] == '\\' ? json::escape_bytes(rest) : 1;
    if (length == 0 || json::unescape(rest.substr(0, length), found) != 1 || found[0] != expected)
      return false;
    at += length;
  }
  return at < end_ && *at == '"';
}

value_kind json_reader::kind() {
  skip_space();
  switch (peek()) {
  case 'n':
    return value_kind::null;
  case 't':
  case 'f':
    return value_kind::boolean;
  case '"':
    return value_kind::text;
  case '[':
    return value_kind::list;
  case '{':
    if (begins_with_key("$id") || begins_with_key("$ref"))
      return value_kind::shared;
    if (begins_with_key("$some"))
      return value_kind::some;
    if (begins_with_key("$text"))
      return value_kind::text;
    return begins_with_key("$bytes") ? value_kind::bytes : value_kind::map;
  default:
    return peek() == '-' || is_digit(peek()) ? value_kind::number : value_kind::invalid;
  }
}

bool json_reader::word(std::string_view characters) {
  if (!std::string_view(at_, left()).starts_with(characters))
    return malformed("no value begins like this");
  at_ += characters.size();
  return complete();
}

bool json_reader::null() {
  return at_value("nothing", 'n') && word("null");
}

bool json_reader::boolean(bool& value) {
  skip_space();
  value = peek() == 't';
  return at_value("a boolean", value ? 't' : 'f') && word(value ? "true" : "false");
}

// Follows the grammar strictly, because number parsers of libraries accept more.
bool json_reader::scan_number(std::string_view& token, bool& whole) {
  const auto* const from = at_;
  const auto digits = [&] {
    if (!is_digit(peek()))
      return left() == 0 ? cut() : malformed("a digit is missing");
    while (is_digit(peek()))
      ++at_;
    return true;
  };
  whole = true;
  at_ += peek() == '-' ? 1 : 0;
  const auto zero = peek() == '0';
  const auto* const integer = at_;
  if (!digits())
    return false;
  if (zero && at_ - integer > 1)
    return malformed("a number that begins with 0");
  if (peek() == '.') {
    whole = false;
    ++at_;
    if (!digits())
      return false;
  }
  if (peek() == 'e' || peek() == 'E') {
    whole = false;
    ++at_;
    at_ += peek() == '+' || peek() == '-' ? 1 : 0;
    if (!digits())
      return false;
  }
  token = {from, static_cast<std::size_t>(at_ - from)};
  return check_text(token.size());
}

bool json_reader::read_number(troupe::number& value) {
  std::string_view token;
  bool whole = true;
  if (!scan_number(token, whole))
    return false;
  const auto* const last = token.data() + token.size();
  const auto negative = token[0] == '-';
  std::int64_t integer = 0;
  std::uint64_t natural = 0;
  if (whole && !negative && std::from_chars(token.data(), last, natural).ec == std::errc()) {
    value = troupe::number::of(natural);
    return true;
  }
  if (whole && token != "-0" && negative && std::from_chars(token.data(), last, integer).ec == std::errc()) {
    value = troupe::number::of(integer);
    return true;
  }
  double real = 0;
  if (std::from_chars(token.data(), last, real).ec != std::errc()) {
    if (is_beyond(token))
      return malformed("a number larger than any double");
    real = negative ? -0.0 : 0.0;
  }
  value = whole && token != "-0" ? troupe::number::rounded(real) : troupe::number::of(real);
  return true;
}

bool json_reader::number(troupe::number& value) {
  skip_space();
  if (!at_member_key() && (peek() == '-' || is_digit(peek())))
    return read_number(value) && complete();
  if (at_member_key() || peek() != '"')
    return refuse("a number");
  std::string_view name;
  if (!read_text(name))
    return false;
  using real = std::numeric_limits<double>;
  if (name == "NaN")
    value = troupe::number::of(real::quiet_NaN());
  else if (name == "Infinity" || name == "-Infinity")
    value = troupe::number::of(name[0] == '-' ? -real::infinity() : real::infinity());
  else
    return fail(serialize_errc::malformed, "expected a number, found a text");
  return complete();
}

// Makes scratch_ hold that many bytes.
bool json_reader::room(std::size_t size) {
  if (size > scratch_.capacity()) {
    const auto capacity = std::max(size, 2 * scratch_.capacity());
    if (!charge_scratch(capacity))
      return false;
    scratch_.reserve(capacity);
  }
  scratch_.resize(size);
  return true;
}

// Sets `raw` to the text, checked and without its quotes.
bool json_reader::scan_text(std::string_view& raw, bool& escaped) {
  const auto* const from = ++at_;
  escaped = false;
  for (;;) {
    if (left() == 0)
      return cut();
    const auto c = *at_;
    if (c == '"')
      break;
    std::size_t length = 1;
    if (c == '\\') {
      escaped = true;
      length = json::escape_bytes({at_, left()});
      if (length == 0)
        return malformed("no escape that stands for a character");
    } else if (static_cast<unsigned char>(c) < 0x20) {
      return malformed("a control character that is not escaped");
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      length = first_character({at_, left()}).bytes;
      if (length == 0)
        return malformed("invalid UTF-8");
    }
    at_ += length;
  }
  raw = {from, static_cast<std::size_t>(at_ - from)};
  ++at_;
  return true;
}

// Sets `value` to a view of the input, or of scratch_ if there are escapes.
bool json_reader::read_text(std::string_view& value) {
  bool escaped = false;
  if (!scan_text(value, escaped))
    return false;
  if (escaped) {
    if (!room(value.size()))
      return false;
    value = {scratch_.data(), json::unescape(value, scratch_.data())};
  }
  return check_text(value.size());
}

// Sets `value` to a view of scratch_. The base64 may lie in scratch_ as well.
bool json_reader::decode(std::string_view base64, std::string_view& value) {
  const auto in_scratch = base64.data() >= scratch_.data() && base64.data() <= scratch_.data() + scratch_.size();
  if (!check_text(json::base64_bytes_max(base64.size()))
      || (!in_scratch && !room(json::base64_bytes_max(base64.size()))))
    return false;
  const auto size = json::decode_base64(base64, scratch_.data());
  if (size == json::no_base64)
    return malformed("the text that ends here is no base64");
  value = {scratch_.data(), size};
  return true;
}

// Reads a key and the colon behind it.
bool json_reader::read_key(std::string_view& value) {
  constexpr std::string_view encoded = "$text:";
  if (!read_text(value))
    return false;
  if (value.starts_with("$$"))
    value.remove_prefix(1);
  else if (value.starts_with(encoded) && !decode(value.substr(encoded.size()), value))
    return false;
  key_ = value;
  return take(':', "behind a key");
}

bool json_reader::text(std::string_view& value) {
  skip_space();
  if (at_member_key()) {
    if (!read_key(value))
      return false;
    levels_.back().at_key = false;
    return !levels_.back().all_keys || remember_key(value);
  }
  if (peek() == '"')
    return read_text(value) && complete();
  return kind() == value_kind::text ? encoded(value) : refuse("a text");
}

// Reads an object whose only value is base64.
bool json_reader::encoded(std::string_view& value) {
  std::string_view key;
  ++at_;
  skip_space();
  if (!read_text(key) || !take(':', "behind a key"))
    return false;
  skip_space();
  if (peek() != '"')
    return refuse("base64");
  return read_text(value) && decode(value, value) && take('}', "behind the only key") && complete();
}

bool json_reader::bytes(std::span<const std::byte>& value) {
  std::string_view view;
  if (at_member_key() || kind() != value_kind::bytes)
    return refuse("bytes, {\"$bytes\": base64}");
  if (!encoded(view))
    return false;
  value = std::as_bytes(std::span(view));
  return true;
}

bool json_reader::begin_list(std::size_t& expected) {
  expected = 0;
  if (!at_value("a list", '['))
    return false;
  ++at_;
  return open(form::list, false);
}

bool json_reader::begin_map(std::size_t& expected) {
  expected = 0;
  const auto of = kind();
  if ((of != value_kind::map && of != value_kind::list) || at_member_key())
    return refuse("a map");
  if (of == value_kind::map && begins_with_key("$array"))
    return open_numbered_array(true);
  ++at_;
  return open(of == value_kind::map ? form::members : form::pairs, true);
}

bool json_reader::begin_structure() {
  if (kind() != value_kind::map) // An object that stands for something else is not a structure either.
    return refuse("a map");
  if (begins_with_key("$array"))
    return open_numbered_array(false);
  ++at_;
  return open(form::members, false);
}

bool json_reader::next(bool& more) {
  auto& top = levels_.back();
  const auto close = top.of == form::members ? '}' : ']';
  skip_space();
  if (peek() == close) {
    more = false;
    if (!keys_differ(top.first_key))
      return false;
    ++at_;
    const auto* const return_to = top.return_to;
    levels_.pop_back();
    if (return_to != nullptr) { // The bytes were read again, although they were received only once.
      if (!charge_scratch(static_cast<std::size_t>(at_ - read_again_)))
        return false;
      at_ = return_to;
      read_again_ = nullptr;
    }
    return complete();
  }
  if (top.begun && !take(',', "or the end"))
    return false;
  skip_space();
  if (top.begun && peek() == close)
    return malformed("a comma with nothing behind it");
  if (top.of == form::members && peek() != '"')
    return left() == 0 ? cut() : malformed("expected a key, which is a text, found " + shown(*at_));
  top.begun = true;
  more = true;
  return top.of != form::pairs || take('[', "around a key and its value");
}

bool json_reader::remember_key(std::string_view key) {
  if (keys_.size() == keys_.capacity()) {
    const auto capacity = std::max<std::size_t>(16, 2 * keys_.capacity());
    if (!charge_scratch(capacity * sizeof(key)))
      return false;
    keys_.reserve(capacity);
  }
  if (key.data() < begin_ || key.data() >= end_) { // The key lies in scratch_.
    if (!charge_scratch(key.size() + 2 * sizeof(std::string)))
      return false;
    key = copied_keys_.emplace_front(key);
  }
  keys_.push_back(key);
  return true;
}

bool json_reader::keys_differ(std::size_t first) {
  const auto from = keys_.begin() + static_cast<std::ptrdiff_t>(first);
  std::sort(from, keys_.end());
  const auto twice = std::adjacent_find(from, keys_.end());
  if (twice != keys_.end())
    return malformed("the key '" + std::string(twice->substr(0, 100)) + "' twice in the object that ends");
  keys_.resize(first);
  return true;
}

bool json_reader::skip_one() {
  std::size_t ignored = 0;
  std::string_view view;
  bool flag = false;
  switch (kind()) {
  case value_kind::null:
    return null();
  case value_kind::boolean:
    return boolean(flag);
  case value_kind::number: {
    troupe::number value;
    return number(value);
  }
  case value_kind::bytes:
    return encoded(view);
  case value_kind::text:
    if (peek() != '"')
      return text(view);
    return scan_text(view, flag) && check_text(view.size()) && complete();
  case value_kind::list:
    return begin_list(ignored);
  case value_kind::map:
    if (at_numbered_array(ignored, flag) && flag)
      return take_array_head(ignored, flag) && complete();
    return !failed() && begin_map(ignored);
  case value_kind::some:
    return begin_some();
  case value_kind::shared:
    if (!shared(flag, ignored))
      return false;
    if (flag) // The object uses up a number, although it is skipped.
      static_cast<void>(number_shared());
    return !flag || charge(1, 64);
  default:
    return refuse("a value");
  }
}

bool json_reader::skip() {
  if (!levels_.empty() && levels_.back().of == form::members && !levels_.back().at_key && !levels_.back().all_keys
      && !remember_key(key_))
    return false;
  const auto base = levels_.size();
  if (!skip_one())
    return false;
  while (levels_.size() > base) {
    bool more = true;
    std::string_view key;
    if (levels_.back().of != form::shell && (!next(more) || (more && !charge(1, 0))))
      return false;
    if (more && ((at_member_key() && !text(key)) || !skip_one()))
      return false;
  }
  return true;
}

bool json_reader::shared(bool& first, std::size_t& number) {
  if (at_member_key() || kind() != value_kind::shared)
    return refuse("a shared object");
  first = begins_with_key("$id");
  ++at_;
  skip_space();
  std::string_view key;
  troupe::number value;
  if (!read_text(key) || !take(':', "behind a key"))
    return false;
  skip_space();
  if (peek() != '-' && !is_digit(peek()))
    return refuse("a number");
  if (!read_number(value))
    return false;
  if (!value.to(number))
    return malformed("no number of a shared object");
  if (!first)
    return take('}', "behind the only key") && complete();
  if (!take(',', "behind the number of a shared object"))
    return false;
  skip_space();
  if (peek() != '"' || !read_text(key) || key != "$value")
    return malformed("expected \"$value\" behind the number of a shared object"); // An earlier failure counts.
  return take(':', "behind a key") && open(form::shell, false);
}

bool json_reader::begin_some() {
  if (at_member_key() || kind() != value_kind::some)
    return refuse("a value that could be nothing itself");
  ++at_;
  skip_space();
  std::string_view key;
  return read_text(key) && take(':', "behind a key") && open(form::shell, false);
}

bool json_reader::finish() {
  skip_space();
  return left() == 0 || fail(serialize_errc::malformed, grouped(left()) + " bytes are left over");
}

} // namespace troupe
