#include <troupe/framework/cluster/internal/membership/counted_directory.hpp>

#include <utility>

namespace troupe::membership {

directory_requests counted_directory::counts() const {
  return {.list = lists_.read(),
          .grant = grants_.read(),
          .keep_alive = keep_alives_.read(),
          .revoke = revocations_.read(),
          .commit = commits_.read(),
          .watch = watches_.read()};
}

std::expected<directory_listing, directory_error> counted_directory::list(std::string_view prefix) {
  return lists_(to_->list(prefix));
}

std::expected<directory_lease, directory_error> counted_directory::grant(std::chrono::milliseconds time) {
  return grants_(to_->grant(time));
}

std::expected<std::chrono::milliseconds, directory_error> counted_directory::keep_alive(std::uint64_t lease) {
  return keep_alives_(to_->keep_alive(lease));
}

std::expected<void, directory_error> counted_directory::revoke(std::uint64_t lease) {
  return revocations_(to_->revoke(lease));
}

std::expected<directory_commit, directory_error>
counted_directory::commit(std::span<const directory_condition> conditions, std::span<const directory_write> writes) {
  return commits_(to_->commit(conditions, writes));
}

std::expected<std::unique_ptr<directory_watch>, directory_error>
counted_directory::watch(std::string_view prefix, std::uint64_t first_revision, directory_watch_handlers handlers) {
  return watches_(to_->watch(prefix, first_revision, std::move(handlers)));
}

} // namespace troupe::membership
