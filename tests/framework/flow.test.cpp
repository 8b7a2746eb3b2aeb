// Back-pressure between actors: messages that wait, messages that are refused, and notifications. Nothing stalls.
#include "two_nodes.hpp"

#include <atomic>

#include <troupe/framework/link_ready.hpp>

namespace troupe::tests {
namespace {

/// Opens once, for all waiting threads.
class gate {
public:
  void open() {
    std::lock_guard guard{mutex_};
    open_ = true;
    changed_.notify_all();
  }
  /// Waits until the gate opens, for ten seconds at most.
  void pass() {
    std::unique_lock guard{mutex_};
    changed_.wait_for(guard, 10s, [this] { return open_; });
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool open_ = false;
};

const std::string kilobyte(1000, 'k');

class flow : public two_nodes {
protected:
  flow() {
    small_.window_bytes = 64'000;
    small_.actor_window_bytes = 16'000;
    small_.queue_bytes = 16'000;
    small_.actor_queue_bytes = 8'000;
    small_.block_timeout = 0ms;
    far_options_.accepted_links = small_;
  }

  ~flow() override { gate_->open(); }

  /// Publishes an actor that consumes nothing until the gate opens. Then it counts the messages that it gets.
  caf::actor stuck_remote(const std::string& name = "stuck") {
    publish(name, far().system.spawn([gate = gate_, got = got_](caf::event_based_actor*) -> caf::behavior {
      return {[=](const std::string& text) {
                gate->pass();
                got->fetch_add(1);
                return text.size();
              },
              [=](std::uint64_t number) {
                gate->pass();
                got->fetch_add(1);
                return number;
              }};
    }));
    if (!link_)
      connect(small_);
    return find(name);
  }

  caf::actor echo_remote() {
    publish("echo", far().system.spawn([](caf::event_based_actor*) -> caf::behavior {
      return {[](const std::string& text) { return text; }};
    }));
    return find("echo");
  }

  /// Sends until the link refuses a message. Returns how many messages it accepted.
  int fill(const caf::actor& receiver) {
    int taken = 0;
    for (auto refused = link_->stats().refused_at_bound; link_->stats().refused_at_bound == refused && taken < 10'000;
         ++taken)
      caf::anon_send(receiver, kilobyte);
    return taken - 1;
  }

