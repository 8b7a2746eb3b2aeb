// One fetch of an object's bytes, which the caller may give up before they come.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include <troupe/framework/node_errc.hpp>
#include <troupe/framework/object_ref.hpp>

namespace troupe::internal {

/// How long a fetch may take; nullopt: as long as it needs.
using fetch_time = std::optional<std::chrono::milliseconds>;

/// Keeps the object until the fetch is answered or given up.
///
/// Threads: any.
class running_fetch : public std::enable_shared_from_this<running_fetch> {
public:
  using outcome = std::expected<frame, node_error>;

  /// Calls `when_answered` once, on any thread, possibly before this call returns, and never after give_up().
  /// `when_answered` must not wait. An empty reference is answered at once with `object_lost`.
  [[nodiscard]] static std::shared_ptr<running_fetch> start(object_state_ptr state, fetch_time within,
                                                            std::function<void()> when_answered);

  /// Null while the fetch runs. The outcome that it points to never changes.
  [[nodiscard]] const outcome* answer() const;

  /// The caller no longer waits for the answer.
  void give_up();

private:
  void run(fetch_time within);
  void take(outcome answer);

  running_fetch(object_state_ptr state, std::function<void()> when_answered);

  mutable std::mutex mutex_;
  // Guarded by mutex_.
  object_state_ptr state_; // Null once it is answered.
  std::function<void()> when_answered_;
  std::optional<outcome> outcome_;
  object_source::fetch_id id_ = 0; // 0 also until the source has returned it.
  bool given_up_ = false;
};

} // namespace troupe::internal
