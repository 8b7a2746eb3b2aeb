#include <troupe/framework/internal/link/actor_tables.hpp>

#include <algorithm>
#include <cassert>
#include <random>
#include <utility>

namespace troupe::internal {

// -- exports

actor_exports::actor_exports(caf::node_id home) : home_(std::move(home)) {
  std::random_device random;
  next_foreign_ = static_cast<std::uint64_t>(random()) << 16; // Leaves room for 2^47 of them.
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
  last_ = &found; // Stays in its place while it is in the map.
  last_number_ = number;
  return number;
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
    found.proxy = nullptr; // So that the dying proxy, once destroyed, does not take this receipt with it.
  return alive;
}

void actor_imports::put(std::uint64_t number, const caf::strong_actor_ptr& proxy) {
  auto found = entries_.find(number);
  assert(found != entries_.end());
  found->second.proxy = caf::weak_actor_ptr{proxy.get()};
}

void actor_imports::add(std::uint64_t number, std::uint64_t count) {
  if (auto found = entries_.find(number); found != entries_.end()) // Gone at the link's end.
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

bool actor_imports::hold(std::uint64_t number, caf::strong_actor_ptr proxy) {
  return held_.try_emplace(number, std::move(proxy)).second;
}

caf::strong_actor_ptr actor_imports::let_go(std::uint64_t number) {
  auto found = held_.find(number);
  if (found == held_.end())
    return nullptr;
  auto result = std::move(found->second);
  held_.erase(found);
  return result;
}

std::vector<caf::strong_actor_ptr> actor_imports::take_all() {
  std::vector<caf::strong_actor_ptr> result;
  result.reserve(entries_.size() + held_.size());
  for (auto& [number, found] : entries_)
    if (auto proxy = found.proxy.lock())
      result.push_back(std::move(proxy));
  for (auto& [number, proxy] : held_)
    result.push_back(std::move(proxy));
  entries_.clear();
  held_.clear();
  return result;
}

// -- requests

namespace {

bool is_gone(const caf::weak_actor_ptr& actor) {
  const auto* control = actor.get();
  return control == nullptr || control->strong_refs.load(std::memory_order_relaxed) == 0;
}

} // namespace

void pending_requests::add(key k, entry e) {
  if (entries_.size() >= sweep_at_)
    sweep();
  entries_.emplace(k, std::move(e));
}

pending_requests::entry_map::iterator pending_requests::find(const key& k, std::uint64_t receiver) {
  auto [first, end] = entries_.equal_range(k);
  return std::find_if(first, end, [&](const auto& item) { return item.second.receiver == receiver; });
}

std::optional<pending_requests::entry> pending_requests::take(key k, std::uint64_t receiver) {
  auto found = entries_.find(k);
  if (found == entries_.end())
    return std::nullopt;
  if (found->second.receiver != receiver)
    if (auto [first, end] = entries_.equal_range(k); std::next(first) != end)
      if (auto exact = find(k, receiver); exact != end)
        found = exact;
  auto result = std::move(found->second);
  entries_.erase(found);
  return result;
}

bool pending_requests::reserve(key k, const reservation& what, std::chrono::steady_clock::time_point now) {
  auto found = find(k, what.receiver);
  if (found == entries_.equal_range(k).second)
    return false;
  found->second.reserved_bytes = what.bytes;
  found->second.since = now;
  return true;
}

void pending_requests::sweep() {
  std::erase_if(entries_, [this](const auto& item) {
    if (!is_gone(item.second.asker))
      return false;
    if (item.second.reserved_bytes > 0)
      swept_.push_back({item.second.receiver, item.second.reserved_bytes});
    return true;
  });
  sweep_at_ = std::max<std::size_t>(1024, 2 * entries_.size());
}

std::vector<pending_requests::reservation>
pending_requests::reclaim_reservations(std::chrono::steady_clock::time_point deadline) {
  auto result = std::exchange(swept_, {});
  for (auto& [question, asked] : entries_)
    if (asked.reserved_bytes > 0 && (asked.since < deadline || is_gone(asked.asker)))
      result.push_back({asked.receiver, std::exchange(asked.reserved_bytes, 0)});
  return result;
}

std::vector<std::pair<pending_requests::key, pending_requests::entry>>
pending_requests::take_oldest_unreserved(std::size_t kept) {
  if (entries_.size() <= kept)
    return {};
  std::vector<entry_map::iterator> old;
  for (auto at = entries_.begin(); at != entries_.end(); ++at)
    if (at->second.reserved_bytes == 0 && at->second.since != std::chrono::steady_clock::time_point{})
      old.push_back(at);
  if (old.size() <= kept)
    return {};
  auto end = old.begin() + static_cast<std::ptrdiff_t>(old.size() - kept / 2);
  std::ranges::nth_element(old, end, {}, [](const auto& at) { return at->second.since; });
  std::vector<std::pair<key, entry>> result;
  for (auto at = old.begin(); at != end; ++at) {
    result.emplace_back((*at)->first, std::move((*at)->second));
    entries_.erase(*at);
  }
  return result;
}

std::vector<std::pair<pending_requests::key, pending_requests::entry>> pending_requests::take_all() {
  std::vector<std::pair<key, entry>> result{entries_.begin(), entries_.end()};
  entries_.clear();
  return result;
}

} // namespace troupe::internal
