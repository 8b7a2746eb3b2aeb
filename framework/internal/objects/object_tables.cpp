#include <troupe/framework/internal/objects/object_tables.hpp>

#include <cassert>
#include <utility>

namespace troupe::internal {

void object_exports::add(const store::handle& object) {
  const auto [at, is_new] = entries_.try_emplace(object.id());
  auto& found = at->second;
  if (is_new)
    found = {object, 0, std::chrono::steady_clock::now()};
  ++found.count;
}

std::optional<std::optional<store::handle>> object_exports::release(const store::object_id& id, std::uint64_t count) {
  auto found = entries_.find(id);
  if (found == entries_.end() || count > found->second.count)
    return std::nullopt;
  found->second.count -= count;
  if (found->second.count > 0)
    return std::optional<store::handle>{};
  std::optional<store::handle> dropped{std::move(found->second.object)};
  entries_.erase(found);
  return dropped;
}

std::vector<store::handle> object_exports::take_all() {
  std::vector<store::handle> result;
  result.reserve(entries_.size());
  for (auto& [id, found] : entries_)
    result.push_back(std::move(found.object));
  entries_.clear();
  return result;
}

std::shared_ptr<const imported_object> object_imports::receive(const store::object_id& id) {
  auto& found = entries_[id];
  ++found.count;
  auto alive = found.owner.lock();
  if (!alive)
    found.identity = nullptr; // So that the dying owner does not take this receipt with it.
  return alive;
}

void object_imports::put(const store::object_id& id, const std::shared_ptr<const imported_object>& owner) {
  auto found = entries_.find(id);
  assert(found != entries_.end());
  found->second.owner = owner;
  found->second.identity = owner.get();
}

std::uint64_t object_imports::gone(const store::object_id& id, const imported_object* owner) {
  auto found = entries_.find(id);
  if (found == entries_.end() || found->second.identity != owner)
    return 0;
  auto count = found->second.count;
  entries_.erase(found);
  return count;
}

} // namespace troupe::internal
