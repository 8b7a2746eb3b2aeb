#include <troupe/framework/internal/handles/link_questions.hpp>

#include <cassert>

namespace troupe::internal::handles {

request_number link_questions::ask(const open_request& what, time_point until) {
  const auto request = ++last_own_;
  open_.try_emplace(request, what, timers_, link_, request).first->second.until.set(until);
  return request;
}

link_questions::standing link_questions::standing_of(request_number request, open_request::kind what) const {
  const auto* asked = find(request);
  if (asked == nullptr)
    return was_asked(request) ? standing::given_up : standing::never_asked;
  return asked->what == what ? standing::open : standing::never_asked;
}

const open_request* link_questions::find(request_number request) const {
  const auto known = open_.find(request);
  return known != open_.end() ? &known->second.what : nullptr;
}

open_request link_questions::close(request_number request) {
  const auto known = open_.find(request);
  assert(known != open_.end());
  auto what = known->second.what;
  open_.erase(known);
  return what;
}

bool link_questions::admit(request_number of_peer) {
  if (of_peer <= last_of_peer_)
    return false;
  last_of_peer_ = of_peer;
  return true;
}

std::string_view link_questions::broken_invariant() const {
  for (const auto& [request, each] : open_) {
    if (!was_asked(request))
      return "a question that was never asked";
    if ((each.what.what != open_request::kind::pull) != each.until.is_set() || !each.until.is_in_order())
      return "a question without patience, or with too much";
  }
  return {};
}

} // namespace troupe::internal::handles
