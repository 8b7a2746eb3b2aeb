// Goal: a pool answers every request once, even if its children end at any time.
#include <algorithm>
#include <deque>
#include <future>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include <troupe/framework/deadline.hpp>
#include <troupe/framework/system_config.hpp>

#include "supervised_actors.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

/// Tells which child handles a number: the first number of its tally. "hold" takes requests without answering them
/// until it is told to "let go".
struct keeper_state {
  std::vector<caf::response_promise> held;
};
caf::behavior keeper(caf::stateful_actor<keeper_state>* self, std::shared_ptr<std::atomic<int>> handled) {
  return {[self, handled](int) -> caf::result<int> {
            ++*handled;
            self->state.held.push_back(self->make_response_promise());
            return self->state.held.back();
          },
          [self](const std::string& what) {
            if (what == "crash")
              return self->quit(to_caf_error({node_errc::task_failed, "crashed"}));
            for (auto& one : self->state.held)
              one.deliver(1);
            self->state.held.clear();
          }};
}

/// Answers with its own id, so that a test can tell the children apart.
caf::behavior signer(caf::event_based_actor* self, int) {
  return {[self](int) { return self->id(); }, [self](const std::string&) { self->quit(caf::sec::runtime_error); }};
}

/// Runs a function on the thread that sends it a message.
class trap final : public caf::actor_proxy {
public:
  trap(caf::actor_config& config, std::function<void()> call) : caf::actor_proxy(config), call_(std::move(call)) {}

  using caf::abstract_actor::enqueue;
  void enqueue(caf::mailbox_element_ptr, caf::execution_unit*) override { call_(); }
  void kill_proxy(caf::execution_unit*, caf::error) override {}

private:
  const std::function<void()> call_;
};

class pool_test : public testing::Test {
protected:
  pool_test() = default;

  supervisor_options options(std::size_t most = 1'000'000) const {
    return {.most = most, .within = 1min, .back_off = 1ms, .longest_back_off = 5ms, .events = events_.sink()};
  }
  template <class... Arguments>
  team some(std::size_t copies, Arguments... arguments) {
    return supervise(self_, options()).function(arguments...).with({.name = "w", .copies = copies}).start().value();
  }
  caf::error error_of(const caf::actor& whom, int value) {
    auto answer = ask<int>(system_, whom, value);
    return answer ? caf::error{} : std::move(answer).error();
  }
  node_errc code_of(const caf::actor& whom, int value) { return to_node_error(error_of(whom, value)).code(); }

  system_config config_;
  caf::actor_system system_{config_};
  caf::scoped_actor self_{system_};
  event_record events_;
};

TEST_F(pool_test, requests_take_turns) {
  auto team = some(3, signer, 0);
  auto pool = team.pool().value();
  ASSERT_TRUE(eventually([&] { return pool.stats().running == 3; }));
  std::map<caf::actor_id, int> answers;
  for (int i = 0; i < 9; ++i)
    ++answers[ask<caf::actor_id>(system_, pool.handle(), i).value()];
  EXPECT_EQ(answers.size(), 3u);
  for (const auto& [who, count] : answers)
    EXPECT_EQ(count, 3) << who;
  EXPECT_EQ(pool.stats().answered, 9u);
}

// CAF's clock waits when its queue of 64 places is full, and only its own thread empties the queue.
TEST_F(pool_test, a_message_from_cafs_clock_does_not_stop_the_clock_while_its_queue_is_full) {
  auto team = some(1, signer, 0);
  auto pool = team.pool().value();
  ASSERT_TRUE(eventually([&] { return pool.stats().running == 1; }));
  static std::atomic<int> scheduled; // What the clock's thread reads first: it orders what was written before.
  std::jthread filler;
  const auto requester = system_.spawn([](caf::event_based_actor* self) -> caf::behavior {
    self->set_default_handler(caf::drop);
    return {[](int) {}};
  });
  auto fill = [&] {
    EXPECT_EQ(scheduled, 0);
    filler = std::jthread{[&] {
      for (; scheduled < 200; ++scheduled)
        system_.clock().schedule_message(std::chrono::steady_clock::now() + 1h,
                                         caf::actor_cast<caf::strong_actor_ptr>(requester),
                                         caf::make_mailbox_element(nullptr, {}, {}, 1));
    }};
    EXPECT_TRUE(eventually([&] { return scheduled >= 63; }));
    pool.handle()->enqueue(
        caf::make_mailbox_element(caf::actor_cast<caf::strong_actor_ptr>(requester), caf::make_message_id(1), {}, 1),
        nullptr);
  };
  caf::actor_config config;
  const auto in_between = caf::make_actor<trap, caf::strong_actor_ptr>(system_.next_actor_id(), system_.node(),
                                                                       &system_, config, std::function<void()>{fill});
  scheduled = 0;
  system_.clock().schedule_message(std::chrono::steady_clock::now(), in_between,
                                   caf::make_mailbox_element(nullptr, {}, {}, 1));
  EXPECT_TRUE(eventually([&] { return pool.stats().answered == 1; }));
  EXPECT_TRUE(eventually([&] { return scheduled == 200; })) << "the clock stands still";
  caf::anon_send_exit(requester, caf::exit_reason::user_shutdown);
}

TEST_F(pool_test, the_same_key_reaches_the_same_child_also_after_another_ones_restart) {
  auto team = some(4, signer, 0);
  auto pool = team.pool({.placement = spread::by_key,
                         .key = [](const caf::message& what) { return static_cast<std::size_t>(what.get_as<int>(0)); }})
                  .value();
  ASSERT_TRUE(eventually([&] { return pool.stats().running == 4; }));
  std::map<int, caf::actor_id> before;
  for (int key = 0; key < 50; ++key)
    before[key] = ask<caf::actor_id>(system_, pool.handle(), key).value();
  const auto gone = child_of(team, 1).id();
  self_->send(child_of(team, 1), std::string{"end"});
  ASSERT_TRUE(child_of(team, 1, 2));
  ASSERT_TRUE(eventually([&] { return pool.stats().running == 4; }));
  const auto successor = child_of(team, 1, 2).id();
  for (int key = 0; key < 50; ++key)
    EXPECT_EQ(ask<caf::actor_id>(system_, pool.handle(), key), before[key] == gone ? successor : before[key]) << key;
}

