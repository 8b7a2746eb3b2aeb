#include <troupe/framework/internal/supervision/roster.hpp>

#include <utility>

namespace troupe::internal {

roster::roster(std::vector<roster_entry> children) {
  state_.children = std::move(children);
}

roster::state roster::now() const {
  const std::lock_guard guard{mutex_};
  return state_;
}

void roster::started(std::size_t child, caf::actor handle, std::uint32_t process) {
  change([&](state& all) {
    auto& one = all.children[child];
    one.handle.swap(handle);
    one.is_running = true;
    one.process = process;
    one.since = std::chrono::steady_clock::now();
    ++one.starts;
    return true;
  });
}

void roster::leaves(std::size_t child) {
  caf::actor released; // Released after the lock.
  change([&](state& all) {
    auto& one = all.children[child];
    released.swap(one.handle);
    return static_cast<bool>(released);
  });
}

void roster::ended(std::size_t child, node_error reason) {
  caf::actor released;
  change([&](state& all) {
    auto& one = all.children[child];
    released.swap(one.handle);
    one.last_reason = std::move(reason);
    if (one.is_running)
      one.since = std::chrono::steady_clock::now();
    one.is_running = false;
    one.process = 0;
    return true;
  });
}

void roster::note_states(const std::function<child_state(std::size_t child)>& state_of) {
  const std::lock_guard guard{mutex_};
  for (std::size_t i = 0; i < state_.children.size(); ++i)
    state_.children[i].state = state_of(i);
}

void roster::over(node_error reason) {
  std::vector<caf::actor> released;
  change([&](state& all) {
    if (all.end)
      return false;
    all.end = std::move(reason);
    for (auto& one : all.children) {
      released.push_back(std::exchange(one.handle, {}));
      one.is_running = false;
    }
    return true;
  });
}

void roster::add(listener which) {
  auto added = std::make_shared<const listener>(std::move(which));
  const std::lock_guard guard{mutex_};
  listeners_.push_back(std::move(added));
}

void roster::change(const std::function<bool(state&)>& how) {
  std::vector<std::shared_ptr<const listener>> told;
  {
    const std::lock_guard guard{mutex_};
    if (!how(state_))
      return;
    ++state_.version;
    told = listeners_;
  }
  for (const auto& one : told)
    if (!(*one)()) {
      const std::lock_guard guard{mutex_};
      std::erase(listeners_, one);
    }
}

} // namespace troupe::internal
