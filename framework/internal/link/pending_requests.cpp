#include <troupe/framework/internal/link/pending_requests.hpp>

#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/caf_port/question_id.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

bool waiting_asker::is_gone() const noexcept {
  const auto* control = who.get();
  return control == nullptr || control->strong_refs.load(std::memory_order_relaxed) == 0;
}

void waiting_asker::fail(const question_key& question, const node_error& reason) const {
  if (auto asker = who.lock())
    asker->enqueue(nullptr, question_id(question.number, urgent).response_id(), caf::make_message(to_caf_error(reason)),
                   nullptr);
}

} // namespace troupe::internal
