// Goal: for an actor, a turn on the thread that received its messages looks like any other turn.
#include <troupe/framework/internal/caf_port/direct_turn.hpp>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <caf/actor_companion.hpp>
#include <caf/all.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include <troupe/framework/internal/caf_port/ordinary_actors.hpp>

namespace troupe::internal {
namespace {

using namespace std::chrono_literals;
using turn_over = caf::resumable;

caf::mailbox_element_ptr mailbox_element_of(caf::message content, caf::strong_actor_ptr from = nullptr,
                                            caf::message_id id = caf::make_message_id()) {
  return caf::make_mailbox_element(std::move(from), id, {}, std::move(content));
}

caf::mailbox_element_ptr mailbox_element_of(int number) {
  return mailbox_element_of(caf::make_message(number));
}

class own_enqueue final : public caf::event_based_actor {
public:
  using caf::event_based_actor::enqueue;
  using caf::event_based_actor::event_based_actor;
  void enqueue(caf::mailbox_element_ptr what, caf::execution_unit* context) override {
    caf::event_based_actor::enqueue(std::move(what), context);
  }
};

class own_resume final : public caf::event_based_actor {
public:
  using caf::event_based_actor::event_based_actor;
  resume_result resume(caf::execution_unit* context, std::size_t messages) override {
    return caf::event_based_actor::resume(context, messages);
  }
};

class plain_class : public caf::event_based_actor {
public:
  using caf::event_based_actor::event_based_actor;
  caf::behavior make_behavior() override {
    return {[](int) {}};
  }
};

class blocks final : public caf::blocking_actor {
public:
  using caf::blocking_actor::blocking_actor;
};

struct count_of {
  int number = 0;
};

using calculator = caf::typed_actor<caf::replies_to<int>::with<int>>;

/// Collects the actors that CAF schedules during a test.
class unit final : public caf::execution_unit {
public:
  using caf::execution_unit::execution_unit;
  void exec_later(caf::resumable* job) override { later.emplace_back(job, false); }

  std::vector<caf::intrusive_ptr<caf::resumable>> later;
};

struct scheduled_by final : caf::actor_system_config {
  explicit scheduled_by(caf::atom_value policy) { set("scheduler.policy", policy); }
};

class direct_turns : public testing::Test {
protected:
  explicit direct_turns(caf::atom_value scheduler = caf::atom("stealing")) : config_{scheduler} {}
  ~direct_turns() override { end_all(); }

  void end_all() {
    for (const auto& each : made_)
      caf::anon_send_exit(caf::actor_cast<caf::actor>(each), caf::exit_reason::user_shutdown);
  }

  /// Spawns an actor that waits for its first message.
  template <class Behavior>
  caf::scheduled_actor& spawn(Behavior behavior) {
    made_.push_back(caf::actor_cast<caf::strong_actor_ptr>(system_.spawn<caf::lazy_init>(std::move(behavior))));
    return *ordinary_.find(*made_.back()->get());
  }
  bool finds(const caf::strong_actor_ptr& actor) const { return ordinary_.find(*actor->get()) != nullptr; }

  /// Spawns an actor that collects numbers.
  caf::scheduled_actor& spawn_collector() {
    return spawn([this]() -> caf::behavior { return {[this](int number) { seen_.push_back(number); }}; });
  }

  static caf::strong_actor_ptr pointer_to(caf::scheduled_actor& actor) { return caf::strong_actor_ptr{actor.ctrl()}; }

