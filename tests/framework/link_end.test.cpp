// Tests the effects on actors, requests and objects when a link ends.
#include <mutex>

#include "log_lines.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

/// Promises that are never kept.
struct promises {
  std::mutex mutex;
  std::vector<caf::response_promise> made;
  bool is_over = false;
  /// Drops these promises and all later ones, because they refer to the actors that made them.
  void end() {
    std::lock_guard guard{mutex};
    is_over = true;
    made.clear();
  }
};

/// Promises to answer and never does. Counts the requests.
caf::behavior silent(caf::event_based_actor* self, std::shared_ptr<std::atomic<int>> asked,
                     std::shared_ptr<promises> promised) {
  return {[=](int) {
    auto promise = self->make_response_promise<int>();
    {
      std::lock_guard guard{promised->mutex};
      if (!promised->is_over)
        promised->made.push_back(promise);
    }
    ++*asked;
    return promise;
  }};
}

/// Both ends have the same number of I/O threads.
class link_end : public two_nodes, public testing::WithParamInterface<std::size_t> {
protected:
  link_end() { far_options_.io_threads = near_options_.io_threads = GetParam(); }
  ~link_end() override { promised_->end(); }

  caf::actor silent_remote() {
    publish("silent", far().system.spawn(silent, asked_, promised_));
    connect();
    return find("silent");
  }

  std::shared_ptr<promises> promised_ = std::make_shared<promises>();
  std::shared_ptr<std::atomic<int>> asked_ = std::make_shared<std::atomic<int>>(0);
};

/// Monitors the actor without keeping a handle to it.
caf::behavior watcher(caf::event_based_actor* self, const caf::actor& whom,
                      const std::shared_ptr<std::atomic<int>>& downs) {
  self->set_down_handler([downs](const caf::down_msg&) { ++*downs; });
  self->monitor(whom);
  return {[](int) {}};
}

// Method: the peer hands over an actor of its own and closes the link. The receiver of the handle monitors the actor
// before, while and after the link ends.
TEST_P(link_end, is_told_to_whoever_monitors_at_that_moment_and_keeps_no_handle) {
  constexpr int rounds = 500;
  const auto downs = std::make_shared<std::atomic<int>>(0);
  const auto spawned = std::make_shared<std::atomic<int>>(0);
  std::mutex mutex;
  std::vector<caf::actor> watchers; // Kept alive: an actor that is gone gets no message.
  publish("hub", far().system.spawn([&, spawned, downs](caf::event_based_actor* self) -> caf::behavior {
    return {[&, self, spawned, downs](const caf::actor& whom) {
      ++*spawned;
      auto made = self->system().spawn(watcher, whom, downs);
      const std::lock_guard guard{mutex};
      watchers.push_back(std::move(made));
    }};
  }));
  for (int round = 0; round < rounds; ++round) {
    connect();
    const auto hub = find("hub");
    caf::anon_send(hub, near().system.spawn(silent, asked_, promised_));
    for (const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(round % 200);
         std::chrono::steady_clock::now() < end;) {
    }
    link_->close();
  }
  ASSERT_TRUE(eventually([&] { return far().home->links().empty(); }));
  EXPECT_TRUE(eventually([&] { return *downs == *spawned; })) << *downs << " of " << *spawned;
  EXPECT_GT(*spawned, 0);
  const std::lock_guard guard{mutex};
  for (const auto& each : watchers)
    caf::anon_send_exit(each, caf::exit_reason::kill);
}

TEST_P(link_end, proxies_go_down) {
  auto remote = silent_remote();
  caf::scoped_actor self{near().system};
  self->monitor(remote);
  far_.reset();
  self->receive([](const caf::down_msg& down) { EXPECT_EQ(down.reason, caf::exit_reason::remote_link_unreachable); },
                caf::after(10s) >> [] { ADD_FAILURE() << "no down message"; });
}

