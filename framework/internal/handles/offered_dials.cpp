#include <troupe/framework/internal/handles/offered_dials.hpp>

#include <algorithm>

namespace troupe::internal::handles {

bool offered_dials::begin(std::uint64_t offerer, const node_name& to, time_point now) {
  if (allowed_.of_offerer == 0)
    return false;
  auto& [dials, next] = offerers_.try_emplace(offerer, offerer, timers_).first->second;
  const bool is_pending =
      std::ranges::any_of(dials, [&](const dial& each) { return each.is_pending && each.node == to; });
  if (is_pending || dials.size() >= allowed_.of_offerer)
    return false;
  dials.push_back({to, now + allowed_.within});
  if (!next.is_set())
    next.set(dials.back().expires);
  return true;
}

void offered_dials::linked(const node_name& to) {
  for (auto& [offerer, of] : offerers_)
    for (auto& each : of.dials)
      each.is_pending &= each.node != to;
}

void offered_dials::expire(std::uint64_t offerer, time_point due) {
  const auto of = offerers_.find(offerer);
  std::erase_if(of->second.dials, [&](const dial& each) { return each.expires <= due; });
  if (of->second.dials.empty())
    offerers_.erase(of);
  else
    of->second.next.set(of->second.dials.front().expires);
}

std::size_t offered_dials::size() const noexcept {
  std::size_t result = 0;
  for (const auto& [offerer, of] : offerers_)
    result += of.dials.size();
  return result;
}

std::string_view offered_dials::broken_invariant() const {
  for (const auto& [offerer, of] : offerers_) {
    if (of.dials.empty() || of.dials.size() > allowed_.of_offerer)
      return "more than a peer may make this node dial";
    if (of.next.at() != of.dials.front().expires || !of.next.is_in_order())
      return "a dial that counts for ever";
  }
  return {};
}

} // namespace troupe::internal::handles
