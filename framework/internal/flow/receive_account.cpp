#include <troupe/framework/internal/flow/receive_account.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/flow/send_window.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

namespace {

/// An object sent to several actors counts for each of them, but once for the writer's window of the link. So only each
/// actor's window is enforced.
receive_bounds of_actors(const receive_bounds& handle_windows) {
  return {.window = handle_windows.window, .actor_window = handle_windows.actor_window, .holds_link = false};
}

} // namespace

receive_account::receive_account(const receive_terms& terms, const std::function<void()>& wake,
                                 std::shared_ptr<const void> keeps)
    : terms_(terms),
      keeps_(std::move(keeps)),
      handles_(of_actors(terms.handle_windows), wake, keeps_),
      bytes_(terms.windows, wake, keeps_),
      understated_(understated_windows * terms.windows.window) {}

std::expected<receipt, node_error> receive_account::charge(const message_head& head, receipt owed,
                                                           const received_behind_handles& behind) {
  if (!terms_.counts_behind_handles || (head.flags & message_flags::response) != 0
      || (behind.bytes == 0 && behind.repeated.empty()))
    return owed;
  auto own = behind.bytes == 0 ? std::expected<receipt, node_error>{receipt{}}
                               : handles_.received(head.receiver, behind.bytes);
  if (!own)
    return violation(own.error().message() + ", behind handles");
  return joint(std::move(owed), objects_.share(head.receiver, *std::move(own), behind.counted, behind.repeated),
               keeps_);
}

std::expected<std::optional<receipt>, node_error> receive_account::charge_beyond(std::uint64_t known,
                                                                                 std::uint64_t values_take) {
  if (values_take <= known)
    return std::nullopt;
  auto owed = understated_.admit(values_take - known);
  if (!owed)
    return fail(node_errc::undecodable, "its values take about " + grouped(values_take) + " bytes, it states "
                                            + grouped(known) + "; " + grouped(understated_.living_bytes())
                                            + " further bytes that were not stated are not consumed yet, limit "
                                            + grouped(understated_windows * terms_.windows.window) + " ("
                                            + std::to_string(understated_windows)
                                            + " times link_options::window_bytes)");
  return owed;
}

std::uint64_t receive_account::share_of_window(std::uint64_t handle_bytes) const {
  const auto window = std::min(terms_.own_handle_window_bytes, terms_.handle_windows.window);
  const auto part = static_cast<double>(handle_bytes) / static_cast<double>(window);
  const auto share = part * static_cast<double>(terms_.own_window_bytes);
  return static_cast<std::uint64_t>(std::min(share, static_cast<double>(handle_cost_max)));
}

void receive_account::release(std::uint64_t actor) {
  bytes_.release(actor);
  handles_.release(actor);
}

std::vector<receive_account::due> receive_account::take_due() {
  std::vector<due> result;
  for (const auto& [actor, bytes] : bytes_.take_due())
    result.push_back({.actor = actor, .bytes = bytes});
  for (const auto& [actor, bytes] : handles_.take_due())
    result.push_back({.actor = actor, .handle_bytes = bytes});
  return result;
}

} // namespace troupe::internal
