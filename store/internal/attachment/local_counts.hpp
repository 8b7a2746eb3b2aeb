// This process's holds and pins of each object. The shared bits change only when a count goes from 0 to 1 or from 1 to
// 0.
#pragma once

#include <troupe/store/hold_reason.hpp>
#include <troupe/store/internal/table/layout.hpp>

#include <sched.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cstdint>

namespace troupe::store::internal {

/// A counter whose first increment and last decrement run an action. During the action the counter reads `changing`,
/// and other threads wait. Therefore the action of a change from 1 to 0 never overtakes the action of the next change
/// from 0 to 1. Actions must be short and must not block.
///
/// Each increment may carry marks, which its decrement removes. The marks form a second sum that needs no operation of
/// its own.
class edge_counter {
public:
  template <class OnFirst>
  void increment(OnFirst on_first, std::uint32_t marks = 0) {
    auto seen = word_.load(std::memory_order_relaxed);
    for (;;) {
      if (seen == changing) {
        ::sched_yield();
        seen = word_.load(std::memory_order_relaxed);
      } else if (seen == 0) {
        if (word_.compare_exchange_weak(seen, changing, std::memory_order_acquire)) {
          on_first();
          word_.store(step(marks), std::memory_order_release);
          return;
        }
      } else if (word_.compare_exchange_weak(seen, seen + step(marks), std::memory_order_acquire)) {
        return;
      }
    }
  }

  /// The first increment, for a caller that knows that no other thread can make one. Waits only until an earlier last
  /// decrement has ended.
  template <class OnFirst>
  void begin(OnFirst on_first, std::uint32_t marks = 0) {
    while (word_.load(std::memory_order_acquire) != 0)
      ::sched_yield();
    on_first();
    word_.store(step(marks), std::memory_order_release);
  }

  /// Removes one increment. Requires: the caller's increment is counted, with these marks.
  template <class OnLast>
  void decrement(OnLast on_last, std::uint32_t marks = 0) {
    auto seen = word_.load(std::memory_order_relaxed);
    for (;;) {
      assert(seen != changing);
      assert(count_of(seen) != 0 && marks_of(seen) >= marks);
      if (count_of(seen) > 1) {
        if (word_.compare_exchange_weak(seen, seen - step(marks), std::memory_order_release, std::memory_order_relaxed))
          return;
      } else if (word_.compare_exchange_weak(seen, changing, std::memory_order_acq_rel, std::memory_order_relaxed)) {
        on_last();
        word_.store(0, std::memory_order_release);
        return;
      }
    }
  }

  /// Changes the marks of one increment that stays counted.
  void change_marks(std::uint32_t from, std::uint32_t to) noexcept {
    word_.fetch_add(step(to) - step(from), std::memory_order_relaxed);
  }

  /// A snapshot; other threads may change the counter.
  struct sums {
    std::uint32_t count = 0;
    std::uint32_t marks = 0;
  };
  [[nodiscard]] sums now() const noexcept {
    const auto seen = word_.load(std::memory_order_relaxed);
    return seen == changing ? sums{} : sums{count_of(seen), marks_of(seen)};
  }

private:
  static constexpr auto marks_shift = 32;
  static constexpr auto changing = ~std::uint64_t{0};

  static constexpr std::uint64_t step(std::uint32_t marks) { return std::uint64_t{marks} << marks_shift | 1; }
  static constexpr std::uint32_t count_of(std::uint64_t word) { return static_cast<std::uint32_t>(word); }
  static constexpr std::uint32_t marks_of(std::uint64_t word) {
    return static_cast<std::uint32_t>(word >> marks_shift);
  }

  std::atomic<std::uint64_t> word_;
};

/// Counts the holds of one object, in all and by reason. The three most frequent reasons need no operation of their
/// own: views and builders are counted in the word of all holds, and all holds without another reason are references.
class hold_counter {
public:
  /// `on_first` as in edge_counter.
  template <class OnFirst>
  void add(hold_reason why, OnFirst on_first) noexcept {
    all_.increment(on_first, marks_of(why));
    if (is_rare(why))
      rare(why).fetch_add(1, std::memory_order_relaxed);
  }

  /// The first hold, for a caller that knows that no other thread can take one.
  template <class OnFirst>
  void begin(hold_reason why, OnFirst on_first) noexcept {
    all_.begin(on_first, marks_of(why));
    if (is_rare(why))
      rare(why).fetch_add(1, std::memory_order_relaxed);
  }

  /// Requires: a hold for `why` is counted; `on_last` as in edge_counter.
  template <class OnLast>
  void remove(hold_reason why, OnLast on_last) noexcept {
    if (is_rare(why)) // Before the decrement: afterwards the row may belong to another object.
      forget_rare(why);
    all_.decrement(on_last, marks_of(why));
  }

  /// Requires: a hold for `from` is counted.
  void change(hold_reason from, hold_reason to) noexcept {
    if (is_rare(to))
      rare(to).fetch_add(1, std::memory_order_relaxed);
    if (marks_of(from) != marks_of(to))
      all_.change_marks(marks_of(from), marks_of(to));
    if (is_rare(from))
      forget_rare(from);
  }

  /// A snapshot; other threads may change the counters.
  [[nodiscard]] hold_counts values() const noexcept {
    auto result = hold_counts{};
    const auto [count, marks] = all_.now();
    result.each[index(hold_reason::view)] = marks / of_view;
    result.each[index(hold_reason::unfinished)] = marks % of_view;
    auto claimed = result.sum();
    for (auto i = first_rare; i < hold_counts::reasons; ++i) {
      result.each[i] = rare_[i - first_rare].load(std::memory_order_relaxed);
      claimed += result.each[i];
    }
    result.each[index(hold_reason::reference)] = count - std::min(count, claimed);
    return result;
  }
  [[nodiscard]] std::uint32_t count() const noexcept { return all_.now().count; }

private:
  static constexpr auto of_view = std::uint32_t{2}; // Above the builder's bit, since an object has at most one builder.
  static constexpr auto first_rare = std::size_t{3};

  static constexpr std::size_t index(hold_reason why) { return static_cast<std::size_t>(why); }
  static constexpr bool is_rare(hold_reason why) { return index(why) >= first_rare; }
  static constexpr std::uint32_t marks_of(hold_reason why) {
    return why == hold_reason::view ? of_view : why == hold_reason::unfinished ? 1 : 0;
  }
  static_assert(static_cast<std::size_t>(hold_reason::unfinished) + 1 == first_rare);

  std::atomic<std::uint32_t>& rare(hold_reason why) noexcept { return rare_[index(why) - first_rare]; }
  void forget_rare(hold_reason why) noexcept {
    [[maybe_unused]] const auto before = rare(why).fetch_sub(1, std::memory_order_relaxed);
    assert(before != 0);
  }

  edge_counter all_;
  std::array<std::atomic<std::uint32_t>, hold_counts::reasons - first_rare> rare_;
};

struct local_count {
  hold_counter holds; // Handles, pins and builders.
  edge_counter pins;
};

/// One local_count per row of the object table; the kernel adds pages as they are used.
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
