#include <troupe/framework/internal/link/link_flights.hpp>

#include <utility>

namespace troupe::internal {

std::expected<void, store::store_error> link_flights::hand_over(const store::handle& object) {
  const auto& agreed = agreed_.now();
  return object.hand_over(agreed.peer.process, agreed.send_channel());
}

void link_flights::take_back(const store::handle& object) {
  const auto& agreed = agreed_.now();
  object.take_back(agreed.peer.process, agreed.send_channel());
}

std::expected<store::handle, store::store_error> link_flights::adopt(const store::object_id& id) {
  const auto& agreed = agreed_.now();
  auto adopted = store::object_store{*store_}.adopt(id, agreed.peer.process, agreed.receive_channel());
  if (adopted)
    adopted = std::move(*adopted).held_for(store::hold_reason::imported);
  return adopted;
}

std::expected<void, store::store_error> link_flights::abandon() {
  const auto& agreed = agreed_.now();
  return store::object_store{*store_}.abandon(agreed.peer.process, agreed.receive_channel());
}

void link_flights::release(const link_held& held, const store::object_id& id, std::uint64_t count) {
  admin_.send(held, admin_op::release_object, release_object{id.index, id.generation, count});
}

} // namespace troupe::internal
