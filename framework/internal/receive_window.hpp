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

#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

/// Told when a message is consumed: its last reference has died.
class consumption {
public:
  virtual ~consumption() = default;
  /// From any thread, also under locks of CAF: must not wait, nor drop anything.
  virtual void consumed(std::uint64_t cost) noexcept = 0;
};

/// A message's cost until it is consumed. Empty, or owed exactly once.
class receipt {
public:
  receipt() = default;
  receipt(std::shared_ptr<consumption> to, std::uint64_t cost) : to_(std::move(to)), cost_(cost) {}
  receipt(receipt&& other) noexcept : to_(std::move(other.to_)), cost_(other.cost_) {}
  receipt& operator=(receipt&& other) noexcept {
    settle();
    to_ = std::move(other.to_);
    cost_ = other.cost_;
    return *this;
  }
  ~receipt() { settle(); }

private:
  void settle() noexcept {
    if (auto to = std::exchange(to_, nullptr))
      to->consumed(cost_);
  }

  std::shared_ptr<consumption> to_;
  std::uint64_t cost_ = 0;
};

/// How much a peer may have sent that is not consumed, in bytes.
struct receive_bounds {
  std::uint64_t window = 0;
  std::uint64_t actor_window = 0;
};

/// Counts what each actor of this end was sent and has consumed, and says when the peer is to be told: when a quarter
/// of a window has gathered, so that it costs one packet for many messages and the peer never waits for what is
/// consumed.
///
/// Threads: `received`, `take_due` and `release` on the I/O thread; receipts are settled on any, and
/// `unconsumed_bytes` may be read on any.
class receive_window {
public:
  /// `wake(...)` is called from any thread, at most once until the next take_due(), when there is something due.
  receive_window(const receive_bounds& bounds, std::function<void()> wake);
  ~receive_window();

  /// A message of this cost has arrived. Fails with `protocol_violation` when the peer had no credit left.
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
  std::atomic<std::uint64_t> outstanding_{0};  // As the peer sees it; written on the I/O thread.
  std::unordered_map<std::uint64_t, std::shared_ptr<account>> accounts_;
  const std::shared_ptr<account>* last_ =
      nullptr; // In accounts_: most messages are for the same actor as the last one.
  std::uint64_t last_actor_ = 0;
};

} // namespace troupe::internal