TEST_P(link_end, pending_requests_fail_at_once) {
  auto remote = silent_remote();
  caf::scoped_actor self{near().system};
  auto request = self->request(remote, caf::infinite, 1);
  ASSERT_TRUE(eventually([&] { return asked_->load() == 1; }));
  link_->close();
  std::string error;
  request.receive([](int) {}, [&](caf::error& reason) { error = troupe::text_of(reason); });
  EXPECT_NE(error.find("the link to far is down"), std::string::npos) << error;
}

TEST_P(link_end, later_requests_fail_at_once) {
  auto remote = silent_remote();
  link_->close();
  ASSERT_TRUE(eventually([&] { return !link_->is_open(); }));
  auto answer = ask<int>(near().system, remote, 1);
  EXPECT_NE(text_of(answer).find("is down"), std::string::npos);
  caf::anon_send(remote, 1);
  EXPECT_GE(link_->stats().undelivered, 2u);
}

TEST_P(link_end, lookups_fail) {
  silent_remote();
  link_->close();
  ASSERT_TRUE(eventually([&] { return !link_->is_open(); }));
  EXPECT_EQ(link_->find("silent").error().code(), node_errc::link_down);
}

TEST_P(link_end, the_peer_drops_what_it_held_for_this_end) {
  auto ended = std::make_shared<std::atomic<bool>>(false);
  publish("keeper", far().system.spawn([](caf::event_based_actor*) -> caf::behavior {
    auto kept = std::make_shared<std::vector<caf::actor>>();
    return {[kept](const caf::actor& guest) {
      kept->push_back(guest);
      return 1;
    }};
  }));
  connect();
  {
    auto guest = near().system.spawn([]() -> caf::behavior { return {[](int) {}}; });
    guest->attach_functor([ended](const caf::error&) { *ended = true; });
    ASSERT_EQ(ask<int>(near().system, find("keeper"), guest), 1);
  }
  EXPECT_FALSE(*ended); // Only the keeper at the far end refers to it.
  link_->close();
  EXPECT_TRUE(eventually([&] { return ended->load(); }));
}

TEST_P(link_end, connecting_again_makes_a_new_link) {
  auto old = silent_remote();
  link_->close();
  ASSERT_TRUE(eventually([&] { return !link_->is_open(); }));
  connect();
  auto fresh = find("silent");
  caf::anon_send(fresh, 1);
  EXPECT_TRUE(eventually([&] { return asked_->load() == 1; }));
  EXPECT_FALSE(ask<int>(near().system, old, 1));
}

TEST_P(link_end, a_node_ends_with_links_open_and_messages_on_their_way) {
  auto remote = silent_remote();
  for (int i = 0; i < 1000; ++i)
    caf::anon_send(remote, i);
  near_->home.reset(); // Writes out all sent messages.
  EXPECT_TRUE(eventually([&] { return asked_->load() == 1000; })) << asked_->load();
}

TEST_P(link_end, large_messages_that_were_half_written_hold_nothing) {
  // The frames of a message borrow its values and keep its sender. If only its own message refers to an actor, that
  // actor must not keep its system from ending.
  auto stuck = publish("stuck", far().system.spawn(silent, asked_, promised_));
  connect({.share_store = false});
  auto remote = find("stuck");
  for (int i = 0; i < 10; ++i)
    near().system.spawn([remote](caf::event_based_actor* self) { self->send(remote, std::string(8 << 20, 'x')); });
  link_->close();
}

