#include <troupe/framework/internal/caf_port/actors/finder.hpp>

#include <utility>

#include <caf/actor_proxy.hpp>
#include <caf/mailbox_element.hpp>
#include <caf/make_actor.hpp>

#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

namespace {

class finder final : public caf::actor_proxy {
public:
  finder(caf::actor_config& config, std::function<void(on_lookup)> look_up)
      : caf::actor_proxy(config), look_up_(std::move(look_up)) {}

  using caf::abstract_actor::enqueue;
  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit*) override {
    if (!what->mid.is_request() || !what->sender)
      return;
    // Holds the asker weakly. Otherwise a peer that does not answer would keep an asker that has ended or timed out.
    look_up_([weak = caf::weak_actor_ptr{what->sender.get()}, id = what->mid.response_id()](auto found) {
      if (auto asker = weak.lock())
        asker->enqueue(nullptr, id,
                       found ? caf::make_message(*std::move(found)) : caf::make_message(to_caf_error(found.error())),
                       nullptr);
    });
  }
  void kill_proxy(caf::execution_unit*, caf::error) override {}
  [[nodiscard]] const char* name() const override { return "troupe::finder"; }

private:
  const std::function<void(on_lookup)> look_up_;
};

} // namespace

caf::actor make_finder(caf::actor_system& system, std::function<void(on_lookup)> look_up) {
  caf::actor_config config;
  return caf::make_actor<finder, caf::actor>(system.next_actor_id(), system.node(), &system, config,
                                             std::move(look_up));
}

} // namespace troupe::internal
