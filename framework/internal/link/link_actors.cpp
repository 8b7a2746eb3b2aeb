// Which of this node's actors a link's peer may address.
#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <troupe/framework/internal/link/link_core.hpp>
#include <troupe/framework/internal/link/link_host.hpp>

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
  std::size_t released = 0;
  const auto is_sent = [&](const link_held& locked, const caf::strong_actor_ptr& actor) {
    if (actors_.number_of_own(locked, actor) == actor->id())
      return true;
    const auto waits = waiting.contains(actor->id());
    released += waits ? 1 : 0;
    return waits;
  };
  for (std::size_t at = 0; at < first.size(); at += looks_max) {
    const auto again = mutex_.lock();
    for (const auto& actor : first.subspan(at, std::min(looks_max, first.size() - at)))
      if (actor->node() == node_->system().node() && is_sent(again, actor))
        add(actor->id(), actor);
  }
  for (std::size_t at = 0; at < unconsumed.size(); at += looks_max) {
    const auto again = mutex_.lock();
    const auto end = std::min(unconsumed.size(), at + looks_max);
    for (auto i = at; i < end; ++i)
      if (!actor_exports::is_foreign(unconsumed[i].actor))
        add(unconsumed[i].actor, actors_.own(again, unconsumed[i].actor));
  }
  const auto again = mutex_.lock();
  actors_.each_own(again, idle_actors_max, [&](auto number, const auto& actor) { add(number, actor); });
  const auto all = actors_.exported_own(again) + released;
  result.omitted = all > listed.size() ? all - listed.size() : 0;
  return result;
}

} // namespace troupe::internal
