// Keeps a lease of a directory alive.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

#include <troupe/framework/cluster/directory.hpp>
#include <troupe/framework/cluster/internal/membership/boot_clock.hpp>
#include <troupe/framework/cluster/internal/membership/retry_pause.hpp>

namespace troupe::membership {

/// A lease, and how long it is sure to last.
struct held_lease {
  std::uint64_t id = 0; // 0: there is none.
  /// The directory keeps the lease at least until then. It counts from the sending of the last request that was
  /// answered, so that neither a slow answer nor a stopped process makes it too late.
  boot_clock::time_point sure_until{};

  [[nodiscard]] bool is_sure(boot_clock::time_point at) const noexcept { return id != 0 && at < sure_until; }
};

/// Grants a lease and keeps it alive by a thread of its own, which nothing else delays. When the lease is gone, grants
/// another one.
///
/// While the directory does not answer, the lease stays, though it is not sure any more: the directory may still have
/// it. Only its own word that the lease is gone ends it.
///
/// Threads: any.
class lease_keeper {
public:
  /// Called on the keeper's thread when another lease was granted, or the lease is gone, or it became sure again or is
  /// not sure any more, or the directory has stopped or begun to answer. It must return soon.
  using change_handler = std::function<void(const held_lease& now, const std::optional<directory_error>& trouble)>;

  lease_keeper(std::shared_ptr<directory> where, std::chrono::milliseconds time, change_handler on_change);
  lease_keeper(const lease_keeper&) = delete;
  lease_keeper& operator=(const lease_keeper&) = delete;
  /// Revokes the lease, unless the directory does not answer.
  ~lease_keeper();

  [[nodiscard]] held_lease current() const;
  /// Tells the current lease also after the keeper has ended: that there is none.
  [[nodiscard]] std::function<held_lease()> reader() const;

  /// Why the last request failed; nullopt if it did not.
  [[nodiscard]] std::optional<directory_error> trouble() const;

private:
  void run();
  void grant();
  void keep_alive(const held_lease& held);
  void note(held_lease now, std::optional<directory_error> trouble);
  void tell_if_changed();

  const std::shared_ptr<directory> where_;
  const std::chrono::milliseconds time_;
  const change_handler on_change_;

  struct word {
    std::mutex mutex;
    held_lease held; // Guarded by mutex.
  };
  const std::shared_ptr<word> word_ = std::make_shared<word>();

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::optional<directory_error> trouble_;
  bool ends_ = false;

  // Only on the thread.
  std::chrono::milliseconds pause_{0}; // Until the next request.
  retry_pause retry_;
  std::uint64_t told_id_ = 0;
  bool told_sure_ = false;
  bool told_trouble_ = false;

  std::thread thread_;
};

} // namespace troupe::membership
