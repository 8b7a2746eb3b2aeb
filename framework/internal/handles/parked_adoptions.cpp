#include <troupe/framework/internal/handles/parked_adoptions.hpp>

namespace troupe::internal::handles {

bool parked_adoptions::park(const adopt& what, time_point until) {
  if (waiting_.size() >= allowed_)
    return false;
  waiting_.try_emplace(what.request, what, link_, timers_).first->second.until.set(until);
  by_name_.emplace(what.name, what.token, what.request);
  return true;
}

void parked_adoptions::take(request_number request) {
  const auto known = waiting_.find(request);
  if (known == waiting_.end())
    return;
  by_name_.erase({known->second.name, known->second.token, request});
  waiting_.erase(known);
}

void parked_adoptions::clear() {
  by_name_.clear();
  waiting_.clear();
}

std::optional<request_number> parked_adoptions::find(const object_id& name, std::uint64_t token) const {
  const auto first = by_name_.lower_bound({name, token, 0});
  if (first == by_name_.end() || std::get<0>(*first) != name || std::get<1>(*first) != token)
    return std::nullopt;
  return std::get<2>(*first);
}

std::string_view parked_adoptions::broken_invariant() const {
  if (waiting_.size() != by_name_.size() || waiting_.size() > allowed_)
    return "adoptions that are parked in part, or too many";
  for (const auto& [request, each] : waiting_)
    if (!by_name_.contains({each.name, each.token, request}) || !each.until.is_set() || !each.until.is_in_order())
      return "an adoption that is parked for ever, or cannot be found";
  return {};
}

} // namespace troupe::internal::handles
