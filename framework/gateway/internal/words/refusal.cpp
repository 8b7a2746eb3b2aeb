#include <troupe/framework/gateway/internal/words/refusal.hpp>

#include <cstdio>

#include <troupe/base/utf8.hpp>

namespace troupe::web {

namespace {

constexpr std::size_t text_bytes_max = 4096;

void append_quoted_character(std::string& to, char character) {
  switch (character) {
  case '"':
    to += "\\\"";
    return;
  case '\\':
    to += "\\\\";
    return;
  case '\n':
    to += "\\n";
    return;
  default:
    break;
  }
  if (static_cast<unsigned char>(character) < 0x20) {
    char escape[8];
    std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(character));
    to += escape;
    return;
  }
  to += character;
}

unsigned status_of(node_errc code) {
  switch (code) {
  case node_errc::link_busy:
  case node_errc::no_child:
  case node_errc::store_full:
  case node_errc::disk_full:
    return 503;
  case node_errc::timed_out:
  case node_errc::fetch_timed_out:
    return 504;
  case node_errc::not_found:
  case node_errc::object_freed:
    return 404;
  case node_errc::object_lost:
    return 410;
  case node_errc::not_allowed:
    return 403;
  case node_errc::link_down:
  case node_errc::child_lost:
  case node_errc::outcome_unknown:
  case node_errc::broken_promise:
  case node_errc::gave_up:
  case node_errc::unserializable:
  case node_errc::refused_family:
    return 502;
  default:
    return 422;
  }
}

} // namespace

std::string json_text(std::string_view text) {
  std::string made = "\"";
  while (!text.empty()) {
    const auto bytes = first_character(text).bytes;
    if (bytes == 0)
      made += '?';
    else if (bytes == 1)
      append_quoted_character(made, text.front());
    else
      made += text.substr(0, bytes);
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  made += '"';
  return made;
}

std::string shortened(std::string_view text, std::size_t bytes_max) {
  if (text.size() <= bytes_max)
    return std::string(text);
  auto end = bytes_max;
  while (end > bytes_max - utf8_bytes_max && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80)
    --end;
  return std::string(text.substr(0, end)) + "...";
}

std::string excerpt(std::string_view text) {
  return json_text(shortened(text));
}

std::string json_of(const refusal& what) {
  return "{\"error\":{\"code\":" + json_text(what.code) + ",\"text\":" + json_text(shortened(what.text, text_bytes_max))
         + "}}";
}

refusal refusal_of(const node_error& error) {
  const auto status = status_of(error.code());
  return {.status = status,
          .code = to_string(error.code()),
          .text = error.message(),
          .retry_after_seconds = status == 503 ? 1U : 0U};
}

refusal refusal_of(const serialize_error& error) {
  switch (error.code()) {
  case serialize_errc::limit_exceeded:
    return {.status = 413, .code = "limit_exceeded", .text = error.message()};
  case serialize_errc::malformed:
    return {.status = 400, .code = "malformed", .text = error.message()};
  default:
    return {.status = 422, .code = "undecodable", .text = error.message()};
  }
}

} // namespace troupe::web
