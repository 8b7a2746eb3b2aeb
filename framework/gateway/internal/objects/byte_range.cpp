#include <troupe/framework/gateway/internal/objects/byte_range.hpp>

#include <algorithm>
#include <charconv>

namespace troupe::web {

namespace {

std::optional<std::uint64_t> whole_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc() && end == text.data() + text.size() && !text.empty() ? std::optional(value)
                                                                                     : std::nullopt;
}

} // namespace

wanted_bytes read_range(std::string_view header, std::uint64_t size_bytes) {
  constexpr std::string_view unit = "bytes=";
  const wanted_bytes whole{.bytes = {0, size_bytes}};
  if (!header.starts_with(unit))
    return whole;
  header.remove_prefix(unit.size());
  const auto dash = header.find('-');
  if (dash == std::string_view::npos || header.find(',') != std::string_view::npos)
    return whole;
  const auto from = whole_number(header.substr(0, dash));
  const auto to = whole_number(header.substr(dash + 1));
  if (dash == 0) { // The last bytes.
    if (!to)
      return whole;
    const auto count = std::min(*to, size_bytes);
    return {.kind = count == 0 ? range_kind::unsatisfiable : range_kind::part, .bytes = {size_bytes - count, count}};
  }
  if (!from || (!to && dash + 1 != header.size()) || (to && *to < *from))
    return whole;
  if (*from >= size_bytes)
    return {.kind = range_kind::unsatisfiable, .bytes = {}};
  const auto last = std::min(to.value_or(size_bytes - 1), size_bytes - 1);
  return {.kind = range_kind::part, .bytes = {*from, last - *from + 1}};
}

} // namespace troupe::web
