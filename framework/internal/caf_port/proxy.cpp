#include <troupe/framework/internal/caf_port/proxy.hpp>

#include <utility>

#include <caf/mailbox_element.hpp>
#include <caf/make_actor.hpp>

namespace troupe::internal {

proxy::proxy(caf::actor_config& config, std::shared_ptr<proxy_link> link, std::uint64_t number)
    : caf::actor_proxy(config), link_(std::move(link)), number_(number) {}

proxy::~proxy() {
  link_->proxy_gone(number_, ctrl());
}

void proxy::enqueue(caf::mailbox_element_ptr what, caf::execution_unit* context) {
  link_->send(number_, std::move(what), context);
}

void proxy::attach(caf::attachable_ptr what) {
  link_->watch(number_, caf::strong_actor_ptr{ctrl()});
  caf::actor_proxy::attach(std::move(what));
}

bool proxy::add_backlink(caf::abstract_actor* other) {
  link_->watch(number_, caf::strong_actor_ptr{ctrl()});
  return caf::actor_proxy::add_backlink(other);
}

void proxy::kill_proxy(caf::execution_unit* context, caf::error reason) {
  cleanup(std::move(reason), context);
}

caf::strong_actor_ptr make_proxy(caf::actor_system& system, caf::node_id node, std::uint64_t number,
                                 std::shared_ptr<proxy_link> link) {
  caf::actor_config config;
  return caf::make_actor<proxy, caf::strong_actor_ptr>(number, std::move(node), &system, config, std::move(link),
                                                       number);
}

proxy* as_proxy(const caf::strong_actor_ptr& actor) {
  // Only actors of other nodes are proxies; looking at the node costs a tenth of the cast.
  if (!actor || actor->home_system->node() == actor->nid)
    return nullptr;
  return dynamic_cast<proxy*>(actor->get());
}

} // namespace troupe::internal
