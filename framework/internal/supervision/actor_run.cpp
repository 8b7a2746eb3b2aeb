#include <troupe/framework/internal/supervision/actor_run.hpp>

#include <exception>
#include <string>
#include <utility>

#include <troupe/base/text.hpp>
#include <troupe/framework/internal/caf_port/actors/end_watch.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/words/text.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

child_end end_of_actor(const caf::error& reason) {
  if (!reason)
    return {.is_abnormal = false};
  if (reason == caf::exit_reason::user_shutdown)
    return {.reason = {node_errc::none, "shut down"}, .is_abnormal = false};
  return {.reason = to_node_error(reason)};
}

node_error start_thrown_by(std::string_view what) {
  try {
    throw;
  } catch (const std::exception& thrown) {
    return {node_errc::spawn_failed, std::string{what} + " threw: " + cut(exception_text(thrown))};
  } catch (...) {
    return {node_errc::spawn_failed, std::string{what} + " threw an object that is not a std::exception"};
  }
}

actor_run::~actor_run() {
  if (!actor_)
    return;
  unwatch_end(caf::actor_cast<caf::strong_actor_ptr>(actor_), this);
  end_with(caf::exit_reason::kill); // Without effect on an actor that has ended.
}

void actor_run::begin(caf::actor actor) {
  if (!actor)
    return fail({node_errc::spawn_failed, "the child's function returned no actor"});
  if (is_over_) {
    actor_ = std::move(actor);
    return end_with(caf::exit_reason::kill);
  }
  actor_ = std::move(actor);
  news_({.started = actor_});
  watch_end(caf::actor_cast<caf::strong_actor_ptr>(actor_), this,
            [news = news_](const caf::error& reason) { news({.ended = end_of_actor(reason)}); });
}

void actor_run::fail(node_error reason) {
  if (!std::exchange(is_over_, true))
    news_({.ended = child_end{.reason = std::move(reason)}});
}

void actor_run::stop() {
  if (actor_)
    end_with(caf::exit_reason::user_shutdown);
  else
    fail({node_errc::none, "stopped before it had started"});
}

void actor_run::kill() {
  if (actor_)
    end_with(caf::exit_reason::kill);
  else
    fail({node_errc::none, "stopped before it had started"});
}

void actor_run::end_with(caf::exit_reason how) {
  caf::anon_send_exit(actor_, how);
}

} // namespace troupe::internal
