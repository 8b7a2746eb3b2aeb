#include <troupe/framework/internal/supervision/roster_view.hpp>

#include <cstddef>
#include <string>

#include <troupe/framework/internal/watch/watched_events.hpp>

namespace troupe::internal {

namespace {

std::string name_of(child_state state) {
  switch (state) {
  case child_state::waiting:
    return "waiting";
  case child_state::starting:
    return "starting";
  case child_state::running:
    return "running";
  case child_state::stopping:
    return "stopping";
  case child_state::restarting:
    return "restarting";
  case child_state::ended:
    return "ended";
  }
  return {};
}

} // namespace

supervisor_activity roster_view::now() const {
  auto result = supervisor_;
  const auto children = roster_->now().children;
  for (std::size_t i = 0; i < children.size(); ++i) {
    const auto& from = children[i];
    auto& to = result.children[i];
    to.actor = from.handle ? from.handle.id() : 0;
    to.state = name_of(from.state);
    to.restarts = from.starts > 0 ? from.starts - 1 : 0;
    to.process = from.process;
    to.reason = watched_text(from.last_reason.message());
    result.restarts += to.restarts;
  }
  return result;
}

} // namespace troupe::internal
