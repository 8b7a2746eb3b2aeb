// A link that is kept connected: the peer comes and goes, and the attempts end.
#include <sstream>

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <troupe/framework/internal/net/address.hpp>

#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

using event_kind = link_event::kind;

/// Records the events.
class recorder {
public:
  link_events events() {
    return {.callback = [this](const link_event& event) {
      std::lock_guard guard{mutex_};
      all_.push_back(event);
      changed_.notify_all();
    }};
  }

  /// Waits for the event of that kind with that number, counted from 1.
  std::optional<link_event> wait_for(event_kind what, int number = 1) {
    std::unique_lock guard{mutex_};
    std::optional<link_event> found;
    changed_.wait_for(guard, 10s, [&] {
      int count = 0;
      for (const auto& event : all_)
        if (event.what == what && ++count == number)
          found = event;
      return found.has_value();
    });
    return found;
  }

  std::vector<event_kind> kinds() {
    std::lock_guard guard{mutex_};
    std::vector<event_kind> result;
    for (const auto& event : all_)
      result.push_back(event.what);
    return result;
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<link_event> all_; // Guarded by mutex_.
};

/// Tries often, so that tests do not wait long.
constexpr reconnect_policy soon{.first_pause = 1ms, .longest_pause = 20ms};

class reconnecting : public two_nodes {
protected:
  reconnecting() { near_options_.store = far_options_.store = std::nullopt; }

  reconnecting_link keep(const reconnect_policy& policy = soon, const link_options& options = {}) {
    auto kept = near().home->keep_connected(address_, {.link = options, .policy = policy, .events = told_.events()});
    if (!kept)
      throw std::runtime_error(kept.error().message());
    return *std::move(kept);
  }

  void far_comes() {
    far();
    publish("echo", far_->system.spawn([]() -> caf::behavior { return {[](int value) { return value; }}; }));
  }

  /// Ends the far node and its links.
  void far_goes() { far_.reset(); }

  int ask_echo(const caf::actor& echo, int value) {
    auto answer = ask<int>(near().system, echo, value);
    return answer ? *answer : -1;
  }

  recorder told_; // Destroyed before the nodes, but after the handles of each test.
};

// Goal: if the peer returns, a new link is made; actors that were reached over the old link stay down.
TEST_F(reconnecting, makes_a_new_link_when_the_peer_has_come_back) {
  near();
  auto kept = keep();
  auto failed = told_.wait_for(event_kind::attempt_failed);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->reason.code(), node_errc::cannot_connect);
  EXPECT_EQ(failed->attempt, 1u);
  EXPECT_EQ(failed->address, address_);
  EXPECT_TRUE(failed->pause);
  EXPECT_FALSE(kept.current());

  far_comes();
  auto connected = told_.wait_for(event_kind::connected);
  ASSERT_TRUE(connected && connected->link);
  EXPECT_GT(connected->attempt, 1u);
  EXPECT_EQ(connected->reason.code(), node_errc::none);
  ASSERT_TRUE(kept.current());
  auto old = connected->link->find("echo");
  ASSERT_TRUE(old) << old.error().message();
  EXPECT_EQ(ask_echo(*old, 1), 1);
  caf::scoped_actor watcher{near().system};
  watcher->monitor(*old);

  far_goes();
  auto lost = told_.wait_for(event_kind::lost);
  ASSERT_TRUE(lost);
  EXPECT_EQ(lost->reason.code(), node_errc::link_down);
  EXPECT_TRUE(lost->pause);
  EXPECT_FALSE(connected->link->is_open());
  bool is_down = false;
  watcher->receive([&](const caf::down_msg& down) { is_down = down.source == old->address(); },
                   caf::after(10s) >> [] {});
  EXPECT_TRUE(is_down);

  far_comes();
  auto again = told_.wait_for(event_kind::connected, 2);
  ASSERT_TRUE(again && again->link);
  EXPECT_FALSE(connected->link->is_open());
  EXPECT_EQ(ask_echo(*old, 2), -1);
  auto fresh = again->link->find("echo");
  ASSERT_TRUE(fresh) << fresh.error().message();
  EXPECT_EQ(ask_echo(*fresh, 3), 3);
  EXPECT_NE(*fresh, *old);
  EXPECT_TRUE(kept.is_active());
  kept.close();
  EXPECT_TRUE(eventually([&] { return !again->link->is_open(); }));
}

