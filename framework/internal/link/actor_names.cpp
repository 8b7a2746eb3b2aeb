#include <troupe/framework/internal/link/actor_names.hpp>

#include <utility>

#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

// -- actors named to the peer

bool actor_names::can_name(const caf::strong_actor_ptr& actor) const {
  const auto* remote = as_proxy(actor);
  if (remote == nullptr || remote->link() == self_)
    return true;
  if (!actor_introductions::may_go_further(*remote))
    return false;
  const auto held = link_.mutex.lock();
  return exports_.has(actor) || exports_.foreign_size() < actor_introductions::actors_max;
}

std::string actor_names::why_not_named() {
  return "the handle has passed 16 nodes, or the link already names " + grouped(actor_introductions::actors_max)
         + " actors of other nodes; send it from a node that is nearer to the actor";
}

bool actor_names::is_peers(const caf::strong_actor_ptr& actor) const {
  const auto* remote = as_proxy(actor);
  return remote != nullptr && remote->link() == self_;
}

actor_name actor_names::name(const caf::strong_actor_ptr& actor) {
  const auto held = link_.mutex.lock();
  return name(held, actor);
}

actor_name actor_names::name(const link_held& held, const caf::strong_actor_ptr& actor) {
  if (!actor)
    return {};
  auto* remote = as_proxy(actor);
  if (remote != nullptr && remote->link() == self_)
    return {actor_name::side::yours, remote->number()};
  const auto is_new = !exports_.has(actor);
  const auto number = exports_.add(actor);
  // A foreign actor without a proxy belongs to another CAF network and cannot be introduced.
  if (is_new && remote != nullptr && actor_exports::is_foreign(number))
    introductions_.tell(held, *remote, number);
  return {actor_name::side::mine, number};
}

caf::strong_actor_ptr actor_names::take_back(const link_held& held, std::uint64_t number) {
  auto last = exports_.release(number, 1);
  if (!last || !*last)
    return nullptr;
  if (actor_exports::is_foreign(number))
    introductions_.withdraw(held, number);
  return *std::move(last);
}

caf::strong_actor_ptr actor_names::recognize(const introduce& what) const {
  if (!introductions_.proves_receipt(what))
    return nullptr;
  const auto held = link_.mutex.lock();
  return exports_.find(what.actor);
}

std::expected<void, node_error> actor_names::on_release(const release_actor& what) {
  auto held = link_.mutex.lock();
  const auto dropped = exports_.release(what.actor, what.count);
  const auto is_last = dropped && *dropped;
  if (is_last && actor_exports::is_foreign(what.actor))
    introductions_.withdraw(held, what.actor);
  held.unlock();
  if (!dropped)
    return violation("the peer releases actor " + grouped(what.actor) + " " + grouped(what.count)
                     + " times, more than it was sent");
  if (is_last)
    account_->release(what.actor);
  return {};
}

// -- the peer's actors

std::expected<caf::strong_actor_ptr, node_error> actor_names::find(const actor_name& name) {
  const auto held = link_.mutex.lock();
  return find(held, name, true);
}

std::expected<caf::strong_actor_ptr, node_error> actor_names::find(const link_held& held, const actor_name& name,
                                                                   bool recognizes) {
  if (name.whose == actor_name::side::nobody)
    return nullptr;
  if (name.whose == actor_name::side::yours) {
    if (auto actor = exports_.find(name.number))
      return actor;
    return violation("the peer names actor " + grouped(name.number) + ", which it was never given");
  }
  if (name.whose != actor_name::side::mine || name.number == 0)
    return violation("an actor's name cannot be read");
  if (!link_.is_open())
    return std::unexpected{link_.down()};
  const auto* met = introductions_.find(held, name.number);
  if (recognizes && met != nullptr && met->own) {
    link_.admin.send(held, admin_op::release_actor, release_actor{name.number, 1});
    return met->own;
  }
  if (auto known = imports_.receive(name.number))
    return known;
  auto made = make_proxy(system_, link_.agreed().peer.node, name.number, proxies_link_.lock(),
                         met != nullptr ? met->how : nullptr);
  imports_.put(name.number, made);
  return made;
}

std::expected<caf::strong_actor_ptr, node_error> actor_names::find_peers(std::uint64_t number) {
  if (number == 0)
    return nullptr;
  return find({actor_name::side::mine, number});
}

void actor_names::count_more(std::uint64_t number, std::uint64_t more) {
  const auto held = link_.mutex.lock();
  imports_.add(number, more);
}

bool actor_names::proxy_gone(const link_held& held, std::uint64_t number, const caf::actor_control_block* control) {
  const auto count = imports_.gone(number, control);
  if (count == 0)
    return false;
  link_.admin.send(held, admin_op::release_actor, release_actor{number, count});
  return true;
}

actor_names::remains actor_names::end() {
  const auto held = link_.mutex.lock();
  return {.proxies = imports_.take_all(), .own = exports_.take_all()};
}

} // namespace troupe::internal
