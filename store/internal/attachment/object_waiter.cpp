#include <troupe/store/internal/attachment/object_waiter.hpp>

#include <troupe/store/internal/host/clock.hpp>

#include <algorithm>
#include <unordered_set>

namespace troupe::store::internal {

namespace {

/// The distinct ids, in their order.
[[nodiscard]] std::vector<object_id> each_once(std::span<const object_id> ids) {
  auto seen = std::unordered_set<object_id>{};
  auto result = std::vector<object_id>{};
  for (const auto& id : ids)
    if (seen.insert(id).second)
      result.push_back(id);
  return result;
}

} // namespace

std::expected<std::vector<object_id>, store_error>
object_waiter::wait(std::span<const object_id> ids, std::size_t how_many, std::chrono::milliseconds timeout) {
  const auto until = deadline(timeout);
  const auto wanted = each_once(ids);
  how_many = std::min(how_many, wanted.size());
  auto change = change_signal::watch{};
  for (;;) {
    if (auto valid = member_.check(); !valid)
      return std::unexpected(valid.error());
    auto found = std::vector<object_id>{};
    for (auto at = wanted.begin(); at != wanted.end() && found.size() < how_many; ++at)
      if (finder_.contains(*at))
        found.push_back(*at);
    const auto left = until.left();
    if (found.size() >= how_many || left.count() == 0)
      return found;
    changes_.wait(change, std::min<std::chrono::nanoseconds>(left, look_pause));
  }
}

std::expected<bool, store_error> object_waiter::wait_until(const std::function<bool()>& is_so,
                                                           std::chrono::milliseconds timeout) {
  const auto until = deadline(timeout);
  auto change = change_signal::watch{};
  for (;;) {
    if (auto valid = member_.check(); !valid)
      return std::unexpected(valid.error());
    if (is_so())
      return true;
    const auto left = until.left();
    if (left.count() == 0)
      return false;
    if (auto reaped = dead_.reap_while_waiting(); !reaped && reaped.error().code() != store_errc::busy)
      return std::unexpected(reaped.error());
    changes_.wait(change, std::min<std::chrono::nanoseconds>(left, look_pause));
  }
}

} // namespace troupe::store::internal
