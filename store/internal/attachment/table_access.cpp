#include <troupe/store/internal/attachment/table_access.hpp>

#include <utility>

namespace troupe::store::internal {

std::expected<table_guard, store_error> table_access::lock() const {
  if (member_.forked())
    return std::unexpected(member_.check().error());
  if (!can_count_)
    return std::unexpected(store_error{store_errc::system_failure, "no address space left for counting handles"});
  auto& reap_wanted = view_.header().reap_wanted;
  if (reap_wanted.load(std::memory_order_relaxed) != 0 && reap_wanted.exchange(0) != 0)
    unasked_.want(job::reap); // In the background, so that a lookup does not wait for it.
  auto guard = lock_table(view_, member_.self().slot, timeout_);
  if (!guard)
    return guard;
  if (auto valid = member_.check(); !valid) // Checked under the lock, so that no process reaps this one from now on.
    return std::unexpected(std::move(valid).error());
  return guard;
}

} // namespace troupe::store::internal
