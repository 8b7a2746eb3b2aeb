// How often this process holds and pins each object. Only going from 0 to 1 and back touches the shared bits.
#pragma once

#include <troupe/store/hold_reason.hpp>
#include <troupe/store/internal/table/layout.hpp>

#include <sched.h>
#include <sys/mman.h>

#include <array>
#include <atomic>
#include <cassert>
#include <cstdint>

namespace troupe::store::internal {

/// A counter whose first increment and last decrement run an action. While the action runs the counter reads
/// `changing`, and others wait for it: so the action of one 1 -> 0 can never overtake that of the next 0 -> 1.
/// The actions are an atomic operation or two.
class edge_counter {
public:
  template <class OnFirst>
  void increment(OnFirst on_first) {
    auto seen = count_.load(std::memory_order_relaxed);
    for (;;) {
      if (seen == changing) {
        ::sched_yield();
        seen = count_.load(std::memory_order_relaxed);
      } else if (seen == 0) {
        if (count_.compare_exchange_weak(seen, changing, std::memory_order_acquire)) {
          on_first();
          count_.store(1, std::memory_order_release);
          return;
        }
      } else if (count_.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire)) {
        return;
      }
    }
  }

  /// The first increment where nobody else can make one: only an earlier last decrement may not be over.
  template <class OnFirst>
  void begin(OnFirst on_first) {
    while (count_.load(std::memory_order_acquire) != 0)
      ::sched_yield();
    on_first();
    count_.store(1, std::memory_order_release);
  }

  /// Requires: this caller's increment is counted.
  template <class OnLast>
  void decrement(OnLast on_last) {
    auto seen = count_.load(std::memory_order_relaxed);
    for (;;) {
      assert(seen != 0);
      assert(seen != changing);
      if (seen > 1) {
        if (count_.compare_exchange_weak(seen, seen - 1, std::memory_order_release, std::memory_order_relaxed))
          return;
      } else if (count_.compare_exchange_weak(seen, changing, std::memory_order_acq_rel, std::memory_order_relaxed)) {
        on_last();
        count_.store(0, std::memory_order_release);
        return;
      }
    }
  }

  /// At this moment, while others change it.
  [[nodiscard]] std::uint32_t value() const noexcept {
    const auto seen = count_.load(std::memory_order_relaxed);
    return seen == changing ? 0 : seen;
  }

private:
  static constexpr std::uint32_t changing = 0xffffffff;
  std::atomic<std::uint32_t> count_;
};

/// Counts holds by what they are for. A hold is counted here only while its edge_counter counts it.
class reason_counters {
public:
  void add(hold_reason why) noexcept { at(why).fetch_add(1, std::memory_order_relaxed); }
  void remove(hold_reason why) noexcept {
    [[maybe_unused]] const auto before = at(why).fetch_sub(1, std::memory_order_relaxed);
    assert(before != 0);
  }
  /// At this moment, while others change it.
  [[nodiscard]] hold_counts values() const noexcept {
    hold_counts result;
    for (std::size_t i = 0; i < result.each.size(); ++i)
      result.each[i] = counts_[i].load(std::memory_order_relaxed);
    return result;
  }

private:
  std::atomic<std::uint32_t>& at(hold_reason why) noexcept { return counts_[static_cast<std::size_t>(why)]; }

  std::array<std::atomic<std::uint32_t>, hold_counts::reasons> counts_;
};

struct local_count {
  edge_counter holds; // Handles, pins and builders.
  edge_counter pins;
  reason_counters reasons; // Of the holds.
};

/// One local_count per row of the object table; pages come as they are used.
class local_counts {
public:
  explicit local_counts(std::uint32_t rows) : bytes_(rows * sizeof(local_count)) {
    auto* base = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    base_ = base == MAP_FAILED ? nullptr : static_cast<local_count*>(base);
  }
  local_counts(const local_counts&) = delete;
  local_counts& operator=(const local_counts&) = delete;
  ~local_counts() {
    if (base_ != nullptr)
      ::munmap(base_, bytes_);
  }

  [[nodiscard]] bool valid() const { return base_ != nullptr; }
  [[nodiscard]] local_count& at(std::uint32_t index) const { return base_[index]; }

private:
  std::size_t bytes_;
  local_count* base_ = nullptr;
};

} // namespace troupe::store::internal
