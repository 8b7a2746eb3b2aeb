// Keeps the entries of one node in a directory.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <expected>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <thread>

#include <troupe/framework/cluster/directory.hpp>
#include <troupe/framework/cluster/internal/membership/retry_pause.hpp>

namespace troupe::membership {

/// Writes one exclusive entry, and any number of others, into a directory under a lease, and all of them again under
/// each new lease. Removes entries that are not wanted any more. The others are written only while the exclusive entry
/// stands, because their keys are made of its key.
///
/// Threads: any; requests are made on a thread of its own.
class registrar {
public:
  struct exclusive_entry {
    std::string key;
    std::string value;
    /// Whether this entry under the key, which another lease has, was left by a process that is known to be gone. Then
    /// it is replaced and its lease is revoked.
    std::function<bool(const directory_entry&)> is_left_over;
  };

  /// Entries that were written under a lost lease are written again after a random part of `spread`, so that the nodes
  /// of a cluster do not all write at the same time.
  registrar(std::shared_ptr<directory> where, exclusive_entry exclusive, std::chrono::milliseconds spread);
  registrar(const registrar&) = delete;
  registrar& operator=(const registrar&) = delete;
  ~registrar();

  /// From now on the entries belong to this lease; 0: nothing can be written.
  void use_lease(std::uint64_t lease);

  void set_exclusive(std::string value);
  void set(std::string key, std::string value);
  void remove(const std::string& key);
  /// The directory does not have the entry any more, although it is wanted: somebody has removed or replaced it.
  void write_again(const std::string& key);

  /// Waits until every change so far has reached the directory. Fails with why the last request failed; with
  /// `name_taken` and the key if another node has the exclusive entry.
  [[nodiscard]] std::expected<void, directory_error> settle(std::chrono::steady_clock::time_point until);

  /// Why the last request failed; nullopt if it did not.
  [[nodiscard]] std::optional<directory_error> trouble() const;

private:
  struct wanted {
    std::string value;
    std::uint64_t lease = 0; // Under which this value was written; 0: it was not.
  };
  using outcome = std::expected<void, directory_error>;

  void run();
  [[nodiscard]] bool has_work() const;   // With the lock.
  [[nodiscard]] bool is_settled() const; // With the lock.
  [[nodiscard]] outcome write_exclusive(std::unique_lock<std::mutex>& guard);
  [[nodiscard]] outcome write_others(std::unique_lock<std::mutex>& guard);
  /// Returns the revision of the entry.
  [[nodiscard]] std::expected<std::uint64_t, directory_error> put_exclusive(std::uint64_t lease,
                                                                            const std::string& value);
  void note(const outcome& of); // With the lock.

  const std::shared_ptr<directory> where_;
  const std::string exclusive_key_;
  const std::function<bool(const directory_entry&)> is_left_over_;
  const std::chrono::milliseconds spread_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  wanted exclusive_;
  std::uint64_t exclusive_revision_ = 0; // Of the entry as it was written last.
  std::map<std::string, wanted> others_;
  std::set<std::string> removed_;
  std::uint64_t lease_ = 0;
  std::optional<directory_error> trouble_;
  std::chrono::steady_clock::time_point not_before_{};
  retry_pause retry_;
  std::minstd_rand random_{std::random_device{}()};
  bool ends_ = false;

  std::thread thread_;
};

} // namespace troupe::membership
