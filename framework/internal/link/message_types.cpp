#include <troupe/framework/internal/link/message_types.hpp>

#include <troupe/framework/internal/caf_port/decoded_message.hpp>
#include <troupe/framework/internal/link/known_types.hpp>
#include <troupe/framework/internal/wire/kept_memory.hpp>

namespace troupe::internal {

void message_types::clear() {
  empty_for_reuse(types_);
  known_ = nullptr;
  of_others_ = nullptr;
}

sent_dictionary::numbered message_types::number(const link_held& held, sent_dictionary& words, outbox& out) {
  if (of_others_ != nullptr)
    return {words.signature_for_others(held, of_others_->aliases, out)};
  if (known_ != nullptr && *known_ != known_type::unknown_signature)
    return {*known_};
  const auto defined = words.signature(held, types_, out);
  if (known_ != nullptr)
    *known_ = defined.number;
  return defined;
}

std::vector<std::string> message_types::aliases() const {
  std::vector<std::string> result;
  for (const auto* type : types_)
    result.emplace_back(type->alias());
  return result;
}

} // namespace troupe::internal