TEST_F(pool_test, the_least_loaded_child_gets_the_request) {
  auto handled = std::make_shared<std::atomic<int>>(0);
  auto team = supervise(self_, options())
                  .function(keeper, handled)
                  .with({.name = "w"})
                  .function(signer, 0)
                  .with({.name = "x"})
                  .start()
                  .value();
  auto pool = team.pool({.placement = spread::least_loaded}).value();
  ASSERT_TRUE(eventually([&] { return pool.stats().running == 2; }));
  self_->request(pool.handle(), caf::infinite, 1); // The first child keeps it.
  ASSERT_TRUE(eventually([&] { return *handled == 1; }));
  for (int i = 0; i < 5; ++i)
    EXPECT_TRUE(ask<caf::actor_id>(system_, pool.handle(), i));
  EXPECT_EQ(*handled, 1);
}

TEST_F(pool_test, a_request_under_way_at_the_loss_of_its_child_fails) {
  auto handled = std::make_shared<std::atomic<int>>(0);
  auto team = some(1, keeper, handled);
  auto pool = team.pool().value();
  ASSERT_TRUE(all_run(team));
  auto asked = self_->request(pool.handle(), caf::infinite, 1);
  ASSERT_TRUE(eventually([&] { return *handled == 1; }));
  self_->send(child_of(team, 0), std::string{"crash"});
  caf::error reason;
  std::move(asked).receive([](int) {}, [&](caf::error& error) { reason = std::move(error); });
  EXPECT_EQ(to_node_error(reason).code(), node_errc::child_lost);
  EXPECT_EQ(troupe::text_of(reason), "'w' ended while it had the request: crashed");
}

TEST_F(pool_test, a_killed_child_fails_the_requests_that_it_had) {
  auto handled = std::make_shared<std::atomic<int>>(0);
  auto team = some(1, keeper, handled);
  auto pool = team.pool().value();
  ASSERT_TRUE(all_run(team));
  auto asked = self_->request(pool.handle(), caf::infinite, 1);
  ASSERT_TRUE(eventually([&] { return *handled == 1; }));
  self_->send_exit(child_of(team, 0), caf::exit_reason::kill);
  caf::error reason;
  std::move(asked).receive([](int) {}, [&](caf::error& error) { reason = std::move(error); });
  EXPECT_EQ(to_node_error(reason).code(), node_errc::child_lost) << troupe::text_of(reason);
}

/// Passes each number on to an actor that has ended.
caf::behavior passer(caf::event_based_actor* self, caf::actor dead) {
  return {[self, dead](int value) { return self->delegate(dead, value); }, [](const std::string&) { return 1; }};
}

TEST_F(pool_test, a_child_that_passes_a_request_on_to_an_ended_actor_stays_in_the_pool) {
  auto dead = system_.spawn(tally, 0);
  self_->monitor(dead);
  self_->send_exit(dead, caf::exit_reason::kill);
  self_->receive([](const caf::down_msg&) {});
  auto team = some(2, passer, dead);
  auto pool = team.pool().value();
  auto repeating = team.pool({.retry_idempotent = true}).value();
  ASSERT_TRUE(eventually([&] { return pool.stats().running == 2 && repeating.stats().running == 2; }));
  for (int i = 0; i < 4; ++i)
    EXPECT_EQ(code_of(pool.handle(), i), node_errc::child_lost);
  EXPECT_EQ(code_of(repeating.handle(), 1), node_errc::child_lost);
  EXPECT_EQ(repeating.stats().repeated, 3u);
  EXPECT_EQ(pool.stats().running, 2u);
  EXPECT_EQ(repeating.stats().running, 2u);
  EXPECT_EQ(ask<int>(system_, pool.handle(), std::string{"still there?"}), 1);
}

TEST_F(pool_test, a_repeated_request_returns_to_its_child_if_there_is_no_other) {
  auto dead = system_.spawn(tally, 0);
  self_->monitor(dead);
  self_->send_exit(dead, caf::exit_reason::kill);
  self_->receive([](const caf::down_msg&) {});
  auto team = some(1, passer, dead);
  auto pool = team.pool({.retry_idempotent = true, .repeats_most = 2}).value();
  ASSERT_TRUE(eventually([&] { return pool.stats().running == 1; }));
  auto asked = self_->request(pool.handle(), caf::infinite, 1);
  EXPECT_EQ(ask<int>(system_, pool.handle(), std::string{"is the way free?"}), 1);
  caf::error reason;
  std::move(asked).receive([](int) {}, [&](caf::error& error) { reason = std::move(error); });
  EXPECT_TRUE(troupe::text_of(reason).contains("the request was repeated 2 times")) << troupe::text_of(reason);
}

TEST_F(pool_test, an_idempotent_request_is_repeated_at_another_child) {
  auto team = supervise(self_, options()).function(tally, 5).with({.copies = 2}).start().value();
  auto pool = team.pool({.retry_idempotent = true, .repeats_most = 4}).value();
  ASSERT_TRUE(eventually([&] { return pool.stats().running == 2; }));
  auto answer = ask<int>(system_, pool.handle(), std::string{"drop"}); // Ends each child that gets it.
  ASSERT_FALSE(answer);
  EXPECT_EQ(to_node_error(answer.error()).code(), node_errc::child_lost);
  EXPECT_TRUE(text_of(answer).contains("the request was repeated 4 times")) << text_of(answer);
  EXPECT_EQ(pool.stats().repeated, 4u);
  EXPECT_EQ(ask<int>(system_, pool.handle(), 1), 6);
}

