#include <troupe/framework/internal/link/store_desk.hpp>

#include <system_error>
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
  auto adopted = store::object_store{*node_.store()}.adopt(id, agreed.peer.process, agreed.receive_channel());
  if (adopted)
    adopted = std::move(*adopted).held_for(store::hold_reason::imported);
  return adopted;
}

std::expected<void, store::store_error> link_flights::abandon() {
  const auto& agreed = agreed_.now();
  return store::object_store{*node_.store()}.abandon(agreed.peer.process, agreed.receive_channel());
}

void link_flights::release(const link_held& held, const store::object_id& id, std::uint64_t count) {
  say_(held, release_object{id.index, id.generation, count});
}

std::expected<link_objects<store::handle>::owner, node_error> store_desk::adopt(const store::object_id& id) {
  auto adopted = objects_.adopt(id);
  if (!objects_.is_claimed() && !timer_)
    claim_later();
  return adopted;
}

std::expected<void, store::store_error> store_desk::abandon() {
  timer_.reset();
  return objects_.abandon();
}

void store_desk::claim_later() {
  timer_ = std::make_shared<asio::steady_timer>(node_.io(), busy_pause);
  timer_->async_wait([this, mine = std::weak_ptr{timer_}](std::error_code cancelled) {
    if (cancelled || mine.expired())
      return;
    timer_.reset();
    objects_.claim();
    if (!objects_.is_claimed())
      claim_later();
  });
}

} // namespace troupe::internal
