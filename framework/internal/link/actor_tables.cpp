#include <troupe/framework/internal/link/actor_tables.hpp>

#include <cassert>
#include <random>
#include <utility>

namespace troupe::internal {

// -- exports

actor_exports::actor_exports(caf::node_id home) : home_(std::move(home)) {
  std::random_device random;
  next_foreign_ = static_cast<std::uint64_t>(random()) << 16; // Leaves room for 2^47 numbers.
}

std::uint64_t actor_exports::add(const caf::strong_actor_ptr& actor) {
  assert(actor);
  if (last_ != nullptr && last_->actor == actor) {
    ++last_->count;
    return last_number_;
  }
  auto number = actor->id();
  if (actor->node() != home_) {
    auto [known, is_new] = foreign_numbers_.try_emplace(actor.get(), next_foreign_ | foreign_bit);
    if (is_new)
      ++next_foreign_;
    number = known->second;
  }
  auto& found = entries_[number];
  if (!found.actor)
    found.actor = actor;
  ++found.count;
  last_ = &found; // The address of a map entry is stable until it is erased.
  last_number_ = number;
  return number;
}

std::uint64_t actor_exports::plain_number(const caf::strong_actor_ptr& actor) const {
  assert(actor);
  if (last_ != nullptr && last_->actor == actor)
    return last_number_;
  return actor->node() == home_ ? actor->id() : 0;
}

bool actor_exports::has(const caf::strong_actor_ptr& actor) const {
  if (last_ != nullptr && last_->actor == actor)
    return true;
  return actor->node() == home_ ? entries_.contains(actor->id()) : foreign_numbers_.contains(actor.get());
}

void actor_exports::allow_return(std::uint64_t number) {
  if (last_ != nullptr && last_number_ == number)
    ++last_->returns;
  else if (auto found = entries_.find(number); found != entries_.end())
    ++found->second.returns;
}

bool actor_exports::take_return(std::uint64_t number) {
  auto found = entries_.find(number);
  if (found == entries_.end() || found->second.returns == 0)
    return false;
  --found->second.returns;
  return true;
}

caf::strong_actor_ptr actor_exports::find(std::uint64_t number) const {
  auto found = entries_.find(number);
  return found == entries_.end() ? nullptr : found->second.actor;
}

std::optional<caf::strong_actor_ptr> actor_exports::release(std::uint64_t number, std::uint64_t count) {
  auto found = entries_.find(number);
  if (found == entries_.end() || count > found->second.count)
    return std::nullopt;
  found->second.count -= count;
  if (found->second.count > 0)
    return caf::strong_actor_ptr{};
  last_ = nullptr;
  auto dropped = std::move(found->second.actor);
  foreign_numbers_.erase(dropped.get());
  entries_.erase(found);
  return dropped;
}

std::vector<caf::strong_actor_ptr> actor_exports::take_all() {
  std::vector<caf::strong_actor_ptr> result;
  result.reserve(entries_.size());
  last_ = nullptr;
  for (auto& [number, found] : entries_)
    result.push_back(std::move(found.actor));
  entries_.clear();
  foreign_numbers_.clear();
  return result;
}

// -- imports

caf::strong_actor_ptr actor_imports::receive(std::uint64_t number) {
  auto& found = entries_[number];
  ++found.count;
  auto alive = found.proxy.lock();
  if (!alive)
    found.proxy = nullptr; // The dying proxy, once destroyed, must not take this receipt with it.
  return alive;
}

void actor_imports::put(std::uint64_t number, const caf::strong_actor_ptr& proxy) {
  auto found = entries_.find(number);
  assert(found != entries_.end());
  found->second.proxy = caf::weak_actor_ptr{proxy.get()};
}

void actor_imports::add(std::uint64_t number, std::uint64_t count) {
  if (auto found = entries_.find(number); found != entries_.end()) // The entry is gone once the link has ended.
    found->second.count += count;
}

caf::strong_actor_ptr actor_imports::find(std::uint64_t number) const {
  auto found = entries_.find(number);
  return found == entries_.end() ? nullptr : found->second.proxy.lock();
}

std::uint64_t actor_imports::gone(std::uint64_t number, const caf::actor_control_block* control) {
  auto found = entries_.find(number);
  if (found == entries_.end() || found->second.proxy.get() != control)
    return 0;
  auto count = found->second.count;
  entries_.erase(found);
  return count;
}

std::vector<caf::strong_actor_ptr> actor_imports::take_all() {
  std::vector<caf::strong_actor_ptr> result;
  result.reserve(entries_.size());
  for (auto& [number, found] : entries_)
    if (auto proxy = found.proxy.lock())
      result.push_back(std::move(proxy));
  entries_.clear();
  return result;
}

} // namespace troupe::internal
