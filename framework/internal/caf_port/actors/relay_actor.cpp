#include <troupe/framework/internal/caf_port/actors/relay_actor.hpp>

namespace troupe::internal {

namespace {

constinit thread_local caf::execution_unit* relay_context = nullptr;

} // namespace

void relay_actor::enqueue(caf::mailbox_element_ptr what, caf::execution_unit* context) {
  if (what->mid.is_response())
    return; // It asks nothing itself.
  if (const auto& content = what->content();
      content.match_elements<caf::exit_msg>() || content.match_elements<caf::down_msg>())
    return;
  const auto outer = std::exchange(relay_context, context);
  take_(relayed_message{std::move(what)});
  relay_context = outer;
}

caf::execution_unit* context_of_relay() noexcept {
  return relay_context;
}

} // namespace troupe::internal
