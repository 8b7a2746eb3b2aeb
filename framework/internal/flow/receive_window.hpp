// Messages that have arrived and are not consumed. This is the receiving half of back-pressure.
#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <utility>
#include <vector>

#include <troupe/base/salted_hash.hpp>
#include <troupe/framework/internal/flow/consumption.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// How much a peer may have sent that is not consumed, in bytes.
struct receive_bounds {
  std::uint64_t window = 0;
  std::uint64_t actor_window = 0;
  bool holds_link = true; // False: only each actor's window is enforced, not `window`.
};

/// What an actor was sent and has not consumed.
struct unconsumed_by_actor {
  std::uint64_t actor = 0;
  std::uint64_t messages = 0;
  std::uint64_t bytes = 0;
};

/// Counts what each actor of this end was sent and has consumed, and decides when to tell the peer. It tells the peer
/// when an eighth of a window has gathered, so that one packet serves many messages and the peer never waits for
/// consumed bytes.
///
/// Threads: `received`, `take_due` and `release` on the I/O thread; receipts are settled on any thread, and
/// `unconsumed_bytes` and `unconsumed` may be read on any thread.
class receive_window {
public:
  /// If there is something to report, `wake` is called from any thread, at most once until the next take_due().
  /// Messages keep `keeps` alive.
  receive_window(const receive_bounds& bounds, std::function<void()> wake, std::shared_ptr<const void> keeps = nullptr);
  ~receive_window();

  /// A message of this cost has arrived. Fails with `protocol_violation` if the peer had no credit left. The last
  /// message to leave may exceed the window. Messages may arrive in another order than they left, so the largest
  /// message so far is assumed to be the last.
  [[nodiscard]] std::expected<receipt, node_error> received(std::uint64_t actor, std::uint64_t cost);

  /// Returns what to tell the peer: (actor, bytes consumed). The peer may then send as much again.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint64_t>> take_due();

  /// The peer no longer refers to the actor. From now on its consumption is reported at once, and then the actor is
  /// forgotten.
  void release(std::uint64_t actor);

  [[nodiscard]] std::uint64_t unconsumed_bytes() const noexcept;
  /// The actors that have not consumed everything, by number. Visits all actors, a few at a time.
  [[nodiscard]] std::vector<unconsumed_by_actor> unconsumed() const;
  [[nodiscard]] std::size_t actors() const noexcept { return accounts_.size(); }

private:
  struct shared_state;
  class account;

  [[nodiscard]] account& account_of(std::uint64_t actor);

  const receive_bounds bounds_;
  const std::shared_ptr<shared_state> shared_; // The last receipt may outlive the window.
  const std::shared_ptr<const void> keeps_;
  std::atomic<std::uint64_t> outstanding_{0}; // As the peer sees it; written on the I/O thread.
  mutable std::mutex table_mutex_; // Held by the I/O thread to add and remove accounts, and by other threads to read.
  std::unordered_map<std::uint64_t, consumption_ptr<account>, detail::salted_hash> accounts_;
  std::uint64_t largest_ = 0; // Of all messages.
  account* last_ = nullptr;   // The latest actor; most messages go to the same one.
  std::uint64_t last_actor_ = 0;
};

} // namespace troupe::internal
