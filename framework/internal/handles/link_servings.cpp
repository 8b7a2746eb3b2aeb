#include <troupe/framework/internal/handles/link_servings.hpp>

#include <cassert>

namespace troupe::internal::handles {

bool link_servings::open(request_number request, const object_id& name, bool is_behind) {
  if ((is_behind ? behind_ : open_.size() - behind_) >= allowed_)
    return false;
  open_.try_emplace(request, served_pull{.name = name, .is_behind = is_behind});
  by_name_.emplace(name, request);
  behind_ += is_behind;
  return true;
}

void link_servings::make_ready(request_number request, const object_id& place, std::uint64_t size_bytes) {
  auto& what = at(request);
  what.place = place;
  what.size_bytes = size_bytes;
  what.next = served_pull::step::head;
  ready_.insert(request);
}

std::optional<request_number> link_servings::next() {
  if (ready_.empty())
    return std::nullopt;
  const auto after = ready_.upper_bound(last_);
  last_ = after != ready_.end() ? *after : *ready_.begin();
  return last_;
}

served_pull link_servings::close(request_number request) {
  const auto known = open_.find(request);
  assert(known != open_.end());
  auto closed = known->second;
  open_.erase(known);
  by_name_.erase({closed.name, request});
  ready_.erase(request);
  behind_ -= closed.is_behind;
  return closed;
}

std::optional<request_number> link_servings::first_of(const object_id& name) const {
  const auto first = by_name_.lower_bound({name, 0});
  return first != by_name_.end() && first->first == name ? std::optional{first->second} : std::nullopt;
}

std::string_view link_servings::broken_invariant() const {
  std::size_t behind = 0;
  for (const auto& [request, each] : open_) {
    behind += each.is_behind;
    if (!by_name_.contains({each.name, request}))
      return "a pull that cannot be found";
    if ((each.next == served_pull::step::fetching) == ready_.contains(request))
      return "a pull that waits for nothing";
  }
  if (by_name_.size() != open_.size() || ready_.size() > open_.size())
    return "a pull that was forgotten in part";
  if (behind != behind_ || behind > allowed_ || open_.size() - behind > allowed_)
    return "too many pulls by a peer, or miscounted";
  return {};
}

} // namespace troupe::internal::handles
