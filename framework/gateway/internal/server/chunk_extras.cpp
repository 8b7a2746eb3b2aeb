#include <troupe/framework/gateway/internal/server/chunk_extras.hpp>

#include <cassert>

namespace troupe::web {

namespace {

constexpr std::size_t size_digits_max = 16; // Of the size of a chunk; more are zeros in front.

std::size_t hex_digits_at_end(std::string_view text) {
  const auto other = text.find_last_not_of("0123456789abcdefABCDEF");
  return other == std::string_view::npos ? text.size() : text.size() - other - 1;
}

} // namespace

head_state chunk_extras::note(bool is_last, std::string_view extension, std::string_view buffered) {
  assert(extension.data() >= buffered.data());
  assert(extension.data() + extension.size() <= buffered.data() + buffered.size());
  const auto from = static_cast<std::size_t>(extension.data() - buffered.data());
  const auto digits = hex_digits_at_end(buffered.substr(0, from));
  bytes_ += extension.size() + (digits > size_digits_max ? digits - size_digits_max : 0);
  if (bytes_ > bytes_max_)
    return head_state::too_long;
  if (!is_last)
    return head_state::complete;
  const auto trailers = buffered.substr(from + extension.size()); // Begins with the end of the last chunk's line.
  const auto end = trailers.find("\r\n\r\n");
  bytes_ += end == std::string_view::npos ? trailers.size() : end;
  return bytes_ > bytes_max_ ? head_state::too_long : state_of_head(trailers, trailers.size() + 1);
}

} // namespace troupe::web
