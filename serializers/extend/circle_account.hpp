// Limits the memory that received circles of shared pointers keep.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include <troupe/base/export.hpp>

namespace troupe {

/// Counts the memory that decoded circles of shared pointers keep alive, and limits it. Only the program can break such
/// a circle, so each payload with circles counts from its arrival until its circles are gone.
///
/// Threads: any, at once.
class TROUPE_EXPORT circle_account {
public:
  explicit circle_account(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  circle_account(const circle_account&) = delete;
  circle_account& operator=(const circle_account&) = delete;

  /// How many more bytes circles may keep.
  [[nodiscard]] std::size_t room();
  /// How many bytes circles keep now.
  [[nodiscard]] std::size_t kept_bytes();
  /// Counts `bytes` for a payload until its cycles are gone. `circles` has one object of each cycle.
  void keep(std::vector<std::weak_ptr<void>> circles, std::size_t bytes);

private:
  struct payload_kept {
    std::vector<std::weak_ptr<void>> circles;
    std::size_t bytes;
  };
  // Requires: mutex_ is held.
  void forget_ended();

  const std::size_t bytes_max_;
  std::mutex mutex_; // Guards what follows.
  std::vector<payload_kept> kept_;
  std::size_t kept_bytes_ = 0;
};

} // namespace troupe
