#include <troupe/framework/link_ready.hpp>

#include <troupe/framework/internal/caf_port/asker.hpp>

namespace troupe::internal {

bool is_ready(const caf::strong_actor_ptr& receiver) {
  const auto* remote = as_proxy(itself(receiver));
  return remote == nullptr || remote->link()->is_ready(remote->number());
}

void notify_when_ready(const caf::strong_actor_ptr& who, const caf::strong_actor_ptr& receiver) {
  if (!who)
    return;
  if (const auto* remote = as_proxy(itself(receiver)))
    remote->link()->notify_when_ready(remote->number(), receiver, who);
  else
    who->enqueue(nullptr, caf::make_message_id(), caf::make_message(link_ready{caf::actor_cast<caf::actor>(receiver)}),
                 nullptr);
}

} // namespace troupe::internal
