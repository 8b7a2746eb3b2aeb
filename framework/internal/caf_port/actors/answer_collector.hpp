// Collects answers for a thread that is no actor.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <caf/actor_control_block.hpp>
#include <caf/actor_system.hpp>
#include <caf/message.hpp>

namespace troupe::internal {

struct collected_answer {
  std::uint64_t number = 0; // Of the request.
  caf::message content;
  std::chrono::steady_clock::time_point at = {};
};

/// Sends requests in the name of an actor that runs no handler, and keeps the answers until they are taken.
///
/// Threads: one, beside those that answer.
class answer_collector {
public:
  explicit answer_collector(caf::actor_system& system);

  /// The answer has the number. A number may be used again once it is answered. Requires: the number is not 0.
  void ask(const caf::strong_actor_ptr& whom, std::uint64_t number, bool urgent, caf::message what);
  /// Sends without asking.
  void tell(const caf::strong_actor_ptr& whom, bool urgent, caf::message what);

  /// All answers that have come, also late ones. Waits for the first one until `until`.
  [[nodiscard]] std::vector<collected_answer> take(std::chrono::steady_clock::time_point until);

private:
  struct box {
    std::mutex mutex;
    std::condition_variable changed;
    std::vector<collected_answer> answers; // Guarded by mutex.
  };
  class collector;

  const std::shared_ptr<box> box_ = std::make_shared<box>();
  const caf::strong_actor_ptr actor_;
};

} // namespace troupe::internal
