#include <troupe/framework/internal/link/peer_helpers.hpp>

#include <utility>

#include <troupe/framework/internal/caf_port/actor_handles.hpp>
#include <troupe/framework/internal/caf_port/actor_pointers.hpp>

#include <troupe/framework/internal/caf_port/actors/request_runner.hpp>
#include <troupe/framework/internal/caf_port/only_reference.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/serializers/function_entry.hpp>
#include <troupe/serializers/internal/words/type_text.hpp>

namespace troupe::internal {

std::expected<void, node_error> peer_helpers::open() {
  const auto& peer = link_.agreed().peer;
  auto runner = actors_.find_peers(peer.runner);
  auto spawner = runner ? actors_.find_peers(peer.spawner) : runner;
  auto inspector = spawner ? actors_.find_peers(peer.inspector) : spawner;
  if (!inspector)
    return std::unexpected{std::move(inspector).error()};
  const auto held = link_.mutex.lock();
  if (link_.is_open())
    known_ = {*std::move(runner), *std::move(spawner), *std::move(inspector)};
  return {};
}

caf::actor peer_helpers::task_runner_of(std::type_index function, std::string& name) const {
  const auto known = types_.find_function(function);
  if (!known)
    return spawn_refusal(system_, {node_errc::not_found,
                                   detail::type_text(function)
                                       + " is not registered here; add it to the node's type registry, and to that of "
                                       + link_.peer_name() + ", with types.add_function"});
  name = known->name();
  return helper(&helpers::runner, " runs no tasks", "allow_tasks",
                " for this link; its end of the link must have allow_tasks");
}

caf::actor peer_helpers::spawner() const {
  return helper(&helpers::spawner, " spawns no actors", "allow_spawn",
                " for this link; its end of the link must have allow_spawn");
}

caf::actor peer_helpers::inspector() const {
  return helper(&helpers::inspector, " cannot be inspected",
                "allow_memory_summary, allow_report, allow_recording or allow_orders",
                " over this link; its end of the link must have allow_memory_summary, allow_report, allow_recording or "
                "allow_orders");
}

caf::actor peer_helpers::helper(caf::strong_actor_ptr helpers::*which, std::string_view refuses,
                                std::string_view option, std::string_view without_role) const {
  auto held = link_.mutex.lock();
  auto found = known_.*which;
  const auto is_open = link_.is_open();
  held.unlock();
  if (found)
    return caf::actor_cast<caf::actor>(std::move(found));
  if (!is_open)
    return spawn_refusal(system_, link_.down());
  return spawn_refusal(
      system_, {node_errc::not_allowed, link_.peer_name() + std::string{refuses}
                                            + lacks_right(link_.agreed().peer.role_of_reader, option, without_role)});
}

std::optional<std::size_t> peer_helpers::unshared(const link_held&) const {
  std::size_t count = 0;
  for (const auto* one : {&known_.runner, &known_.spawner, &known_.inspector}) {
    if (!*one)
      continue;
    if (!is_only_reference(*one))
      return std::nullopt;
    ++count;
  }
  return count;
}

void peer_helpers::end() {
  auto held = link_.mutex.lock();
  const auto dropped = std::exchange(known_, {});
  held.unlock(); // Released outside the lock.
}

} // namespace troupe::internal