TEST_F(pool_test, messages_wait_while_no_child_runs) {
  auto may_start = std::make_shared<std::atomic<bool>>(false);
  auto team = some(1, [may_start](caf::actor_system& system) {
    if (!*may_start)
      throw std::runtime_error("not yet");
    return system.spawn(tally, 0);
  });
  auto pool = team.pool().value();
  std::vector<int> sums;
  std::vector<decltype(self_->request(pool.handle(), caf::infinite, 1))> asked;
  for (int i = 0; i < 3; ++i)
    asked.push_back(self_->request(pool.handle(), caf::infinite, 1));
  EXPECT_EQ(pool.stats().waiting, 3u);
  *may_start = true;
  for (auto& one : asked)
    std::move(one).receive([&](int sum) { sums.push_back(sum); }, [](caf::error&) {});
  EXPECT_EQ(sums, (std::vector{1, 2, 3})); // In their order.
}

/// Notes each number.
caf::behavior note_taker(caf::event_based_actor*, std::shared_ptr<std::vector<int>> notes,
                         std::shared_ptr<std::atomic<int>> taken) {
  return {[=](int value) {
    notes->push_back(value);
    ++*taken;
  }};
}

// Method: the child starts while the sender sends, so that some messages wait and others need not.
TEST_F(pool_test, messages_of_one_sender_keep_their_order_when_the_child_starts) {
  for (int round = 0; round < 20; ++round) {
    auto may_start = std::make_shared<std::atomic<bool>>(false);
    auto notes = std::make_shared<std::vector<int>>();
    auto taken = std::make_shared<std::atomic<int>>(0);
    auto team = some(1, [=](caf::actor_system& system) {
      if (!*may_start)
        throw std::runtime_error("not yet");
      return system.spawn(note_taker, notes, taken);
    });
    auto pool = team.pool().value();
    constexpr int count = 3'000;
    for (int i = 0; i < count; ++i) {
      if (i == 300)
        *may_start = true;
      self_->send(pool.handle(), i);
      if (i % 16 == 0)
        std::this_thread::sleep_for(std::chrono::microseconds{1});
    }
    ASSERT_TRUE(eventually([&] { return *taken == count; })) << *taken;
    ASSERT_TRUE(std::ranges::is_sorted(*notes)) << round;
  }
}

TEST_F(pool_test, a_message_that_waited_too_long_fails_with_the_reason) {
  auto team = some(1, [](caf::actor_system&) -> caf::actor { throw std::runtime_error("not today"); });
  auto pool = team.pool({.patience = 50ms}).value();
  const auto reason = to_node_error(error_of(pool.handle(), 1));
  EXPECT_EQ(reason.code(), node_errc::no_child);
  EXPECT_TRUE(reason.message().starts_with("no child of the pool has been running for ")) << reason.message();
  EXPECT_TRUE(reason.message().ends_with("'w': the child's function threw: not today")) << reason.message();
}

TEST_F(pool_test, one_message_more_than_may_wait_fails_at_once) {
  auto team = some(1, [](caf::actor_system&) -> caf::actor { throw std::runtime_error("not today"); });
  auto pool = team.pool({.waiting_most = 2}).value();
  self_->send(pool.handle(), 1);
  self_->send(pool.handle(), 2);
  EXPECT_EQ(code_of(pool.handle(), 3), node_errc::no_child);
  self_->send(pool.handle(), 4);
  EXPECT_EQ(pool.stats().dropped, 1u);
  EXPECT_EQ(pool.stats().waiting, 2u);
}

TEST_F(pool_test, a_request_that_is_never_answered_fails_in_the_end) {
  auto handled = std::make_shared<std::atomic<int>>(0);
  auto team = some(1, keeper, handled);
  auto pool = team.pool({.answer_within = 50ms}).value();
  EXPECT_EQ(code_of(pool.handle(), 1), node_errc::timed_out);
  self_->send(child_of(team, 0), std::string{"let go"}); // The late answer matches nothing.
  EXPECT_EQ(code_of(pool.handle(), 1), node_errc::timed_out);
  EXPECT_EQ(pool.stats().answered, 0u);
}

TEST_F(pool_test, a_pool_of_a_supervisor_that_has_ended_says_why) {
  auto team = supervise(self_, options(0)).function(tally, 0).start().value();
  auto pool = team.pool().value();
  self_->monitor(pool.handle());
  ASSERT_TRUE(all_run(team));
  EXPECT_EQ(ask<int>(system_, pool.handle(), 1), 1);
  self_->send(child_of(team, 0), std::string{"crash"});
  int downs = 0;
  for (int i = 0; i < 2; ++i)
    self_->receive([&](const caf::down_msg& down) {
      ++downs;
      EXPECT_EQ(to_node_error(down.reason).code(), node_errc::gave_up);
    });
  const auto reason = to_node_error(error_of(pool.handle(), 1));
  EXPECT_EQ(reason.code(), node_errc::gave_up);
  EXPECT_TRUE(reason.message().contains("'child' would be started again")) << reason.message();
}

TEST_F(pool_test, an_ended_pool_takes_no_children) {
  auto team = some(1, tally, 0);
  auto pool = team.pool().value();
  ASSERT_TRUE(eventually([&] { return pool.stats().running == 1; }));
  self_->monitor(pool.handle());
  self_->send_exit(pool.handle(), caf::exit_reason::user_shutdown);
  self_->receive([](const caf::down_msg&) {});
  auto later = team.pool().value();
  self_->send(child_of(team, 0), std::string{"crash"});
  ASSERT_TRUE(child_of(team, 0, 2));
  EXPECT_EQ(ask<int>(system_, later.handle(), 1), 1); // It has seen the new child.
  EXPECT_EQ(pool.stats().running, 0u);
  EXPECT_EQ(code_of(pool.handle(), 1), node_errc::gave_up);
}

