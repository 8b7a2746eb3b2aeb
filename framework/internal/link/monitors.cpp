#include <troupe/framework/internal/link/monitors.hpp>

#include <string>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/actors/end_watch.hpp>
#include <troupe/framework/internal/caf_port/end_reasons.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

// -- the peer's actors

void monitors::watch(std::uint64_t number, caf::strong_actor_ptr proxy) {
  auto held = link_.mutex.lock();
  if (is_ended_) {
    held.unlock();
    internal::end_proxies(system_, {{std::move(proxy), reason_of_lost_node()}});
    return;
  }
  // Kept even while the link ends. Otherwise the proxy could be destroyed before end() informs its monitors.
  if (!kept_.try_emplace(number, std::move(proxy)).second)
    return;
  if (link_.is_open()) // Otherwise the end of the link informs them.
    link_.admin.send(held, admin_op::monitor, monitor{number});
}

void monitors::unwatch(std::uint64_t number) {
  decltype(kept_)::node_type kept; // Released outside the lock.
  const auto held = link_.mutex.lock();
  kept = kept_.extract(number);
  if (kept && link_.is_open())
    link_.admin.send(held, admin_op::demonitor, monitor{number});
}

void monitors::on_down(const down& what) {
  auto held = link_.mutex.lock();
  auto kept = kept_.extract(what.actor);
  held.unlock();
  link_.log.say(log_level::debug, [&] {
    return "actor " + grouped(what.actor) + " of " + link_.peer_name() + " is down"
           + (what.reason_text.empty() ? "" : ": " + cut(what.reason_text));
  });
  if (kept)
    ended_.push_back({std::move(kept.mapped()), reason_of(what)});
}

void monitors::end_proxies() {
  if (!ended_.empty())
    internal::end_proxies(system_, std::exchange(ended_, {}));
}

// -- this node's actors

std::expected<void, node_error> monitors::on_monitor(const monitor& what) {
  auto held = link_.mutex.lock();
  const auto actor = names_.own(held, what.actor);
  const auto is_new = actor && watched_.try_emplace(what.actor, actor.get()).second;
  held.unlock();
  if (!actor)
    return violation("the peer monitors actor " + grouped(what.actor) + ", which it was never given");
  link_.log.say(log_level::debug, [&] { return link_.peer_name() + " monitors actor " + grouped(what.actor); });
  if (is_new)
    watch_end(actor, this, [this, owner = owner_, number = what.actor](const caf::error& reason) {
      if (const auto alive = owner.lock())
        own_actor_ended(number, reason);
    });
  return {};
}

void monitors::on_demonitor(const monitor& what) {
  auto held = link_.mutex.lock();
  const auto watched = watched_.extract(what.actor);
  held.unlock();
  if (watched)
    stop_watching(watched.mapped());
}

void monitors::own_actor_ended(std::uint64_t number, const caf::error& reason) {
  const auto message = down_of(number, reason);
  const auto held = link_.mutex.lock();
  watched_.erase(number); // If the peer monitors it again, it gets another answer.
  link_.admin.send(held, admin_op::down, message);
}

void monitors::stop_watching(const caf::weak_actor_ptr& own) const {
  if (const auto actor = own.lock())
    unwatch_end(actor, this);
}

// -- actors of both ends

void monitors::end(std::vector<caf::strong_actor_ptr> proxies) {
  auto held = link_.mutex.lock();
  is_ended_ = true;
  auto kept = std::exchange(kept_, {});
  const auto watched = std::exchange(watched_, {});
  held.unlock();
  for (auto& [number, proxy] : kept)
    proxies.push_back(std::move(proxy));
  for (auto& proxy : proxies)
    ended_.push_back({std::move(proxy), reason_of_lost_node()});
  end_proxies();
  for (const auto& [number, own] : watched)
    stop_watching(own);
}

} // namespace troupe::internal
