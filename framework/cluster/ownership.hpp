// What an actor that must exist once knows about its ownership, and how others refuse those that own no more.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

namespace troupe {

/// A process's right to act as the one owner of a name.
///
/// Each owner has a higher fencing number than every owner before it (Kleppmann, "How to do distributed locking", 2016;
/// Burrows' Chubby, OSDI 2006, calls it a sequencer). The number is the revision at which the directory made the
/// owner's entry.
///
/// Threads: any. A plain value: copies tell the same.
class ownership {
public:
  /// @private
  ownership(std::uint64_t fence, std::function<bool()> is_sure) : fence_(fence), is_sure_(std::move(is_sure)) {}

  /// Send it with every act that must not happen after another owner's, and let the receiver check it: fencing_gate.
  [[nodiscard]] std::uint64_t fence() const noexcept { return fence_; }

  /// Whether no other process can be the owner now. It becomes false a margin of a quarter of the lease before the
  /// lease may end. What takes longer than the margin is only safe if its receiver checks the fencing number: a process
  /// can be stopped between the question and the act.
  [[nodiscard]] bool is_sure() const { return is_sure_(); }

private:
  std::uint64_t fence_;
  std::function<bool()> is_sure_;
};

/// Refuses the acts of earlier owners. A receiver keeps one gate for each name whose owners act on it, and asks it
/// before each act.
///
/// Threads: any.
class fencing_gate {
public:
  /// `highest` is the highest number that was seen before, for a receiver that keeps it on disk.
  explicit fencing_gate(std::uint64_t highest = 0) noexcept : highest_(highest) {}

  /// False if a higher number was seen before: the act must not be done.
  [[nodiscard]] bool admits(std::uint64_t fence) noexcept {
    auto highest = highest_.load();
    while (highest < fence && !highest_.compare_exchange_weak(highest, fence)) {
    }
    return fence >= highest;
  }

  [[nodiscard]] std::uint64_t highest() const noexcept { return highest_.load(); }

private:
  std::atomic<std::uint64_t> highest_;
};

} // namespace troupe