TEST_F(pool_test, a_pool_takes_only_the_children_that_it_was_told) {
  auto team = supervise(self_, options())
                  .function(signer, 0)
                  .with({.name = "w", .copies = 2})
                  .function(tally, 0)
                  .with({.name = "x"})
                  .start()
                  .value();
  ASSERT_TRUE(all_run(team));
  EXPECT_EQ(team.pool({.children = "w"})->stats().running, 2u);
  EXPECT_EQ(team.pool({.children = "x"})->stats().running, 1u);
  EXPECT_EQ(team.pool()->stats().running, 3u);
  EXPECT_EQ(team.pool({.children = "y"}).error().code(), node_errc::bad_option);
  EXPECT_EQ(team.pool({.placement = spread::by_key}).error().code(), node_errc::bad_option);
}

TEST_F(pool_test, a_key_function_that_throws_fails_the_request_only) {
  auto team = some(1, tally, 0);
  auto pool = team.pool({.placement = spread::by_key,
                         .key = [](const caf::message&) -> std::size_t { throw std::runtime_error("no key"); }})
                  .value();
  EXPECT_EQ(code_of(pool.handle(), 1), node_errc::bad_option);
}

TEST_F(pool_test, a_message_that_is_no_request_reaches_one_child_with_its_sender) {
  auto echo = [](caf::event_based_actor* self) -> caf::behavior {
    return {[self](double value) { self->send(caf::actor_cast<caf::actor>(self->current_sender()), value + 1); }};
  };
  auto team = some(2, [echo](caf::actor_system& system) { return system.spawn(echo); });
  auto pool = team.pool().value();
  self_->send(pool.handle(), 1.0);
  double answer = 0;
  self_->receive([&](double value) { answer = value; }, caf::after(10s) >> [] {});
  EXPECT_EQ(answer, 2.0);
}

TEST_F(pool_test, a_delegated_request_is_answered_to_the_first_requester) {
  auto team = some(2, tally, 7);
  auto pool = team.pool().value();
  auto front = system_.spawn([pool](caf::event_based_actor* self) -> caf::behavior {
    return {[self, pool](int value) { return self->delegate(pool.handle(), value); }};
  });
  EXPECT_EQ(ask<int>(system_, front, 1), 8);
}

TEST_F(pool_test, a_child_that_has_its_number_of_requests_gets_no_more) {
  auto handled = std::make_shared<std::atomic<int>>(0);
  auto team = some(2, keeper, handled);
  auto pool = team.pool({.requests_per_child = 3}).value();
  std::vector<decltype(self_->request(pool.handle(), caf::infinite, 1))> asked;
  for (int i = 0; i < 10; ++i)
    asked.push_back(self_->request(pool.handle(), caf::infinite, 1));
  ASSERT_TRUE(eventually([&] { return *handled == 6; }));
  EXPECT_EQ(pool.stats().waiting, 4u);
  self_->send(child_of(team, 0), std::string{"let go"});
  ASSERT_TRUE(eventually([&] { return *handled == 9; }));
  self_->send_exit(child_of(team, 1),
                   caf::exit_reason::kill); // Its requests fail, and its successor gets the last one.
  ASSERT_TRUE(eventually([&] { return *handled == 10; }));
  EXPECT_EQ(pool.stats().failed, 3u);
}

TEST_F(pool_test, a_request_that_waits_too_long_for_room_fails) {
  auto team = some(1, keeper, std::make_shared<std::atomic<int>>(0));
  auto pool = team.pool({.requests_per_child = 1, .patience = 50ms}).value();
  ASSERT_TRUE(eventually([&] { return pool.stats().running == 1; }));
  self_->request(pool.handle(), caf::infinite, 1);
  const auto reason = to_node_error(error_of(pool.handle(), 1));
  EXPECT_EQ(reason.code(), node_errc::no_child);
  EXPECT_EQ(reason.message(), "the only running child has 1 unanswered request");
}

/// Tells how many seconds are left for the request; -1 if it has no deadline.
caf::behavior clock_watcher(caf::event_based_actor* self, int) {
  return {[self](int) {
    const auto left = deadline(self);
    return left ? static_cast<int>(std::chrono::ceil<std::chrono::seconds>(*left).count()) : -1;
  }};
}

TEST_F(pool_test, a_deadline_reaches_the_child) {
  auto team = some(1, clock_watcher, 0);
  for (const auto repeats : {false, true}) {
    auto pool = team.pool({.retry_idempotent = repeats}).value();
    int left = 0;
    troupe::request(&*self_, pool.handle(), 20min, 1).receive([&](int seconds) { left = seconds; }, [](caf::error&) {});
    EXPECT_EQ(left, 1200) << repeats;
    EXPECT_EQ(ask<int>(system_, pool.handle(), 1), -1);
  }
}

TEST_F(pool_test, a_request_that_waited_past_its_deadline_is_dropped_and_settled) {
  auto may_start = std::make_shared<std::atomic<bool>>(false);
  auto team = some(1, [may_start](caf::actor_system& system) {
    if (!*may_start)
      throw std::runtime_error("not yet");
    return system.spawn(clock_watcher, 0);
  });
  auto pool = team.pool().value();
  auto asked = troupe::request(&*self_, pool.handle(), 20ms, 1);
  std::move(asked).receive([](int) {}, [](caf::error&) {});
  *may_start = true;
  EXPECT_TRUE(eventually([&] { return pool.stats().running == 1 && pool.stats().unanswered == 0; }));
  EXPECT_EQ(pool.stats().answered, 0u);
}

// -- kills --

/// A requester that counts the answers to each of its requests.
struct load {
  explicit load(std::size_t count) : answers(count) {}
  std::vector<std::atomic<int>> answers;
  std::atomic<std::size_t> results{0};
  std::atomic<std::size_t> errors{0};
  std::atomic<std::size_t> sent{0};
};

