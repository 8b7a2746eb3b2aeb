#include <troupe/framework/internal/lasting/target_slot.hpp>

#include <utility>

#include <troupe/framework/internal/caf_port/proxy.hpp>

namespace troupe::internal {

found_target::found_target(caf::strong_actor_ptr found, byte_vector memory_of_its_node)
    : actor(std::move(found)), remote(as_proxy(actor)), memory(std::move(memory_of_its_node)) {}

bool found_target::take(caf::mailbox_element_ptr& what, caf::execution_unit* context) const {
  if (remote != nullptr)
    return remote->link()->send_unless_down(remote->number(), what, context);
  actor->get()->enqueue(std::move(what), context);
  return true;
}

target_slot::dropped_targets target_slot::set(std::unique_ptr<const found_target> next) {
  {
    std::lock_guard guard{mutex_};
    replaced_.reserve(replaced_.size() + 1); // Senders may use the replaced target, so it must not be lost.
    std::unique_ptr<const found_target> before{now_.exchange(next.release(), std::memory_order_seq_cst)};
    if (before) {
      replaced_.push_back(std::move(before));
      has_replaced_.store(true, std::memory_order_seq_cst);
    }
  }
  return take_unused();
}

target_slot::dropped_targets target_slot::take_unused() {
  std::lock_guard guard{mutex_};
  if (users_.load(std::memory_order_seq_cst) != 0)
    return {};
  has_replaced_.store(false, std::memory_order_seq_cst);
  return std::exchange(replaced_, {});
}

} // namespace troupe::internal
