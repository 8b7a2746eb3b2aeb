// The messages that were consumed since a thread's round of work began. Their sender gets one credit for all of them.
#pragma once

#include <atomic>
#include <cstdint>

namespace troupe::internal {

class consumption;

/// Gathers the costs of consumed messages. A thread that has one current tells nobody by itself meanwhile.
///
/// Threads: one; `set_deposed` and `is_deposed` from any.
class consumed_batch {
public:
  /// The calling thread's, or null outside of a round of work, and where another thread has taken that over.
  [[nodiscard]] static consumed_batch* current() noexcept;

  /// Makes a batch the calling thread's while it lives.
  class scope {
  public:
    explicit scope(consumed_batch& batch) noexcept;
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;
    ~scope();
  };

  /// Whether another thread goes on in place of this one's: nothing is gathered here then.
  void set_deposed(bool deposed) noexcept { deposed_.store(deposed); }
  [[nodiscard]] bool is_deposed() const noexcept { return deposed_.load(); }

  /// A message of this cost is consumed; its receipt's use passes to the batch.
  void gather(consumption& to, std::uint64_t cost) noexcept;

  [[nodiscard]] bool empty() const noexcept { return of_ == nullptr; }
  /// Tells what was gathered, by which more may be.
  void settle() noexcept;

private:
  std::atomic<bool> deposed_{false};
  consumption* of_ = nullptr; // Whose messages were consumed last ...
  std::uint64_t bytes_ = 0;
  std::uint64_t messages_ = 0; // ... and how many of them, one use each.
};

} // namespace troupe::internal