  scheduled_by config_;
  caf::actor_system system_{config_};
  ordinary_actors ordinary_{system_};
  unit unit_{&system_};
  std::vector<int> seen_;
  std::vector<caf::strong_actor_ptr> made_;
};

TEST_F(direct_turns, are_for_actors_that_caf_runs_in_its_own_way) {
  const auto of = [](const auto& handle) { return caf::actor_cast<caf::strong_actor_ptr>(handle); };
  const auto number = [](int x) { return x; };
  const std::vector<caf::strong_actor_ptr> ordinary{
      of(system_.spawn([=]() -> caf::behavior { return {number}; })),
      of(system_.spawn([=](caf::stateful_actor<count_of>*) -> caf::behavior { return {number}; })),
      of(system_.spawn([=]() -> calculator::behavior_type { return {number}; })), of(system_.spawn<plain_class>())};
  const std::vector<caf::strong_actor_ptr> others{
      of(system_.spawn<own_enqueue>()),
      of(system_.spawn<own_resume>()),
      of(system_.spawn<blocks>()),
      of(system_.spawn<caf::actor_companion>()),
      of(system_.spawn<caf::detached>([=]() -> caf::behavior { return {number}; })),
      of(caf::scoped_actor{system_}),
      of(caf::actor_pool::make(&unit_, caf::actor_pool::round_robin()))};
  for (const auto& each : ordinary)
    EXPECT_TRUE(finds(each)) << each->id();
  for (const auto& each : others)
    EXPECT_FALSE(finds(each)) << each->id();
  for (const auto& all : {ordinary, others})
    for (const auto& each : all)
      caf::anon_send_exit(caf::actor_cast<caf::actor>(each), caf::exit_reason::user_shutdown);
}

TEST_F(direct_turns, claim_who_waits_and_nobody_else) {
  auto& actor = spawn_collector();
  ASSERT_TRUE(claim(actor));
  EXPECT_FALSE(claim(actor));
  give(actor, mailbox_element_of(1));
  EXPECT_EQ(run_turn(actor, unit_, 10), turn_over::awaiting_message);
  EXPECT_TRUE(claim(actor));
  EXPECT_EQ(run_turn(actor, unit_, 10), turn_over::awaiting_message); // Also without a message.
  EXPECT_EQ(seen_, (std::vector{1}));
}

TEST_F(direct_turns, keep_the_order_in_which_messages_came_whoever_sent_them) {
  auto& actor = spawn_collector();
  ASSERT_TRUE(claim(actor));
  give(actor, mailbox_element_of(1));
  actor.enqueue(mailbox_element_of(2), nullptr); // As from another thread; a claimed actor is not scheduled.
  give(actor, mailbox_element_of(3));
  actor.enqueue(mailbox_element_of(4), nullptr);
  EXPECT_EQ(run_turn(actor, unit_, 10), turn_over::awaiting_message);
  EXPECT_EQ(seen_, (std::vector{1, 2, 3, 4}));
}

TEST_F(direct_turns, end_after_so_many_messages_and_leave_the_rest_to_the_next) {
  auto& actor = spawn_collector();
  ASSERT_TRUE(claim(actor));
  for (int i = 0; i < 25; ++i)
    give(actor, mailbox_element_of(i));
  EXPECT_EQ(run_turn(actor, unit_, 10), turn_over::resume_later);
  EXPECT_EQ(seen_.size(), 10u);
  EXPECT_EQ(actor.resume(&unit_, 10), turn_over::resume_later); // CAF's own turn.
  EXPECT_EQ(run_turn(actor, unit_, 10), turn_over::awaiting_message);
  ASSERT_EQ(seen_.size(), 25u);
  for (int i = 0; i < 25; ++i)
    EXPECT_EQ(seen_[static_cast<std::size_t>(i)], i);
}

TEST_F(direct_turns, let_urgent_messages_overtake) {
  auto& actor = spawn_collector();
  ASSERT_TRUE(claim(actor));
  for (int i = 0; i < 40; ++i)
    give(actor, mailbox_element_of(i));
  actor.enqueue(mailbox_element_of(caf::make_message(-1), nullptr, caf::make_message_id(caf::message_priority::high)),
                nullptr);
  while (run_turn(actor, unit_, 100) == turn_over::resume_later) {
  }
  ASSERT_EQ(seen_.size(), 41u);
  EXPECT_EQ(seen_.front(), -1);
}

TEST_F(direct_turns, let_urgent_messages_that_come_meanwhile_overtake_most) {
  auto& actor = spawn([this](caf::event_based_actor* self) -> caf::behavior {
    return {[this, self](int number) {
      if (number == 0)
        self->send<caf::message_priority::high>(self, -1);
      seen_.push_back(number);
    }};
  });
  ASSERT_TRUE(claim(actor));
  for (int i = 0; i < 60; ++i)
    give(actor, mailbox_element_of(i));
  while (run_turn(actor, unit_, 100) == turn_over::resume_later) {
  }
  ASSERT_EQ(seen_.size(), 61u);
  const auto overtook = seen_.end() - std::ranges::find(seen_, -1);
  EXPECT_GT(overtook, 40);
}

TEST_F(direct_turns, come_back_to_what_was_skipped_when_something_else_was_handled) {
  auto& actor = spawn([this](caf::event_based_actor* self) -> caf::behavior {
    self->set_default_handler(caf::skip);
    return {[this, self](const std::string&) {
      seen_.push_back(-1);
      self->become([this](int number) { seen_.push_back(number); });
    }};
  });
  ASSERT_TRUE(claim(actor));
  give(actor, mailbox_element_of(1));
  give(actor, mailbox_element_of(2));
  EXPECT_EQ(run_turn(actor, unit_, 10), turn_over::awaiting_message);
  EXPECT_TRUE(seen_.empty());
  ASSERT_TRUE(claim(actor));
  give(actor, mailbox_element_of(caf::make_message(std::string{"go"})));
  give(actor, mailbox_element_of(3));
  EXPECT_EQ(run_turn(actor, unit_, 10), turn_over::awaiting_message);
  EXPECT_EQ(seen_, (std::vector{-1, 1, 2, 3}));
  ASSERT_TRUE(claim(actor)); // It is waiting.
  EXPECT_EQ(run_turn(actor, unit_, 10), turn_over::awaiting_message);
}

TEST_F(direct_turns, put_all_off_while_a_response_is_awaited) {
  auto asked = caf::actor_cast<caf::strong_actor_ptr>(made_.emplace_back(caf::actor_cast<caf::strong_actor_ptr>(
      system_.spawn([]() -> caf::behavior { return {[](int number) { return std::to_string(number); }}; }))));
  auto& actor = spawn([this, asked](caf::event_based_actor* self) -> caf::behavior {
    return {[this, self, asked](int number) {
      seen_.push_back(number);
      if (number == 1)
        self->request(caf::actor_cast<caf::actor>(asked), caf::infinite, 7).await([this](const std::string&) {
          seen_.push_back(70);
        });
    }};
  });
  ASSERT_TRUE(claim(actor));
  for (int i = 1; i <= 3; ++i)
    give(actor, mailbox_element_of(i));
  auto result = run_turn(actor, unit_, 10);
  // CAF may have scheduled, in the unit, the asked actor and then the receiver of its answer. The test runs both.
  for (int rounds = 0; rounds < 10'000 && seen_.size() < 4; ++rounds) {
    auto jobs = std::exchange(unit_.later, {});
    for (auto& job : jobs)
      static_cast<void>(job->resume(&unit_, 10));
    if (result == turn_over::resume_later)
      result = run_turn(actor, unit_, 10);
    std::this_thread::sleep_for(100us);
  }
  EXPECT_EQ(seen_, (std::vector{1, 70, 2, 3}));
}

TEST_F(direct_turns, of_an_actor_that_quits_answer_the_requests_that_are_left) {
  auto& actor = spawn([this](caf::event_based_actor* self) -> caf::behavior {
    return {[this, self](int number) {
      seen_.push_back(number);
      if (number == 2)
        self->quit();
    }};
  });
  const caf::scoped_actor asker{system_};
  const auto me = caf::actor_cast<caf::strong_actor_ptr>(asker);
  asker->monitor(caf::actor_cast<caf::actor>(pointer_to(actor)));
  const auto kept = pointer_to(actor);
  ASSERT_TRUE(claim(actor));
  give(actor, mailbox_element_of(1));
  give(actor, mailbox_element_of(2));
  const auto id = asker->new_request_id(caf::message_priority::normal);
  give(actor, mailbox_element_of(caf::make_message(3), me, id));
  EXPECT_EQ(run_turn(actor, unit_, 10), turn_over::done);
  EXPECT_EQ(seen_, (std::vector{1, 2}));
  int downs = 0;
  int answers = 0;
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(asker->await_data(std::chrono::high_resolution_clock::now() + 60s));
    const auto got = asker->dequeue();
    downs += got->content().match_elements<caf::down_msg>();
    answers += got->mid == id.response_id() && got->content().match_elements<caf::error>();
  }
  EXPECT_EQ(downs, 1);
  EXPECT_EQ(answers, 1);
  EXPECT_FALSE(claim(actor)); // CAF answers all later messages.
}

TEST_F(direct_turns, of_an_actor_whose_handler_throws_end_it) {
  auto& actor = spawn([this](caf::event_based_actor* self) -> caf::behavior {
    self->set_exception_handler(
        [](caf::scheduled_actor*, std::exception_ptr&) -> caf::error { return caf::exit_reason::unhandled_exception; });
    return {[this](int number) {
      seen_.push_back(number);
      if (number == 1)
        throw std::runtime_error{"no"};
    }};
  });
  const auto kept = pointer_to(actor);
  ASSERT_TRUE(claim(actor));
  give(actor, mailbox_element_of(1));
  give(actor, mailbox_element_of(2));
  EXPECT_EQ(run_turn(actor, unit_, 10), turn_over::done);
  EXPECT_EQ(seen_, (std::vector{1}));
}

/// Time advances only when the test advances it.
class direct_turns_by_the_clock : public direct_turns {
protected:
  direct_turns_by_the_clock() : direct_turns(caf::atom("testing")) {}
  ~direct_turns_by_the_clock() override {
    end_all();
    run_scheduled();
  }

