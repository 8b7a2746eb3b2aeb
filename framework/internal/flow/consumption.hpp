// Notices when a received message is consumed, and reports it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

namespace troupe::internal {

class receipt;

/// Learns when messages are consumed, which is when their last reference is gone. Lives until its maker and all
/// receipts have released it.
///
/// Threads: `issue` and `release` by one thread at a time; the rest from any.
class consumption {
public:
  /// Up to `gathered_max` consumed bytes may be reported later, together. `keeps` is an object that messages need while
  /// they live, in addition to what they hold themselves.
  consumption(std::uint64_t gathered_max, std::shared_ptr<const void> keeps)
      : gathered_max_(gathered_max), keeps_(std::move(keeps)) {}
  consumption(const consumption&) = delete;
  consumption& operator=(const consumption&) = delete;

  /// Called from any thread, also under locks of CAF. Must not block or destroy anything.
  virtual void consumed(std::uint64_t cost) noexcept = 0;

  /// Returns the receipt of a message that has arrived.
  [[nodiscard]] receipt issue(std::uint64_t cost);

  /// The maker's last call.
  void release() noexcept { let_go(1 + prepaid_.exchange(0, std::memory_order_relaxed)); }

  [[nodiscard]] std::uint64_t gathered_max() const noexcept { return gathered_max_; }

  /// How many receipts, and copies of receipts, are not settled. Any thread. While receipts are issued, the value may
  /// be too low for a moment.
  [[nodiscard]] std::uint64_t unsettled() const noexcept {
    const auto prepaid = prepaid_.load(std::memory_order_relaxed);
    const auto uses = uses_.load(std::memory_order_relaxed);
    return uses > prepaid ? uses - prepaid - 1 : 0;
  }

protected:
  virtual ~consumption();

private:
  friend class receipt;
  friend class consumed_batch;

  void use() noexcept { uses_.fetch_add(1, std::memory_order_relaxed); }
  void let_go(std::uint64_t uses) noexcept;

  const std::uint64_t gathered_max_;
  const std::shared_ptr<const void> keeps_;
  std::atomic<std::uint64_t> uses_{1}; // The maker's, the receipts', and the prepaid ones.
  // Uses counted in advance for many receipts at once. Written by the issuing thread only.
  std::atomic<std::uint64_t> prepaid_{0};
};

/// The maker's pointer.
struct releases {
  void operator()(consumption* what) const noexcept { what->release(); }
};
template <class T>
using consumption_ptr = std::unique_ptr<T, releases>;

/// The cost of a message until it is consumed. Empty, or settled exactly once.
class receipt {
public:
  receipt() = default;
  receipt(receipt&& other) noexcept : to_(std::exchange(other.to_, nullptr)), cost_(other.cost_) {}
  receipt& operator=(receipt&& other) noexcept {
    settle();
    to_ = std::exchange(other.to_, nullptr);
    cost_ = other.cost_;
    return *this;
  }
  ~receipt() { settle(); }

  /// Returns a receipt without cost, for a deliberate copy of the message.
  [[nodiscard]] receipt of_copy() const;

private:
  friend class consumption;

  receipt(consumption* to, std::uint64_t cost) noexcept : to_(to), cost_(cost) {}
  void settle() noexcept {
    if (to_ != nullptr)
      settle_now();
  }
  void settle_now() noexcept;

  consumption* to_ = nullptr;
  std::uint64_t cost_ = 0;
};

/// Joins two receipts into one that settles both. `keeps` is an object that the message needs while it lives.
[[nodiscard]] receipt joint(receipt one, receipt other, std::shared_ptr<const void> keeps);

inline receipt consumption::issue(std::uint64_t cost) {
  constexpr std::uint64_t stock = 256;
  auto prepaid = prepaid_.load(std::memory_order_relaxed);
  if (prepaid == 0) {
    uses_.fetch_add(stock, std::memory_order_relaxed);
    prepaid = stock;
  }
  prepaid_.store(prepaid - 1, std::memory_order_relaxed);
  return {this, cost};
}

} // namespace troupe::internal
