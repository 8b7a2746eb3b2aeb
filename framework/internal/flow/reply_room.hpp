// Bounds the open requests of a link. Room for each answer is reserved before the answer comes.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <unordered_map>

#include <troupe/base/salted_hash.hpp>
#include <troupe/framework/internal/flow/consumption.hpp>

namespace troupe::internal {

/// Limits on answers, in bytes. One answer may exceed a limit that is not reached.
struct reply_bounds {
  std::uint64_t all = 0;         // Expected, or received and not consumed.
  std::uint64_t of_receiver = 0; // Expected from one receiver.
};

/// Reserves room for the answers to requests.
///
/// Threads: the lock of the link that owns it guards it; `issue` is for the link's I/O thread. Answers are consumed on
/// any thread, without a lock.
class reply_room {
public:
  /// The expected cost of a receiver's first answer.
  static constexpr std::uint64_t estimate_min = 256;

  void set_bounds(const reply_bounds& bounds) { bounds_ = bounds; }
  [[nodiscard]] const reply_bounds& bounds() const noexcept { return bounds_; }

  /// Call it before the first answer arrives. `wake` is called as want() says: on any thread, also under locks of CAF,
  /// so it must not block. `keeps` is an object that answers need while they live.
  void count_consumed(std::function<void()> wake, std::shared_ptr<const void> keeps) {
    consumed_.reset(new consumed_answers{std::move(wake), std::move(keeps)});
  }

  /// Reserves room for the answer to a request that leaves now, until unreserve(). Waiting requests reserve nothing.
  [[nodiscard]] std::uint64_t reserve(std::uint64_t receiver);
  void unreserve(std::uint64_t receiver, std::uint64_t reserved);

  /// An answer of this cost has arrived. Later answers of that receiver are expected to be about as large. issue() must
  /// follow.
  void answered(std::uint64_t receiver, std::uint64_t cost);
  /// I/O thread.
  [[nodiscard]] receipt issue(std::uint64_t cost) { return consumed_->issue(cost); }
  /// Accounts for the answers that were consumed.
  void settle();

  /// One answer may always be expected, however much is not consumed. Otherwise nothing would ever move again.
  [[nodiscard]] bool has_room(std::uint64_t receiver) const;
  [[nodiscard]] std::uint64_t bytes() const noexcept { return reserved_ + unconsumed_; }

  /// Whether the next consumed answer calls `wake`, once.
  void want(bool wanted) noexcept {
    // The owner sets this and then reads what was consumed: an answer consumed after that read must see it.
    consumed_->wanted.store(wanted, wanted ? std::memory_order_seq_cst : std::memory_order_release);
  }

  /// Any thread. Room has become free other than by a consumed answer.
  void wake() noexcept { consumed_->wake(); }

  /// Nothing here refers to the receiver any more. It is forgotten once no answer of it is expected.
  void forget(std::uint64_t receiver);
  /// At the link's end.
  void clear();
  [[nodiscard]] std::size_t receivers() const noexcept { return receivers_.size(); }

private:
  /// Counts the answers consumed on any thread until settle().
  class consumed_answers final : public consumption {
  public:
    static constexpr std::uint64_t gathered_bytes_max = 16 * 1024;

    consumed_answers(std::function<void()> wake, std::shared_ptr<const void> keeps)
        : consumption(gathered_bytes_max, std::move(keeps)), wake_(std::move(wake)) {}
    void consumed(std::uint64_t cost) noexcept override;
    void wake() noexcept;

    std::atomic<std::uint64_t> bytes{0};
    std::atomic<bool> wanted{false};

  private:
    const std::function<void()> wake_;
  };

  struct receiver_state {
    std::uint64_t estimate = 0;
    std::uint64_t reserved = 0;
    bool forgotten = false;
  };
  using receiver_map = std::unordered_map<std::uint64_t, receiver_state, detail::salted_hash>;

  [[nodiscard]] const receiver_state* find(std::uint64_t receiver) const;
  void drop_if_idle(receiver_map::iterator at);

  reply_bounds bounds_;
  std::uint64_t reserved_ = 0;
  std::uint64_t unconsumed_ = 0;
  receiver_map receivers_;
  // The latest receiver: most requests go to the same one. Null: none.
  receiver_state* last_ = nullptr;
  std::uint64_t last_receiver_ = 0;
  consumption_ptr<consumed_answers> consumed_; // Set by count_consumed().
};

} // namespace troupe::internal
