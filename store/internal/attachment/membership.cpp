#include <troupe/store/internal/attachment/membership.hpp>

#include <string>

namespace troupe::store::internal {

namespace {

[[nodiscard]] store_error detached_error(const std::string& why) {
  return {store_errc::detached, "this process is no longer attached to the store: " + why
                                    + "; drop all of its handles and open the store again"};
}

} // namespace

store_error membership::why_invalid() const {
  if (forked())
    return {store_errc::forked, "the store was opened before this process was forked; open it again in this process"};
  if (lost_locks_.load(std::memory_order_relaxed))
    return detached_error("this process closed the descriptor of " + lock_.path().string());
  return detached_error("another process found its locks released and treated it as dead");
}

std::expected<void, store_error> membership::check_lock_file() {
  if (!forked() && !lock_.is_intact())
    lost_locks_ = true;
  return check();
}

bool membership::shares_with(const process_id& peer) {
  return check_lock_file() && table_reader(view_).is_attached(peer) && (peer == self_ || lock_.is_locked(peer.slot));
}

} // namespace troupe::store::internal
