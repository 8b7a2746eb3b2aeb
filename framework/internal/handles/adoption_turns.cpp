#include <troupe/framework/internal/handles/adoption_turns.hpp>

namespace troupe::internal::handles {

void adoption_turns::queue(reference what, link_number offerer) {
  offerers_[offerer].queued.insert(what);
  see(offerer);
}

void adoption_turns::leave(reference what, link_number offerer) {
  offerers_.at(offerer).queued.erase(what);
  see(offerer);
}

std::optional<adoption_turns::turn> adoption_turns::next() {
  if (!has_next())
    return std::nullopt;
  const auto after = ready_.upper_bound(last_);
  last_ = after != ready_.end() ? *after : *ready_.begin();
  auto& of = offerers_.at(last_);
  const turn result{of.queued.extract(of.queued.begin()).value(), last_};
  ++of.asked;
  ++asked_;
  see(last_);
  return result;
}

void adoption_turns::end(link_number offerer) {
  --asked_;
  --offerers_.at(offerer).asked;
  see(offerer);
}

void adoption_turns::see(link_number offerer) {
  const auto& of = offerers_.at(offerer);
  if (!of.queued.empty() && of.asked < allowed_.asked_of_offerer)
    ready_.insert(offerer);
  else
    ready_.erase(offerer);
  if (of.queued.empty() && of.asked == 0)
    offerers_.erase(offerer);
}

bool adoption_turns::is_queued(reference what, link_number offerer) const {
  const auto of = offerers_.find(offerer);
  return of != offerers_.end() && of->second.queued.contains(what);
}

std::vector<reference> adoption_turns::queued() const {
  std::vector<reference> result;
  for (const auto& [offerer, of] : offerers_)
    result.insert(result.end(), of.queued.begin(), of.queued.end());
  return result;
}

std::string_view adoption_turns::broken_invariant() const {
  std::size_t asked = 0;
  for (const auto& [offerer, of] : offerers_) {
    asked += of.asked;
    if (of.asked == 0 && of.queued.empty())
      return "an offerer of nothing";
    const bool is_ready = !of.queued.empty() && of.asked < allowed_.asked_of_offerer;
    if (of.asked > allowed_.asked_of_offerer || is_ready != ready_.contains(offerer))
      return "adoptions that have no turn, or too many";
  }
  if (asked != asked_ || asked_ > allowed_.asked)
    return "too many adoptions, or miscounted";
  return {};
}

} // namespace troupe::internal::handles
