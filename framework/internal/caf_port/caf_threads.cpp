#include <troupe/framework/internal/caf_port/caf_threads.hpp>

#include <caf/thread_hook.hpp>

namespace troupe::internal {

namespace {

thread_local bool runs_actors = false;

class marking final : public caf::thread_hook {
public:
  void init(caf::actor_system&) override {}
  void thread_started() override { runs_actors = true; }
  void thread_terminates() override { runs_actors = false; }
};

} // namespace

void mark_threads(caf::actor_system_config& config) {
  config.add_thread_hook<marking>();
}

bool may_block() noexcept {
  return !runs_actors;
}

} // namespace troupe::internal
