// Answers to callers that wait for the bytes of objects.
#pragma once

#include <chrono>
#include <cstdint>
#include <unordered_map>
#include <utility>

#include <troupe/framework/internal/objects/exchange_surroundings.hpp>
#include <troupe/framework/internal/objects/object_source.hpp>
#include <troupe/framework/internal/objects/shared_core.hpp>
#include <troupe/framework/internal/threads/job_queue.hpp>

namespace troupe::internal {

/// Answers each caller once, with the mapped bytes or with the reason why there are none.
///
/// Threads: end once, the others in a turn at the core.
class mapped_answers final : public caller_answers {
public:
  mapped_answers(shared_core& core, job_queue& worker) : core_(core), worker_(worker) {}

  [[nodiscard]] handles::waiter_id add(core_turn, object_source::answer then,
                                       std::chrono::steady_clock::time_point until);
  /// Sets the caller's deadline to now, so that it does not wait for room in the store.
  void hurry(core_turn, handles::waiter_id who);
  /// Queues the answer for the worker, because bytes that lie on disk have to be restored first.
  void answer(core_turn, fetch_answer what) override;
  /// Tells all remaining callers that the node has ended. Called without the core's lock, after the worker's end.
  void end();

private:
  void give(const fetch_answer& what);

  struct caller {
    object_source::answer then;
    std::chrono::steady_clock::time_point until;
  };

  shared_core& core_;
  job_queue& worker_;
  core_guarded<std::unordered_map<handles::waiter_id, caller>> callers_;
  core_guarded<handles::waiter_id> last_;
};

} // namespace troupe::internal