TEST_F(reconnecting, tells_an_actor_by_messages) {
  far_comes();
  caf::scoped_actor self{near().system};
  auto kept = near().home->keep_connected(address_,
                                          {.policy = soon, .events = {.listener = caf::actor_cast<caf::actor>(self)}});
  ASSERT_TRUE(kept) << kept.error().message();
  std::vector<event_kind> got;
  auto take = [&] {
    self->receive([&](const link_event& event) { got.push_back(event.what); }, caf::after(10s) >> [] {});
  };
  take();
  far_goes();
  take();
  EXPECT_EQ(got, (std::vector{event_kind::connected, event_kind::lost}));
}

TEST_F(reconnecting, tells_no_actor_of_another_process) {
  far_comes();
  connect();
  auto refused = near().home->keep_connected(address_, {.policy = soon, .events = {.listener = find("echo")}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), node_errc::bad_option) << refused.error().message();
}

TEST_F(reconnecting, gives_up_after_the_limit_and_says_so) {
  auto kept = keep({.first_pause = 1ms, .attempts_max = 3});
  auto end = told_.wait_for(event_kind::given_up);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->attempt, 3u);
  EXPECT_EQ(end->reason.code(), node_errc::cannot_connect);
  EXPECT_EQ(told_.kinds(), (std::vector{event_kind::attempt_failed, event_kind::attempt_failed,
                                        event_kind::attempt_failed, event_kind::given_up}));
  EXPECT_TRUE(told_.wait_for(event_kind::attempt_failed, 2)->pause);
  EXPECT_FALSE(told_.wait_for(event_kind::attempt_failed, 3)->pause);
  EXPECT_FALSE(kept.is_active());
}

TEST_F(reconnecting, without_a_policy_ends_with_the_first_link) {
  far_comes();
  auto kept = keep({.kind = reconnect::none});
  ASSERT_TRUE(told_.wait_for(event_kind::connected));
  far_goes();
  ASSERT_TRUE(told_.wait_for(event_kind::given_up));
  EXPECT_EQ(told_.kinds(), (std::vector{event_kind::connected, event_kind::lost, event_kind::given_up}));
}

TEST_F(reconnecting, is_not_tried_again_where_that_cannot_help) {
  far_options_.accepted_links.serializers = {"json"};
  far();
  auto kept = keep(soon, {.serializers = {"msgpack"}});
  auto end = told_.wait_for(event_kind::given_up);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->reason.code(), node_errc::nothing_in_common) << end->reason.message();
  EXPECT_EQ(end->attempt, 1u);

  auto& home = *near().home;
  EXPECT_EQ(home.keep_connected(address_, {.link = {.serializers = {"nobody's"}}}).error().code(),
            node_errc::bad_option);
  EXPECT_EQ(home.keep_connected("tcp//here").error().code(), node_errc::bad_address);
  EXPECT_EQ(home.keep_connected(address_, {.policy = {.jitter = 2}}).error().message(),
            "reconnect policy: jitter of 2.000000: it is from 0 to 1");
}

// Goal: attempts continue after a refusal, because the peer may admit this node later.
TEST_F(reconnecting, goes_on_where_the_peer_refuses) {
  const std::string key = "a secret of at least 16 bytes";
  far_options_.listen = {"tcp://127.0.0.1:0"};
  far_options_.accepted_links.credentials.secret = key + " and another";
  far();
  auto kept = keep(soon, {.credentials = {.secret = key}});
  auto refused = told_.wait_for(event_kind::attempt_failed, 2);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->reason.code(), node_errc::refused) << refused->reason.message();
  far_goes();
  far_options_.listen = {address_};
  far_options_.accepted_links.credentials.secret = key;
  far();
  EXPECT_TRUE(told_.wait_for(event_kind::connected));
}

/// Runs with each transport; one address is a name that has to be resolved.
class reconnecting_by : public reconnecting, public testing::WithParamInterface<const char*> {};

INSTANTIATE_TEST_SUITE_P(all, reconnecting_by,
                         testing::Values("unix://@", "inproc://", "tcp://127.0.0.1:0", "tcp://localhost:0"),
                         [](const auto& address) {
                           std::string name{address.param};
                           std::erase_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); });
                           return name;
                         });

