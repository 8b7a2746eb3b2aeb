// Honest nodes under heavy load: all messages arrive in the end.
#include "two_nodes.hpp"

#include <caf/actor_pool.hpp>

namespace troupe::tests {
namespace {

/// Its constructor throws according to `mood`.
struct grumpy {
  int value = 0;
  grumpy() {
    if (mood == mood_of::exception)
      throw std::runtime_error("not today");
    if (mood == mood_of::number)
      throw 5;
  }
  enum class mood_of { good, exception, number };
  static inline std::atomic<mood_of> mood{mood_of::good};
};
TROUPE_DESCRIBE(grumpy, value)

caf::behavior echo(caf::event_based_actor*) {
  return {[](int value) { return value; }};
}

/// Spawns an actor that answers each number with a text of `bytes` bytes.
caf::actor answering(caf::actor_system& system, std::size_t bytes) {
  return system.spawn(
      [bytes](caf::event_based_actor*) -> caf::behavior { return {[bytes](int) { return std::string(bytes, 'x'); }}; });
}

class under_load : public two_nodes {
protected:
  under_load() { far_options_.store = near_options_.store = std::nullopt; }

  /// Sends `count` requests at once. Returns how many were answered.
  template <class Answer>
  int ask_at_once(const std::vector<caf::actor>& whom, int count) {
    caf::scoped_actor self{near().system};
    std::vector<decltype(self->request(whom[0], 20s, 1))> asked;
    for (int i = 0; i < count; ++i)
      asked.push_back(self->request(whom[static_cast<std::size_t>(i) % whom.size()], 20s, i));
    int answered = 0;
    for (auto& one : asked)
      one.receive([&](const Answer&) { ++answered; },
                  [](const caf::error& error) { ADD_FAILURE() << troupe::text_of(error); });
    return answered;
  }
};

TEST_F(under_load, requests_wait_for_room_for_large_answers_and_are_answered) {
  publish("large", answering(far().system, 4'000'000));
  connect();
  auto large = find("large");
  ASSERT_TRUE(ask<std::string>(near().system, large, 1)); // From now on, large answers are expected.
  EXPECT_EQ(ask_at_once<std::string>({large}, 20), 20);
}

TEST_F(under_load, many_small_requests_in_a_small_window_are_answered) {
  link_options options;
  options.window_bytes = 64'000;
  options.actor_window_bytes = 16'000;
  far_options_.accepted_links = options;
  publish("echo", far().system.spawn([](caf::event_based_actor*) -> caf::behavior {
    return {[](int value) {
      if (value == 0)
        std::this_thread::sleep_for(100ms); // Meanwhile all the others have to wait.
      return value;
    }};
  }));
  connect(options);
  EXPECT_EQ(ask_at_once<int>({find("echo")}, 2'000), 2'000);
}

/// Keeps questions until it receives a text, then delegates them to `next`.
caf::behavior passing_on(caf::event_based_actor* self, std::shared_ptr<std::atomic<int>> kept,
                         const std::shared_ptr<caf::actor>& next) {
  auto held = std::make_shared<std::vector<std::pair<caf::response_promise, int>>>();
  return {[=](int value) {
            held->emplace_back(self->make_response_promise(), value);
            ++*kept;
            return held->back().first;
          },
          [=](const std::string&) {
            for (auto& [promise, value] : *held)
              promise.delegate(*next, value);
            held->clear();
          }};
}

// Method: at each end, requests use up all room for answers, and the other end can only pass these requests back.
TEST_F(under_load, requests_that_both_ends_pass_back_are_answered_though_both_wait_for_answers) {
  link_options options;
  options.window_bytes = 4096;
  options.actor_window_bytes = 1024;
  far_options_.accepted_links = options;
  struct end {
    std::shared_ptr<std::atomic<int>> kept = std::make_shared<std::atomic<int>>(0);
    std::shared_ptr<caf::actor> others_echo = std::make_shared<caf::actor>();
    std::vector<caf::actor> passing;
    caf::actor echoing, asker;
  };
  end of_near, of_far;
  const auto open_end = [](end& one, caf::actor_system& system) {
    one.echoing = system.spawn(echo);
    for (int i = 0; i < 5; ++i)
      one.passing.push_back(system.spawn(passing_on, one.kept, one.others_echo));
  };
  open_end(of_near, near().system);
  open_end(of_far, far().system);
  publish("far echo", of_far.echoing);
  for (std::size_t i = 0; i < of_far.passing.size(); ++i)
    publish("far " + std::to_string(i), of_far.passing[i]);
  connect(options);
  auto other_way = far().home->links().front();
  ASSERT_TRUE(near().home->publish("near echo", of_near.echoing));
  *of_near.others_echo = find("far echo");
  *of_far.others_echo = other_way.find("near echo").value();
  std::vector<caf::actor> far_seen, near_seen;
  for (std::size_t i = 0; i < of_far.passing.size(); ++i) {
    const auto name = std::to_string(i);
    ASSERT_TRUE(near().home->publish("near " + name, of_near.passing[i]));
    far_seen.push_back(find("far " + name));
    near_seen.push_back(other_way.find("near " + name).value());
  }
  auto answered = std::make_shared<std::atomic<int>>(0);
  const auto ask_all = [answered](caf::actor_system& system, const std::vector<caf::actor>& whom,
                                  const caf::actor& others_echo) {
    return system.spawn([=](caf::event_based_actor* self) -> caf::behavior {
      const auto ask = [=](const caf::actor& one) {
        self->request(one, 60s, 1)
            .then([=](int) { ++*answered; }, [](const caf::error& error) { ADD_FAILURE() << troupe::text_of(error); });
      };
      for (int i = 0; i < 10; ++i)
        std::ranges::for_each(whom, ask);
      for (int i = 0; i < 10; ++i) // Passed-back requests go to the same receiver.
        ask(others_echo);
      return {[](caf::unit_t) {}};
    });
  };
  constexpr int let_out = 16; // Each expects an answer of 256 bytes.
  of_near.asker = ask_all(near().system, far_seen, *of_near.others_echo);
  of_far.asker = ask_all(far().system, near_seen, *of_far.others_echo);
  EXPECT_TRUE(eventually([&] { return *of_near.kept == let_out && *of_far.kept == let_out; }))
      << *of_near.kept << " and " << *of_far.kept;
  const auto go_on = [&] {
    for (const auto* one : {&of_near, &of_far})
      for (const auto& each : one->passing)
        caf::anon_send(each, std::string{"go on"});
    return *answered == 120;
  };
  EXPECT_TRUE(eventually(go_on)) << *answered << " of 120 answered";
  for (auto* one : {&of_near, &of_far}) {
    caf::anon_send_exit(one->asker, caf::exit_reason::kill);
    caf::anon_send_exit(one->echoing, caf::exit_reason::kill);
    for (const auto& each : one->passing)
      caf::anon_send_exit(each, caf::exit_reason::kill);
  }
}

TEST_F(under_load, a_question_to_several_actors_keeps_no_room_for_answers) {
  link_options options;
  options.window_bytes = 64'000;
  options.actor_window_bytes = 16'000;
  for (const auto* name : {"a", "b", "c"})
    publish(name, far().system.spawn(echo));
  connect(options);
  caf::scoped_execution_unit unit{&near().system};
  auto pool = caf::actor_pool::make(&unit, caf::actor_pool::broadcast());
  for (const auto* name : {"a", "b", "c"})
    caf::anon_send(pool, caf::sys_atom::value, caf::put_atom::value, find(name));
  for (int i = 0; i < 400; ++i)
    ASSERT_EQ(ask<int>(near().system, pool, i), i);
  EXPECT_EQ(ask<int>(near().system, find("a"), 1), 1);
  caf::anon_send_exit(pool, caf::exit_reason::user_shutdown);
}

TEST_F(under_load, a_pool_that_waits_for_room_holds_up_no_other_actor) {
  auto gate = std::make_shared<std::promise<void>>();
  publish("stuck", far().system.spawn<caf::detached>(
                       [opens = gate->get_future().share()](caf::event_based_actor*) -> caf::behavior {
                         return {[opens](const std::string&) { opens.wait_for(30s); }};
                       }));
  auto mortal =
      publish("mortal",
              far().system.spawn([](caf::event_based_actor*) -> caf::behavior { return {[](const std::string&) {}}; }));
  publish("echo", far().system.spawn(echo));
  link_options options;
  options.actor_window_bytes = options.actor_queue_bytes = 16'000;
  connect(options);
  auto other = find("echo");
  caf::scoped_execution_unit unit{&near().system};
  auto pool = caf::actor_pool::make(&unit, caf::actor_pool::broadcast());
  for (const auto* name : {"stuck", "mortal"})
    caf::anon_send(pool, caf::sys_atom::value, caf::put_atom::value, find(name));
  std::atomic<bool> is_through{false};
  // The pool is locked while it waits for room for "stuck", and it has to be told when "mortal" ends.
  std::jthread feeder{[&] {
    for (int i = 0; i < 20; ++i)
      caf::anon_send(pool, std::string(4'000, 'x'));
    is_through = true;
  }};
  EXPECT_TRUE(eventually([&] { return link_->stats().waiting_bytes >= 12'000; }));
  caf::anon_send_exit(mortal, caf::exit_reason::user_shutdown);
  caf::scoped_actor self{near().system};
  self->monitor(find("mortal"));
  self->receive([](const caf::down_msg&) {}, caf::after(5s) >> [] { ADD_FAILURE() << "no down message"; });
  EXPECT_EQ(ask<int>(near().system, other, 4), 4);
  EXPECT_FALSE(is_through);
  gate->set_value();
  feeder.join();
  EXPECT_TRUE(is_through);
  caf::anon_send_exit(pool, caf::exit_reason::user_shutdown);
}

TEST_F(under_load, a_slow_actor_with_large_answers_does_not_stall_requests_to_others) {
  auto gate = std::make_shared<std::promise<void>>();
  publish("large", far().system.spawn<caf::detached>(
                       [opens = gate->get_future().share()](caf::event_based_actor*) -> caf::behavior {
                         return {[opens](bool waits) {
                           if (waits)
                             opens.wait_for(30s);
                           return std::string(4'000'000, 'x');
                         }};
                       }));
  publish("echo", far().system.spawn(echo));
  connect();
  auto large = find("large");
  auto other = find("echo");
  EXPECT_TRUE(ask<std::string>(near().system, large, false));
  caf::scoped_actor self{near().system};
  for (int i = 0; i < 20; ++i)
    self->send(near().system.spawn([large](caf::event_based_actor* asker) -> caf::behavior {
      return {[=](bool waits) { asker->request(large, caf::infinite, waits).then([](const std::string&) {}); }};
    }),
               true);
  EXPECT_EQ(ask<int>(near().system, other, 5), 5);
  gate->set_value();
}

TEST_F(under_load, large_messages_of_several_pairs_begin_as_far_as_the_peer_takes_them) {
  far_options_.accepted_links.message_bytes = 1'000'000;
  auto got = std::make_shared<std::atomic<int>>(0);
  for (const auto* name : {"a", "b"})
    publish(name, far().system.spawn([got](caf::event_based_actor*) -> caf::behavior {
      return {[got](const std::string&) { got->fetch_add(1); }};
    }));
  connect();
  auto a = find("a"), b = find("b");
  caf::scoped_actor self{near().system};
  for (int i = 0; i < 10; ++i) {
    self->send(a, std::string(900'000, 'a'));
    self->send(b, std::string(900'000, 'b'));
  }
  EXPECT_TRUE(eventually([&] { return *got == 20 || !link_->is_open(); }));
  EXPECT_EQ(*got, 20);
}

TEST_F(under_load, large_answers_of_several_actors_come_though_only_one_fits) {
  link_options options;
  options.message_bytes = 1'000'000;
  std::vector<caf::actor> all;
  for (const auto* name : {"a", "b", "c", "d"})
    publish(name, answering(far().system, 900'000));
  connect(options);
  for (const auto* name : {"a", "b", "c", "d"})
    all.push_back(find(name));
  EXPECT_EQ(ask_at_once<std::string>(all, 12), 12);
}

TEST_F(under_load, a_handler_that_blocks_may_ask_again_and_again) {
  // After the first question, another thread takes over the I/O. Later questions must not wait for the handler's end.
  auto answers = std::make_shared<std::promise<int>>();
  publish("asker", far().system.spawn([answers](caf::event_based_actor* self) -> caf::behavior {
    return {[answers, self](const caf::actor& whom) {
      int answered = 0;
      for (int i = 0; i < 3; ++i)
        answered += ask<int>(self->system(), whom, i) == i ? 1 : 0;
      answers->set_value(answered);
    }};
  }));
  connect();
  auto whom = near().system.spawn(echo);
  caf::scoped_actor self{near().system};
  self->send(find("asker"), whom);
  auto answered = answers->get_future();
  ASSERT_EQ(answered.wait_for(40s), std::future_status::ready);
  EXPECT_EQ(answered.get(), 3);
}

TEST_F(under_load, values_that_cannot_be_made_are_answered_with_the_reason) {
  far_types_ = near_types_ = [](type_registry& types) { types.add<grumpy>("test.grumpy"); };
  publish("echo", far().system.spawn([](caf::event_based_actor*) -> caf::behavior {
    return {[](const grumpy& got) { return got.value; }};
  }));
  connect();
  auto remote = find("echo");
  grumpy sent;
  for (auto [mood, reason] :
       {std::pair{grumpy::mood_of::exception, "not today"},
        std::pair{grumpy::mood_of::number, "its constructor threw an object that is not a std::exception"}}) {
    grumpy::mood = mood;
    auto answer = ask<int>(near().system, remote, sent);
    grumpy::mood = grumpy::mood_of::good;
    ASSERT_FALSE(answer);
    EXPECT_NE(text_of(answer).find(reason), std::string::npos) << text_of(answer);
  }
  EXPECT_EQ(ask<int>(near().system, remote, sent), 0);
  EXPECT_TRUE(eventually([&] { return far().home->links().at(0).stats().unconsumed_bytes_here == 0; }));
}

} // namespace
} // namespace troupe::tests
