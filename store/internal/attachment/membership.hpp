// Whether this process still belongs to a store that it has opened.
#pragma once

#include <troupe/store/internal/files/lock_file.hpp>
#include <troupe/store/internal/host/fork_epoch.hpp>
#include <troupe/store/internal/table/object_table.hpp>
#include <troupe/store/object_id.hpp>
#include <troupe/store/store_error.hpp>

#include <atomic>
#include <cstdint>
#include <expected>

namespace troupe::store::internal {

/// Knows whether this process still has its slot in the store.
///
/// Threads: any.
class membership {
public:
  /// `lock` outlives this. Requires: `self` is attached.
  membership(control_view view, const lock_file& lock, const process_id& self)
      : view_(view), slot_(view.slot(self.slot)), lock_(lock), self_(self), fork_epoch_(current_fork_epoch()) {}

  [[nodiscard]] const process_id& self() const { return self_; }
  [[nodiscard]] std::uint32_t pid() const { return slot_.pid.load(); }

  [[nodiscard]] bool forked() const { return fork_epoch_ != current_fork_epoch(); }
  [[nodiscard]] bool is_valid() const {
    return !forked() && !lost_locks_.load(std::memory_order_relaxed) && slot_.state.load() == slot_state::attached
           && slot_.nonce.load() == self_.nonce;
  }
  /// Fails with `forked`, or with `detached` if this process's locks or slot are gone. In the latter case the objects
  /// of its handles may be gone.
  [[nodiscard]] std::expected<void, store_error> check() const {
    if (is_valid()) [[likely]]
      return {};
    return std::unexpected(why_invalid());
  }
  /// Like check(), but checks the lock file first, which costs a system call.
  [[nodiscard]] std::expected<void, store_error> check_lock_file();

  /// Whether `peer` currently has a slot in this very store.
  [[nodiscard]] bool shares_with(const process_id& peer);

private:
  [[nodiscard]] store_error why_invalid() const;

  control_view view_;
  const process_slot& slot_;
  const lock_file& lock_;
  const process_id self_;
  const std::uint32_t fork_epoch_;
  std::atomic<bool> lost_locks_{false}; // The lock file's descriptor belongs to another file now.
};

} // namespace troupe::store::internal
