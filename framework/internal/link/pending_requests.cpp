#include <troupe/framework/internal/link/pending_requests.hpp>

#include <troupe/framework/internal/caf_port/error_answers.hpp>
#include <troupe/framework/internal/caf_port/question_id.hpp>

namespace troupe::internal {

bool waiting_asker::is_gone() const noexcept {
  const auto* control = who.get();
  return control == nullptr || control->strong_refs.load(std::memory_order_relaxed) == 0;
}

void waiting_asker::fail(const question_key& question, const node_error& reason) const {
  if (call)
    call->fails(reason.message());
  if (auto asker = who.lock())
    answer_with(reason, asker, question_id(question.number, urgent).response_id(), nullptr, nullptr);
}

} // namespace troupe::internal
