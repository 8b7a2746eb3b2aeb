#include <troupe/framework/internal/link/readiness.hpp>

#include <caf/actor_cast.hpp>
#include <caf/make_message.hpp>
#include <caf/message_id.hpp>

#include <troupe/framework/link_ready.hpp>

namespace troupe::internal {

void readiness::notice::tell() const {
  who->enqueue(nullptr, caf::make_message_id(), caf::make_message(link_ready{caf::actor_cast<caf::actor>(receiver)}),
               nullptr);
}

} // namespace troupe::internal