caf::behavior requester(caf::event_based_actor* self, caf::actor to, std::shared_ptr<load> of, std::size_t window) {
  const auto next = std::make_shared<std::function<void()>>();
  *next = [self, to, of, weak = std::weak_ptr{next}] {
    const auto number = of->sent.fetch_add(1);
    if (number >= of->answers.size())
      return;
    const auto again = weak.lock();
    const auto settle = [of, number, again](bool is_result) {
      ++of->answers[number];
      ++(is_result ? of->results : of->errors);
      (*again)();
    };
    self->request(to, caf::infinite, static_cast<int>(number))
        .then([settle](int) { settle(true); }, [settle](const caf::error&) { settle(false); });
  };
  return {[next, window](const std::string&) {
    for (std::size_t i = 0; i < window; ++i)
      (*next)();
  }};
}

struct doubler_state {
  std::deque<std::pair<caf::typed_response_promise<int>, int>> late;
};

/// Answers each third request a moment later.
caf::behavior doubler(caf::stateful_actor<doubler_state>* self) {
  return {[self](int value) -> caf::result<int> {
            if (value % 3 != 0)
              return value * 2;
            auto promise = self->make_response_promise<int>();
            self->state.late.emplace_back(promise, value);
            self->delayed_send(self, std::chrono::milliseconds(1), std::string{"answer"});
            return promise;
          },
          [self](const std::string&) {
            auto [promise, value] = self->state.late.front();
            self->state.late.pop_front();
            promise.deliver(value * 2);
          }};
}

class pool_under_kills : public pool_test, public testing::WithParamInterface<std::tuple<restart, bool>> {};

