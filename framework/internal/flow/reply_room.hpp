// How much may be asked: answers take room here before they have come.
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

/// Limits on answers, in bytes. A limit may be exceeded by the one answer that reaches it.
struct reply_bounds {
  std::uint64_t all = 0;         // Expected, and received and not consumed.
  std::uint64_t of_receiver = 0; // Expected of one receiver.
};

/// Keeps room for the answers to requests.
///
/// Threads: the link that owns it guards it with its own lock; `issue` is for its I/O thread. Answers are consumed on
/// any thread, which takes no lock.
class reply_room {
public:
  /// What the first answer of a receiver is expected to cost.
  static constexpr std::uint64_t estimate_min = 256;

  void set_bounds(const reply_bounds& bounds) { bounds_ = bounds; }
  [[nodiscard]] const reply_bounds& bounds() const noexcept { return bounds_; }

  /// Before the first answer comes. `wake` is called where somebody is waited for, see want(): on any thread, under
  /// locks of CAF as well, so it must not wait. `keeps` is what answers need as long as they live.
  void count_consumed(std::function<void()> wake, std::shared_ptr<const void> keeps) {
    consumed_.reset(new consumed_answers{std::move(wake), std::move(keeps)});
  }

  /// Room for the answer to a request that leaves now, until unreserve(). Requests that wait keep none.
  [[nodiscard]] std::uint64_t reserve(std::uint64_t receiver);
  void unreserve(std::uint64_t receiver, std::uint64_t reserved);

  /// An answer of this cost has come; later answers of that receiver are expected to be about as large. Its receipt
  /// must follow.
  void answered(std::uint64_t receiver, std::uint64_t cost);
  /// I/O thread.
  [[nodiscard]] receipt issue(std::uint64_t cost) { return consumed_->issue(cost); }
  /// Takes note of the answers that were consumed.
  void settle();

  /// One answer is always expected, however much is not consumed: else nothing would ever move again.
  [[nodiscard]] bool has_room(std::uint64_t receiver) const;
  [[nodiscard]] std::uint64_t bytes() const noexcept { return reserved_ + unconsumed_; }

  /// Whether the next answer that is consumed wakes the owner, once.
  void want(bool wanted) noexcept {
    // The owner asks first and then reads what was consumed: an answer consumed after that read must see the wish.
    consumed_->wanted.store(wanted, wanted ? std::memory_order_seq_cst : std::memory_order_release);
  }

  /// Any thread. Room has come free without an answer that could be consumed.
  void wake() noexcept { consumed_->wake(); }

  /// Nobody here refers to the receiver any more: forgotten once no answer of it is expected.
  void forget(std::uint64_t receiver);
  /// At the link's end.
  void clear();
  [[nodiscard]] std::size_t receivers() const noexcept { return receivers_.size(); }

private:
  /// Counts what receipts say on any thread, until settle().
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
  // The last to be asked: most requests are for the same receiver as the one before. Null: none.
  receiver_state* last_ = nullptr;
  std::uint64_t last_receiver_ = 0;
  consumption_ptr<consumed_answers> consumed_; // Set by count_consumed().
};

} // namespace troupe::internal
