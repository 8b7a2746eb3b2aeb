#include "shared_end.hpp"

#include "world.hpp"

namespace troupe::simulation {

model_handle::model_handle(const model_handle& other) : of_(other.of_), id_(other.id_) {
  if (of_ != nullptr)
    of_->hold(id_);
}

model_handle::~model_handle() {
  if (of_ != nullptr)
    of_->drop(id_);
}

handles::link_number shared_end::number() const {
  return world_.links[over_].number;
}

std::expected<void, store::store_error> shared_end::hand_over(const model_handle& object) {
  if (!of_.hand_over(object.id(), number()))
    return std::unexpected{store::store_error{store::store_errc::busy, "the store is busy, or the peer gone"}};
  return {};
}

void shared_end::take_back(const model_handle& object) {
  of_.take_back(object.id(), number());
}

std::expected<model_handle, store::store_error> shared_end::adopt(const store::object_id& id) {
  switch (of_.adopt(id, number())) {
  case handles::local_objects::adoption::done:
    return model_handle{of_, id};
  case handles::local_objects::adoption::absent:
    return std::unexpected{store::store_error{store::store_errc::not_found, "nothing is in flight"}};
  case handles::local_objects::adoption::busy:
    break;
  }
  return std::unexpected{store::store_error{store::store_errc::busy, "the store is busy"}};
}

std::expected<void, store::store_error> shared_end::abandon() {
  of_.abandon(number());
  return {};
}

void shared_end::release(const internal::link_held& held, const store::object_id& id, std::uint64_t count) {
  if (!held.is_held())
    throw broken("a release is written without the link's lock");
  world_.say_release(over_, end_, {id, count});
}

} // namespace troupe::simulation