TEST_P(pool_under_kills, answers_every_request_once) {
  const auto [strategy, repeats] = GetParam();
  auto wanted = options();
  wanted.strategy = strategy;
  auto team = supervise(self_, wanted).function(doubler).with({.name = "w", .copies = 4}).start().value();
  auto pool = team.pool({.patience = 10s, .retry_idempotent = repeats, .repeats_most = 1'000}).value();
  constexpr std::size_t requests = 20'000;
  auto work = std::make_shared<load>(requests);
  std::vector<caf::actor> requesters;
  for (int i = 0; i < 4; ++i) {
    requesters.push_back(system_.spawn(requester, pool.handle(), work, std::size_t{16}));
    caf::anon_send(requesters.back(), std::string{"go"});
  }
  const std::uint64_t seed = 4711;
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 random{seed};
  std::size_t kills = 0;
  const auto is_done = [&] { return work->results + work->errors >= requests; };
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  while (!is_done() && std::chrono::steady_clock::now() < deadline) {
    // By answers, not by time, so that a slow machine makes progress between two kills.
    const auto next = work->results + work->errors + random() % 200;
    while (!is_done() && work->results + work->errors < next && std::chrono::steady_clock::now() < deadline)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    if (const auto victim = team.children()[random() % 4].handle) {
      caf::anon_send_exit(victim, random() % 2 == 0 ? caf::exit_reason::kill : caf::exit_reason::user_shutdown);
      ++kills;
    }
  }
  ASSERT_TRUE(is_done()) << work->results << " results, " << work->errors << " errors; waiting " << pool.stats().waiting
                         << ", unanswered " << pool.stats().unanswered;
  EXPECT_GT(kills, 5u);
  for (std::size_t i = 0; i < requests; ++i)
    ASSERT_EQ(work->answers[i], 1) << i;
  EXPECT_TRUE(!repeats || work->errors == 0) << work->errors;
  EXPECT_EQ(pool.stats().unanswered, 0u);
  RecordProperty("kills", static_cast<int>(kills));
  RecordProperty("errors", static_cast<int>(work->errors));
}

INSTANTIATE_TEST_SUITE_P(strategies, pool_under_kills,
                         testing::Combine(testing::Values(restart::one_for_one, restart::one_for_all,
                                                          restart::rest_for_one),
                                          testing::Bool()));

// -- of actors that the program names --

class assigned_pool : public pool_test {
protected:
  actor_pool open(pool_options options = {}) { return actor_pool::open(system_, std::move(options)).value(); }
  caf::actor new_signer() {
    spawned_.push_back(system_.spawn(signer, 0));
    return spawned_.back();
  }
  caf::actor_id asked(const actor_pool& pool, int value = 1) {
    return ask<caf::actor_id>(system_, pool.handle(), value).value();
  }
  ~assigned_pool() override {
    for (const auto& one : spawned_)
      caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
  }

private:
  std::vector<caf::actor> spawned_;
};

TEST_F(assigned_pool, lets_messages_wait_for_its_first_actor) {
  const auto pool = open();
  auto answer = std::async(std::launch::async, [&] { return asked(pool); });
  ASSERT_TRUE(eventually([&] { return pool.stats().waiting == 1; }));
  const auto one = new_signer();
  pool.assign({{"one", one}});
  EXPECT_EQ(answer.get(), one.id());
}

TEST_F(assigned_pool, names_itself_and_the_programs_reason_in_its_errors) {
  auto calls = std::make_shared<std::atomic<int>>(0);
  const auto pool = open({.waiting_most = 1, .patience = 20ms, .name = "service cart", .why_none = [calls] {
                            if (++*calls == 3)
                              throw std::runtime_error("not today");
                            return std::string{"nobody publishes it"};
                          }});
  const auto text_of_error = [&] { return to_node_error(error_of(pool.handle(), 1)).message(); };
  const auto late = text_of_error();
  EXPECT_TRUE(late.starts_with("service cart: not taken within ")) << late;
  EXPECT_TRUE(late.ends_with(" ms; nobody publishes it")) << late;
  self_->send(pool.handle(), 1);
  EXPECT_EQ(text_of_error(), "service cart: already waiting: 1 message; nobody publishes it");
  ASSERT_TRUE(eventually([&] { return pool.stats().waiting == 0; }));
  const auto without_reason = text_of_error();
  EXPECT_TRUE(without_reason.starts_with("service cart: no child of the pool has been running for ")) << without_reason;
  const auto held = system_.spawn(keeper, std::make_shared<std::atomic<int>>(0));
  pool.assign({{"one", held}});
  auto lost =
      std::async(std::launch::async, [&] { return to_node_error(ask<int>(system_, pool.handle(), 1).error()); });
  ASSERT_TRUE(eventually([&] { return pool.stats().unanswered == 1; }));
  caf::anon_send(held, std::string{"crash"});
  EXPECT_TRUE(lost.get().message().starts_with("service cart: 'one' ended while it had the request"));
  EXPECT_EQ(*calls, 3);
}

TEST_F(assigned_pool, sends_to_those_that_were_named_last) {
  const auto pool = open();
  const auto one = new_signer();
  const auto two = new_signer();
  pool.assign({{"one", one}, {"two", two}});
  EXPECT_NE(asked(pool), asked(pool));
  pool.assign({{"two", two}});
  EXPECT_EQ(asked(pool), two.id());
  EXPECT_EQ(asked(pool), two.id());
  const auto three = new_signer();
  pool.assign({{"three", three}});
  EXPECT_EQ(asked(pool), three.id());
  EXPECT_EQ(pool.stats().running, 1u);
}

TEST_F(assigned_pool, gets_the_answer_of_an_actor_that_has_left) {
  const auto pool = open();
  std::atomic<int> handled{0};
  const auto slow = system_.spawn(keeper, std::shared_ptr<std::atomic<int>>{&handled, [](auto*) {}});
  pool.assign({{"slow", slow}});
  auto answer = std::async(std::launch::async, [&] { return ask<int>(system_, pool.handle(), 1); });
  ASSERT_TRUE(eventually([&] { return handled == 1; }));
  const auto one = new_signer();
  pool.assign({{"one", one}});
  EXPECT_EQ(asked(pool), one.id());
  caf::anon_send(slow, std::string{"let go"});
  EXPECT_EQ(answer.get().value(), 1);
  caf::anon_send_exit(slow, caf::exit_reason::user_shutdown);
}

TEST_F(assigned_pool, releases_an_actor_that_has_left) {
  const auto pool = open();
  caf::weak_actor_ptr one;
  {
    const auto named = system_.spawn(signer, 0);
    one = caf::actor_cast<caf::weak_actor_ptr>(named);
    pool.assign({{"one", named}});
    EXPECT_EQ(asked(pool), named.id());
  }
  EXPECT_TRUE(one.lock());
  pool.assign({});
  EXPECT_TRUE(eventually([&] { return !one.lock(); })); // Nobody else knows it.
}

TEST_F(assigned_pool, fails_requests_to_forward_that_found_no_actor) {
  const auto pool = open({.patience = 20ms, .forward_requests = true});
  EXPECT_EQ(code_of(pool.handle(), 1), node_errc::no_child);
}

TEST_F(assigned_pool, notices_the_loss_of_a_request_in_this_process_although_it_forwards) {
  const auto pool = open({.forward_requests = true});
  auto handled = std::make_shared<std::atomic<int>>(0);
  const auto held = system_.spawn(keeper, handled);
  pool.assign({{"one", held}});
  auto lost = std::async(std::launch::async, [&] { return ask<int>(system_, pool.handle(), 1); });
  ASSERT_TRUE(eventually([&] { return *handled == 1; }));
  EXPECT_EQ(pool.stats().unanswered, 1u);
  caf::anon_send(held, std::string{"crash"});
  EXPECT_EQ(to_node_error(lost.get().error()).code(), node_errc::child_lost);
}

TEST_F(assigned_pool, chooses_by_name_like_other_pools) {
  const auto by_value = [](const caf::message& what) { return static_cast<std::size_t>(what.get_as<int>(0)); };
  const auto left = open({.placement = spread::by_key, .key = by_value});
  const auto right = open({.placement = spread::by_key, .key = by_value});
  const auto one = new_signer();
  const auto two = new_signer();
  const auto three = new_signer();
  left.assign({{"one", one}, {"two", two}, {"three", three}});
  right.assign({{"three", three}});
  right.assign({{"two", two}, {"three", three}});
  right.assign({{"one", one}, {"two", two}, {"three", three}});
  std::set<caf::actor_id> chosen;
  for (int key = 0; key < 50; ++key) {
    chosen.insert(asked(left, key));
    EXPECT_EQ(asked(left, key), asked(right, key)) << key;
  }
  EXPECT_EQ(chosen.size(), 3u);
}

// -- actors that have to wake up

/// Records the numbers that it gets, and answers with its id.
caf::behavior noter(caf::event_based_actor* self, std::shared_ptr<std::vector<int>> got) {
  return {[self, got](int value) {
    got->push_back(value);
    return self->id();
  }};
}

TEST_F(assigned_pool, wakes_a_sleeping_actor_once_and_then_delivers_in_order) {
  const auto pool = open();
  std::atomic<int> wakes{0};
  const auto got = std::make_shared<std::vector<int>>();
  const auto one = system_.spawn(noter, got);
  const auto wake = [&] { ++wakes; };
  pool.assign({{"one", one, wake}});
  EXPECT_EQ(wakes, 0);
  for (auto i = 0; i < 100; ++i)
    self_->send(pool.handle(), i);
  EXPECT_EQ(wakes, 1);
  EXPECT_EQ(pool.stats().waiting, 100u);
  pool.assign({{"one", one, wake}}); // It still sleeps.
  EXPECT_EQ(wakes, 1);
  pool.assign({{"one", one}});
  EXPECT_EQ(pool.stats().waiting, 0u);
  EXPECT_EQ(asked(pool, 100), one.id());
  std::vector<int> all(101);
  std::iota(all.begin(), all.end(), 0);
  EXPECT_EQ(*got, all);
  caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
}

TEST_F(assigned_pool, gives_messages_for_an_actor_that_did_not_wake_up_to_others) {
  const auto pool = open();
  const auto one = new_signer();
  const auto two = new_signer();
  std::atomic<int> wakes{0};
  pool.assign({{"one", one, [&] { ++wakes; }}});
  auto answer = std::async(std::launch::async, [&] { return asked(pool); });
  ASSERT_TRUE(eventually([&] { return wakes == 1; }));
  pool.assign({});
  EXPECT_EQ(pool.stats().waiting, 1u);
  EXPECT_EQ(pool.stats().unanswered, 0u);
  pool.assign({{"two", two}});
  EXPECT_EQ(answer.get(), two.id());
}

TEST_F(assigned_pool, does_not_hold_messages_for_other_actors_up) {
  const auto pool = open({.placement = spread::least_loaded});
  const auto one = new_signer();
  const auto two = new_signer();
  std::atomic<int> wakes{0};
  pool.assign({{"one", one, [&] { ++wakes; }}, {"two", two}});
  std::vector<std::future<caf::actor_id>> waiting;
  while (wakes == 0)
    waiting.push_back(std::async(std::launch::async, [&] { return asked(pool); }));
  const auto all_but_those_that_wait = [&] {
    const auto answered =
        std::ranges::count_if(waiting, [](const auto& each) { return each.wait_for(0s) == std::future_status::ready; });
    return pool.stats().waiting + static_cast<std::size_t>(answered) == waiting.size();
  };
  ASSERT_TRUE(eventually(all_but_those_that_wait));
  for (auto i = 0; i < 10; ++i)
    EXPECT_EQ(asked(pool), two.id()); // The message that waits counts as the load of `one`.
  pool.assign({{"one", one}, {"two", two}});
  std::set<caf::actor_id> by;
  for (auto& each : waiting)
    by.insert(each.get());
  EXPECT_TRUE(by.contains(one.id()));
}

TEST_F(assigned_pool, fails_a_request_whose_actor_does_not_wake_up) {
  const auto pool = open({.patience = 50ms});
  const auto one = new_signer();
  pool.assign({{"one", one, [] {}}});
  EXPECT_EQ(code_of(pool.handle(), 1), node_errc::no_child);
  EXPECT_EQ(pool.stats().waiting, 0u);
}

TEST_F(assigned_pool, bounds_the_messages_that_wait_for_sleeping_actors) {
  const auto pool = open({.waiting_most = 3});
  pool.assign({{"one", new_signer(), [] {}}, {"two", new_signer(), [] {}}});
  for (auto i = 0; i < 3; ++i)
    self_->send(pool.handle(), i);
  EXPECT_EQ(code_of(pool.handle(), 1), node_errc::no_child);
  EXPECT_EQ(pool.stats().waiting, 3u);
}

TEST_F(assigned_pool, wakes_an_actor_again_that_fell_asleep_before_it_got_its_messages) {
  const auto pool = open();
  const auto one = new_signer();
  std::atomic<int> wakes{0};
  const auto wake = [&] { ++wakes; };
  for (auto i = 1; i < 4; ++i) {
    pool.assign({{"one", one, wake}});
    self_->send(pool.handle(), i);
    EXPECT_EQ(wakes, i);
    pool.assign({{"one", one}});
  }
}

TEST_F(assigned_pool, refuses_options_that_make_no_sense) {
  EXPECT_EQ(actor_pool::open(system_, {.placement = spread::by_key}).error().code(), node_errc::bad_option);
  EXPECT_EQ(actor_pool::open(system_, {.patience = -1ms}).error().code(), node_errc::bad_option);
  const pool_options counting[] = {{.placement = spread::least_loaded, .forward_requests = true},
                                   {.requests_per_child = 1, .forward_requests = true},
                                   {.retry_idempotent = true, .forward_requests = true}};
  for (const auto& one : counting)
    EXPECT_EQ(actor_pool::open(system_, one).error().code(), node_errc::bad_option);
}

// -- over links --

class remote_pool : public two_nodes {
protected:
  remote_pool() {
    far_config_ = [](caf::actor_system_config& config) {
      config.add_actor_type("tally", tally_in_peer);
      config.add_actor_type("dropper", dropper);
    };
    far_options_.accepted_links.allow_spawn = true;
    far_options_.accepted_links.allow_exit = true;
  }
  /// Drops the promise of each number.
  static caf::behavior dropper(caf::event_based_actor* self) {
    return {[self](int) -> caf::result<int> { return self->make_response_promise<int>(); },
            [](const std::string&) { return 1; }};
  }
  static caf::behavior tally_in_peer(caf::stateful_actor<tally_state>* self, int first) { return tally(self, first); }

  event_record events_;
};

TEST_F(remote_pool, survives_the_loss_of_its_link) {
  far();
  auto kept = std::make_shared<reconnecting_link>(
      near().home->keep_connected(address_, {.policy = {.first_pause = 1ms, .longest_pause = 5ms}}).value());
  caf::scoped_actor self{near().system};
  auto team = supervise(self, {.most = 100'000, .back_off = 1ms, .longest_back_off = 5ms})
                  .actor([kept] { return kept->current(); }, "tally", 10)
                  .with({.copies = 2})
                  .start()
                  .value();
  auto pool = team.pool({.retry_idempotent = true, .repeats_most = 1'000}).value();
  constexpr std::size_t requests = 5'000;
  auto work = std::make_shared<load>(requests);
  auto asking = near().system.spawn(requester, pool.handle(), work, std::size_t{8});
  caf::anon_send(asking, std::string{"go"});
  int closed = 0;
  const auto is_done = [&] { return work->results + work->errors >= requests; };
  while (!is_done()) {
    std::this_thread::sleep_for(20ms);
    if (auto open = kept->current()) {
      open->close();
      ++closed;
    }
  }
  EXPECT_GT(closed, 0);
  for (std::size_t i = 0; i < requests; ++i)
    ASSERT_EQ(work->answers[i], 1) << i;
  EXPECT_EQ(work->errors, 0u);
}

TEST_F(remote_pool, keeps_a_child_that_drops_a_promise) {
  connect();
  caf::scoped_actor self{near().system};
  auto team = supervise(self, {}).actor(*link_, "dropper").with({.copies = 2}).start().value();
  ASSERT_TRUE(all_run(team));
  for (const auto repeats : {false, true}) {
    auto pool = team.pool({.retry_idempotent = repeats}).value();
    ASSERT_EQ(pool.stats().running, 2u);
    const auto answer = ask<int>(near().system, pool.handle(), 1);
    ASSERT_FALSE(answer);
    EXPECT_EQ(to_node_error(answer.error()).code(), repeats ? node_errc::child_lost : node_errc::broken_promise);
    EXPECT_EQ(pool.stats().running, 2u);
    EXPECT_EQ(ask<int>(near().system, pool.handle(), std::string{"still there?"}), 1);
  }
}

TEST_F(remote_pool, passes_on_the_deadline_of_a_request_from_a_peer) {
  connect();
  caf::scoped_actor self{far().system};
  auto team = supervise(self, {}).function(clock_watcher, 0).start().value();
  publish("plain", team.pool()->handle());
  publish("repeating", team.pool({.retry_idempotent = true})->handle());
  caf::scoped_actor client{near().system};
  for (const auto* name : {"plain", "repeating"}) {
    int left = 0;
    troupe::request(&*client, find(name), 20min, 1).receive([&](int seconds) { left = seconds; }, [](caf::error&) {});
    EXPECT_EQ(left, 1200) << name;
  }
}

/// A pool in front of an actor of the other node that has the name.
class forwarding_pool : public remote_pool {
protected:
  ~forwarding_pool() override {
    for (const auto& one : ended_)
      caf::anon_send_exit(one, caf::exit_reason::user_shutdown);
  }
  caf::actor ended_later(caf::actor one) { return ended_.emplace_back(std::move(one)); }
  actor_pool open_to(const std::string& name, pool_options options = {}) {
    options.forward_requests = true;
    auto pool = actor_pool::open(near().system, std::move(options)).value();
    pool.assign({{name, find(name)}});
    return pool;
  }

private:
  std::vector<caf::actor> ended_;
};

TEST_F(forwarding_pool, lets_actors_of_another_process_answer_the_sender) {
  connect();
  publish("echo", ended_later(far().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
            return {[self](int) { return caf::actor_cast<caf::actor>(self->current_sender()); }};
          })));
  const auto pool = open_to("echo");
  caf::scoped_actor self{near().system};
  self->request(pool.handle(), 10s, 1)
      .receive([&](const caf::actor& sender) { EXPECT_EQ(sender, self); },
               [](const caf::error& why) { FAIL() << troupe::text_of(why); });
  EXPECT_EQ(pool.stats().forwarded, 1u);
  EXPECT_EQ(pool.stats().answered, 0u);
}

TEST_F(forwarding_pool, passes_on_delegated_requests_and_deadlines_with_and_without_a_key) {
  connect();
  publish("watcher", ended_later(far().system.spawn(clock_watcher, 0)));
  const auto number = [](const caf::message& what) { return static_cast<std::size_t>(what.get_as<int>(0)); };
  caf::scoped_actor self{near().system};
  for (const auto placed : {spread::round_robin, spread::by_key}) {
    const auto pool = open_to(
        "watcher", {.placement = placed, .key = placed == spread::by_key ? number : decltype(pool_options::key){}});
    const auto front = ended_later(near().system.spawn([pool](caf::event_based_actor* its) -> caf::behavior {
      return {[its, pool](int value) { return its->delegate(pool.handle(), value); }};
    }));
    EXPECT_EQ(ask<int>(near().system, front, 1), -1);
    int left = 0;
    troupe::request(&*self, pool.handle(), 20min, 1).receive([&](int seconds) { left = seconds; }, [](caf::error&) {});
    EXPECT_EQ(left, 1200);
    EXPECT_EQ(pool.stats().forwarded, 2u);
  }
}

TEST_F(forwarding_pool, leaves_the_loss_of_a_request_to_the_link) {
  connect();
  auto handled = std::make_shared<std::atomic<int>>(0);
  publish("keeper", ended_later(far().system.spawn(keeper, handled)));
  const auto pool = open_to("keeper");
  auto lost = std::async(std::launch::async, [&] { return ask<int>(near().system, pool.handle(), 1); });
  ASSERT_TRUE(eventually([&] { return *handled == 1; }));
  link_->close();
  EXPECT_EQ(to_node_error(lost.get().error()).code(), node_errc::link_down);
  EXPECT_TRUE(eventually([&] { return pool.stats().running == 0; }));
}

TEST_F(forwarding_pool, need_not_live_until_its_requests_are_answered) {
  connect();
  auto handled = std::make_shared<std::atomic<int>>(0);
  const auto held = ended_later(far().system.spawn(keeper, handled));
  publish("keeper", held);
  caf::scoped_actor self{near().system};
  auto asked = self->request(open_to("keeper").handle(), 10s, 1);
  ASSERT_TRUE(eventually([&] { return *handled == 1; }));
  caf::anon_send(held, std::string{"let go"});
  asked.receive([](int) {}, [](const caf::error& why) { FAIL() << troupe::text_of(why); });
}

TEST_F(remote_pool, is_published_and_found_like_every_actor) {
  connect();
  caf::scoped_actor self{far().system};
  auto team = supervise(self, {}).function(tally, 100).start().value();
  auto pool = team.pool().value();
  publish("sums", pool.handle());
  EXPECT_EQ(ask<int>(near().system, find("sums"), 1), 101);
}

} // namespace
} // namespace troupe::tests
