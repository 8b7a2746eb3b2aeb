#include <troupe/framework/gateway/internal/server/request_head.hpp>

#include <algorithm>
#include <charconv>

namespace troupe::web {

namespace {

std::unexpected<refusal> refused_head(unsigned status, const char* code, std::string text) {
  return std::unexpected{refusal{.status = status, .code = code, .text = std::move(text)}};
}

/// Calls `is_wanted` for each word between commas, and returns the first one for which it is true.
template <class Predicate>
std::string_view find_word(std::string_view list, Predicate is_wanted) {
  constexpr std::string_view blanks = " \t";
  while (!list.empty()) {
    const auto comma = std::min(list.find(','), list.size());
    auto word = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    word.remove_prefix(std::min(word.find_first_not_of(blanks), word.size()));
    word = word.substr(0, word.find_last_not_of(blanks) + 1);
    if (is_wanted(word))
      return word;
  }
  return {};
}

} // namespace

head_state state_of_head(std::string_view bytes, std::size_t bytes_max) {
  const auto end = bytes.find("\r\n\r\n");
  const auto head = bytes.substr(0, end == std::string_view::npos ? end : end + 4);
  for (std::size_t i = 0; i < head.size(); ++i) {
    const auto byte = static_cast<unsigned char>(head[i]);
    const bool is_line_end = byte == '\n' && i > 0 && head[i - 1] == '\r';
    if ((byte < 0x20 && byte != '\t' && byte != '\r' && !is_line_end) || byte == 0x7f)
      return head_state::malformed;
    if ((byte == ' ' || byte == '\t') && i > 0 && head[i - 1] == '\n')
      return head_state::folded;
  }
  if (head.size() > bytes_max || (end == std::string_view::npos && head.size() == bytes_max))
    return head_state::too_long;
  return end == std::string_view::npos ? head_state::unfinished : head_state::complete;
}

std::string_view value_of(const http::fields& head, http::field name) {
  const auto found = head.find(name);
  if (found == head.end())
    return {};
  const auto value = found->value();
  return {value.data(), value.size()};
}

std::expected<void, refusal> check_head(const http::fields& head, const site_check& sites) {
  for (const auto name : {http::field::host, http::field::content_length, http::field::transfer_encoding,
                          http::field::authorization, http::field::origin, http::field::content_type})
    if (head.count(name) > 1) {
      const auto spelled = http::to_string(name);
      return refused_head(400, "bad_head",
                          "the header " + std::string(spelled.data(), spelled.size()) + " stands twice");
    }
  if (head.count(http::field::transfer_encoding) != 0) {
    if (head.count(http::field::content_length) != 0)
      return refused_head(400, "bad_head", "a request has Content-Length or Transfer-Encoding, not both");
    if (!is_same_word(value_of(head, http::field::transfer_encoding), "chunked"))
      return refused_head(400, "bad_head", "Transfer-Encoding must be chunked");
  }
  if (const auto length = value_of(head, http::field::content_length);
      length.find_first_not_of("0123456789") != std::string_view::npos)
    return refused_head(400, "bad_head", "Content-Length must be one number");
  if (const auto host = value_of(head, http::field::host); !sites.is_own_host(host))
    return host.empty() ? refused_head(400, "bad_head", "a request needs the header Host")
                        : refused_head(421, "wrong_host", "this gateway is not called " + excerpt(host));
  if (const auto origin = value_of(head, http::field::origin);
      !origin.empty() && !sites.may_use(origin, value_of(head, http::field::host)))
    return refused_head(403, "wrong_origin", "pages of " + excerpt(origin) + " may not use this gateway");
  return {};
}

std::string_view token_of_protocols(std::string_view protocols) {
  constexpr std::string_view prefix = "troupe.token.";
  const auto word = find_word(protocols, [&](std::string_view each) { return each.starts_with(prefix); });
  return word.empty() ? word : word.substr(prefix.size());
}

bool offers_protocol(std::string_view protocols) {
  return !find_word(protocols, [](std::string_view each) { return each == socket_protocol; }).empty();
}

std::expected<std::optional<std::chrono::milliseconds>, refusal> timeout_of(const http::fields& head) {
  const auto found = head.find("Troupe-Timeout-Ms");
  if (found == head.end())
    return std::nullopt;
  constexpr std::uint64_t header_timeout_ms_max = 1'000'000'000;
  if (head.count("Troupe-Timeout-Ms") > 1)
    return refused_head(400, "bad_head", "there are several headers Troupe-Timeout-Ms");
  std::uint64_t count = 0;
  const auto value = found->value();
  const auto [end, failure] = std::from_chars(value.data(), value.data() + value.size(), count);
  if (failure != std::errc() || end != value.data() + value.size())
    return refused_head(400, "bad_head", "Troupe-Timeout-Ms must be a natural number of milliseconds, below 2^64");
  return std::chrono::milliseconds(std::min(count, header_timeout_ms_max));
}

} // namespace troupe::web
