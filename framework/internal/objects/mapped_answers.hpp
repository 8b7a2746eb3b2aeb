// Callers that wait for the bytes of objects.
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

/// Answers each caller once, with the bytes mapped or the reason.
///
/// Threads: end once, the rest in a turn at the core.
class mapped_answers final : public caller_answers {
public:
  mapped_answers(shared_core& core, job_queue& worker) : core_(core), worker_(worker) {}

  [[nodiscard]] handles::waiter_id add(core_turn, object_source::answer then,
                                       std::chrono::steady_clock::time_point until);
  /// It does not wait for room any more either.
  void hurry(core_turn, handles::waiter_id who);
  /// Has the worker do so, since what lies on disk has to be brought back.
  void answer(core_turn, fetch_answer what) override;
  /// Tells all that are left that the node has ended. Without the core's lock, after the worker's end.
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
