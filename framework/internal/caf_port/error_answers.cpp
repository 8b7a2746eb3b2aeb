#include <troupe/framework/internal/caf_port/error_answers.hpp>

#include <caf/abstract_actor.hpp>
#include <caf/make_message.hpp>

#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

void answer_with(const node_error& why, const caf::strong_actor_ptr& asker, caf::message_id answer,
                 const caf::strong_actor_ptr& from, caf::execution_unit* context) {
  asker->enqueue(from, answer, caf::make_message(to_caf_error(why)), context);
}

} // namespace troupe::internal
