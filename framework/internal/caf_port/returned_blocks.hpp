// Memory blocks on their way back to the thread that allocated them.
#pragma once

#include <atomic>
#include <cstddef>

namespace troupe::internal {

/// The content of an unused memory block.
struct free_block {
  free_block* next;
};

/// Brings blocks from any thread back to one thread, which takes all of them at once. This is the stack of Treiber
/// (1986), used as in the allocator mimalloc (Leijen, Zorn, de Moura, 2019).
///
/// Threads: `push` from any; the others by one at a time.
class returned_blocks {
public:
  /// Takes a chain of `count` blocks. Returns false if it is closed or already has about `most` blocks; the caller then
  /// keeps them.
  [[nodiscard]] bool push(free_block* first, free_block* last, std::size_t count, std::size_t most) noexcept {
    if (count_.load(std::memory_order_relaxed) >= most)
      return false;
    auto* before = first_.load(std::memory_order_relaxed);
    do {
      if (before == closed())
        return false;
      last->next = before;
      // Release: the thread that takes the block sees all writes to it.
    } while (!first_.compare_exchange_weak(before, first, std::memory_order_release, std::memory_order_relaxed));
    count_.fetch_add(count, std::memory_order_relaxed);
    return true;
  }

  /// All blocks; null if there are none.
  [[nodiscard]] free_block* take_all() noexcept {
    if (first_.load(std::memory_order_relaxed) == nullptr)
      return nullptr;
    return take(nullptr);
  }

  /// Like take_all(), but refuses blocks from then on, until open().
  [[nodiscard]] free_block* close() noexcept { return take(closed()); }
  void open() noexcept { first_.store(nullptr, std::memory_order_relaxed); }

private:
  [[nodiscard]] free_block* closed() noexcept { return &closed_; }
  [[nodiscard]] free_block* take(free_block* left) noexcept {
    auto* all = first_.exchange(left, std::memory_order_acquire);
    count_.store(0, std::memory_order_relaxed); // A late count makes the total too large by its own size, once.
    return all == closed() ? nullptr : all;
  }

  std::atomic<free_block*> first_{nullptr};
  std::atomic<std::size_t> count_{0};
  free_block closed_{nullptr};
};

} // namespace troupe::internal
