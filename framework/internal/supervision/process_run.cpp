#include <troupe/framework/internal/supervision/process_run.hpp>

#include <algorithm>
#include <string>
#include <utility>

#include <troupe/framework/internal/caf_port/actors/end_watch.hpp>
#include <troupe/framework/internal/supervision/actor_run.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

namespace {

child_end end_of_process(const worker_event& event) {
  const auto& ending = event.ending;
  child_end end{.reason = event.reason, .last_lines = ending.last_errors, .cause = ending.cause};
  if (ending.how == worker_ending::kind::exited)
    end.exit_status = ending.value;
  else if (ending.how == worker_ending::kind::signaled)
    end.signal = ending.value;
  if (event.what == worker_event::kind::ended) {
    end.is_abnormal = end.exit_status != 0;
    auto text = "the process ended: " + ending.cause;
    if (!ending.last_errors.empty() && end.is_abnormal)
      text += "; the last line of its standard error is '" + ending.last_errors.back() + '\'';
    end.reason = {end.is_abnormal ? node_errc::link_down : node_errc::none, std::move(text)};
  }
  return end;
}

} // namespace

process_run::process_run(caf::event_based_actor& supervisor, hosted_actor hosts, std::chrono::milliseconds within,
                         news_sink news)
    : supervisor_(supervisor),
      hosts_(std::move(hosts)),
      start_deadline_(std::chrono::steady_clock::now() + within),
      news_(std::move(news)) {}

process_run::~process_run() {
  if (actor_)
    unwatch_end(caf::actor_cast<caf::strong_actor_ptr>(actor_), this);
  if (process_)
    process_->kill();
}

void process_run::begin(const std::shared_ptr<node_core>& node, worker_options options) {
  auto launched = worker_core::launch(
      node, std::move(options),
      [news = news_, weak = weak_from_this()](const worker_event& event) {
        news({.todo = [weak, event] {
          if (const auto run = weak.lock())
            run->handle(event);
        }});
      },
      nullptr);
  if (launched)
    process_ = *std::move(launched);
  else
    fail(std::move(launched).error());
}

void process_run::fail(node_error reason) {
  news_({.ended = child_end{.reason = std::move(reason)}});
}

void process_run::stop() {
  if (process_)
    process_->stop();
}

void process_run::kill() {
  if (process_)
    process_->kill();
}

std::uint32_t process_run::process() const {
  return process_ ? static_cast<std::uint32_t>(process_->number()) : 0;
}

void process_run::handle(const worker_event& event) {
  if (event.what == worker_event::kind::connected)
    return find_actor(*event.link);
  process_ = nullptr;
  auto end = end_of_process(event);
  if (why_) {
    end.reason = why_->reason;
    end.is_abnormal = why_->is_abnormal;
  }
  news_({.ended = std::move(end)});
}

void process_run::find_actor(const link& over) {
  const auto left =
      std::max(std::chrono::milliseconds{1},
               std::chrono::ceil<std::chrono::milliseconds>(start_deadline_ - std::chrono::steady_clock::now()));
  const auto found = [weak = weak_from_this()](const caf::strong_actor_ptr& actor) {
    if (const auto run = weak.lock())
      run->take_actor(caf::actor_cast<caf::actor>(actor));
  };
  const auto failed = [weak = weak_from_this()](const caf::error& error) {
    if (const auto run = weak.lock())
      run->end_because({.reason = to_node_error(error)});
  };
  if (hosts_.spawn)
    try {
      hosts_.spawn(over).request(&supervisor_, left).then(found, failed);
    } catch (...) {
      end_because({.reason = start_thrown_by("the function that spawns the process's actor")});
    }
  else if (!hosts_.published.empty())
    link{over}.find(&supervisor_, hosts_.published, left).then(found, failed);
  else
    news_({.started = caf::actor{}});
}

void process_run::take_actor(caf::actor actor) {
  if (!actor)
    return end_because({.reason = {node_errc::spawn_failed, "the process gave no actor"}});
  actor_ = std::move(actor);
  news_({.started = actor_});
  watch_end(caf::actor_cast<caf::strong_actor_ptr>(actor_), this,
            [news = news_, weak = weak_from_this()](const caf::error& reason) {
              // If the process or the link has ended, its own event says why.
              if (reason == caf::exit_reason::remote_link_unreachable)
                return;
              news({.todo = [weak, end = end_of_actor(reason)] {
                if (const auto run = weak.lock())
                  run->end_because(end);
              }});
            });
}

void process_run::end_because(child_end why) {
  if (!process_)
    return;
  why_ = std::move(why);
  process_->stop();
}

} // namespace troupe::internal
