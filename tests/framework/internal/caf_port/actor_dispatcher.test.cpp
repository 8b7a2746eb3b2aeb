// Goal: each received message is handled once, in its sender's order, on whichever path it reaches its actor.
// Method: the scheduler collects the actors that are left to it until the test runs them. The test thus acts as the
// receiving thread and as every other thread.
#include <troupe/framework/internal/caf_port/actor_dispatcher.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <numeric>
#include <random>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <caf/all.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include <troupe/framework/internal/caf_port/direct_turn.hpp>
#include <troupe/framework/system_config.hpp>

namespace troupe::internal {
namespace {

using namespace std::chrono_literals;
using clock = std::chrono::steady_clock;

constexpr std::size_t claimed_max = 16; // In one round.
constexpr auto long_budget = 1h;

struct scheduling_by_the_test final : system_config {
  scheduling_by_the_test() { set("scheduler.policy", caf::atom("testing")); }
};

std::vector<int> numbers_up_to(int last) {
  std::vector<int> all(static_cast<std::size_t>(last));
  std::iota(all.begin(), all.end(), 1);
  return all;
}

class actor_dispatchers : public testing::Test {
protected:
  struct receiver {
    std::vector<int> seen;
    std::function<void(caf::event_based_actor&, int)> on_number = [](caf::event_based_actor&, int) {};
    caf::strong_actor_ptr pointer;

    caf::scheduled_actor& actor() const { return *static_cast<caf::scheduled_actor*>(pointer->get()); }
    /// Returns the number of messages that went around its mailbox and are not handled yet. Requires: no thread runs
    /// it.
    std::size_t given() const { return actor().get_normal_queue().total_task_size(); }
  };

  ~actor_dispatchers() override {
    for (const auto& each : receivers_)
      caf::anon_send_exit(caf::actor_cast<caf::actor>(each->pointer), caf::exit_reason::user_shutdown);
    if (worker_)
      worker_->hand_over(); // Left over by a failed test.
    worker_.reset();
    scheduler().run();
  }

  caf::scheduler::test_coordinator& scheduler() {
    return static_cast<caf::scheduler::test_coordinator&>(system_.scheduler());
  }

  /// Spawns an actor that waits for its first message.
  receiver& spawn() {
    auto& made = *receivers_.emplace_back(std::make_unique<receiver>());
    made.pointer = caf::actor_cast<caf::strong_actor_ptr>(
        system_.spawn<caf::lazy_init>([&made](caf::event_based_actor* self) -> caf::behavior {
          return {[&made, self](int number) {
            made.seen.push_back(number);
            made.on_number(*self, number);
          }};
        }));
    return made;
  }

  static void deliver(const receiver& to, int number, caf::message_id id = caf::make_message_id(),
                      caf::strong_actor_ptr from = nullptr) {
    deliver_to(to.pointer, caf::make_mailbox_element(std::move(from), id, {}, caf::make_message(number)));
  }
  static void deliver_urgent(const receiver& to, int number) {
    deliver(to, number, caf::make_message_id(caf::message_priority::high));
  }

  void run(std::chrono::microseconds budget = long_budget) {
    runs_ = true;
    worker_->run(clock::now(), budget);
    runs_ = false;
  }
  std::size_t left_to_the_scheduler() { return scheduler().jobs.size(); }

