#include <troupe/framework/cluster/internal/entities/arrival_order.hpp>

#include <algorithm>

#include <troupe/framework/cluster/internal/entities/entity_address.hpp>

namespace troupe::membership {

bool arrival_order::is_late(std::uint64_t way, unsigned hops) {
  constexpr auto hops_max = entity_address::hops_max;
  const auto change = static_cast<std::uint32_t>(way & ((std::uint64_t{1} << change_bits) - 1));
  const auto nearness = counts_hops_ ? hops_max - std::min(hops, hops_max) : 0;
  const auto rank = change * (hops_max + 1) + nearness;
  if (way == 0 || (rank == 0 && newest_.empty()))
    return false; // Nearly all messages.
  const auto sender = way >> change_bits;
  const auto known = newest_.find(sender);
  if (known != newest_.end()) {
    if (rank < known->second)
      return true;
    known->second = rank;
  } else if (rank > 0) {
    if (newest_.size() >= senders_max)
      newest_.clear();
    newest_.emplace(sender, rank);
  }
  return false;
}

} // namespace troupe::membership
