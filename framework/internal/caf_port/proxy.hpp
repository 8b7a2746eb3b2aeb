// The local stand-in for an actor at the other end of a link.
#pragma once

#include <cstdint>
#include <memory>

#include <caf/actor_proxy.hpp>
#include <caf/actor_system.hpp>

namespace troupe::internal {

/// What a proxy needs of its link. All members may be called from any thread; `watch` even under the locks of two
/// actors, so it only notes and writes.
class proxy_link {
public:
  virtual ~proxy_link() = default;
  virtual void send(std::uint64_t receiver, caf::mailbox_element_ptr what, caf::execution_unit* context) = 0;
  /// Somebody here wants to know when the actor ends; `proxy` is kept until then.
  virtual void watch(std::uint64_t number, caf::strong_actor_ptr proxy) = 0;
  /// The proxy is being destroyed: nobody here refers to the actor any more.
  virtual void proxy_gone(std::uint64_t number, const caf::actor_control_block* control) = 0;
  /// Whether the link has room for messages to the actor; and a link_ready to `who` when it has.
  [[nodiscard]] virtual bool is_ready(std::uint64_t receiver) = 0;
  virtual void notify_when_ready(std::uint64_t receiver, const caf::strong_actor_ptr& proxy,
                                 const caf::strong_actor_ptr& who) = 0;
};

/// An ordinary CAF handle points at it; whatever is enqueued goes over the link.
class proxy final : public caf::actor_proxy {
public:
  proxy(caf::actor_config& config, std::shared_ptr<proxy_link> link, std::uint64_t number);
  ~proxy() override;

  using caf::abstract_actor::enqueue;
  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit* context) override;
  void attach(caf::attachable_ptr what) override;
  bool add_backlink(caf::abstract_actor* other) override;
  void kill_proxy(caf::execution_unit* context, caf::error reason) override;
  [[nodiscard]] const char* name() const override { return "troupe::proxy"; }

  [[nodiscard]] proxy_link* link() const noexcept { return link_.get(); }
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }

private:
  std::shared_ptr<proxy_link> link_;
  std::uint64_t number_;
};

/// Makes the proxy for actor `number` of the peer `node`.
[[nodiscard]] caf::strong_actor_ptr make_proxy(caf::actor_system& system, caf::node_id node, std::uint64_t number,
                                               std::shared_ptr<proxy_link> link);

/// The proxy behind a handle, or null when it is something else.
[[nodiscard]] proxy* as_proxy(const caf::strong_actor_ptr& actor);

} // namespace troupe::internal
