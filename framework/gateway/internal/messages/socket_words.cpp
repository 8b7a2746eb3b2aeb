#include <troupe/framework/gateway/internal/messages/socket_words.hpp>

#include <algorithm>

#include <troupe/serializers/json/json_reader.hpp>

namespace troupe::web {

namespace {

constexpr std::uint64_t timeout_ms_max = 1'000'000'000;

bool read_natural(json_reader& reader, std::string_view name, std::uint64_t& value) {
  number found = number::of(std::uint64_t{0});
  return (reader.kind() == value_kind::number && reader.number(found) && found.to(value))
         || reader.fail(serialize_errc::malformed, "\"" + std::string(name) + "\" must be a natural number below 2^64");
}

bool is_new(const socket_word& word, std::string_view name) {
  return name == "token"     ? word.token.empty()
         : name == "id"      ? !word.id
         : name == "message" ? word.message.empty()
         : name == "answer"  ? !word.answer
         : name == "error"   ? !word.error
                             : !word.timeout;
}

bool read_member(json_reader& reader, std::string_view name, std::string_view text, socket_word& word) {
  std::uint64_t count = 0;
  if (!is_new(word, name))
    return reader.fail(serialize_errc::malformed, "a field stands twice, or is unknown: " + excerpt(name));
  if (name == "token") {
    std::string_view token;
    return reader.text(token) && (word.token = token, true);
  }
  if (name == "id")
    return read_natural(reader, name, count) && (word.id = count, true);
  if (name == "answer")
    return read_natural(reader, name, count) && (word.answer = count, true);
  if (name == "error") {
    std::string_view why;
    return reader.text(why) && (word.error = why, true);
  }
  if (name == "timeout_ms")
    return read_natural(reader, name, count)
           && (word.timeout = std::chrono::milliseconds(std::min(count, timeout_ms_max)), true);
  if (name == "message") {
    const auto from = reader.position();
    if (!reader.skip())
      return false;
    word.message = text.substr(from, reader.position() - from);
    return true;
  }
  return reader.fail(serialize_errc::malformed, "unknown field " + excerpt(name));
}

/// The fields of one kind of text; null if they are.
const char* misfit_of(const socket_word& word) {
  if (!word.answer)
    return word.error ? "\"error\" needs \"answer\", the number of the request" : nullptr;
  if (word.id || word.timeout || !word.token.empty())
    return "an answer has no other fields than \"answer\", and \"message\" or \"error\"";
  return word.error.has_value() == word.message.empty() ? nullptr : "an answer has either \"message\" or \"error\"";
}

} // namespace

std::expected<socket_word, refusal> read_socket_word(std::string_view text, const limits& bounds) {
  context ctx;
  ctx.limits = bounds;
  ctx.limits.depth = bounds.depth + 3; // The word, the message, and the value around each value.
  json_reader reader(ctx, std::as_bytes(std::span(text)), text.size());
  socket_word word;
  const auto read = [&] {
    if (reader.kind() != value_kind::map)
      return reader.unexpected("an object");
    if (!reader.begin_structure())
      return false;
    std::string_view name;
    for (bool more = false;;) {
      if (!reader.field(name, more))
        return false;
      if (!more)
        return true;
      const std::string owned{name};
      if (!read_member(reader, owned, text, word))
        return false;
    }
  };
  if (read() && reader.finish()) {
    if (const auto* const why = misfit_of(word))
      return std::unexpected{refusal{.status = 400, .code = "malformed", .text = why}};
    return word;
  }
  return std::unexpected{refusal_of(reader.error("word", "json"))};
}

} // namespace troupe::web
