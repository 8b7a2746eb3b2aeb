// Remembers what was logged, so that an event of every message is logged once.
#pragma once

#include <cstddef>
#include <functional>
#include <mutex>
#include <string_view>
#include <unordered_set>

namespace troupe::internal {

/// Remembers texts by their hashes.
///
/// Threads: any.
class said_once {
public:
  /// Beyond this number, every text counts as new.
  static constexpr std::size_t texts_max = 1024;

  /// Returns true the first time for each text.
  [[nodiscard]] bool is_new(std::string_view text) {
    const std::lock_guard guard{mutex_};
    const auto hash = std::hash<std::string_view>{}(text);
    if (said_.contains(hash))
      return false;
    if (said_.size() < texts_max)
      said_.insert(hash);
    return true;
  }

private:
  std::mutex mutex_;
  std::unordered_set<std::size_t> said_; // Guarded by mutex_.
};

} // namespace troupe::internal
