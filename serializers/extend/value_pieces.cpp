#include <troupe/serializers/extend/value_pieces.hpp>

#include <algorithm>
#include <utility>

namespace troupe {

std::string value_piece::content() const {
  switch (kind) {
  case piece_kind::boolean:
    return boolean ? "1" : "0";
  case piece_kind::number:
  case piece_kind::shared:
  case piece_kind::again:
    return number.text();
  case piece_kind::text:
  case piece_kind::bytes:
    return std::string(text);
  case piece_kind::list:
  case piece_kind::map:
    return std::to_string(count);
  case piece_kind::null:
  case piece_kind::end:
  case piece_kind::some:
    return "";
  }
  std::unreachable();
}

std::optional<value_piece> value_piece::of(piece_kind kind, std::string_view content) {
  value_piece made{.kind = kind};
  const auto parsed = troupe::number::parse(content);
  switch (kind) {
  case piece_kind::boolean:
    made.boolean = content == "1";
    return made.boolean || content == "0" ? std::optional(made) : std::nullopt;
  case piece_kind::number:
  case piece_kind::shared:
  case piece_kind::again:
    made.number = parsed.value_or(troupe::number());
    return parsed ? std::optional(made) : std::nullopt;
  case piece_kind::text:
  case piece_kind::bytes:
    made.text = content;
    return made;
  case piece_kind::list:
  case piece_kind::map:
    return parsed && parsed->to(made.count) ? std::optional(made) : std::nullopt;
  case piece_kind::null:
  case piece_kind::end:
  case piece_kind::some:
    return content.empty() ? std::optional(made) : std::nullopt;
  }
  return std::nullopt; // Not the value of a kind.
}

bool piece_writer::bytes(std::span<const std::byte> value) {
  return put({.kind = piece_kind::bytes, .text = {reinterpret_cast<const char*>(value.data()), value.size()}});
}

bool piece_writer::append(std::string_view characters) {
  body_.append(std::as_bytes(std::span(characters)));
  return true;
}

piece_reader::piece_reader(const troupe::context& ctx, std::span<const std::byte> body, std::size_t received_bytes)
    : value_reader(ctx, received_bytes),
      size_(body.size()),
      left_(reinterpret_cast<const char*>(body.data()), body.size()) {}

std::optional<std::string_view> piece_reader::take_characters(std::size_t count) {
  if (count > left_.size())
    return std::nullopt;
  const auto taken = left_.substr(0, count);
  left_.remove_prefix(count);
  return taken;
}

std::optional<std::string_view> piece_reader::take_until(char end) {
  const auto at = left_.find(end);
  if (at == std::string_view::npos)
    return std::nullopt;
  const auto taken = left_.substr(0, at);
  left_.remove_prefix(at + 1);
  return taken;
}

const value_piece* piece_reader::look() {
  if (!next_ && !failed() && !left_.empty()) {
    looked_at_ = left_;
    next_ = take();
    if (!next_)
      fail(serialize_errc::malformed, "no piece stands at byte " + grouped(size_ - looked_at_.size()));
  }
  return next_ && !failed() ? &*next_ : nullptr;
}

value_kind piece_reader::kind() {
  const auto* seen = look();
  if (seen == nullptr)
    return value_kind::invalid;
  switch (seen->kind) {
  case piece_kind::null:
    return value_kind::null;
  case piece_kind::boolean:
    return value_kind::boolean;
  case piece_kind::number:
    return value_kind::number;
  case piece_kind::text:
    return value_kind::text;
  case piece_kind::bytes:
    return value_kind::bytes;
  case piece_kind::list:
    return value_kind::list;
  case piece_kind::map:
    return value_kind::map;
  case piece_kind::some:
    return value_kind::some;
  case piece_kind::shared:
  case piece_kind::again:
    return value_kind::shared;
  case piece_kind::end:
    break;
  }
  return value_kind::invalid;
}

std::optional<value_piece> piece_reader::expect(piece_kind kind, std::string_view name) {
  const auto* seen = look();
  if (seen != nullptr && seen->kind == kind)
    return std::exchange(next_, std::nullopt);
  if (seen != nullptr)
    unexpected(name);
  else
    fail(serialize_errc::malformed, "the input ends too early"); // An earlier failure takes precedence.
  return std::nullopt;
}

bool piece_reader::null() {
  return expect(piece_kind::null, "nothing").has_value();
}

bool piece_reader::boolean(bool& value) {
  const auto taken = expect(piece_kind::boolean, "a boolean");
  value = taken && taken->boolean;
  return taken.has_value();
}

bool piece_reader::number(troupe::number& value) {
  const auto taken = expect(piece_kind::number, "a number");
  if (taken)
    value = taken->number;
  return taken.has_value();
}

bool piece_reader::text(std::string_view& value) {
  const auto taken = expect(piece_kind::text, "a text");
  if (taken)
    value = taken->text;
  return taken && check_text(value.size());
}

bool piece_reader::bytes(std::span<const std::byte>& value) {
  const auto taken = expect(piece_kind::bytes, "bytes");
  if (taken)
    value = std::as_bytes(std::span(taken->text));
  return taken.has_value();
}

bool piece_reader::begin(piece_kind kind, std::string_view name, std::size_t& expected) {
  const auto taken = expect(kind, name);
  if (taken)
    expected = std::min(taken->count, left_.size()); // Each piece takes at least one byte.
  return taken.has_value();
}

bool piece_reader::begin_list(std::size_t& expected) {
  return begin(piece_kind::list, "a list", expected);
}

bool piece_reader::begin_map(std::size_t& expected) {
  return begin(piece_kind::map, "a map", expected);
}

bool piece_reader::next(bool& more) {
  const auto* seen = look();
  more = seen == nullptr || seen->kind != piece_kind::end;
  return seen != nullptr && more ? true : expect(piece_kind::end, "the end of a list or map").has_value();
}

bool piece_reader::shared(bool& first, std::size_t& number) {
  const auto* seen = look();
  first = seen != nullptr && seen->kind == piece_kind::shared;
  const auto taken = expect(first ? piece_kind::shared : piece_kind::again, "a shared object");
  return taken && (taken->number.to(number) || fail(serialize_errc::malformed, "no number of a shared object"));
}

bool piece_reader::begin_some() {
  return expect(piece_kind::some, "a value that could be nothing itself").has_value();
}

bool piece_reader::finish() {
  if (look() != nullptr)
    return fail(serialize_errc::malformed, "a value is left over");
  return !failed();
}

} // namespace troupe
