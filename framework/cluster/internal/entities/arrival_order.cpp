#include <troupe/framework/cluster/internal/entities/arrival_order.hpp>

#include <algorithm>

namespace troupe::membership {

namespace {

constexpr auto hops_max = entity_address::hops_max;

/// How many ways the sender had given up.
std::uint32_t change_of(std::uint64_t way) {
  return static_cast<std::uint32_t>(way & ((std::uint64_t{1} << arrival_order::change_bits) - 1));
}

std::uint64_t sender_of(std::uint64_t way) {
  return way >> arrival_order::change_bits;
}

} // namespace

void arrival_order::own(std::uint64_t fence, std::uint64_t oldest) {
  const std::lock_guard guard{mutex_};
  for (auto& [sender, rank] : newest_) // What goes round in circles may have begun before.
    rank -= rank % (hops_max + 1);
  oldest_ = oldest;
  fence_ = fence;
}

bool arrival_order::knows_cuts() const {
  if (!is_any_known_)
    return false;
  const std::lock_guard guard{mutex_};
  return std::ranges::any_of(newest_, [](const auto& one) { return one.second > hops_max; });
}

/// The owner answers for the order of what it has passed on.
void arrival_order::vouch(entity_address& to) const {
  if (const auto fence = fence_.load(); to.fence < fence)
    to.fence = fence;
}

bool arrival_order::is_late(entity_address& to) {
  if (to.fence != 0 && to.fence < oldest_)
    return true;
  const auto nearness = counts_hops_.load(std::memory_order_relaxed) ? hops_max - std::min(to.hops, hops_max) : 0;
  const auto rank = change_of(to.way) * (hops_max + 1) + nearness;
  if (to.way != 0 && (rank > 0 || is_any_known_)) { // Hardly any message.
    const std::lock_guard guard{mutex_};
    const auto known = newest_.find(sender_of(to.way));
    if (known != newest_.end()) {
      if (rank < known->second)
        return true;
      known->second = rank;
    } else if (rank > 0) {
      if (newest_.size() >= senders_max)
        newest_.clear();
      newest_.emplace(sender_of(to.way), rank);
      is_any_known_ = true;
    }
  }
  vouch(to);
  return false;
}

bool arrival_order::is_late_to_pass(entity_address& to) const {
  const auto fence = fence_.load();
  if (fence == 0 || to.fence > fence) // This member knows nothing of it.
    return false;
  if (to.fence != 0 && to.fence < oldest_)
    return true;
  if (to.way != 0 && is_any_known_) {
    const std::lock_guard guard{mutex_};
    const auto known = newest_.find(sender_of(to.way));
    if (known != newest_.end() && change_of(to.way) < known->second / (hops_max + 1))
      return true;
  }
  vouch(to);
  return false;
}

std::string held_up_text(const std::string& key, const std::string& kind) {
  return "the message was held up on its way to the entity " + key + " of the kind " + kind
         + ", and later messages of its sender may have come before it";
}

} // namespace troupe::membership