  scheduling_by_the_test config_;
  caf::actor_system system_{config_};
  std::shared_ptr<loop_host> host_ = make_loop_host(system_);
  std::unique_ptr<round_worker> worker_ = host_->make_worker(true);
  std::deque<std::unique_ptr<receiver>> receivers_;
  bool runs_ = false;
};

// -- which actors get messages directly

TEST_F(actor_dispatchers, give_an_actor_that_waits_its_messages_directly) {
  auto& to = spawn();
  for (const auto number : {1, 2, 3})
    deliver(to, number);
  EXPECT_EQ(to.given(), 3u);
  EXPECT_FALSE(worker_->empty());
  run();
  EXPECT_EQ(to.seen, numbers_up_to(3));
  EXPECT_TRUE(worker_->empty());
  EXPECT_EQ(left_to_the_scheduler(), 0u);
}

TEST_F(actor_dispatchers, claim_it_again_in_each_round) {
  auto& to = spawn();
  for (const auto number : {1, 2, 3}) {
    deliver(to, number);
    EXPECT_EQ(to.given(), 1u) << number;
    run();
    EXPECT_EQ(to.seen, numbers_up_to(number));
  }
}

TEST_F(actor_dispatchers, run_an_actor_until_nothing_is_left) {
  auto& to = spawn();
  for (int number = 1; number <= 1000; ++number)
    deliver(to, number);
  run();
  scheduler().run(); // On a busy machine, the actor may count as slow.
  EXPECT_EQ(to.seen, numbers_up_to(1000));
}

TEST_F(actor_dispatchers, that_are_not_used_leave_all_to_the_scheduler) {
  worker_.reset();
  worker_ = host_->make_worker(false);
  auto& to = spawn();
  deliver(to, 1);
  EXPECT_EQ(dispatching_unit(), nullptr);
  EXPECT_EQ(to.given(), 0u);
  EXPECT_TRUE(worker_->empty());
  scheduler().run();
  EXPECT_EQ(to.seen, numbers_up_to(1));
}

TEST_F(actor_dispatchers, that_have_ended_get_nothing) {
  auto& to = spawn();
  worker_.reset();
  EXPECT_EQ(dispatching_unit(), nullptr);
  deliver(to, 1);
  EXPECT_EQ(left_to_the_scheduler(), 1u);
}

TEST_F(actor_dispatchers, send_who_is_no_ordinary_actor_its_messages) {
  caf::scoped_actor blocking{system_};
  deliver_to(caf::actor_cast<caf::strong_actor_ptr>(blocking),
             caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, caf::make_message(1)));
  EXPECT_TRUE(worker_->empty());
  EXPECT_TRUE(blocking->has_next_message());
}

// Goal: messages that are not ordinary go to queues of their own.
TEST_F(actor_dispatchers, give_neither_urgent_messages_nor_those_of_streams_directly) {
  auto& to = spawn();
  deliver(to, 1);
  deliver_urgent(to, -1);
  EXPECT_EQ(to.given(), 1u);
  deliver(to, 2);
  run();
  EXPECT_EQ(to.seen, (std::vector{-1, 1, 2}));

  auto& first = spawn();
  deliver_urgent(first, -1); // The message waits; an ordinary one would claim it.
  EXPECT_EQ(first.given(), 0u);
  run();
  EXPECT_EQ(first.seen, (std::vector{-1}));

  for (const auto category :
       {caf::message_id::upstream_message_category, caf::message_id::downstream_message_category}) {
    auto& other = spawn();
    auto of_no_stream =
        category == caf::message_id::upstream_message_category
            ? caf::make_message(caf::make<caf::upstream_msg::drop>(caf::stream_slots{1, 1}, nullptr))
            : caf::make_message(caf::make<caf::downstream_msg::close>(caf::stream_slots{1, 1}, nullptr));
    deliver_to(other.pointer, caf::make_mailbox_element(nullptr, caf::make_message_id().with_category(category), {},
                                                        std::move(of_no_stream)));
    EXPECT_EQ(other.given(), 0u) << category;
    run();
    EXPECT_TRUE(other.seen.empty());
  }
}

// -- more actors than places

TEST_F(actor_dispatchers, send_more_actors_than_a_round_has_places_their_messages_in_order) {
  std::vector<receiver*> all;
  for (std::size_t i = 0; i < claimed_max + 2; ++i)
    all.push_back(&spawn());
  for (const auto number : {1, 2, 3})
    for (const auto* each : all)
      deliver(*each, number);
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(all[i]->given(), i < claimed_max ? 3u : 0u) << i;
  run();
  for (const auto* each : all)
    EXPECT_EQ(each->seen, numbers_up_to(3));
  EXPECT_EQ(left_to_the_scheduler(), 0u);

  deliver(*all.back(), 4); // There is room in the next round.
  EXPECT_EQ(all.back()->given(), 1u);
  run();
  EXPECT_EQ(all.back()->seen, numbers_up_to(4));
}

TEST_F(actor_dispatchers, know_each_of_the_claimed_whatever_the_order_of_their_messages) {
  std::vector<receiver*> all;
  for (std::size_t i = 0; i < claimed_max; ++i)
    all.push_back(&spawn());
  for (const auto* each : all)
    deliver(*each, 1);
  for (auto each = all.rbegin(); each != all.rend(); ++each)
    deliver(**each, 2);
  for (const auto* each : all) {
    EXPECT_EQ(each->given(), 2u);
    deliver(*each, 3);
  }
  run();
  for (const auto* each : all)
    EXPECT_EQ(each->seen, numbers_up_to(3));
}

// -- which actors are not claimed

TEST_F(actor_dispatchers, do_not_touch_an_actor_that_another_thread_runs) {
  auto& to = spawn();
  ASSERT_TRUE(claim(to.actor())); // As if another thread ran its turn.
  deliver(to, 1);
  deliver(to, 2);
  EXPECT_EQ(to.given(), 0u);
  EXPECT_TRUE(worker_->empty());
  caf::scoped_execution_unit other{&system_};
  EXPECT_EQ(to.actor().resume(&other, 10), caf::resumable::awaiting_message);
  EXPECT_EQ(to.seen, numbers_up_to(2));
  deliver(to, 3);
  EXPECT_EQ(to.given(), 1u);
  run();
  EXPECT_EQ(to.seen, numbers_up_to(3));
}

// Goal: while actors run, another thread may take over the queue. So messages from a handler claim no actor.
TEST_F(actor_dispatchers, claim_nobody_while_actors_run) {
  auto& sender = spawn();
  auto& to = spawn();
  std::vector<std::size_t> given;
  sender.on_number = [&](caf::event_based_actor&, int number) {
    deliver(to, number);
    given.push_back(to.given());
    if (number == 1)
      deliver(sender, 2); // To itself, during its turn.
  };
  deliver(sender, 1);
  run();
  EXPECT_EQ(given, (std::vector<std::size_t>{0, 0}));
  EXPECT_EQ(sender.seen, numbers_up_to(2));
  EXPECT_EQ(to.seen, numbers_up_to(2));
  deliver(to, 3);
  EXPECT_EQ(to.given(), 1u) << "the run is over";
  run();
}

// -- messages for other threads

TEST_F(actor_dispatchers, that_are_deposed_leave_all_to_the_scheduler) {
  auto& to = spawn();
  worker_->depose();
  for (const auto number : {1, 2, 3})
    deliver(to, number);
  EXPECT_LE(to.given(), 1u) << "by now the scheduler may run it";
  EXPECT_EQ(left_to_the_scheduler(), 1u);
  EXPECT_TRUE(worker_->empty());
  run();
  EXPECT_TRUE(to.seen.empty());
  scheduler().run();
  EXPECT_EQ(to.seen, numbers_up_to(3));

  worker_->lead();
  deliver(to, 4);
  EXPECT_EQ(left_to_the_scheduler(), 0u);
  run();
  EXPECT_EQ(to.seen, numbers_up_to(4));
}

TEST_F(actor_dispatchers, that_are_deposed_while_they_run_lose_what_they_have_left) {
  auto& stuck = spawn();
  auto& behind = spawn();
  stuck.on_number = [&](caf::event_based_actor&, int number) {
    if (number > 1)
      return;
    std::thread other{[&] { worker_->depose(); }}; // The other thread leads from now on.
    other.join();
    EXPECT_EQ(left_to_the_scheduler(), 1u) << "who is behind";
    scheduler().run();
    EXPECT_EQ(behind.seen, numbers_up_to(2));
    deliver(behind, 3);
    EXPECT_EQ(left_to_the_scheduler(), 1u);
  };
  for (const auto number : {1, 2}) {
    deliver(stuck, number);
    deliver(behind, number);
  }
  run();
  EXPECT_TRUE(worker_->empty());
  scheduler().run();
  EXPECT_EQ(stuck.seen, numbers_up_to(2));
  EXPECT_EQ(behind.seen, numbers_up_to(3));
}

TEST_F(actor_dispatchers, that_hand_over_leave_what_they_had_claimed_to_the_scheduler) {
  auto& to = spawn();
  deliver(to, 1);
  worker_->hand_over();
  EXPECT_TRUE(worker_->empty());
  EXPECT_EQ(left_to_the_scheduler(), 1u);
  deliver(to, 2);
  EXPECT_EQ(to.given(), 1u) << "by now the scheduler may run it";
  scheduler().run();
  EXPECT_EQ(to.seen, numbers_up_to(2));
  deliver(to, 3);
  EXPECT_EQ(to.given(), 1u);
  run();
  EXPECT_EQ(to.seen, numbers_up_to(3));
}

TEST_F(actor_dispatchers, leave_what_exceeds_their_time_to_the_scheduler) {
  auto& first = spawn();
  auto& second = spawn();
  for (int number = 1; number <= 100; ++number) {
    deliver(first, number);
    deliver(second, number);
  }
  run(0us);
  EXPECT_FALSE(first.seen.empty());
  EXPECT_LT(first.seen.size(), 100u);
  EXPECT_TRUE(second.seen.empty());
  EXPECT_TRUE(worker_->empty());
  EXPECT_EQ(left_to_the_scheduler(), 2u);
  deliver(first, 101);
  deliver(second, 101);
  scheduler().run();
  EXPECT_EQ(first.seen, numbers_up_to(101));
  EXPECT_EQ(second.seen, numbers_up_to(101));
}

TEST_F(actor_dispatchers, leave_an_actor_that_was_slow_to_the_scheduler) {
  auto& to = spawn();
  to.on_number = [](caf::event_based_actor&, int) {
    for (const auto until = clock::now() + 1ms; clock::now() < until;) {
    }
  };
  int number = 0;
  while (number < 20 && left_to_the_scheduler() == 0) {
    run();
    deliver(to, ++number);
  }
  EXPECT_EQ(left_to_the_scheduler(), 1u);
  deliver(to, ++number);
  EXPECT_EQ(to.given(), 1u) << "by now the scheduler may run it";
  scheduler().run();
  EXPECT_EQ(to.seen, numbers_up_to(number));
}

// -- ends

TEST_F(actor_dispatchers, let_an_actor_go_that_ends_in_its_turn) {
  auto& to = spawn();
  to.on_number = [](caf::event_based_actor& self, int number) {
    if (number == 2)
      self.quit();
  };
  const caf::scoped_actor asker{system_};
  const auto me = caf::actor_cast<caf::strong_actor_ptr>(asker);
  const auto answer_comes = [&](caf::message_id id) {
    if (!asker->has_next_message())
      return false;
    const auto got = asker->dequeue();
    return got->mid == id.response_id() && got->content().match_elements<caf::error>();
  };
  const auto before = to.pointer->strong_refs.load();
  deliver(to, 1);
  deliver(to, 2);
  const auto unhandled = asker->new_request_id(caf::message_priority::normal);
  deliver(to, 3, unhandled, me);
  EXPECT_GT(to.pointer->strong_refs.load(), before) << "the queue holds it";
  run();
  EXPECT_EQ(to.seen, numbers_up_to(2));
  EXPECT_TRUE(answer_comes(unhandled));

  const auto late = asker->new_request_id(caf::message_priority::normal);
  deliver(to, 4, late, me);
  EXPECT_TRUE(worker_->empty());
  EXPECT_EQ(left_to_the_scheduler(), 0u);
  EXPECT_TRUE(answer_comes(late));
  EXPECT_EQ(to.pointer->strong_refs.load(), 1u);
}

TEST_F(actor_dispatchers, keep_an_actor_that_others_have_let_go_until_its_turn) {
  auto ended = std::make_shared<int>(0);
  auto pointer = caf::actor_cast<caf::strong_actor_ptr>(system_.spawn<caf::lazy_init>(
      [](caf::event_based_actor* self, const std::shared_ptr<int>& last) -> caf::behavior {
        return {[self, last](int number) {
          *last = number;
          self->quit();
        }};
      },
      ended));
  deliver_to(pointer, caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, caf::make_message(7)));
  pointer = nullptr;
  run();
  EXPECT_EQ(*ended, 7);
  EXPECT_EQ(ended.use_count(), 1) << "the actor is gone";
}

