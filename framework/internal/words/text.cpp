#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

std::string one_line(std::string_view text) {
  return one_line(text, 8 * quoted_bytes_max);
}

} // namespace troupe::internal
