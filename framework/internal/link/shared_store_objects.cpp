#include <troupe/framework/internal/link/shared_store_objects.hpp>

#include <system_error>

#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {

std::expected<link_objects<store::handle>::owner, node_error> shared_store_objects::adopt(const store::object_id& id) {
  auto adopted = objects_.adopt(id);
  if (!objects_.is_claimed() && !timer_)
    claim_later();
  return adopted;
}

std::expected<void, node_error> shared_store_objects::on_release(const release_object& what) {
  if (!store_)
    return violation("the peer releases an object, but no store is shared");
  return objects_.on_release({*store_, what.index, what.generation}, what.count);
}

std::expected<void, store::store_error> shared_store_objects::abandon() {
  timer_.reset();
  return objects_.abandon();
}

void shared_store_objects::claim_later() {
  timer_ = std::make_shared<io_timer>(io_, busy_pause);
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