// -- order

// Goal: no combination of paths loses a message or lets one message overtake another.
TEST_F(actor_dispatchers, keep_the_order_of_messages_that_come_by_different_ways) {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937 random{seed};
    const auto one_of = [&](std::size_t count) { return random() % count; };
    std::vector<receiver*> all;
    for (std::size_t i = 0; i < claimed_max + 4; ++i)
      all.push_back(&spawn());
    std::vector<int> sent(all.size());
    std::size_t urgent = 0;
    std::size_t urgent_seen = 0;
    for (auto* each : all)
      each->on_number = [&, each](caf::event_based_actor&, int number) {
        if (number == 0) {
          ++urgent_seen;
          each->seen.pop_back();
        } else if (number % 7 == 0) { // Sent from within a handler.
          const auto other = one_of(all.size());
          deliver(*all[other], ++sent[other]);
        } else if (number % 11 == 0 && runs_) {
          worker_->depose(); // As if the handler took long.
        }
      };
    for (int step = 0; step < 400; ++step) {
      const auto i = one_of(all.size());
      switch (one_of(12)) {
      case 0:
        deliver_urgent(*all[i], 0);
        ++urgent;
        break;
      case 1:
        caf::anon_send(caf::actor_cast<caf::actor>(all[i]->pointer), ++sent[i]);
        break;
      case 2:
        run();
        break;
      case 3:
        run(0us);
        break;
      case 4:
        worker_->hand_over();
        break;
      case 5:
        worker_->hand_over();
        worker_->depose();
        break;
      case 6:
        worker_->lead();
        break;
      case 7:
        scheduler().try_run_once();
        break;
      default:
        for (auto messages = one_of(3) + 1; messages > 0; --messages)
          deliver(*all[i], ++sent[i]);
      }
    }
    worker_->lead();
    while (!worker_->empty() || left_to_the_scheduler() > 0) {
      run();
      scheduler().run();
    }
    for (std::size_t i = 0; i < all.size(); ++i)
      ASSERT_EQ(all[i]->seen, numbers_up_to(sent[i])) << i;
    ASSERT_EQ(urgent_seen, urgent);
    for (const auto* each : all)
      caf::anon_send_exit(caf::actor_cast<caf::actor>(each->pointer), caf::exit_reason::user_shutdown);
    scheduler().run();
    receivers_.clear();
  }
}

