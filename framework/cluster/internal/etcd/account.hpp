// The user, password and token for etcd.
#pragma once

#include <mutex>
#include <string>
#include <utility>

namespace troupe::cluster_directories {

/// Keeps the token for which etcd took user and password.
///
/// Threads: any.
class account {
public:
  account(std::string user, std::string password) : user_(std::move(user)), password_(std::move(password)) {}

  [[nodiscard]] bool is_empty() const noexcept { return user_.empty(); }
  [[nodiscard]] const std::string& user() const noexcept { return user_; }
  [[nodiscard]] const std::string& password() const noexcept { return password_; }

  /// Empty until there is one, and if etcd knows no users.
  [[nodiscard]] std::string token() const {
    const std::lock_guard guard{mutex_};
    return token_;
  }
  void accept(std::string token) {
    const std::lock_guard guard{mutex_};
    token_ = std::move(token);
    was_asked_ = true;
  }
  /// Whether etcd was asked for a token.
  [[nodiscard]] bool was_asked() const {
    const std::lock_guard guard{mutex_};
    return was_asked_;
  }

private:
  const std::string user_;
  const std::string password_;
  mutable std::mutex mutex_;
  // Guarded by mutex_.
  std::string token_;
  bool was_asked_ = false;
};

} // namespace troupe::cluster_directories
