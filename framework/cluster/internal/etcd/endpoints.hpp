// The endpoints of an etcd.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

namespace troupe::cluster_directories {

/// Remembers which endpoint is the good one.
///
/// Threads: any.
class endpoints {
public:
  /// Requires: at least one name.
  explicit endpoints(std::vector<std::string> names) : names_(std::move(names)) {}

  [[nodiscard]] std::size_t count() const noexcept { return names_.size(); }
  [[nodiscard]] const std::string& name(std::size_t index) const { return names_[index]; }

  /// Where calls and watches begin.
  [[nodiscard]] std::size_t current() const noexcept { return current_; }

  /// `index` has answered.
  void prefer(std::size_t index) noexcept { current_ = index; }

  /// `index` has not answered.
  void leave(std::size_t index) noexcept { current_.compare_exchange_strong(index, (index + 1) % count()); }

private:
  const std::vector<std::string> names_;
  std::atomic<std::size_t> current_{0};
};

} // namespace troupe::cluster_directories