  void let_pass(std::chrono::seconds time) {
    scheduler().advance_time(time);
    run_scheduled();
  }

private:
  caf::scheduler::test_coordinator& scheduler() {
    return static_cast<caf::scheduler::test_coordinator&>(system_.scheduler());
  }
  void run_scheduled() {
    while (scheduler().try_run_once()) {
    }
  }
};

TEST_F(direct_turns_by_the_clock, begin_receive_timeouts_anew) {
  int silences = 0;
  auto& actor = spawn([&]() -> caf::behavior {
    return {[this](int number) { seen_.push_back(number); }, caf::after(10s) >> [&] { ++silences; }};
  });
  for (const auto number : {1, 2, 3}) {
    ASSERT_TRUE(claim(actor));
    give(actor, mailbox_element_of(number));
    EXPECT_EQ(run_turn(actor, unit_, 10), turn_over::awaiting_message);
    let_pass(6s);
    EXPECT_EQ(silences, 0) << number;
  }
  let_pass(6s);
  EXPECT_EQ(silences, 1);
}

TEST_F(direct_turns, initialize_an_actor_and_end_one_without_behavior) {
  bool initialized = false;
  auto& actor = spawn([&]() -> caf::behavior {
    initialized = true;
    return {};
  });
  const auto kept = pointer_to(actor);
  ASSERT_TRUE(claim(actor));
  give(actor, mailbox_element_of(1));
  EXPECT_EQ(run_turn(actor, unit_, 10), turn_over::done);
  EXPECT_TRUE(initialized);
}

TEST_F(direct_turns, and_other_threads_that_send_lose_nothing_and_keep_each_ones_order) {
  constexpr int senders = 3;
#ifdef __SANITIZE_THREAD__
  constexpr int each_sends = 200; // The sanitizer slows each of CAF's atomic operations down.
#else
  constexpr int each_sends = 20'000;
#endif
  std::vector<int> last(senders + 1, 0);
  std::atomic<int> total = 0;
  std::atomic<int> wrong = 0;
  auto& actor = spawn([&]() -> caf::behavior {
    return {[&](int who, int number) {
      auto& before = last[static_cast<std::size_t>(who)];
      wrong += number != before + 1;
      before = number;
      ++total;
    }};
  });
  std::vector<std::jthread> threads;
  for (int who = 1; who <= senders; ++who)
    threads.emplace_back([&, who] {
      for (int number = 1; number <= each_sends; ++number)
        caf::anon_send(caf::actor_cast<caf::actor>(pointer_to(actor)), who, number);
    });
  for (int number = 1; number <= each_sends;) {
    if (!claim(actor)) { // CAF's scheduler is running it.
      actor.enqueue(mailbox_element_of(caf::make_message(0, number++)), nullptr);
      continue;
    }
    for (int i = 0; i < 7 && number <= each_sends; ++i)
      give(actor, mailbox_element_of(caf::make_message(0, number++)));
    caf::intrusive_ptr_add_ref(actor.ctrl());
    if (run_turn(actor, unit_, 5) == turn_over::resume_later)
      system_.scheduler().enqueue(&actor);
    else
      caf::intrusive_ptr_release(actor.ctrl());
  }
  threads.clear();
  const auto until = std::chrono::steady_clock::now() + 60s;
  while (total < (senders + 1) * each_sends && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(1ms);
  EXPECT_EQ(total, (senders + 1) * each_sends);
  EXPECT_EQ(wrong, 0);
}

} // namespace
} // namespace troupe::internal
