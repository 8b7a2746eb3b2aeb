#include <troupe/framework/internal/node/link_keeper.hpp>

#include <random>
#include <utility>

#include <asio/post.hpp>

#include <caf/actor_cast.hpp>
#include <caf/message.hpp>

#include <troupe/framework/internal/link/link_core.hpp>
#include <troupe/framework/internal/net/inproc.hpp>
#include <troupe/framework/internal/node/node_core.hpp>
#include <troupe/framework/internal/words/log.hpp>

namespace troupe::internal {

namespace {

// How often a lookup is asked whether it is done: it cannot tell, since it may outlive the I/O thread.
constexpr std::chrono::milliseconds lookup_pause{5};

/// What the next dial would fail with as well, unless it has worked before: then something has changed on the way, a
/// file that is just being replaced, a peer with other options, and may change again.
bool is_for_good(node_errc code) {
  return code == node_errc::bad_option || code == node_errc::nothing_in_common;
}

} // namespace

link_keeper::link_keeper(std::shared_ptr<node_core> node, address at, const link_options& options,
                         const reconnect_policy& policy, const link_events& events)
    : node_(std::move(node)),
      at_(std::move(at)),
      options_(options),
      callback_(events.callback),
      listener_(caf::actor_cast<caf::strong_actor_ptr>(events.listener).get()),
      pauses_(policy, std::random_device{}()),
      timer_(node_->io()) {}

std::expected<std::shared_ptr<link_keeper>, node_error>
link_keeper::make(std::shared_ptr<node_core> node, std::string_view address, const link_options& options,
                  const reconnect_policy& policy, link_events events) {
  auto at = parse_address(address);
  if (!at)
    return std::unexpected{std::move(at).error()};
  if (auto problem = problem_of(policy); !problem.empty())
    return std::unexpected{node_error{node_errc::bad_option, "reconnect policy: " + problem}};
  if (events.listener && events.listener.node() != node->system().node())
    return std::unexpected{node_error{node_errc::bad_option,
                                      "the listener of a kept link is an actor of another process: events stay here"}};
  if (auto probe = link_core::make(node, options, link_core::role::dialer, nullptr); !probe)
    return std::unexpected{std::move(probe).error()};
  std::shared_ptr<link_keeper> made{new link_keeper{std::move(node), *std::move(at), options, policy, events}};
  // With plain TCP it depends on where the name leads, which may change.
  if (made->at_.kind != transport_kind::tcp) {
    auto security = security_for_dialing(made->at_, {}, options.credentials);
    if (!security)
      return std::unexpected{std::move(security).error()};
    made->security_ = std::make_shared<const link_security>(*std::move(security));
  }
  return made;
}

void link_keeper::begin() {
  asio::post(node_->io(), [self = shared_from_this()] { self->attempt(); });
}

void link_keeper::stop() {
  over_ = true;
  if (teller_.load() != std::this_thread::get_id()) { // Else tell() does the same when the callback has returned.
    std::function<void(const link_event&)> dropped;   // Outside of the lock: it may hold the kept_link.
    std::lock_guard none_under_way{telling_};
    dropped.swap(callback_);
  }
  node_->stop_keeping(shared_from_this());
}

void link_keeper::clean_up() {
  end_attempt();
  if (is_open_)
    return;
  std::unique_lock guard{mutex_};
  if (link_ && link_->is_open() && !closes_)
    return; // Opened just now, and stays like those that were told.
  auto unfinished = std::exchange(link_, nullptr);
  guard.unlock();
  if (unfinished)
    unfinished->close("nobody waits for it any more", std::chrono::milliseconds{0});
}

std::shared_ptr<link_core> link_keeper::current() const {
  std::lock_guard guard{mutex_};
  return link_ && link_->is_open() ? link_ : nullptr;
}

void link_keeper::attempt() {
  if (is_over())
    return;
  ++attempts_;
  until_ = std::chrono::steady_clock::now() + options_.connect_timeout;
  if (at_.kind == transport_kind::inproc) {
    greet(dial_inproc(node_->io(), at_.path));
    return;
  }
  lookup_ = resolve_aside(at_);
  look_for_endpoints();
}

void link_keeper::look_for_endpoints() {
  if (is_over())
    return;
  if (lookup_.wait_for(std::chrono::seconds{0}) == std::future_status::ready) {
    auto endpoints = lookup_.get();
    if (endpoints)
      dial_to(*std::move(endpoints));
    else
      fail(endpoints.error());
  } else if (std::chrono::steady_clock::now() >= until_) {
    fail({node_errc::timed_out, "the host of " + at_.text + " was not found in time"});
  } else {
    wait(lookup_pause, &link_keeper::look_for_endpoints);
  }
}

void link_keeper::dial_to(std::vector<stream_endpoint> endpoints) {
  if (at_.kind == transport_kind::tcp) {
    auto security = security_for_dialing(at_, endpoints, options_.credentials);
    if (!security) {
      fail(security.error());
      return;
    }
    if (!security->caution.empty() && !std::exchange(has_cautioned_, true))
      node_->lines().warn(security->caution);
    security_ = std::make_shared<const link_security>(*std::move(security));
  }
  dialing_ = dialing::start(node_->io(), at_.text, std::move(endpoints), until_,
                            [weak = weak_from_this()](dialing::result connected) {
                              auto self = weak.lock();
                              if (!self || self->is_over())
                                return;
                              if (connected)
                                self->greet(make_transport(*std::move(connected), *self->security_));
                              else
                                self->fail(connected.error());
                            });
}

void link_keeper::greet(std::expected<std::shared_ptr<transport>, node_error> bytes) {
  if (!bytes) {
    fail(bytes.error());
    return;
  }
  auto link = link_core::make(node_, options_, link_core::role::dialer, security_);
  if (!link) {
    fail(link.error());
    return;
  }
  if (!node_->add_link(*link))
    return; // The node ends, and will stop this.
  // Told later: the link is at work when it tells.
  (*link)->tell({.opened =
                     [self = shared_from_this()](const std::expected<void, node_error>& opened) {
                       asio::post(self->node_->io(), [self, opened] { self->on_opened(opened); });
                     },
                 .ended =
                     [self = shared_from_this()](const node_error& reason) {
                       asio::post(self->node_->io(), [self, reason] { self->on_ended(reason); });
                     }});
  {
    std::lock_guard guard{mutex_};
    link_ = *link;
  }
  (*link)->start(*std::move(bytes), time_until(until_));
}

void link_keeper::on_opened(const std::expected<void, node_error>& opened) {
  if (is_over())
    return;
  if (!opened) {
    fail({opened.error().code(), "connecting to " + at_.text + ": " + opened.error().message()});
    return;
  }
  is_open_ = true;
  has_worked_ = true;
  opened_at_ = seconds_clock::now();
  pauses_.connected();
  auto event = event_of(link_event::kind::connected, {node_errc::none, {}});
  event.link.emplace(link_);
  tell(event);
}

void link_keeper::on_ended(const node_error& reason) {
  if (!std::exchange(is_open_, false))
    return; // Was told as an attempt that failed.
  {
    std::lock_guard guard{mutex_};
    link_ = nullptr;
  }
  if (is_over())
    return;
  auto lived = std::chrono::duration_cast<std::chrono::milliseconds>(seconds_clock::now() - opened_at_);
  auto event = event_of(link_event::kind::lost, reason);
  attempts_ = 0;
  go_on_after(pauses_.lost(lived), std::move(event));
}

void link_keeper::fail(const node_error& reason) {
  end_attempt();
  auto pause = pauses_.failed();
  if (!has_worked_ && is_for_good(reason.code()))
    pause = std::nullopt;
  go_on_after(pause, event_of(link_event::kind::attempt_failed, reason));
}

void link_keeper::go_on_after(std::optional<std::chrono::milliseconds> pause, link_event event) {
  event.pause = pause;
  node_->lines().say(log_level::info,
                     at_.text + (event.what == link_event::kind::lost ? " is lost: " : " cannot be reached: ")
                         + event.reason.message()
                         + (pause ? "; dialed again in " + std::to_string(pause->count()) + " ms" : "; given up"));
  if (pause)
    wait(*pause, &link_keeper::attempt);
  tell(event);
  if (pause || is_over())
    return;
  event.what = link_event::kind::given_up;
  tell(event);
  stop();
}

void link_keeper::wait(std::chrono::milliseconds pause, void (link_keeper::*then)()) {
  timer_.expires_after(pause);
  timer_.async_wait([weak = weak_from_this(), then](std::error_code cancelled) {
    if (auto self = weak.lock(); self && !cancelled)
      (*self.*then)();
  });
}

/// Nothing that was begun goes on, but for a link that is open.
void link_keeper::end_attempt() {
  timer_.cancel();
  lookup_ = {};
  if (auto unfinished = std::exchange(dialing_, nullptr))
    unfinished->cancel();
  if (!is_open_) {
    std::lock_guard guard{mutex_};
    if (link_ && link_->is_closed())
      link_ = nullptr;
  }
}

void link_keeper::tell(const link_event& event) {
  // Dropped outside of the lock: either may hold the kept_link.
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
  return {.what = what, .address = at_.text, .attempt = attempts_, .reason = reason};
}

} // namespace troupe::internal