TEST_P(reconnecting_by, any_transport_comes_back) {
  std::string at = GetParam();
  link_options options{.credentials = {.secret = "a secret of at least 16 bytes"}};
  far_options_.accepted_links = options;
  far_options_.listen = {at.starts_with("tcp") ? at : at + unique_name("reconnect")};
  far();
  auto kept = keep(soon, options);
  ASSERT_TRUE(told_.wait_for(event_kind::connected));
  far_goes();
  ASSERT_TRUE(told_.wait_for(event_kind::lost));
  far_options_.listen = {address_};
  far();
  EXPECT_TRUE(told_.wait_for(event_kind::connected, 2));
}

/// A unix socket that accepts connections and sends nothing.
class silent_listener {
public:
  explicit silent_listener(const std::string& name, int waiting_max = 16) {
    socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    at_.sun_family = AF_UNIX;
    name.copy(at_.sun_path + 1, sizeof(at_.sun_path) - 2);
    size_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
    EXPECT_EQ(::bind(socket_, reinterpret_cast<const sockaddr*>(&at_), size_), 0);
    EXPECT_EQ(::listen(socket_, waiting_max), 0);
  }
  silent_listener(const silent_listener&) = delete;
  silent_listener& operator=(const silent_listener&) = delete;
  ~silent_listener() { ::close(socket_); }

  /// Connects to itself, which takes a place in its queue. Returns -1 if the queue is full.
  [[nodiscard]] int dial() const {
    int dialed = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (::connect(dialed, reinterpret_cast<const sockaddr*>(&at_), size_) == 0)
      return dialed;
    ::close(dialed);
    return -1;
  }

  /// Accepts the next connection; its reads time out after 10 s.
  [[nodiscard]] int accept() const {
    int accepted = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
    timeval limit{.tv_sec = 10, .tv_usec = 0};
    ::setsockopt(accepted, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    return accepted;
  }

private:
  int socket_ = -1;
  sockaddr_un at_{};
  socklen_t size_ = 0;
};

/// Returns true if the other end closes the connection. Skips the data before that.
bool ends(int connection) {
  std::array<char, 4096> skipped;
  ssize_t count = 0;
  while ((count = ::recv(connection, skipped.data(), skipped.size(), 0)) > 0) {
  }
  return count == 0 || errno == ECONNRESET;
}

/// Returns true if a byte arrives.
bool greets(int connection) {
  char byte;
  return ::recv(connection, &byte, 1, 0) == 1;
}

class reconnecting_to_a_silent_peer : public reconnecting {
protected:
  reconnecting_to_a_silent_peer() {
    address_ = "unix://@" + name_;
    options_.connect_timeout = 1h; // Nothing times out here.
    near();
  }

  const std::string name_ = unique_name("silent");
  link_options options_;
};

TEST_F(reconnecting_to_a_silent_peer, stops_at_once_in_the_handshake) {
  silent_listener peer{name_};
  auto kept = keep(soon, options_);
  int connection = peer.accept();
  ASSERT_TRUE(greets(connection));
  kept.stop();
  EXPECT_FALSE(kept.is_active());
  EXPECT_TRUE(ends(connection));
  EXPECT_EQ(told_.kinds(), std::vector<event_kind>{});
  ::close(connection);
}

TEST_F(reconnecting_to_a_silent_peer, ends_at_once_with_its_node_in_the_handshake) {
  silent_listener peer{name_};
  auto kept = keep(soon, options_);
  int connection = peer.accept();
  ASSERT_TRUE(greets(connection));
  near().home.reset();
  EXPECT_FALSE(kept.is_active());
  EXPECT_FALSE(kept.current());
  EXPECT_TRUE(ends(connection));
  ::close(connection);
}

// Method: a full listen queue keeps the dial from completing.
TEST_F(reconnecting_to_a_silent_peer, stops_at_once_while_dialing_and_blocks_nobody) {
  silent_listener peer{name_, 0};
  std::vector<int> filling;
  for (int one = peer.dial(); one >= 0; one = peer.dial())
    filling.push_back(one);
  ASSERT_FALSE(filling.empty());
  auto kept = keep(soon, options_);
  far_options_.listen = {"unix://@" + unique_name("other")};
  far();
  auto other = near().home->connect(far_->home->addresses().front(), {}); // The I/O thread is free.
  EXPECT_TRUE(other) << other.error().message();
  kept.stop();
  EXPECT_EQ(told_.kinds(), std::vector<event_kind>{});
  for (int one : filling)
    ::close(one);
}

TEST_F(reconnecting_to_a_silent_peer, dials_on_while_the_listeners_queue_is_full) {
  silent_listener peer{name_, 0};
  std::vector<int> filling;
  for (int one = peer.dial(); one >= 0; one = peer.dial())
    filling.push_back(one);
  auto kept = keep(soon, options_);
  for (int one : filling) {
    ::close(peer.accept());
    ::close(one);
  }
  int connection = peer.accept();
  EXPECT_TRUE(greets(connection));
  ::close(connection);
}

TEST_F(reconnecting_to_a_silent_peer, takes_no_longer_than_its_options_say) {
  silent_listener peer{name_};
  auto kept = keep({.kind = reconnect::none}, {.connect_timeout = 50ms});
  auto failed = told_.wait_for(event_kind::attempt_failed);
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->reason.code(), node_errc::timed_out) << failed->reason.message();
}

