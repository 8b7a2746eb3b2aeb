#include <troupe/framework/internal/supervision/supervisor_actor.hpp>

#include <algorithm>
#include <exception>
#include <utility>

#include <troupe/base/longest_wait.hpp>
#include <troupe/base/sizes.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/caf_port/system_module.hpp>
#include <troupe/framework/internal/supervision/actor_run.hpp>
#include <troupe/framework/internal/watch/supervisor_book.hpp>
#include <troupe/framework/internal/watch/watched_events.hpp>
#include <troupe/framework/internal/words/text.hpp>
#include <troupe/framework/node_error.hpp>

namespace troupe::internal {

namespace {

/// A run has news.
struct run_news {
  std::size_t child;
  std::uint64_t run;
  child_news news;
};
/// A run was started, stopped or killed long ago.
struct run_is_late {
  enum class what : std::uint8_t { start, stop, kill };
  what step;
  std::size_t child;
  std::uint64_t run;
};
struct pause_is_over {
  std::uint64_t ticket;
};
struct stop_now {};

} // namespace

} // namespace troupe::internal

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::internal::run_news)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::internal::run_is_late)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::internal::pause_is_over)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(troupe::internal::stop_now)

namespace troupe::internal {

namespace {

constexpr std::size_t reasons_kept = 5;
constexpr std::chrono::milliseconds longest_kill{5'000};

std::vector<lifetime> lifetimes_of(const supervisor_spec& spec) {
  std::vector<lifetime> all;
  for (const auto& one : spec.children)
    all.push_back(one.options.lifetime);
  return all;
}

std::string seconds(std::chrono::nanoseconds time) {
  const auto tenths = (time.count() + 50'000'000) / 100'000'000;
  return std::to_string(tenths / 10) + '.' + std::to_string(tenths % 10) + " s";
}

std::string name_of(restart strategy) {
  switch (strategy) {
  case restart::one_for_one:
    return "one_for_one";
  case restart::one_for_all:
    return "one_for_all";
  case restart::rest_for_one:
    return "rest_for_one";
  }
  return {};
}

std::string words_of(const node_error& reason) {
  return reason.message().empty() ? "no error" : cut(reason.message());
}

/// Why a child that had not started in time was killed, with what its run says about it.
node_error lateness(std::chrono::milliseconds within, const node_error& said) {
  if (said.code() == node_errc::timed_out)
    return said;
  auto text = "it has not started within " + grouped(static_cast<std::uint64_t>(within.count())) + " ms";
  if (said.code() != node_errc::none && !said.message().empty())
    text += "; " + cut(said.message());
  return {node_errc::timed_out, std::move(text)};
}

} // namespace

supervisor_actor::supervisor_actor(caf::actor_config& config, const supervisor_spec& spec,
                                   std::shared_ptr<internal::roster> roster, supervisor_origin origin)
    : caf::event_based_actor(config),
      within_(bounded_wait(spec.options.within)),
      most_(spec.options.most),
      events_(spec.options.events),
      roster_(std::move(roster)),
      rules_(spec.options, lifetimes_of(spec)) {
  for (const auto& one : spec.children)
    children_.push_back({.name = one.options.name, .options = one.options, .kind = one.kind, .run = nullptr});
  supervisor_activity self{.actor = id(),
                           .name = watched_text(origin.name),
                           .strategy = name_of(spec.options.strategy),
                           .parent = origin.parent,
                           .restarts_max = spec.options.most,
                           .within_ms = spec.options.within.count()};
  for (const auto& one : spec.children)
    self.children.push_back({.name = watched_text(one.options.name), .kind = std::string{one.kind->name()}});
  view_ = std::make_shared<const roster_view>(std::move(self), roster_);
  if (auto* const book = supervisors_of(system()))
    book->enter(view_);
}

caf::behavior supervisor_actor::make_behavior() {
  itself_ = caf::strong_actor_ptr{ctrl()};
  set_exit_handler([this](caf::exit_msg& message) { shut_down(std::move(message.reason)); });
  set_default_handler(caf::drop);
  carry_out(rules_.begin(now()));
  return {[this](const run_news& what) { handle(what.child, what.run, what.news); },
          [this](const run_is_late& what) {
            using enum run_is_late::what;
            (this
                 ->*(what.step == start  ? &supervisor_actor::start_is_late
                     : what.step == stop ? &supervisor_actor::stop_is_late
                                         : &supervisor_actor::kill_is_late))(what.child, what.run);
          },
          [this](const pause_is_over& what) { carry_out(rules_.pause_over(what.ticket, now())); },
          [this](stop_now) { shut_down({}); }};
}

/// Reached in every case, also if the supervisor itself is killed.
void supervisor_actor::on_exit() {
  for (auto& one : children_)
    if (auto run = std::exchange(one.run, nullptr))
      run->kill();
  view_ = nullptr;
  roster_->over(end_of_actor(fail_state() ? fail_state() : end_reason_).reason);
  itself_ = nullptr; // The caller refers to this actor.
}

void supervisor_actor::carry_out(const restart_rules::steps& steps) {
  for (std::size_t i = 0; i < children_.size(); ++i)
    if (rules_.is_to_stop(i))
      roster_->leaves(i);
  for (const auto& step : steps) {
    switch (step.what) {
    case supervision_step::kind::start:
      start(step.child);
      break;
    case supervision_step::kind::stop:
      stop(step.child);
      break;
    case supervision_step::kind::pause:
      pause(step);
      break;
    case supervision_step::kind::give_up:
      give_up(step.child);
      break;
    case supervision_step::kind::finish:
      finish();
      break;
    }
  }
  roster_->note_states([this](std::size_t which) { return rules_.state_of(which); });
}

void supervisor_actor::start(std::size_t which) {
  auto& of = children_[which];
  of.number = ++last_number_;
  of.is_running = false;
  of.is_stopping = false;
  of.is_late = false;
  delayed_send(this, of.options.start_within, run_is_late{run_is_late::what::start, which, of.number});
  of.run = of.kind->start(*this, of.name, of.options.start_within, sink_of(which, of.number));
}

void supervisor_actor::stop(std::size_t which) {
  auto& of = children_[which];
  of.is_stopping = true;
  const auto within = of.options.stop_within.value_or(of.kind->stop_within());
  if (within.count() <= 0)
    return stop_is_late(which, of.number);
  delayed_send(this, within, run_is_late{run_is_late::what::stop, which, of.number});
  of.run->stop();
}

void supervisor_actor::pause(const supervision_step& step) {
  auto event = event_of(supervisor_event::kind::restarting, step.child);
  event.pause = std::chrono::ceil<std::chrono::milliseconds>(step.pause);
  if (step.ticket != 0)
    delayed_send(this, event.pause, pause_is_over{step.ticket});
  events_.tell(event);
}

void supervisor_actor::give_up(std::size_t which) {
  const auto& of = children_[which];
  std::string report = "'" + of.name + "' would be started again, but " + grouped(rules_.restarts())
                       + (rules_.restarts() == 1 ? " restart within " : " restarts within ")
                       + seconds(rules_.restarts_since(now())) + (rules_.restarts() == 1 ? " exceeds" : " exceed")
                       + " the limit of " + grouped(most_) + " within " + seconds(within_) + "; last reasons: ";
  for (const auto& reason : last_reasons_)
    report += (&reason == &last_reasons_.front() ? "" : "; ") + reason;
  auto event = event_of(supervisor_event::kind::gave_up, which);
  event.reason = {node_errc::gave_up, std::move(report)};
  end_reason_ = to_caf_error(event.reason);
  events_.tell(event);
}

void supervisor_actor::handle(std::size_t which, std::uint64_t number, const child_news& news) {
  auto& of = children_[which];
  if (of.number != number || !of.run)
    return; // Of a run that was given up.
  if (news.todo)
    news.todo();
  if (news.started && !of.is_late)
    handle_start(which, *news.started);
  if (news.ended)
    handle_end(which, *news.ended);
}

void supervisor_actor::handle_start(std::size_t which, const caf::actor& actor) {
  auto& of = children_[which];
  of.is_running = true;
  ++of.starts;
  // A child that leaves gets no messages.
  roster_->started(which, rules_.is_to_stop(which) ? caf::actor{} : actor, of.run->process());
  events_.tell(event_of(supervisor_event::kind::child_started, which));
  carry_out(rules_.started(which, now()));
}

void supervisor_actor::handle_end(std::size_t which, const child_end& end) {
  auto& of = children_[which];
  of.run = nullptr;
  auto event = event_of(supervisor_event::kind::child_ended, which);
  event.reason = of.is_late ? lateness(of.options.start_within, end.reason) : end.reason;
  roster_->ended(which, event.reason);
  event.was_stopped = rules_.is_to_stop(which);
  event.is_failed_start = !of.is_running;
  event.exit_status = end.exit_status;
  event.signal = end.signal;
  event.last_lines = end.last_lines;
  event.cause = end.cause;
  if (!event.was_stopped)
    keep_reason(of.name, event.reason);
  events_.tell(event);
  carry_out(std::exchange(of.is_running, false) ? rules_.ended(which, end.is_abnormal, now())
                                                : rules_.start_failed(which, now()));
}

void supervisor_actor::start_is_late(std::size_t which, std::uint64_t number) {
  auto& of = children_[which];
  if (of.number != number || !of.run || of.is_running || of.is_stopping)
    return;
  of.is_late = true;
  delayed_send(this, longest_kill, run_is_late{run_is_late::what::kill, which, of.number});
  of.run->kill();
}

void supervisor_actor::stop_is_late(std::size_t which, std::uint64_t number) {
  auto& of = children_[which];
  if (of.number != number || !of.run)
    return;
  delayed_send(this, longest_kill, run_is_late{run_is_late::what::kill, which, of.number});
  of.run->kill();
}

void supervisor_actor::kill_is_late(std::size_t which, std::uint64_t number) {
  if (children_[which].number != number || !children_[which].run)
    return;
  auto event = event_of(supervisor_event::kind::child_stuck, which);
  event.reason = {node_errc::timed_out, "it was killed " + grouped(static_cast<std::uint64_t>(longest_kill.count()))
                                            + " ms ago, and has not ended"};
  events_.tell(event);
  handle_end(which, {.reason = event.reason});
}

void supervisor_actor::shut_down(caf::error reason) {
  if (rules_.is_ending())
    return;
  end_reason_ = std::move(reason);
  carry_out(rules_.shut_down(now()));
}

void supervisor_actor::finish() {
  quit(end_reason_);
}

supervisor_event supervisor_actor::event_of(supervisor_event::kind what, std::size_t which) const {
  return {.what = what, .child = which, .name = children_[which].name, .starts = children_[which].starts};
}

supervision_time supervisor_actor::now() const {
  return std::chrono::steady_clock::now().time_since_epoch();
}

news_sink supervisor_actor::sink_of(std::size_t which, std::uint64_t number) {
  return [weak = caf::weak_actor_ptr{ctrl()}, which, number](child_news news) {
    if (const auto supervisor = weak.lock())
      supervisor->enqueue(nullptr, caf::make_message_id(), caf::make_message(run_news{which, number, std::move(news)}),
                          nullptr);
  };
}

void supervisor_actor::keep_reason(const std::string& of, const node_error& reason) {
  last_reasons_.push_back("'" + of + "': " + words_of(reason));
  if (last_reasons_.size() > reasons_kept)
    last_reasons_.pop_front();
}

namespace {

class nested final : public child_kind {
public:
  explicit nested(supervisor_spec spec) : spec_(std::move(spec)) {}

