#include <troupe/serializers/internal/coding/stand_in.hpp>

#include <mutex>

namespace troupe::detail {

// A replaced codec is destroyed after the lock is released, because it is a user's and may use the registry.
void stand_in_table::add(std::type_index type, pointer codec) {
  const std::scoped_lock guard(mutex_);
  own_.try_emplace(type).first->second.swap(codec);
}

void stand_in_table::put(std::type_index type, pointer codec) {
  const std::scoped_lock guard(mutex_);
  registered_.try_emplace(type).first->second.swap(codec);
  registered_count_.store(registered_.size(), std::memory_order_release);
}

void stand_in_table::remove(std::type_index type) {
  pointer removed;
  const std::scoped_lock guard(mutex_);
  if (const auto found = registered_.find(type); found != registered_.end()) {
    removed = std::move(found->second);
    registered_.erase(found);
  }
  registered_count_.store(registered_.size(), std::memory_order_release);
}

stand_in_table::pointer stand_in_table::find(std::type_index type) const {
  const std::shared_lock guard(mutex_);
  if (const auto found = registered_.find(type); found != registered_.end())
    return found->second;
  const auto found = own_.find(type);
  return found == own_.end() ? nullptr : found->second;
}

bool stand_in_table::is_among_registered(std::type_index type) const {
  const std::shared_lock guard(mutex_);
  return registered_.contains(type);
}

} // namespace troupe::detail
