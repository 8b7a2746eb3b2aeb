// CAF's id of a request, put together again from what crossed the link.
#pragma once

#include <cstdint>

#include <caf/message_id.hpp>

namespace troupe::internal {

/// `number` as message_id::request_id gave it; 0 for a message that is no request.
[[nodiscard]] constexpr caf::message_id question_id(std::uint64_t number, bool urgent) {
  return urgent ? caf::make_message_id(caf::high_message_priority_constant{}, number)
                : caf::make_message_id(caf::normal_message_priority_constant{}, number);
}

/// CAF's id of a message that crossed the link.
[[nodiscard]] constexpr caf::message_id message_id_of(std::uint64_t request_number, bool urgent, bool response) {
  auto id = question_id(request_number, urgent);
  return response ? id.response_id() : id;
}

} // namespace troupe::internal
