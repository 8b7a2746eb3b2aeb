#include <troupe/framework/internal/caf_port/proxy.hpp>

#include <mutex>
#include <utility>

#include <caf/event_based_actor.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/make_actor.hpp>

#include <troupe/framework/internal/caf_port/exactly.hpp>
#include <troupe/framework/internal/wire/admin.hpp>

namespace troupe::internal {

proxy::proxy(caf::actor_config& config, std::shared_ptr<proxy_link> link, std::uint64_t number,
             std::shared_ptr<const introduce> introduction)
    : caf::actor_proxy(config), link_(std::move(link)), number_(number), introduction_(std::move(introduction)) {}

proxy::~proxy() {
  link_->proxy_gone(number_, ctrl());
}

void proxy::enqueue(caf::mailbox_element_ptr what, caf::execution_unit* context) {
  link_->send(number_, std::move(what), context);
}

// The peer is asked after an attachable was added, and told that the news no longer matters after the last was removed.
// So one of the two calls covers an attachable that is added in between.

void proxy::attach(caf::attachable_ptr what) {
  caf::actor_proxy::attach(std::move(what));
  link_->watch(number_, caf::strong_actor_ptr{ctrl()});
}

std::size_t proxy::detach(const caf::attachable::token& what) {
  caf::strong_actor_ptr self{ctrl()}; // The link's reference may be the last one.
  auto is_observed = [this] { return exclusive_critical_section([this] { return attachables_head_ != nullptr; }); };
  auto count = caf::actor_proxy::detach(what);
  if (count > 0 && !is_observed()) {
    link_->unwatch(number_);
    if (is_observed())
      link_->watch(number_, self);
  }
  return count;
}

/// Called under the locks of both actors.
bool proxy::add_backlink(caf::abstract_actor* other) {
  auto added = caf::actor_proxy::add_backlink(other);
  if (added)
    link_->watch(number_, caf::strong_actor_ptr{ctrl()});
  return added;
}

/// Called under the locks of both actors.
bool proxy::remove_backlink(caf::abstract_actor* other) {
  auto removed = caf::actor_proxy::remove_backlink(other);
  if (removed && attachables_head_ == nullptr)
    link_->unwatch(number_);
  return removed;
}

std::set<std::string> proxy::message_types() const {
  std::lock_guard guard{mtx_};
  return message_types_;
}

void proxy::set_message_types(std::set<std::string> types) {
  std::lock_guard guard{mtx_};
  message_types_ = std::move(types);
}

void proxy::kill_proxy(caf::execution_unit* context, caf::error reason) {
  cleanup(std::move(reason), context);
}

caf::strong_actor_ptr make_proxy(caf::actor_system& system, caf::node_id node, std::uint64_t number,
                                 std::shared_ptr<proxy_link> link, std::shared_ptr<const introduce> introduction) {
  caf::actor_config config;
  return caf::make_actor<proxy, caf::strong_actor_ptr>(number, std::move(node), &system, config, std::move(link),
                                                       number, std::move(introduction));
}

void end_proxies(caf::actor_system& system, std::vector<ended_proxy> proxies) {
  if (proxies.empty())
    return;
  // A hidden actor without handlers ends after initialization, and the system's end does not wait for it.
  system.spawn<caf::hidden>([ended = std::move(proxies)](caf::event_based_actor*) {
    for (const auto& each : ended)
      as_proxy(each.actor)->kill_proxy(nullptr, each.reason);
  });
}

proxy* as_proxy(const caf::strong_actor_ptr& actor) {
  // Only actors of other nodes can be proxies. This check comes first and spares local actors the type check.
  if (!actor || actor->home_system->node() == actor->nid)
    return nullptr;
  return exactly<proxy>(actor->get());
}

} // namespace troupe::internal
