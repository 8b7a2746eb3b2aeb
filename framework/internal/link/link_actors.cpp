// Which of this node's actors a link's peer may address.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <troupe/framework/internal/link/link_core.hpp>
#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/internal/threads/lock_gap.hpp>

namespace troupe::internal {

/// Takes the lock for a few actors at a time, because there may be many.
link_actors link_core::own_actors(std::span<const caf::strong_actor_ptr> first) const {
  constexpr std::size_t looks_max = 256;
  link_actors result;
  auto held = mutex_.lock();
  if (life_.now() != link_state::open)
    return result;
  const auto* const account = receiving_.get(); // Lives as long as this link.
  held.unlock();
  const auto unconsumed = account->unconsumed();
  std::unordered_map<std::uint64_t, const unconsumed_by_actor*> waiting;
  for (const auto& each : unconsumed)
    if (!actor_exports::is_foreign(each.actor))
      waiting.emplace(each.actor, &each);
  std::unordered_set<std::uint64_t> listed;
  const auto add = [&](std::uint64_t number, caf::strong_actor_ptr actor) {
    if (!actor || !listed.insert(number).second)
      return;
    const auto found = waiting.find(number);
    const auto left = found != waiting.end() ? *found->second : unconsumed_by_actor{};
    result.actors.push_back({std::move(actor), left.messages, left.bytes});
  };
  // The peer may have released an actor whose messages still wait.
  const auto is_sent = [&](const link_held& locked, const caf::strong_actor_ptr& actor) {
    return actors_.number_of_own(locked, actor) == actor->id() || waiting.contains(actor->id());
  };
  for (std::size_t at = 0; at < first.size(); at += looks_max) {
    if (at > 0)
      leave_lock_to_others();
    const auto again = mutex_.lock();
    for (const auto& actor : first.subspan(at, std::min(looks_max, first.size() - at)))
      if (actor->node() == node_->system().node() && is_sent(again, actor))
        add(actor->id(), actor);
  }
  for (std::size_t at = 0; at < unconsumed.size(); at += looks_max) {
    if (at > 0)
      leave_lock_to_others();
    const auto again = mutex_.lock();
    const auto end = std::min(unconsumed.size(), at + looks_max);
    for (auto i = at; i < end; ++i)
      if (!actor_exports::is_foreign(unconsumed[i].actor))
        add(unconsumed[i].actor, actors_.own(again, unconsumed[i].actor));
  }
  add_idle(listed, result);
  return result;
}

/// Adds the other actors that the peer may address. What is found under the lock is looked at without it.
void link_core::add_idle(const std::unordered_set<std::uint64_t>& listed, link_actors& to) const {
  struct entry {
    std::uint64_t number = 0;
    caf::strong_actor_ptr actor; // Null beyond the bound.
  };
  auto room = idle_actors_max;
  std::unordered_set<std::uint64_t> added;
  std::vector<entry> some;
  table_walk walk;
  for (auto goes_on = true; goes_on; some.clear()) {
    {
      const auto held = mutex_.lock();
      goes_on = actors_.each_own(held, walk, [&](std::uint64_t number, const caf::strong_actor_ptr& actor) {
        some.push_back({number, room > 0 ? actor : nullptr});
      });
    }
    for (auto& [number, actor] : some) {
      if (listed.contains(number) || added.contains(number))
        continue;
      if (room == 0 || !actor) {
        to.omitted.push_back(number);
        continue;
      }
      --room;
      added.insert(number);
      to.actors.push_back({std::move(actor), 0, 0});
    }
    if (goes_on)
      leave_lock_to_others();
  }
}

} // namespace troupe::internal
