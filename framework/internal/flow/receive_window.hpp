// What has arrived and is not consumed yet: the receiving half of back-pressure.
#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
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
  bool holds_link = true; // False: the peer may have sent more than `window` in all, as long as each actor's is kept.
};

/// Counts what each actor of this end was sent and has consumed, and says when the peer is to be told: when an eighth
/// of a window has gathered, so that it costs one packet for many messages and the peer never waits for what is
/// consumed.
///
/// Threads: `received`, `take_due` and `release` on the I/O thread; receipts are settled on any, and
/// `unconsumed_bytes` may be read on any.
class receive_window {
public:
  /// `wake(...)` is called from any thread, at most once until the next take_due(), when there is something due.
  /// Messages keep `keeps` alive.
  receive_window(const receive_bounds& bounds, std::function<void()> wake, std::shared_ptr<const void> keeps = nullptr);
  ~receive_window();

  /// A message of this cost has arrived. Fails with `protocol_violation` when the peer had no credit left. Messages may
  /// come in another order than the one in which the peer let them leave, of which the last may exceed the window: so
  /// whichever was the largest is taken to be that one.
  [[nodiscard]] std::expected<receipt, node_error> received(std::uint64_t actor, std::uint64_t cost);

  /// What the peer is to be told: (actor, bytes consumed). Afterwards it may send as much again.
  [[nodiscard]] std::vector<std::pair<std::uint64_t, std::uint64_t>> take_due();

  /// The peer refers to the actor no more: what it consumes from now on is reported at once, then it is forgotten.
  void release(std::uint64_t actor);

  [[nodiscard]] std::uint64_t unconsumed_bytes() const noexcept;
  [[nodiscard]] std::size_t actors() const noexcept { return accounts_.size(); }

private:
  struct shared_state;
  class account;

  const receive_bounds bounds_;
  const std::shared_ptr<shared_state> shared_; // Outlives the window with the last receipt.
  const std::shared_ptr<const void> keeps_;
  std::atomic<std::uint64_t> outstanding_{0}; // As the peer sees it; written on the I/O thread.
  std::unordered_map<std::uint64_t, consumption_ptr<account>, detail::salted_hash> accounts_;
  std::uint64_t largest_ = 0; // Of all messages.
  account* last_ = nullptr; // Most messages are for the same actor as the last one.
  std::uint64_t last_actor_ = 0;
};

} // namespace troupe::internal
