// Tries which members this one reaches.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <troupe/framework/cluster/cluster_member.hpp>
#include <troupe/framework/cluster/member_account.hpp>

namespace troupe::membership {

/// Dials every member of a list, a few at a time, and tells the outcome. Its thread is started with the first question.
/// Questions that come during a round share its outcome, and one that comes soon after it gets the same again, so that
/// many questions do not make many dials.
///
/// Threads: any.
class reach_probe {
public:
  struct parts {
    std::function<std::vector<cluster_member>()> members;
    /// Dials the member, and returns why that failed; empty if it did not. Blocks, for a bounded time.
    std::function<std::string(const cluster_member&)> dial;
  };
  using outcome_handler = std::function<void(const std::vector<member_reach>&)>;

  explicit reach_probe(parts of);
  reach_probe(const reach_probe&) = delete;
  reach_probe& operator=(const reach_probe&) = delete;
  /// Waits for dials under way. Handlers that wait are not called.
  ~reach_probe();

  /// Calls the handler once, on a thread of the probe.
  void ask(outcome_handler handler);

private:
  void run();
  [[nodiscard]] std::vector<member_reach> round() const;

  const parts of_;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::vector<outcome_handler> waiting_;
  std::atomic<bool> ends_ = false; // Changed under mutex_.
  std::thread thread_;
};

} // namespace troupe::membership
