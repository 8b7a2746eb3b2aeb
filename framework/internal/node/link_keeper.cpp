#include <troupe/framework/internal/node/link_keeper.hpp>

#include <random>
#include <utility>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>
#include <troupe/framework/internal/caf_port/messages.hpp>
#include <troupe/framework/internal/link/node_link.hpp>
#include <troupe/framework/internal/node/node_core.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>
#include <troupe/framework/internal/words/failing.hpp>
#include <troupe/framework/internal/words/log.hpp>

namespace troupe::internal {

namespace {

/// Whether the next dial would fail in the same way, unless an earlier one has worked. In that case the cause may be
/// temporary, such as a file that is being replaced or a peer restarted with other options.
bool is_for_good(node_errc code) {
  return code == node_errc::bad_option || code == node_errc::nothing_in_common;
}

} // namespace

link_keeper::link_keeper(std::shared_ptr<node_core> node, destination to, const reconnect_policy& policy,
                         const link_events& events)
    : node_(std::move(node)),
      to_(std::make_shared<destination>(std::move(to))),
      callback_(events.callback),
      listener_(caf::actor_cast<caf::strong_actor_ptr>(events.listener).get()),
      pauses_(policy, std::random_device{}()),
      timer_(node_->io()) {}

std::expected<std::shared_ptr<link_keeper>, node_error>
link_keeper::make(std::shared_ptr<node_core> node, std::string_view address, const link_options& options,
                  const reconnect_policy& policy, link_events events) {
  if (auto problem = problem_of(policy); !problem.empty())
    return bad_option("reconnect policy: " + problem);
  if (events.listener && events.listener.node() != node->system().node())
    return bad_option("the listener of a reconnecting link must be an actor of this process");
  auto to = destination::make(address, options, node->families());
  if (!to)
    return std::unexpected{std::move(to).error()};
  return std::shared_ptr<link_keeper>{new link_keeper{std::move(node), *std::move(to), policy, events}};
}

void link_keeper::begin() {
  post_to(node_->io(), [self = shared_from_this()] { self->attempt(); });
}

void link_keeper::stop() {
  over_ = true;
  if (teller_.load() != std::this_thread::get_id()) { // Otherwise tell() clears it after the callback.
    std::function<void(const link_event&)> dropped;   // Destroyed outside the lock: it may hold the reconnecting_link.
    std::lock_guard none_under_way{telling_};
    dropped.swap(callback_);
  }
  node_->dials().let_go(shared_from_this());
}

void link_keeper::clean_up() {
  timer_.cancel();
  const auto unfinished = std::exchange(attempt_, nullptr);
  auto opened = unfinished ? unfinished->cancel() : nullptr;
  if (opened && closes_)
    opened->close("the connect was abandoned", std::chrono::milliseconds{0});
  else if (opened) // It opened just now, and stays open like links that were reported.
    hold(std::move(opened));
}

std::shared_ptr<node_link> link_keeper::current() const {
  std::lock_guard guard{mutex_};
  return link_ && link_->is_open() ? link_ : nullptr;
}

void link_keeper::attempt() {
  if (is_over())
    return;
  ++attempts_;
  attempt_ = connecting::start(
      node_, to_, std::chrono::steady_clock::now() + *to_->options().connect_timeout,
      {.done = [self = shared_from_this()](connecting::result connected) { self->on_connected(std::move(connected)); },
       .ended = [self = shared_from_this()](const node_error& reason) { self->on_ended(reason); }});
}

void link_keeper::on_connected(connecting::result connected) {
  attempt_ = nullptr;
  if (connected)
    hold(*connected);
  if (is_over()) {
    if (connected && closes_)
      (*connected)->close("the connect was abandoned", std::chrono::milliseconds{0});
    return;
  }
  if (!connected)
    return fail(connected.error());
  has_worked_ = true;
  opened_at_ = seconds_clock::now();
  pauses_.connected();
  auto event = event_of(link_event::kind::connected, {node_errc::none, {}});
  event.link.emplace(*std::move(connected));
  tell(event);
}

void link_keeper::on_ended(const node_error& reason) {
  hold(nullptr);
  if (is_over())
    return;
  auto lived = std::chrono::duration_cast<std::chrono::milliseconds>(seconds_clock::now() - opened_at_);
  auto event = event_of(link_event::kind::lost, reason);
  attempts_ = 0;
  go_on_after(pauses_.lost(lived), std::move(event));
}

void link_keeper::hold(std::shared_ptr<node_link> link) {
  std::lock_guard guard{mutex_};
  link_.swap(link);
}

void link_keeper::fail(const node_error& reason) {
  auto pause = pauses_.failed();
  if (!has_worked_ && is_for_good(reason.code()))
    pause = std::nullopt;
  go_on_after(pause, event_of(link_event::kind::attempt_failed, reason));
}

void link_keeper::go_on_after(std::optional<std::chrono::milliseconds> pause, link_event event) {
  event.pause = pause;
  node_->lines().say(log_level::info,
                     to_->at().text + (event.what == link_event::kind::lost ? " is lost: " : " cannot be reached: ")
                         + event.reason.message()
                         + (pause ? "; dialed again in " + std::to_string(pause->count()) + " ms" : "; given up"));
  if (pause)
    wait(*pause);
  tell(event);
  if (pause || is_over())
    return;
  event.what = link_event::kind::given_up;
  tell(event);
  stop();
}

void link_keeper::wait(std::chrono::milliseconds pause) {
  timer_.expires_after(pause);
  timer_.async_wait([weak = weak_from_this()](std::error_code cancelled) {
    if (auto self = weak.lock(); self && !cancelled)
      self->attempt();
  });
}

void link_keeper::tell(const link_event& event) {
  // Destroyed outside the lock: either may hold the reconnecting_link.
  std::function<void(const link_event&)> dropped;
  auto listener = listener_.lock();
  std::lock_guard guard{telling_};
  if (event.what == link_event::kind::given_up ? over_.exchange(true) : over_.load())
    return;
  teller_ = std::this_thread::get_id();
  if (callback_)
    callback_(event);
  teller_ = std::thread::id{};
  if (is_over()) // Stopped by the callback.
    dropped.swap(callback_);
  if (listener)
    listener->enqueue(nullptr, caf::make_message_id(), caf::make_message(event), nullptr);
}

link_event link_keeper::event_of(link_event::kind what, const node_error& reason) const {
  return {.what = what, .address = to_->at().text, .attempt = attempts_, .reason = reason};
}

} // namespace troupe::internal
