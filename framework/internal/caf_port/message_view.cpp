#include <troupe/framework/internal/caf_port/message_view.hpp>

#include <caf/error.hpp>
#include <caf/system_messages.hpp>
#include <caf/type_nr.hpp>

namespace troupe::internal {

std::string message_view::first_atom() const {
  if (size() == 0 || !content_->match_element<caf::atom_value>(0))
    return {};
  return caf::to_string(*static_cast<const caf::atom_value*>(content_->get(0)));
}

/// A token keeps the numbers of the last few types. Before them come bits that are all set, which is no type's number.
/// So the token of a single type never equals that of a longer message.
message_kind kind_of(std::uint32_t type_token) noexcept {
  switch (type_token) {
  case caf::make_type_token<caf::error>():
    return message_kind::error;
  case caf::make_type_token<caf::exit_msg>():
    return message_kind::exit;
  case caf::make_type_token<caf::down_msg>():
    return message_kind::down;
  default:
    return message_kind::ordinary;
  }
}

std::uint64_t value_memory_of(const message_view& message, const type_registry& types) {
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < message.size(); ++i)
    if (const auto* type = message.type(i).entry_in(types))
      bytes += type->is_self_contained() ? type->memory_bytes(message.value(i)) : type->size_bytes();
  return bytes;
}

} // namespace troupe::internal