// Also keeps the order with a scheduler's threads, while another thread takes over from time to time.
TEST(actor_dispatcher, and_the_threads_of_the_scheduler_keep_the_order_of_messages) {
#ifdef __SANITIZE_THREAD__
  constexpr int each_gets = 100;
#else
  constexpr int each_gets = 3'000;
#endif
  system_config config;
  config.set("scheduler.max-threads", 2);
  caf::actor_system system{config};
  const auto host = make_loop_host(system);
  const auto worker = host->make_worker(true);
  std::atomic<bool> runs = false;
  std::atomic<int> total = 0;
  std::atomic<int> wrong = 0;
  std::vector<int> last(claimed_max + 4, 0);
  std::vector<caf::strong_actor_ptr> all;
  for (auto& before : last)
    all.push_back(caf::actor_cast<caf::strong_actor_ptr>(system.spawn<caf::lazy_init>([&]() -> caf::behavior {
      return {[&](int number) {
        wrong += number != before + 1;
        before = number;
        ++total;
        if (number % 50 == 0 && dispatching_unit() != nullptr && runs)
          std::jthread{[&] { worker->depose(); }}; // And waits for the takeover.
      }};
    })));
  for (int number = 1; number <= each_gets; ++number) {
    for (const auto& each : all)
      deliver_to(each, caf::make_mailbox_element(nullptr, caf::make_message_id(), {}, caf::make_message(number)));
    if (number % 3 == 0)
      continue;
    runs = true;
    worker->run(clock::now(), 20us);
    runs = false;
    worker->hand_over();
    worker->lead();
  }
  worker->hand_over();
  const auto until = clock::now() + 60s;
  while (total < static_cast<int>(all.size()) * each_gets && clock::now() < until)
    std::this_thread::sleep_for(1ms);
  EXPECT_EQ(total, static_cast<int>(all.size()) * each_gets);
  EXPECT_EQ(wrong, 0);
  for (const auto& each : all)
    caf::anon_send_exit(caf::actor_cast<caf::actor>(each), caf::exit_reason::user_shutdown);
  system.await_all_actors_done(); // They refer to local variables.
}

} // namespace
} // namespace troupe::internal
