#include <troupe/framework/internal/link/negotiation.hpp>

#include <algorithm>
#include <cassert>
#include <utility>

#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

namespace {

bool share_any(const std::vector<std::string>& left, const std::vector<std::string>& right) {
  return std::ranges::any_of(left, [&](const auto& name) { return std::ranges::find(right, name) != right.end(); });
}

} // namespace

bool have_in_common(const family_names& one, const family_names& other) {
  return share_any(one.serializers, other.deserializers) && share_any(other.serializers, one.deserializers);
}

std::string nothing_in_common_text(std::string_view me, const family_names& mine, std::string_view peer,
                                   const family_names& theirs) {
  auto one_way = [](std::string_view from, const auto& sends, std::string_view to, const auto& accepts) {
    return std::string{from} + " sends with " + bracketed(sends) + ", " + std::string{to} + " accepts "
           + bracketed(accepts);
  };
  return "no family in common: " + one_way(peer, theirs.serializers, me, mine.deserializers) + "; "
         + one_way(me, mine.serializers, peer, theirs.deserializers);
}

void negotiation::open(family_names mine, family_names theirs) {
  mine_ = std::move(mine);
  theirs_ = std::move(theirs);
}

std::vector<std::string> negotiation::accepted() const {
  auto names = mine().deserializers;
  for (const auto& older : mine_.deserializers)
    if (std::ranges::find(names, older) == names.end())
      names.push_back(older);
  return names;
}

std::uint64_t negotiation::begin(family_names wanted) {
  assert(!wanted_);
  assert(have_in_common(wanted, theirs_));
  wanted_ = std::move(wanted);
  return ++number_;
}

bool negotiation::settle(std::uint64_t number, bool is_accepted) {
  if (!wanted_ || number != number_)
    return false;
  if (is_accepted)
    mine_ = *std::move(wanted_);
  wanted_.reset();
  return true;
}

bool negotiation::change_peer(std::uint64_t number, family_names theirs) {
  assert(is_in_turn(number));
  peer_number_ = number;
  if (!have_in_common(mine(), theirs))
    return false;
  theirs_ = std::move(theirs);
  accepted_number_ = number;
  is_owed_ = true;
  assert(waiting_before_ == 0); // Otherwise the previous change would not have been acknowledged.
  waiting_before_ = std::exchange(waiting_, 0);
  return true;
}

void negotiation::add_waiting(std::uint64_t epoch) {
  ++(epoch == accepted_number_ ? waiting_ : waiting_before_);
}

void negotiation::remove_waiting(std::uint64_t epoch) {
  auto& count = epoch == accepted_number_ ? waiting_ : waiting_before_;
  assert(count > 0);
  --count;
}

std::optional<std::uint64_t> negotiation::take_acknowledgement() {
  if (!is_owed_ || waiting_before_ > 0)
    return std::nullopt;
  is_owed_ = false;
  return accepted_number_;
}

} // namespace troupe::internal
