// Counts what circles of shared pointers keep, where somebody else's values may hold some.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include <troupe/base/export.hpp>

namespace troupe {

/// What circles of shared pointers that were decoded keep alive, held to a bound. Nothing but the program can cut such
/// a circle, so each payload with one counts from its arrival until its circles are gone.
///
/// Threads: any, at once.
class TROUPE_EXPORT circle_account {
public:
  explicit circle_account(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  circle_account(const circle_account&) = delete;
  circle_account& operator=(const circle_account&) = delete;

  /// What circles may keep beyond what they keep already.
  [[nodiscard]] std::size_t room();
  /// What they keep.
  [[nodiscard]] std::size_t kept_bytes();
  /// Counts a payload until none of these objects, one of each of its circles, lives.
  void keep(std::vector<std::weak_ptr<void>> circles, std::size_t bytes);

private:
  struct payload_kept {
    std::vector<std::weak_ptr<void>> circles;
    std::size_t bytes;
  };
  // Requires the mutex.
  void forget_ended();

  const std::size_t bytes_max_;
  std::mutex mutex_; // Guards what follows.
  std::vector<payload_kept> kept_;
  std::size_t kept_bytes_ = 0;
};

} // namespace troupe
