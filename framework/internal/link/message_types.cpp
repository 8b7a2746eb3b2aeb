#include <troupe/framework/internal/link/message_types.hpp>

#include <troupe/framework/internal/caf_port/decoded_message.hpp>
#include <troupe/framework/internal/link/known_types.hpp>
#include <troupe/framework/internal/wire/kept_memory.hpp>

namespace troupe::internal {

void message_types::clear() {
  empty_for_reuse(types_);
  is_vital_ = false;
  known_ = nullptr;
  of_others_ = nullptr;
}

std::optional<sent_dictionary::numbered> message_types::number(const link_held& held, sent_dictionary& words,
                                                               outbox& out) {
  using numbered = sent_dictionary::numbered;
  if (of_others_ != nullptr) {
    const auto number = words.signature_for_others(held, of_others_->aliases, out);
    return number ? std::optional{numbered{*number}} : std::nullopt;
  }
  if (known_ != nullptr && *known_ != known_type::unknown_signature)
    return numbered{*known_};
  const auto defined = words.signature(held, types_, is_vital_, out);
  if (known_ != nullptr && defined)
    *known_ = defined->number;
  return defined;
}

std::vector<std::string> message_types::aliases() const {
  if (of_others_ != nullptr)
    return of_others_->aliases;
  std::vector<std::string> result;
  for (const auto* type : types_)
    result.emplace_back(type->alias());
  return result;
}

} // namespace troupe::internal
