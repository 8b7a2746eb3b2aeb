#include <troupe/framework/internal/caf_port/actors/shared_helpers.hpp>

#include <algorithm>
#include <utility>

#include <caf/actor_cast.hpp>
#include <caf/actor_system.hpp>
#include <caf/send.hpp>

#include <troupe/framework/internal/caf_port/actors/spawner.hpp>
#include <troupe/framework/internal/caf_port/actors/task_runner.hpp>

namespace troupe::internal {

shared_helpers::shared_helpers(caf::actor_system& system, const type_registry& types, answers_maker answers)
    : system_(system), types_(types), answers_(std::move(answers)) {}

caf::strong_actor_ptr shared_helpers::task_runner() {
  return get({.what = kind::task_runner}, [this] { return spawn_task_runner(system_, types_); });
}

caf::strong_actor_ptr shared_helpers::spawner() {
  return get({.what = kind::spawner}, [this] { return spawn_spawner(system_); });
}

caf::strong_actor_ptr shared_helpers::inspector(const query_rights& rights) {
  if (!rights.memory && !rights.report && !rights.recording && !rights.orders)
    return nullptr;
  return get({kind::inspector, rights}, [&] { return spawn_inspector(system_, answers_(rights)); });
}

bool shared_helpers::has(const caf::strong_actor_ptr& actor) const {
  if (!actor)
    return false;
  std::lock_guard guard{mutex_};
  return std::ranges::any_of(made_, [&](const auto& each) { return each.second == actor; });
}

std::vector<std::uint64_t> shared_helpers::ids() const {
  std::vector<std::uint64_t> result;
  std::lock_guard guard{mutex_};
  for (const auto& [which, actor] : made_)
    result.push_back(actor->id());
  return result;
}

void shared_helpers::end() {
  std::unique_lock guard{mutex_};
  has_ended_ = true;
  const auto ended = std::exchange(made_, {});
  guard.unlock();
  for (const auto& [which, actor] : ended)
    caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
}

template <class Spawn>
caf::strong_actor_ptr shared_helpers::get(const key& which, Spawn spawn) {
  if (auto known = find(which))
    return known;
  auto made = caf::actor_cast<caf::strong_actor_ptr>(spawn());
  auto kept = keep(which, made);
  if (kept == made)
    return kept;
  caf::anon_send_exit(made, caf::exit_reason::user_shutdown); // Another thread was faster, or end() was called.
  return kept ? kept : made;
}

caf::strong_actor_ptr shared_helpers::find(const key& which) const {
  std::lock_guard guard{mutex_};
  const auto found = made_.find(which);
  return found != made_.end() ? found->second : nullptr;
}

/// Stores the actor unless there is already one. Returns the stored one; null after end().
caf::strong_actor_ptr shared_helpers::keep(const key& which, caf::strong_actor_ptr made) {
  std::lock_guard guard{mutex_};
  return has_ended_ ? nullptr : made_.try_emplace(which, std::move(made)).first->second;
}

} // namespace troupe::internal