  std::shared_ptr<child_run> start(caf::event_based_actor& supervisor, const std::string& name,
                                   std::chrono::milliseconds, news_sink news) const override {
    auto run = std::make_shared<actor_run>(std::move(news));
    run->begin(spawn_supervisor(supervisor.system(), spec_, roster_of(spec_), {supervisor.id(), name}));
    return run;
  }
  std::string_view name() const override { return "supervisor"; }
  std::chrono::milliseconds stop_within() const override { return std::chrono::minutes(1); }

private:
  const supervisor_spec spec_;
};

} // namespace

void stop_supervisor(const caf::actor& supervisor) {
  caf::anon_send(supervisor, stop_now{});
}

std::shared_ptr<const child_kind> supervisor_kind(supervisor_spec spec) {
  return std::make_shared<nested>(std::move(spec));
}

caf::actor spawn_supervisor(caf::actor_system& system, const supervisor_spec& spec, std::shared_ptr<roster> roster,
                            supervisor_origin origin) {
  return system.spawn<supervisor_actor>(spec, std::move(roster), std::move(origin));
}

std::shared_ptr<roster> roster_of(const supervisor_spec& spec) {
  std::vector<roster_entry> all;
  for (std::size_t i = 0; i < spec.children.size(); ++i)
    all.push_back({.name = spec.children[i].options.name, .group = spec.groups[i]});
  return std::make_shared<roster>(std::move(all));
}

} // namespace troupe::internal
