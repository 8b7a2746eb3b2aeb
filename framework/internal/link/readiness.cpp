#include <troupe/framework/internal/link/readiness.hpp>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/link_ready.hpp>

namespace troupe::internal {

void readiness::notice::tell() const {
  who->enqueue(nullptr, caf::make_message_id(), caf::make_message(link_ready{caf::actor_cast<caf::actor>(receiver)}),
               nullptr);
}

} // namespace troupe::internal