TEST_F(reconnecting, ends_with_its_node_while_it_waits) {
  auto kept = keep({.first_pause = 1h, .longest_pause = 1h});
  ASSERT_TRUE(told_.wait_for(event_kind::attempt_failed));
  near().home.reset();
  EXPECT_FALSE(kept.is_active());
  EXPECT_EQ(told_.kinds(), std::vector{event_kind::attempt_failed});
}

TEST_F(reconnecting, stops_at_once_while_it_waits_and_leaves_an_open_link) {
  auto waiting = keep({.first_pause = 1h, .longest_pause = 1h});
  ASSERT_TRUE(told_.wait_for(event_kind::attempt_failed));
  waiting.stop();
  far_comes();
  std::optional<link> left;
  {
    auto kept = keep();
    ASSERT_TRUE(told_.wait_for(event_kind::connected));
    left = kept.current();
  }
  ASSERT_TRUE(left);
  auto echo = left->find("echo");
  ASSERT_TRUE(echo) << echo.error().message();
  EXPECT_EQ(ask_echo(*echo, 4), 4);
}

TEST_F(reconnecting, may_be_stopped_right_away_and_by_its_own_callback) {
  near();
  for (int i = 0; i < 50; ++i)
    auto kept = near().home->keep_connected("tcp://localhost:1", {.policy = soon});
  // The callback owns the object that calls it.
  auto owned = std::make_shared<std::optional<reconnecting_link>>();
  std::promise<void> done;
  std::promise<void> may_begin;
  auto kept = near().home->keep_connected(
      address_, {.policy = soon,
                 .events = {.callback = [owned, &done, begin = may_begin.get_future().share()](const link_event&) {
                   begin.wait();
                   owned->reset();
                   done.set_value();
                 }}});
  ASSERT_TRUE(kept) << kept.error().message();
  owned->emplace(*std::move(kept));
  may_begin.set_value();
  EXPECT_EQ(done.get_future().wait_for(10s), std::future_status::ready);
  std::weak_ptr<std::optional<reconnecting_link>> still{owned};
  owned.reset();
  EXPECT_TRUE(eventually([&] { return still.expired(); }));
}

TEST_F(reconnecting, stops_when_another_takes_its_place) {
  auto kept = keep({.first_pause = 1h, .longest_pause = 1h});
  ASSERT_TRUE(told_.wait_for(event_kind::attempt_failed));
  kept = keep(soon); // This stops the first one.
  EXPECT_TRUE(kept.is_active());
  EXPECT_TRUE(told_.wait_for(event_kind::attempt_failed, 3));
}

TEST(a_configured_node, keeps_connected_as_its_configuration_says) {
  const auto address = "unix://@" + unique_name("kept");
  type_registry types;
  family_set families;
  system_config config;
  std::istringstream file{"troupe.node.store.enabled = false\n"
                          "troupe.links.default { reconnect { first-pause = 1ms attempts-max = 2 } }"};
  ASSERT_FALSE(config.parse({}, file));
  caf::actor_system system{config};
  auto home = node::open(system, types, families);
  ASSERT_TRUE(home) << home.error().message();
  recorder told;
  auto kept = home->keep_connected(address, {.events = told.events()});
  ASSERT_TRUE(kept) << kept.error().message();
  auto end = told.wait_for(event_kind::given_up);
  ASSERT_TRUE(end);
  EXPECT_EQ(end->attempt, 2u);
}

} // namespace
} // namespace troupe::tests
