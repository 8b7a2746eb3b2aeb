#include <troupe/framework/internal/caf_port/end_reasons.hpp>

#include <string>

#include <caf/atom.hpp>
#include <caf/exit_reason.hpp>
#include <caf/make_message.hpp>
#include <caf/message.hpp>

#include <troupe/framework/internal/words/text.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

down down_of(std::uint64_t number, const caf::error& reason) {
  down message{.actor = number, .reason_code = 0, .reason_category = {}, .reason_text = {}};
  if (!reason)
    return message;
  message.reason_code = reason.code();
  message.reason_category = caf::to_string(reason.category());
  // A text arrives unchanged, even through intermediate nodes. Any other content arrives in printed form.
  if (const auto& context = reason.context(); context.match_elements<std::string>())
    message.reason_text = cut(context.get_as<std::string>(0));
  else if (!context.empty())
    message.reason_text = cut(caf::to_string(context));
  return message;
}

caf::error reason_of(const down& what) {
  if (what.reason_code == 0)
    return {};
  const auto category = caf::atom_from_string(what.reason_category);
  if (category == error_category || !what.reason_text.empty())
    return {what.reason_code, category, caf::make_message(what.reason_text)};
  return {what.reason_code, category};
}

caf::error reason_of_lost_node() {
  return caf::make_error(caf::exit_reason::remote_link_unreachable);
}

} // namespace troupe::internal
