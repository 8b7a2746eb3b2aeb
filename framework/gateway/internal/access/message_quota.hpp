// The memory of messages that actors have not consumed.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace troupe::web {

/// Bounds, for each token, the memory of messages that its clients have sent and actors have not consumed. One message
/// may exceed the bound if no other one is there.
///
/// Threads: any.
class message_quota {
  using usage = std::atomic<std::size_t>;

public:
  /// What one message takes, until this object is destroyed. May outlive the quota.
  class claim {
  public:
    claim(std::shared_ptr<usage> of, std::size_t bytes_max) : of_(std::move(of)), bytes_max_(bytes_max) {}
    claim(const claim&) = delete;
    claim& operator=(const claim&) = delete;
    ~claim() { of_->fetch_sub(bytes_, std::memory_order_relaxed); }

    /// Adds `bytes` to the claim. If the token's messages would exceed the bound, returns false and adds nothing.
    /// Threads: one at a time.
    [[nodiscard]] bool grow(std::size_t bytes) {
      const auto all = of_->fetch_add(bytes, std::memory_order_relaxed) + bytes;
      if (all > bytes_max_ && all > bytes_ + bytes) {
        of_->fetch_sub(bytes, std::memory_order_relaxed);
        return false;
      }
      bytes_ += bytes;
      return true;
    }
    [[nodiscard]] std::size_t bytes_max() const noexcept { return bytes_max_; }

  private:
    const std::shared_ptr<usage> of_;
    const std::size_t bytes_max_;
    std::size_t bytes_ = 0;
  };

  explicit message_quota(std::size_t bytes_max) : bytes_max_(bytes_max) {}

  /// For a message that the token of that name sends.
  [[nodiscard]] std::shared_ptr<claim> begin(const std::string& token) {
    const std::lock_guard guard{mutex_};
    auto& of = used_[token];
    if (!of)
      of = std::make_shared<usage>(0);
    return std::make_shared<claim>(of, bytes_max_);
  }

private:
  const std::size_t bytes_max_;
  std::mutex mutex_; // Guards the member below.
  std::map<std::string, std::shared_ptr<usage>> used_;
};

} // namespace troupe::web
