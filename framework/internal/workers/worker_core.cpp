#include <troupe/framework/internal/workers/worker_core.hpp>

#include <csignal>
#include <cstring>
#include <utility>

#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <asio/io_context.hpp>

#include <troupe/base/longest_wait.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/link/node_link.hpp>
#include <troupe/framework/internal/node/node_core.hpp>
#include <troupe/framework/internal/words/error_stream.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/log.hpp>
#include <troupe/framework/internal/words/text.hpp>

namespace troupe::internal {

namespace {

using std::chrono::milliseconds;

constexpr std::size_t last_errors_max = 20;
constexpr std::size_t last_error_bytes_max = 512;

/// The time for a process whose link could not open to end by itself, because its exit status tells more.
constexpr milliseconds own_end_patience{300};
/// The time for the link to read what a process has sent before its end.
constexpr milliseconds last_bytes_patience{1000};
/// How much longer than allowed the end of an abandoned worker may take. A killed process that waits for a disk ends
/// only when the disk answers.
constexpr milliseconds kill_patience{10'000};

std::string text_of_signal(int number) {
  const auto* name = ::sigabbrev_np(number);
  return name != nullptr ? std::string{"SIG"} + name : "signal " + std::to_string(number);
}

std::string in_ms(milliseconds time) {
  return grouped(static_cast<std::uint64_t>(time.count())) + " ms";
}

/// `ended` has the number 0 if the child still runs. Returns false if the child was reaped, because SIGCHLD is ignored
/// or another part of the program waits for all children. Then its number, and that of its group, may belong to others.
bool state_of_child(int watch, siginfo_t& ended) {
  return ::waitid(P_PIDFD, static_cast<id_t>(watch), &ended, WEXITED | WNOHANG | WNOWAIT) == 0;
}

error_stream& workers_error_stream() {
  static auto* const stream = new error_stream{STDERR_FILENO}; // The thread outlives main.
  return *stream;
}

/// Calls a function of the program, which must not throw.
template <class Function>
void guarded(const std::string& name, Function call) noexcept {
  try {
    call();
  } catch (const std::exception& error) {
    log(log_level::error, "a function given for worker " + name + " has thrown: " + error.what());
  } catch (...) {
    log(log_level::error, "a function given for worker " + name + " has thrown an object that is no std::exception");
  }
}

} // namespace

worker_core::worker_core(worker_loop& loop, std::shared_ptr<node_core> node, destination to, worker_options options,
                         event_function on_event, const caf::strong_actor_ptr& listener,
                         std::optional<memory_group> group)
    : loop_(loop),
      options_(std::move(options)),
      name_(name_of_worker(options_)),
      owner_(::getpid()),
      node_(std::move(node)),
      to_(std::move(to)),
      on_event_(std::move(on_event)),
      listener_(listener.get()),
      group_(std::move(group)),
      patience_(loop.io()) {}

std::expected<std::shared_ptr<worker_core>, node_error> worker_core::launch(std::shared_ptr<node_core> node,
                                                                            worker_options options,
                                                                            event_function on_event,
                                                                            const caf::strong_actor_ptr& listener) {
  if (auto good = check_worker(options); !good)
    return std::unexpected{std::move(good).error()};
  auto to = destination::connected("worker " + name_of_worker(options), options.link, node->families());
  if (!to)
    return std::unexpected{std::move(to).error()};
  std::optional<memory_group> group;
  if (options.limits.memory_bytes) {
    auto made = memory_group::make(*options.limits.memory_bytes);
    if (!made)
      return std::unexpected{std::move(made).error()};
    group = *std::move(made);
  }
  const auto loop = worker_loop::get();
  if (!loop)
    return std::unexpected{loop.error()};
  std::shared_ptr<worker_core> made{new worker_core{**loop, std::move(node), *std::move(to), std::move(options),
                                                    std::move(on_event), listener, std::move(group)}};
  post_to((*loop)->io(), [made] {
    try {
      made->begin();
    } catch (const std::exception& error) {
      made->is_process_over_ = !made->process_;
      made->fail_start({node_errc::spawn_failed,
                        "worker " + made->name_ + " cannot be started: " + one_line(cut(exception_text(error)))});
    }
  });
  return made;
}

// -- any thread

std::shared_ptr<node_link> worker_core::link() const {
  std::lock_guard guard{mutex_};
  return link_ && link_->is_open() ? link_ : nullptr;
}

pid_t worker_core::number() const {
  std::lock_guard guard{mutex_};
  return number_;
}

std::optional<worker_ending> worker_core::ending() const {
  std::lock_guard guard{mutex_};
  return ending_;
}

std::optional<worker_ending> worker_core::wait(milliseconds timeout) const {
  std::unique_lock guard{mutex_};
  if (!worker_loop::is_this_thread())
    changed_.wait_for(guard, bounded_wait(timeout), [this] { return ending_.has_value(); });
  return ending_;
}

std::expected<void, node_error> worker_core::wait_for_start() const {
  const auto patience = options_.start_timeout + kill_patience;
  std::unique_lock guard{mutex_};
  if (!changed_.wait_for(guard, patience, [this] { return started_.has_value(); }))
    return fail(node_errc::timed_out, "worker " + name_ + " has neither connected nor ended within " + in_ms(patience)
                                          + "; a function given for a worker may block the thread that watches them");
  return *started_;
}

void worker_core::stop() {
  post_to(loop_.io(), [self = shared_from_this()] { self->stop_now(); });
}

void worker_core::kill() {
  post_to(loop_.io(), [self = shared_from_this()] {
    self->has_stopped_ = true;
    self->kill_now("by worker_process::kill");
  });
}

void worker_core::abandon() {
  if (::getpid() != owner_)
    return;
  stop();
  std::unique_lock guard{mutex_};
  if (!worker_loop::is_this_thread())
    changed_.wait_for(guard, options_.stop_timeout + kill_patience, [this] { return is_told_; });
  is_silent_ = true;
}

// -- the loop's thread

void worker_core::begin() {
  std::optional<store::options> store;
  if (node_->store())
    store = *node_->options().store;
  auto started = start_worker(options_, store, group_);
  if (!started) {
    is_process_over_ = true;
    group_.reset();
    return fail_start(std::move(started).error());
  }
  process_ = *std::move(started);
  {
    std::lock_guard guard{mutex_};
    number_ = process_->number;
  }
  if (process_->watch) { // First, so that a failure of the rest can kill the process.
    watch_.emplace(loop_.io(), process_->watch.release());
    watch_process();
  }
  output_ = std::make_shared<output_reader>(loop_.io(), process_->output.release(),
                                            [this](std::string_view line) { on_line(line, false); });
  errors_ = std::make_shared<output_reader>(loop_.io(), process_->errors.release(),
                                            [this](std::string_view line) { on_line(line, true); });
  output_->start();
  errors_->start();
  greet();
  if (!watch_) {
    is_status_lost_ = true;
    process_is_over();
  }
}

void worker_core::watch_process() {
  watch_->async_wait(asio::posix::stream_descriptor::wait_read,
                     [self = shared_from_this()](std::error_code) { self->on_process_end(); });
}

void worker_core::greet() {
  const auto on_loop = [self = shared_from_this()](auto member) {
    return [self, member](auto what) {
      post_to(self->loop_.io(),
              [self, member, what = std::move(what)]() mutable { ((*self).*member)(std::move(what)); });
    };
  };
  const auto until = std::chrono::steady_clock::now() + options_.start_timeout + last_bytes_patience;
  attempt_ = std::make_shared<handed_link>(
      node_, *std::exchange(to_, std::nullopt), process_->socket.release(), link_side::acceptor, until,
      connecting::events{.done = on_loop(&worker_core::on_linked), .ended = on_loop(&worker_core::on_link_end)});
  if (auto kept = node_->dials().keep(attempt_); !kept) {
    attempt_ = nullptr;
    fail_start(std::move(kept).error());
    return;
  }
  patience_.expires_after(options_.start_timeout);
  patience_.async_wait([self = shared_from_this()](std::error_code cancelled) {
    if (cancelled || self->state_ != state::starting || self->failure_)
      return;
    self->fail_start({node_errc::timed_out, "worker " + self->name_ + " did not connect within "
                                                + in_ms(self->options_.start_timeout) + " (start_timeout)"});
  });
}

void worker_core::on_linked(connecting::result linked) {
  attempt_ = nullptr;
  if (!linked) {
    if (state_ != state::starting || failure_)
      return;
    failure_ = std::move(linked).error();
    if (!is_process_over_)
      end_within(own_end_patience, "because it has not connected");
    return finish_if_over();
  }
  is_linked_ = true;
  is_link_over_ = false;
  {
    std::lock_guard guard{mutex_};
    link_ = *linked;
  }
  if (state_ != state::starting || failure_ || has_stopped_)
    return (*linked)->close("the worker was stopped", milliseconds{0});
  state_ = state::linked;
  patience_.cancel();
  {
    std::lock_guard guard{mutex_};
    started_.emplace();
  }
  changed_.notify_all();
  worker_event event{.what = worker_event::kind::connected, .name = name_};
  event.link.emplace(*std::move(linked));
  tell(event);
  if (is_process_over_)
    wait_for_link_end();
}

void worker_core::on_link_end(const node_error& reason) {
  is_link_over_ = true;
  std::shared_ptr<node_link> over; // Dropped without the lock.
  {
    std::lock_guard guard{mutex_};
    over.swap(link_);
  }
  if (state_ == state::linked) {
    state_ = state::ending;
    failure_ = reason;
    if (!is_process_over_ && !has_stopped_)
      end_within(options_.stop_timeout,
                 "because it still ran " + in_ms(options_.stop_timeout) + " after its link had ended (stop_timeout)");
  }
  finish_if_over();
}

/// Reaps the process. As long as it is not reaped, the number of its group belongs to nobody else.
void worker_core::on_process_end() {
  siginfo_t ended{};
  const auto is_there = state_of_child(watch_->native_handle(), ended);
  if (is_there && ended.si_pid == 0)
    return watch_process();
  if (is_there) {
    ::kill(-process_->number, SIGKILL);
    int status = 0;
    is_status_lost_ = ::waitpid(process_->number, &status, 0) < 0;
    if (!is_status_lost_)
      process_end_ = processes::ending_of(status);
  } else {
    is_status_lost_ = true;
  }
  process_is_over();
}

void worker_core::process_is_over() {
  if (group_)
    killed_for_memory_ = group_->killed_for_memory();
  is_process_over_ = true;
  std::error_code ignored;
  if (watch_)
    watch_->close(ignored);
  for (const auto& each : {output_, errors_})
    if (each)
      each->close();
  group_.reset();
  patience_.cancel();
  wait_for_link_end();
  finish_if_over();
}

/// After the end of the process: the link may still have bytes to read, or be about to open. It does not see the end of
/// its socket as long as another process has a copy.
void worker_core::wait_for_link_end() {
  if (is_link_over_ && !attempt_)
    return;
  patience_.expires_after(last_bytes_patience);
  patience_.async_wait([self = shared_from_this()](std::error_code cancelled) {
    if (cancelled)
      return;
    if (const auto link = self->link())
      link->close("the worker has ended", milliseconds{0});
    self->let_go_of_attempt();
    self->finish_if_over();
  });
}

void worker_core::on_line(std::string_view line, bool is_error) {
  if (is_error) {
    if (last_errors_.size() == last_errors_max)
      last_errors_.pop_front();
    last_errors_.emplace_back(line.substr(0, last_error_bytes_max));
  }
  if (!options_.output)
    return workers_error_stream().write('[' + name_ + "] " + std::string{line});
  if (!is_silent())
    guarded(name_, [&] { options_.output(line, is_error); });
}

bool worker_core::is_silent() const {
  std::lock_guard guard{mutex_};
  return is_silent_;
}

/// Ends the start for a reason that the process's own end does not explain.
void worker_core::fail_start(node_error why) {
  failure_ = std::move(why);
  let_go_of_attempt();
  kill_now("because " + failure_->message());
  finish_if_over();
}

void worker_core::stop_now() {
  if (std::exchange(has_stopped_, true) || state_ == state::over)
    return;
  if (state_ == state::starting && !failure_)
    return fail_start({node_errc::link_down, "worker " + name_ + " was stopped before it had connected"});
  if (state_ != state::linked)
    return; // It ends already.
  if (const auto link = this->link())
    link->close("the worker was stopped", std::min(*node_->options().drain_timeout, options_.stop_timeout));
  if (!is_process_over_)
    end_within(options_.stop_timeout,
               "because it still ran " + in_ms(options_.stop_timeout) + " after it had been stopped (stop_timeout)");
}

void worker_core::end_within(milliseconds patience, std::string why) {
  patience_.expires_after(patience);
  patience_.async_wait([self = shared_from_this(), why = std::move(why)](std::error_code cancelled) mutable {
    if (!cancelled)
      self->kill_now(std::move(why));
  });
}

void worker_core::kill_now(std::string why) {
  if (is_process_over_ || !watch_)
    return;
  if (killed_because_.empty())
    killed_because_ = std::move(why);
  const auto watch = watch_->native_handle();
  ::syscall(SYS_pidfd_send_signal, watch, SIGKILL, nullptr, 0); // It may have left its group.
  if (siginfo_t ended{}; state_of_child(watch, ended))
    ::kill(-process_->number, SIGKILL);
}

void worker_core::let_go_of_attempt() {
  if (const auto attempt = std::exchange(attempt_, nullptr))
    node_->dials().let_go(attempt);
}

void worker_core::finish_if_over() {
  if (state_ == state::over || !is_process_over_ || !is_link_over_ || attempt_)
    return;
  const auto is_started = is_linked_ && state_ != state::starting;
  state_ = state::over;
  patience_.cancel();
  auto how = made_ending();
  worker_event event{.what = is_started ? worker_event::kind::ended : worker_event::kind::start_failed,
                     .name = name_,
                     .reason = is_started ? failure_.value_or(node_error{node_errc::link_down, "the worker has ended"})
                                          : start_error(how),
                     .ending = how};
  {
    std::lock_guard guard{mutex_};
    if (!started_)
      started_.emplace(std::unexpect, event.reason);
    ending_ = std::move(how);
  }
  changed_.notify_all();
  tell(event);
  {
    std::lock_guard guard{mutex_};
    is_told_ = true;
  }
  changed_.notify_all();
  on_event_ = nullptr;
  node_ = nullptr;
}

worker_ending worker_core::made_ending() const {
  worker_ending how{.last_errors = {last_errors_.begin(), last_errors_.end()}};
  if (is_status_lost_) {
    how.how = worker_ending::kind::unknown;
    how.cause = "status unknown: SIGCHLD is ignored, or another part of this program has waited for the process";
    return how;
  }
  if (!process_end_) {
    how.cause = "the program was not started";
    return how;
  }
  how.how = process_end_->exited ? worker_ending::kind::exited : worker_ending::kind::signaled;
  how.value = process_end_->exited ? process_end_->code : process_end_->signal;
  if (process_end_->exited) {
    how.cause = "exit status " + std::to_string(how.value);
    return how;
  }
  how.cause = text_of_signal(how.value);
  if (how.value != SIGKILL)
    return how;
  how.out_of_memory = killed_for_memory_ > 0 && killed_because_.empty();
  if (how.out_of_memory)
    how.cause += ", for memory (limit " + grouped(*options_.limits.memory_bytes) + " bytes)";
  else
    how.cause += killed_because_.empty() ? ", cause unknown" : " by this process, " + killed_because_;
  return how;
}

node_error worker_core::start_error(const worker_ending& how) const {
  const auto last =
      how.last_errors.empty() ? std::string{} : "; its last error line: " + one_line(how.last_errors.back());
  const auto is_own_end = (process_end_ || is_status_lost_) && killed_because_.empty();
  if (is_own_end && (!failure_ || failure_->code() == node_errc::link_down))
    return {node_errc::spawn_failed, "worker " + name_ + " has ended before it connected: " + how.cause + last};
  if (!failure_)
    return {node_errc::spawn_failed, "worker " + name_ + " was killed before it connected" + last};
  return {failure_->code(), failure_->message() + last};
}

void worker_core::tell(const worker_event& event) {
  if (is_silent())
    return;
  if (on_event_)
    guarded(name_, [&] { on_event_(event); });
  if (const auto listener = listener_.lock())
    listener->enqueue(nullptr, caf::make_message_id(), caf::make_message(event), nullptr);
}

} // namespace troupe::internal
