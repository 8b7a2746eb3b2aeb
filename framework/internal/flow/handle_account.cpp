#include <troupe/framework/internal/flow/handle_account.hpp>

#include <algorithm>
#include <cassert>

namespace troupe::internal {

std::uint64_t shared_objects::add(const store::object_id& which, std::uint64_t bytes) {
  auto& found = objects_[which];
  if (++found.receivers > 1)
    return 0;
  found.bytes = bytes;
  return bytes;
}

std::uint64_t shared_objects::remove(const store::object_id& which) {
  const auto found = objects_.find(which);
  assert(found != objects_.end());
  if (--found->second.receivers > 0)
    return 0;
  const auto bytes = found->second.bytes;
  objects_.erase(found);
  return bytes;
}

bool shared_objects::has(const store::object_id& which, std::uint64_t bytes) const {
  const auto found = objects_.find(which);
  return found != objects_.end() && found->second.bytes >= bytes;
}

bool handle_account::has(const store::object_id& which, std::uint64_t bytes) const {
  const auto found = counted_.find(which);
  return found != counted_.end() && found->second >= bytes;
}

std::uint64_t handle_account::add(std::uint64_t bytes) {
  if (bytes == 0)
    return 0;
  bytes_ += bytes;
  if (entries_.empty() || is_named(entries_.back().which))
    entries_.push_back({});
  entries_.back().left += bytes;
  return bytes;
}

std::uint64_t handle_account::add(const store::object_id& which, std::uint64_t bytes) {
  if (!is_named(which) || bytes == 0 || !counted_.try_emplace(which, bytes).second)
    return add(bytes);
  bytes_ += bytes;
  entries_.push_back({which, bytes});
  return of_link_.add(which, bytes);
}

std::uint64_t handle_account::consume(std::uint64_t bytes) {
  assert(bytes <= bytes_);
  bytes_ -= bytes;
  std::uint64_t of_link = 0;
  while (bytes > 0) {
    auto& front = entries_.front();
    const auto taken = std::min(front.left, bytes);
    bytes -= taken;
    front.left -= taken;
    if (!is_named(front.which))
      of_link += taken;
    if (front.left > 0)
      break;
    if (is_named(front.which)) {
      counted_.erase(front.which);
      of_link += of_link_.remove(front.which);
    }
    entries_.pop_front();
  }
  return of_link;
}

} // namespace troupe::internal