  link_options small_;
  std::shared_ptr<gate> gate_ = std::make_shared<gate>();
  std::shared_ptr<std::atomic<int>> got_ = std::make_shared<std::atomic<int>>(0);
};

TEST_F(flow, what_an_actor_does_not_consume_is_bounded) {
  auto stuck = stuck_remote();
  auto taken = fill(stuck);
  EXPECT_GT(taken, 16);
  EXPECT_LT(taken, 30);
  auto stats = link_->stats();
  EXPECT_LE(stats.unconsumed_bytes_there, 16'000u + 1'300u);
  EXPECT_LE(stats.waiting_bytes, 8'000u);
  gate_->open();
  EXPECT_TRUE(eventually([&] { return *got_ == taken; })) << *got_ << " of " << taken;
  EXPECT_TRUE(eventually([&] { return link_->stats().waiting_bytes == 0; }));
}

TEST_F(flow, a_request_at_the_bound_fails_with_the_numbers) {
  auto stuck = stuck_remote();
  fill(stuck);
  auto answer = ask<std::size_t>(near().system, stuck, kilobyte);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code(), static_cast<std::uint8_t>(node_errc::link_busy));
  auto text = text_of(answer);
  EXPECT_NE(text.find("of 16,000 bytes unconsumed"), std::string::npos) << text;
  EXPECT_NE(text.find("link_ready"), std::string::npos) << text;
}

TEST_F(flow, a_slow_actor_does_not_stall_another) {
  auto stuck = stuck_remote();
  auto echo = echo_remote();
  fill(stuck);
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE((ask<std::string>(near().system, echo, kilobyte)));
}

TEST_F(flow, link_ready_comes_when_there_is_room_again) {
  auto stuck = stuck_remote();
  fill(stuck);
  EXPECT_FALSE(is_ready(stuck));
  caf::scoped_actor self{near().system};
  notify_when_ready(self, stuck);
  self->receive([](const link_ready&) { ADD_FAILURE() << "too early"; }, caf::after(20ms) >> [] {});
  gate_->open();
  self->receive([&](const link_ready& ready) { EXPECT_EQ(ready.receiver, stuck); },
                caf::after(10s) >> [] { ADD_FAILURE() << "no link_ready"; });
  EXPECT_TRUE(is_ready(stuck));
  EXPECT_TRUE((ask<std::size_t>(near().system, stuck, kilobyte)));
}

TEST_F(flow, link_ready_comes_at_once_where_there_is_room_and_at_the_links_end) {
  auto stuck = stuck_remote();
  caf::scoped_actor self{near().system};
  auto expect_ready = [&] {
    self->receive([](const link_ready&) {}, caf::after(10s) >> [] { ADD_FAILURE() << "no link_ready"; });
  };
  notify_when_ready(self, stuck);
  expect_ready();
  notify_when_ready(self, caf::actor_cast<caf::actor>(self->address())); // Local actors always have room.
  expect_ready();
  fill(stuck);
  notify_when_ready(self, stuck);
  link_->close();
  expect_ready();
  EXPECT_FALSE(is_ready(stuck));
}

TEST_F(flow, the_oldest_are_dropped_where_the_policy_says_so) {
  small_.when_full = when_full::drop_oldest;
  auto last = std::make_shared<std::atomic<std::uint64_t>>(0);
  auto first_waiting = std::make_shared<std::atomic<std::uint64_t>>(0);
  publish("numbers", far().system.spawn([=, gate = gate_](caf::event_based_actor*) -> caf::behavior {
    return {[=](std::uint64_t number, const std::string&) {
      gate->pass();
      if (number > *last + 1)
        *first_waiting = number;
      *last = number;
    }};
  }));
  connect(small_);
  auto numbers = find("numbers");
  constexpr std::uint64_t count = 1000;
  for (std::uint64_t number = 1; number <= count; ++number)
    caf::anon_send(numbers, number, kilobyte);
  EXPECT_EQ(link_->stats().refused_at_bound, 0u);
  EXPECT_GT(link_->stats().dropped, 900u);
  gate_->open();
  EXPECT_TRUE(eventually([&] { return *last == count; }));
  EXPECT_GT(*first_waiting, 900u);
}

TEST_F(flow, a_dropped_request_is_answered) {
  small_.when_full = when_full::drop_oldest;
  auto stuck = stuck_remote();
  caf::scoped_actor self{near().system};
  for (int i = 0; i < 20; ++i)
    caf::anon_send(stuck, kilobyte);
  auto asked = self->request(stuck, caf::infinite, kilobyte);
  for (int i = 0; i < 20; ++i)
    caf::anon_send(stuck, kilobyte);
  std::string text;
  asked.receive([](std::size_t) {}, [&](caf::error& reason) { text = troupe::text_of(reason); });
  EXPECT_NE(text.find("was dropped"), std::string::npos) << text;
}

TEST_F(flow, a_thread_of_its_own_waits_for_room) {
  small_.block_timeout = 10s;
  auto stuck = stuck_remote();
  std::atomic<int> sent = 0;
  std::thread producer{[&] {
    for (int i = 0; i < 200; ++i, ++sent)
      caf::anon_send(stuck, kilobyte);
  }};
  EXPECT_TRUE(eventually([&] { return link_->stats().waiting_bytes > 6'000; }));
  EXPECT_LT(sent, 40);
  gate_->open();
  producer.join();
  EXPECT_TRUE(eventually([&] { return *got_ == 200; })) << *got_;
  EXPECT_EQ(link_->stats().refused_at_bound, 0u);
}

TEST_F(flow, a_thread_may_wait_for_room_for_ever) {
  small_.block_timeout = std::chrono::milliseconds::max();
  auto stuck = stuck_remote();
  std::thread producer{[&] {
    for (int i = 0; i < 200; ++i)
      caf::anon_send(stuck, kilobyte);
  }};
  EXPECT_TRUE(eventually([&] { return link_->stats().waiting_bytes > 6'000; }));
  gate_->open();
  producer.join();
  EXPECT_TRUE(eventually([&] { return *got_ == 200; })) << *got_;
  EXPECT_EQ(link_->stats().refused_at_bound, 0u);
}

TEST_F(flow, waiting_for_room_has_an_end) {
  small_.block_timeout = 30ms;
  auto stuck = stuck_remote();
  fill(stuck);
  auto answer = ask<std::size_t>(near().system, stuck, kilobyte);
  EXPECT_EQ(answer.error().code(), static_cast<std::uint8_t>(node_errc::link_busy));
}

TEST_F(flow, a_blocked_thread_wakes_when_the_link_ends) {
  small_.block_timeout = 60s;
  auto stuck = stuck_remote();
  std::thread producer{[&] {
    for (int i = 0; i < 200; ++i)
      caf::anon_send(stuck, kilobyte);
  }};
  EXPECT_TRUE(eventually([&] { return link_->stats().waiting_bytes > 6'000; }));
  link_->close();
  producer.join();
}

// Goal: a thread that runs actors is never blocked, whatever the options are.
// Method: twice as many actors as there are workers flood a stuck receiver; another actor still answers.
TEST_F(flow, threads_that_run_actors_are_not_blocked) {
  small_.block_timeout = 60s;
  auto stuck = stuck_remote();
  auto workers = near().system.scheduler().num_workers();
  std::atomic<std::size_t> done = 0;
  for (std::size_t i = 0; i < 2 * workers; ++i)
    near().system.spawn([&done, stuck](caf::event_based_actor* self) -> caf::behavior {
      for (int message = 0; message < 100; ++message)
        self->send(stuck, kilobyte);
      ++done;
      return {};
    });
  EXPECT_TRUE(eventually([&] { return done == 2 * workers; }));
  EXPECT_GT(link_->stats().refused_at_bound, 0u);
}

/// Answers its peer's questions, and asks `left` questions of its own as fast as it can. Repeats questions that the
/// link refuses.
class flooder : public caf::event_based_actor {
public:
  flooder(caf::actor_config& config, int left, std::shared_ptr<std::atomic<int>> answered)
      : caf::event_based_actor(config), left_(left), answered_(std::move(answered)) {}

  caf::behavior make_behavior() override {
    return {[](const std::string& text) { return text; },
            [this](const caf::actor& peer) {
              peer_ = peer;
              ask();
            },
            [this](const link_ready&) {
              waits_ = false;
              ask();
            }};
  }

private:
  void ask() {
    for (; left_ > 0 && !waits_ && is_ready(peer_); --left_)
      request(peer_, caf::infinite, kilobyte)
          .then([this](const std::string&) { answered_->fetch_add(1); },
                [this](const caf::error& reason) {
                  EXPECT_EQ(reason.code(), static_cast<std::uint8_t>(node_errc::link_busy)) << troupe::text_of(reason);
                  ++left_;
                  ask_later();
                });
    if (left_ > 0)
      ask_later();
  }

  void ask_later() {
    if (!std::exchange(waits_, true))
      notify_when_ready(this, peer_);
  }

  int left_;
  std::shared_ptr<std::atomic<int>> answered_;
  caf::actor peer_;
  bool waits_ = false;
};

TEST_F(flow, nodes_that_flood_each_other_with_requests_do_not_deadlock) {
  constexpr int questions = 5'000;
  auto far_answered = std::make_shared<std::atomic<int>>(0);
  auto near_answered = std::make_shared<std::atomic<int>>(0);
  auto far_one = publish("flooder", far().system.spawn<flooder>(questions, far_answered));
  connect(small_);
  auto near_one = near().system.spawn<flooder>(questions, near_answered);
  auto remote = find("flooder");
  caf::anon_send(near_one, remote);
  caf::anon_send(remote, near_one);
  EXPECT_TRUE(eventually([&] { return *far_answered == questions && *near_answered == questions; }))
      << *far_answered << " and " << *near_answered << " of " << questions;
  for (const auto& one : {far_one, near_one})
    caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
}

// Goal: a handler that does not return holds up only its own actor.
TEST_F(flow, a_handler_that_takes_long_does_not_hold_up_the_link) {
  auto stuck = stuck_remote();
  auto echo = echo_remote();
  caf::anon_send(stuck, kilobyte); // Runs on the far node's I/O thread.
  for (int i = 0; i < 20; ++i)
    ASSERT_TRUE((ask<std::string>(near().system, echo, kilobyte)));
  auto stuck_too = stuck_remote("stuck, too");
  caf::anon_send(stuck_too, kilobyte); // Runs on the thread that took over.
  gate_->open();
  EXPECT_TRUE(eventually([&] { return *got_ == 2; }));
  EXPECT_TRUE((ask<std::string>(near().system, echo, kilobyte)));
}

TEST_F(flow, without_dispatch_everything_works_the_same) {
  far_options_.dispatch = false;
  near_options_.dispatch = false;
  connect(small_);
  auto echo = echo_remote();
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE((ask<std::string>(near().system, echo, kilobyte)));
}

TEST_F(flow, what_is_consumed_comes_back_however_many_actors_there_are) {
  far();
  connect(small_);
  for (int actor = 0; actor < 200; ++actor) { // Together far more than the link's window.
    auto name = "echo-" + std::to_string(actor);
    publish(name, far().system.spawn([](caf::event_based_actor*) -> caf::behavior {
      return {[](const std::string& text) { return text; }};
    }));
    auto remote = find(name);
    ASSERT_TRUE((ask<std::string>(near().system, remote, kilobyte)));
    far().home->unpublish(name);
  }
  EXPECT_TRUE(eventually([&] { return link_->stats().unconsumed_bytes_there < 8'000; }))
      << link_->stats().unconsumed_bytes_there;
}

TEST_F(flow, windows_of_no_bytes_are_refused) {
  far();
  small_.window_bytes = 0;
  auto refused = near().home->connect(address_, small_);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), node_errc::bad_option);
}

/// Keeps questions until it is told to answer them.
caf::behavior holding(caf::event_based_actor* self, std::shared_ptr<std::vector<caf::response_promise>> held) {
  return {[self, held](std::int32_t) { return held->emplace_back(self->make_response_promise()); },
          [held](const std::string&) {
            for (auto& one : *held)
              one.deliver(std::int32_t{1});
            held->clear();
          }};
}

// Method: the asker waits only for room for answers; nothing is queued, and no other actor refers to it.
TEST_F(flow, link_ready_comes_when_answers_have_made_room) {
  auto held = std::make_shared<std::vector<caf::response_promise>>();
  auto holder = publish("holder", far().system.spawn(holding, held));
  connect({.actor_window_bytes = 1'024});
  auto remote = find("holder");
  auto asked = std::make_shared<std::promise<int>>();
  auto ready = std::make_shared<std::promise<void>>();
  near().system.spawn([remote, asked, ready](caf::event_based_actor* self) -> caf::behavior {
    int sent = 0;
    for (; is_ready(remote) && sent < 100; ++sent)
      self->request(remote, caf::infinite, std::int32_t{sent}).then([](std::int32_t) {});
    notify_when_ready(self, remote);
    asked->set_value(sent);
    return {[ready](const link_ready&) { ready->set_value(); }};
  });
  auto sent = asked->get_future().get();
  ASSERT_GT(sent, 0);
  ASSERT_LT(sent, 100);
  // The credit for the questions has arrived, but makes no room.
  ASSERT_TRUE(
      eventually([&] { return far().home->links().front().stats().messages_received >= static_cast<unsigned>(sent); }));
  ASSERT_TRUE(eventually([&] { return far().home->links().front().stats().unconsumed_bytes_here == 0; }));
  auto told = ready->get_future();
  EXPECT_NE(told.wait_for(50ms), std::future_status::ready);
  caf::anon_send(holder, std::string{"answer"});
  EXPECT_EQ(told.wait_for(10s), std::future_status::ready);
}

} // namespace
} // namespace troupe::tests
