#include <troupe/framework/trace_context.hpp>

#include <algorithm>
#include <cstdint>
#include <random>
#include <span>

#include <unistd.h>

#include <troupe/framework/internal/words/text.hpp>

namespace troupe {

namespace {

constexpr std::string_view digits = "0123456789abcdef";

/// From the kernel, so that the two processes of a fork differ.
template <class Id>
Id random_id() {
  Id id{};
  while (id == Id{}) {
    if (getentropy(id.data(), id.size()) == 0)
      continue;
    std::random_device device; // A kernel without that call.
    std::ranges::generate(id, [&] { return static_cast<std::byte>(device()); });
  }
  return id;
}

/// The values of characters; 16 for one that is no digit. Only lower-case digits, as the standard says.
constexpr auto digit_values = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(16);
  for (std::uint8_t i = 0; i < digits.size(); ++i)
    values[static_cast<unsigned char>(digits[i])] = i;
  return values;
}();

bool read_hex(std::string_view text, std::span<std::byte> bytes) {
  if (text.size() != 2 * bytes.size())
    return false;
  unsigned all = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const unsigned high = digit_values[static_cast<unsigned char>(text[2 * i])];
    const unsigned low = digit_values[static_cast<unsigned char>(text[2 * i + 1])];
    all |= high | low;
    bytes[i] = static_cast<std::byte>(high << 4 | low);
  }
  return all < 16;
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char each) { return each >= ' ' && each <= '~'; });
}

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos)
    return {};
  return text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

/// Whether the text is a list "key=value,key=value" of at most `members_max` members. Empty members are allowed.
bool is_list(std::string_view text, std::size_t members_max) {
  std::size_t members = 0;
  while (!text.empty()) {
    const auto end = std::min(text.find(','), text.size());
    const auto member = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (member.empty())
      continue;
    const auto equals = member.find('=');
    const auto key = trimmed(member.substr(0, std::min(equals, member.size())));
    if (equals == std::string_view::npos || key.empty() || key.find(' ') != std::string_view::npos
        || ++members > members_max)
      return false;
  }
  return members > 0;
}

bool is_tracestate(std::string_view text) {
  constexpr std::size_t members_max = 32;
  return text.size() <= tracestate_bytes_max && is_printable(text) && is_list(text, members_max);
}

bool is_baggage(std::string_view text) {
  constexpr std::size_t members_max = 180;
  return text.size() <= baggage_bytes_max && is_printable(text) && is_list(text, members_max);
}

} // namespace

std::string hex_of(std::span<const std::byte> id) {
  return internal::hex(id);
}

span_id new_span_id() {
  return random_id<span_id>();
}

trace_context trace_context::begin(bool is_sampled) {
  trace_context result;
  result.trace_ = random_id<trace_id>();
  result.is_sampled_ = is_sampled;
  return result;
}

std::optional<trace_context> trace_context::parse(std::string_view traceparent, std::string_view tracestate,
                                                  std::string_view baggage) {
  // version "-" trace "-" parent "-" flags; a later version may append more after another "-".
  constexpr std::size_t size = 55;
  constexpr std::byte sampled{1};
  if (traceparent.size() < size || traceparent[2] != '-' || traceparent[35] != '-' || traceparent[52] != '-')
    return std::nullopt;
  std::array<std::byte, 1> version{};
  std::array<std::byte, 1> flags{};
  trace_context result;
  if (!read_hex(traceparent.substr(0, 2), version) || !read_hex(traceparent.substr(3, 32), result.trace_)
      || !read_hex(traceparent.substr(36, 16), result.span_) || !read_hex(traceparent.substr(53, 2), flags))
    return std::nullopt;
  const auto is_longer = traceparent.size() > size;
  if (version[0] == std::byte{0xff} || (version[0] == std::byte{0} && is_longer)
      || (is_longer && traceparent[size] != '-') || result.trace_ == trace_id{} || result.span_ == span_id{})
    return std::nullopt;
  result.is_sampled_ = (flags[0] & sampled) != std::byte{0};
  if (is_tracestate(tracestate))
    result.tracestate_ = tracestate;
  if (is_baggage(baggage))
    result.baggage_ = baggage;
  return result;
}

bool trace_context::set_baggage(std::string_view text) {
  if (!text.empty() && !is_baggage(text))
    return false;
  baggage_ = std::string{text}; // In place of an assignment, which would keep a larger memory.
  return true;
}

trace_context trace_context::with_span(const span_id& span) const {
  auto result = *this;
  result.span_ = span;
  return result;
}

std::string trace_context::traceparent() const {
  return "00-" + hex_of(trace_) + '-' + hex_of(has_span() ? span_ : new_span_id()) + (is_sampled_ ? "-01" : "-00");
}

} // namespace troupe