// Goal: chunked messages have left completely before the peer learns that the link ends.
TEST_P(link_end, large_messages_leave_before_the_goodbye) {
  far_options_.store = near_options_.store = std::nullopt;
  near_options_.drain_timeout = 10s;
  auto read = std::make_shared<std::atomic<int>>(0);
  publish("sink", far().system.spawn([read](caf::event_based_actor*) -> caf::behavior {
    return {[=](const std::string&) { ++*read; }};
  }));
  for (const auto size : {66'000, 1'000'000, 7'000'000})
    for (const bool ends_node : {false, true}) {
      const auto count = 7'000'000 / size;
      *read = 0;
      connect();
      auto sink = find("sink");
      for (int i = 0; i < count; ++i)
        caf::anon_send(sink, std::string(static_cast<std::size_t>(size), 'x'));
      if (ends_node) {
        sink = nullptr;
        link_.reset();
        near_.reset();
      } else {
        link_->close();
      }
      EXPECT_TRUE(eventually([&] { return *read == count; })) << *read << " of " << count << ", " << size;
    }
}

TEST_P(link_end, what_had_not_left_is_said) {
  far_options_.store = near_options_.store = std::nullopt;
  near_options_.drain_timeout = 50ms;
  publish("stuck", far().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
    self->set_default_handler(caf::skip); // Nothing is ever consumed.
    return {[](int) {}};
  }));
  const log_lines log{log_level::warning};
  connect({.actor_window_bytes = 64_KiB});
  auto stuck = find("stuck");
  for (int i = 0; i < 100; ++i)
    caf::anon_send(stuck, std::string(10'000, 'x'));
  link_->close();
  EXPECT_TRUE(eventually([&] { return log.with(" messages to far were not sent: ") == 1; })) << log.text();
}

// CAF's accessors would read through the null pointer that such an error holds.
TEST_P(link_end, the_reason_of_an_actor_that_ended_in_good_order_can_be_shown) {
  auto actor = publish("brief", far().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
    return {[self](int) { self->quit(); }};
  }));
  connect();
  auto remote = find("brief");
  caf::scoped_actor self{near().system};
  self->monitor(remote);
  self->send(remote, 1);
  std::optional<node_error> reason;
  self->receive([&](const caf::down_msg& down) { reason = to_node_error(down.reason); },
                caf::after(10s) >> [] { ADD_FAILURE() << "no down message"; });
  ASSERT_TRUE(reason);
  EXPECT_EQ(reason->code(), node_errc::task_failed);
  EXPECT_EQ(reason->message(), "no error");
}

TEST_P(link_end, an_actor_that_has_ended_is_let_go_however_often_it_was_monitored) {
  auto actor = far().system.spawn(silent, asked_, promised_);
  auto weak = caf::actor_cast<caf::weak_actor_ptr>(actor);
  publish("mortal", actor);
  connect();
  {
    auto remote = find("mortal");
    caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
    for (int i = 0; i < 3; ++i) {
      caf::scoped_actor self{near().system};
      self->monitor(remote);
      self->receive([](const caf::down_msg&) {}, caf::after(10s) >> [] { ADD_FAILURE() << "no down message"; });
    }
  }
  far().home->unpublish("mortal");
  actor = nullptr;
  EXPECT_TRUE(eventually([&] { return caf::actor_cast<caf::strong_actor_ptr>(weak) == nullptr; }));
}

TEST_P(link_end, requests_in_both_directions_end_while_the_link_breaks) {
  for (int round = 0; round < 20; ++round) {
    link_.reset();
    near_.reset();
    auto remote = [&] {
      if (round == 0)
        return silent_remote();
      connect();
      return find("silent");
    }();
    std::atomic<bool> stop{false};
    std::jthread flood{[&] {
      while (!stop)
        caf::anon_send(remote, 1);
    }};
    caf::scoped_actor self{near().system};
    auto request = self->request(remote, caf::infinite, 1);
    std::jthread closer{[&] { link_->close(); }};
    bool failed = false;
    request.receive([](int) {}, [&](caf::error&) { failed = true; });
    EXPECT_TRUE(failed);
    stop = true;
  }
}

INSTANTIATE_TEST_SUITE_P(with, link_end, testing::Values(1, 2, 4),
                         [](const auto& which) { return std::to_string(which.param) + "_io_threads"; });

} // namespace
} // namespace troupe::tests
