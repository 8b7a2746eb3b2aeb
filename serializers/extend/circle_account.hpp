// Limits the memory that received cycles of shared pointers keep alive.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include <troupe/base/export.hpp>

namespace troupe {

/// Counts the memory that decoded cycles of shared pointers keep alive, and limits it. Only the program can break such
/// a cycle. Therefore each payload with cycles counts from its arrival until its cycles are gone.
///
/// Threads: any number of threads at once.
class TROUPE_EXPORT circle_account {
public:
  explicit circle_account(std::size_t bytes_max) : bytes_max_(bytes_max) {}
  circle_account(const circle_account&) = delete;
  circle_account& operator=(const circle_account&) = delete;

  /// The number of further bytes that cycles may keep. Forgets payloads whose cycles are gone.
  [[nodiscard]] std::size_t room();
  /// The number of bytes that cycles keep now. Forgets payloads whose cycles are gone.
  [[nodiscard]] std::size_t kept_bytes();
  /// Counts `bytes`, but at least 4,096, for a payload until its cycles are gone. `circles` contains one object of each
  /// cycle.
  void keep(std::vector<std::weak_ptr<void>> circles, std::size_t bytes);

private:
  struct payload_kept {
    std::vector<std::weak_ptr<void>> circles;
    std::size_t bytes;
  };
  // Requires: mutex_ is held.
  void forget_ended();

  const std::size_t bytes_max_;
  std::mutex mutex_; // Guards the members below.
  std::vector<payload_kept> kept_;
  std::size_t kept_bytes_ = 0;
};

} // namespace troupe
