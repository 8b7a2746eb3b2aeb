// The right to act as the one owner of a name, and the check by which receivers refuse earlier owners.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <utility>

namespace troupe {

/// A process's right to act as the one owner of a name.
///
/// Each owner has a higher fencing number than every owner before it ("fencing token" in Kleppmann, "How to do
/// distributed locking", 2016; "sequencer" in Burrows' Chubby, OSDI 2006). The number is the revision at which the
/// directory made the owner's entry.
///
/// Threads: any. A plain value: copies tell the same.
class ownership {
public:
  /// @private
  ownership(std::uint64_t fence, std::function<bool()> is_sure) : fence_(fence), is_sure_(std::move(is_sure)) {}

  /// Send it with every act that must not happen after another owner's, and let the receiver check it: fencing_gate.
  [[nodiscard]] std::uint64_t fence() const noexcept { return fence_; }

  /// True while no other process can be the owner. Becomes false when a quarter of the lease is left, or the actor has
  /// been told to end. A process can be stopped between this call and its act; only a receiver's check of the fencing
  /// number makes the act safe.
  [[nodiscard]] bool is_sure() const { return is_sure_(); }

private:
  std::uint64_t fence_;
  std::function<bool()> is_sure_;
};

/// Refuses the acts of earlier owners. A receiver keeps one gate for each name whose owners act on it, and asks it
/// before each act.
///
/// Threads: any. Check and act must be one step: in one handler of one actor, under one lock, or in one transaction.
/// Otherwise the act of a later owner can come between them.
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
