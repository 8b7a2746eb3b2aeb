#include <troupe/framework/cluster/internal/join/member_handles.hpp>

#include <algorithm>
#include <set>

#include <caf/actor_cast.hpp>

#include <troupe/base/text.hpp>
#include <troupe/framework/lasting.hpp>

namespace troupe::membership {

namespace {

constexpr std::size_t reason_bytes_max = 512;

} // namespace

void member_handles::add(std::string member, std::string name, const caf::actor& handle) {
  const std::lock_guard guard{mutex_};
  if (all_.size() >= forgets_at_)
    forget_dropped();
  all_.emplace(key{std::move(member), std::move(name)}, caf::actor_cast<caf::weak_actor_ptr>(handle));
}

/// No handle is dropped under the lock: a count of zero stays.
void member_handles::forget_dropped() {
  constexpr std::size_t forgets_min = 64;
  std::erase_if(all_, [](const auto& one) { return one.second == nullptr || one.second->strong_refs == 0; });
  forgets_at_ = std::max(forgets_min, 2 * all_.size());
}

node_error member_handles::problem(const std::string& member, const std::string& name) const {
  std::vector<caf::strong_actor_ptr> alive; // Dropped after the lock.
  {
    const std::lock_guard guard{mutex_};
    const auto [first, last] = all_.equal_range({member, name});
    for (auto one = first; one != last; ++one)
      if (auto strong = one->second.lock())
        alive.push_back(std::move(strong));
  }
  for (const auto& one : alive)
    if (auto why = absence_of(caf::actor_cast<caf::actor>(one)); why.code() != node_errc::none)
      return {why.code(), one_line(why.message(), reason_bytes_max)};
  return {node_errc::none, {}};
}

std::vector<std::string> member_handles::problems() const {
  std::vector<std::pair<key, caf::strong_actor_ptr>> alive; // Dropped after the lock.
  {
    const std::lock_guard guard{mutex_};
    for (const auto& [which, handle] : all_)
      if (auto strong = handle.lock())
        alive.emplace_back(which, std::move(strong));
  }
  std::set<std::string> texts; // Handles with other options may have met the same.
  for (const auto& [which, handle] : alive)
    if (const auto why = absence_of(caf::actor_cast<caf::actor>(handle));
        why.code() != node_errc::none && why.code() != node_errc::not_found)
      texts.insert("member " + which.first + ": \"" + which.second
                   + "\" cannot be used: " + one_line(why.message(), reason_bytes_max));
  return {texts.begin(), texts.end()};
}

} // namespace troupe::membership
