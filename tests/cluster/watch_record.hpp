// Keeps what a watch delivers, for tests.
#pragma once

#include <troupe/framework/cluster/directory.hpp>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace troupe::tests {

/// What a watch has delivered so far. Pass handlers() to directory::watch().
///
/// Threads: every member may be called from any thread. Lifetime: the handlers keep their own reference to the record.
class watch_record {
public:
  struct delivery {
    std::vector<directory_change> changes;
    std::uint64_t revision = 0;
  };
  /// What the test has seen so far.
  struct contents {
    std::vector<delivery> deliveries;
    std::vector<directory_change> changes; // Of all deliveries, in order.
    std::optional<directory_error> end;
    int calls_after_end = 0;
  };

  [[nodiscard]] directory_watch_handlers handlers() const {
    return {.on_changes =
                [shared = shared_](std::span<const directory_change> changes, std::uint64_t revision) {
                  const std::lock_guard guard{shared->mutex};
                  auto& seen = shared->seen;
                  seen.calls_after_end += seen.end ? 1 : 0;
                  seen.deliveries.push_back({{changes.begin(), changes.end()}, revision});
                  seen.changes.insert(seen.changes.end(), changes.begin(), changes.end());
                  shared->changed.notify_all();
                },
            .on_end =
                [shared = shared_](const directory_error& error) {
                  const std::lock_guard guard{shared->mutex};
                  shared->seen.calls_after_end += shared->seen.end ? 1 : 0;
                  shared->seen.end = error;
                  shared->changed.notify_all();
                }};
  }

  /// Waits until `condition` holds for the contents, and gives whether it does.
  template <class Condition>
  [[nodiscard]] bool eventually(Condition&& condition,
                                std::chrono::milliseconds limit = std::chrono::seconds{10}) const {
    std::unique_lock guard{shared_->mutex};
    return shared_->changed.wait_for(guard, limit, [&] { return condition(std::as_const(shared_->seen)); });
  }

  /// Waits for that many changes.
  [[nodiscard]] bool has_changes(std::size_t count) const {
    return eventually([count](const contents& seen) { return seen.changes.size() >= count; });
  }

  /// Waits for the watch's end, and gives its code; `none` if it has not ended.
  [[nodiscard]] directory_errc end_code() const {
    static_cast<void>(eventually([](const contents& seen) { return seen.end.has_value(); }));
    const auto seen = contents_so_far();
    return seen.end ? seen.end->code() : directory_errc::none;
  }

  [[nodiscard]] contents contents_so_far() const {
    const std::lock_guard guard{shared_->mutex};
    return shared_->seen;
  }

private:
  struct shared_state {
    std::mutex mutex;
    std::condition_variable changed;
    contents seen; // Guarded by mutex.
  };
  std::shared_ptr<shared_state> shared_ = std::make_shared<shared_state>();
};

} // namespace troupe::tests
