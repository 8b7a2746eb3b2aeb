// The messages that were consumed since a thread's round of work began. Their sender gets one credit for all of them.
#pragma once

#include <atomic>
#include <cstdint>

namespace troupe::internal {

class consumption;

/// Gathers the costs of consumed messages. While a batch is current, its thread reports no consumed message by itself.
///
/// Threads: one; `set_deposed` and `is_deposed` from any.
class consumed_batch {
public:
  /// The calling thread's batch. Null outside of a round of work, and after another thread has taken the round over.
  [[nodiscard]] static consumed_batch* current() noexcept;

  /// Makes a batch current for the calling thread while the scope lives.
  class scope {
  public:
    explicit scope(consumed_batch& batch) noexcept;
    scope(const scope&) = delete;
    scope& operator=(const scope&) = delete;
    ~scope();
  };

  /// While deposed, another thread continues in this thread's place, and nothing is gathered here.
  void set_deposed(bool deposed) noexcept { deposed_.store(deposed); }
  [[nodiscard]] bool is_deposed() const noexcept { return deposed_.load(); }

  /// Adds a consumed message of this cost. The use of its receipt passes to the batch.
  void gather(consumption& to, std::uint64_t cost) noexcept;

  [[nodiscard]] bool empty() const noexcept { return of_ == nullptr; }
  /// Reports what was gathered, which may cause more to be gathered.
  void settle() noexcept;

private:
  std::atomic<bool> deposed_{false};
  consumption* of_ = nullptr; // Counts the messages consumed last.
  std::uint64_t bytes_ = 0;
  std::uint64_t messages_ = 0; // The number of these messages, one use each.
};

} // namespace troupe::internal
