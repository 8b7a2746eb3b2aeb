// CAF's request ids, rebuilt from the fields that cross the link.
#pragma once

#include <cstdint>

#include <caf/message_id.hpp>

namespace troupe::internal {

/// `number` is message_id::request_id of the request; 0 for a message that is not a request.
[[nodiscard]] constexpr caf::message_id question_id(std::uint64_t number, bool urgent) {
  return urgent ? caf::make_message_id(caf::high_message_priority_constant{}, number)
                : caf::make_message_id(caf::normal_message_priority_constant{}, number);
}

/// CAF's id of a message that has crossed the link.
[[nodiscard]] constexpr caf::message_id message_id_of(std::uint64_t request_number, bool urgent, bool response) {
  auto id = question_id(request_number, urgent);
  return response ? id.response_id() : id;
}

} // namespace troupe::internal
