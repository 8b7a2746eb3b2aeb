#include <troupe/framework/internal/handles/messages.hpp>

namespace troupe::internal::handles {

std::string_view to_string(handle_errc code) {
  switch (code) {
  case handle_errc::none:
    return "none";
  case handle_errc::busy:
    return "busy";
  case handle_errc::full:
    return "full";
  case handle_errc::stalled:
    return "stalled";
  case handle_errc::timed_out:
    return "timed_out";
  case handle_errc::object_lost:
    return "object_lost";
  case handle_errc::unknown:
    return "unknown";
  case handle_errc::too_many:
    return "too_many";
  case handle_errc::link_down:
    return "link_down";
  case handle_errc::cancelled:
    return "cancelled";
  case handle_errc::violation:
    return "violation";
  }
  return "?";
}

} // namespace troupe::internal::handles
