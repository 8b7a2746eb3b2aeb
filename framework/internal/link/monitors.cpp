#include <troupe/framework/internal/link/monitors.hpp>

#include <cstddef>
#include <string>
#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/text.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

namespace {

/// Attached to an actor that the peer of a link monitors.
class link_watch final : public caf::attachable {
public:
  static constexpr std::size_t token_type = 0x7472;

  /// Finds the attachables of one link again.
  struct key {
    const monitors* of;
    static constexpr std::size_t token_type = link_watch::token_type;
  };

  /// `owner` has `told`.
  link_watch(std::weak_ptr<void> owner, monitors& told, std::uint64_t number)
      : owner_(std::move(owner)), told_(told), number_(number) {}

  void actor_exited(const caf::error& reason, caf::execution_unit*) override {
    if (const auto alive = owner_.lock())
      told_.own_actor_ended(number_, reason);
  }

  bool matches(const token& what) override {
    return what.subtype == token_type && static_cast<const key*>(what.ptr)->of == &told_;
  }

private:
  const std::weak_ptr<void> owner_;
  monitors& told_;
  const std::uint64_t number_;
};

down down_of(std::uint64_t number, const caf::error& reason) {
  down message{.actor = number, .reason_code = 0, .reason_category = {}, .reason_text = {}};
  if (!reason)
    return message;
  message.reason_code = reason.code();
  message.reason_category = caf::to_string(reason.category());
  // A text arrives as it is, whatever the number of nodes in between; of what else may stand there, its rendering.
  if (const auto& context = reason.context(); context.match_elements<std::string>())
    message.reason_text = cut(context.get_as<std::string>(0));
  else if (!context.empty())
    message.reason_text = cut(caf::to_string(context));
  return message;
}

caf::error reason_of(const down& what) {
  if (what.reason_code == 0)
    return {};
  const auto category = caf::atom_from_string(what.reason_category);
  if (category == error_category || !what.reason_text.empty())
    return {what.reason_code, category, caf::make_message(what.reason_text)};
  return {what.reason_code, category};
}

} // namespace

// -- the peer's actors

void monitors::watch(std::uint64_t number, caf::strong_actor_ptr proxy) {
  const auto held = link_.mutex.lock();
  if (link_.life.now() == link_state::closed || !kept_.try_emplace(number, std::move(proxy)).second)
    return;
  if (link_.is_open()) // Else the link's end tells of it.
    link_.admin.send(held, admin_op::monitor, monitor{number});
}

void monitors::unwatch(std::uint64_t number) {
  decltype(kept_)::node_type kept; // Let go outside of the lock.
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

// -- this end's

std::expected<void, node_error> monitors::on_monitor(const monitor& what) {
  auto held = link_.mutex.lock();
  const auto actor = names_.own(held, what.actor);
  const auto is_new = actor && watched_.try_emplace(what.actor, actor.get()).second;
  held.unlock();
  if (!actor)
    return violation("the peer monitors actor " + grouped(what.actor) + ", which it was never given");
  link_.log.say(log_level::debug, [&] { return link_.peer_name() + " monitors actor " + grouped(what.actor); });
  if (is_new)
    actor->get()->attach(caf::attachable_ptr{new link_watch{owner_, *this, what.actor}});
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
  watched_.erase(number); // Monitored again, it is answered again.
  link_.admin.send(held, admin_op::down, message);
}

void monitors::stop_watching(const caf::weak_actor_ptr& own) const {
  if (const auto actor = own.lock())
    actor->get()->detach(caf::attachable::token{link_watch::key{this}});
}

// -- both

void monitors::end(std::vector<caf::strong_actor_ptr> proxies) {
  auto held = link_.mutex.lock();
  auto kept = std::exchange(kept_, {});
  const auto watched = std::exchange(watched_, {});
  held.unlock();
  for (auto& [number, proxy] : kept)
    proxies.push_back(std::move(proxy));
  for (auto& proxy : proxies)
    ended_.push_back({std::move(proxy), caf::make_error(caf::exit_reason::remote_link_unreachable)});
  end_proxies();
  for (const auto& [number, own] : watched)
    stop_watching(own);
}

} // namespace troupe::internal
