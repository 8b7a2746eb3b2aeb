#include <troupe/framework/internal/objects/local_holds.hpp>

#include <cassert>
#include <string_view>
#include <utility>

#include <troupe/framework/internal/objects/object_proof.hpp>

namespace troupe::internal {

namespace {

constexpr std::string_view proof_of_home = "troupe home";

} // namespace

void local_holds::keep(store::handle object) {
  auto& kept = holds_[object.id()];
  ++kept.count;
  if (kept.object.empty())
    kept.object = std::move(object).held_for(store::hold_reason::exchange);
}

store::handle local_holds::find(const store::object_id& place) const {
  const auto found = holds_.find(place);
  return found != holds_.end() ? found->second.object : store::handle{};
}

void local_holds::hold(const store::object_id& place) {
  auto& kept = holds_[place];
  ++kept.count;
  if (!kept.object.empty())
    return;
  if (auto found = store_.find(place))
    kept.object = std::move(*found).held_for(store::hold_reason::exchange);
}

void local_holds::drop(const store::object_id& place) {
  const auto found = holds_.find(place);
  assert(found != holds_.end());
  if (--found->second.count == 0)
    holds_.erase(found);
}

std::uint64_t local_holds::size_of(const store::object_id& place) const {
  return holds_.at(place).object.size_bytes();
}

std::vector<store::object_id> local_holds::captured_by(const store::object_id& place) const {
  auto captured = holds_.at(place).object.captured();
  return captured ? *std::move(captured) : std::vector<store::object_id>{};
}

handles::home_name local_holds::home_of(const store::object_id& place) {
  return {place, object_proof(place, proof_of_home, store_)};
}

bool local_holds::hold_at_home(const handles::home_name& which, std::uint64_t size_bytes) {
  const auto& place = which.name;
  if (place.store != store_.number() || which.proof != object_proof(place, proof_of_home, store_))
    return false;
  if (const auto known = holds_.find(place); known != holds_.end()) {
    const auto is_same = known->second.object.size_bytes() == size_bytes;
    known->second.count += is_same;
    return is_same;
  }
  auto found = store_.find(place);
  if (!found || found->size_bytes() != size_bytes)
    return false;
  keep(*std::move(found));
  return true;
}

bool local_holds::hand_over(const store::object_id& place, handles::link_number link) {
  const auto to = channels_.find(link);
  return to != channels_.end() && holds_.at(place).object.hand_over(to->second.peer, to->second.send).has_value();
}

local_holds::adoption local_holds::adopt(const store::object_id& place, handles::link_number link) {
  const auto from = channels_.find(link);
  if (from == channels_.end() || place.store != store_.number())
    return adoption::absent;
  auto adopted = store_.adopt(place, from->second.peer, from->second.receive);
  if (!adopted)
    return adopted.error().code() == store::store_errc::not_found ? adoption::absent : adoption::busy;
  keep(*std::move(adopted));
  return adoption::done;
}

} // namespace troupe::internal
