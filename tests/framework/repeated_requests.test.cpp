// Requests that lasting handles repeat when their links are lost.
#include <array>
#include <atomic>
#include <map>
#include <random>

#include <troupe/framework/lasting.hpp>

#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

class repeating : public two_nodes {
protected:
  repeating() { near_options_.store = far_options_.store = std::nullopt; }

  caf::actor to_service(request_retry retry, lasting_options options = {}) {
    options.retry = retry;
    options.policy = {.first_pause = 1ms, .longest_pause = 20ms};
    auto made = near().home->lasting(address_, "service", options);
    if (!made)
      throw std::runtime_error(made.error().message());
    return *made;
  }

  /// An actor that keeps the promise of each request until it gets an atom. It answers numbers below 0 with an error.
  caf::actor publish_keeper() {
    return publish("service", far().system.spawn([this](caf::event_based_actor* self) -> caf::behavior {
      auto kept = std::make_shared<std::vector<std::pair<caf::response_promise, int>>>();
      return {[this, self, kept](int value) {
                kept->emplace_back(self->make_response_promise(), value);
                ++handled_;
                return kept->back().first;
              },
              [kept](caf::atom_value) {
                for (auto& [promise, value] : *kept)
                  if (value < 0)
                    promise.deliver(caf::make_error(caf::sec::bad_function_call));
                  else
                    promise.deliver(2 * value);
                kept->clear();
              }};
    }));
  }

  /// An actor that cuts its node's links before it answers.
  void publish_cutter() {
    publish("service", far().system.spawn([this]() -> caf::behavior {
      return {[this](int value) {
        if (handled_++ == 0) {
          for (auto& each : far().home->links())
            each.close();
          EXPECT_TRUE(eventually([&] { return far().home->links().empty(); }));
        }
        return 2 * value;
      }};
    }));
  }

  void cut_links() {
    for (auto& each : near().home->links())
      each.close();
  }

  /// Cuts the link, and waits until the request was sent again over the next one.
  bool repeats_after_a_cut() {
    const auto before = near().home->links().front().number();
    cut_links();
    return eventually([&] {
      const auto now = near().home->links();
      return now.size() == 1 && now.front().number() != before && now.front().stats().messages_sent == 1;
    });
  }

  std::string answer_of(const caf::actor& whom, int value) {
    const auto answer = ask<int>(near().system, whom, value);
    return answer ? std::to_string(*answer) : to_string(to_node_error(answer.error()).code());
  }

  std::atomic<int> handled_{0};
};

TEST_F(repeating, changes_nothing_while_the_link_holds) {
  publish("service", far().system.spawn([]() -> caf::behavior {
    return {[](int value) { return 2 * value; },
            [](const std::string&) -> caf::result<int> { return caf::sec::bad_function_call; }};
  }));
  for (const auto retry : {request_retry::repeat_idempotent, request_retry::repeat}) {
    const auto service = to_service(retry);
    for (auto value = 0; value < 100; ++value)
      ASSERT_EQ(answer_of(service, value), std::to_string(2 * value));
    const auto refused = ask<int>(near().system, service, std::string{"x"});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error(), caf::sec::bad_function_call);
  }
}

TEST_F(repeating, gives_a_request_under_way_its_answer_over_the_next_link) {
  const auto keeper = publish_keeper();
  const auto service = to_service(request_retry::repeat_idempotent);
  caf::scoped_actor self{near().system};
  auto asked = self->request(service, 20s, 4);
  ASSERT_TRUE(eventually([&] { return handled_ == 1; }));
  ASSERT_TRUE(repeats_after_a_cut());
  caf::anon_send(keeper, caf::atom("go"));
  asked.receive([](int value) { EXPECT_EQ(value, 8); },
                [](const caf::error& error) { ADD_FAILURE() << troupe::text_of(error); });
  EXPECT_EQ(handled_, 1);
}

TEST_F(repeating, gives_a_request_under_way_the_error_of_its_actor_over_the_next_link) {
  const auto keeper = publish_keeper();
  const auto service = to_service(request_retry::repeat_idempotent);
  caf::scoped_actor self{near().system};
  auto asked = self->request(service, 20s, -4);
  ASSERT_TRUE(eventually([&] { return handled_ == 1; }));
  ASSERT_TRUE(repeats_after_a_cut());
  caf::anon_send(keeper, caf::atom("go"));
  asked.receive([](int value) { ADD_FAILURE() << value; },
                [](const caf::error& error) { EXPECT_EQ(error, caf::sec::bad_function_call); });
  EXPECT_EQ(handled_, 1);
}

TEST_F(repeating, gets_an_answer_that_was_lost_from_the_receivers_memory) {
  publish_cutter();
  EXPECT_EQ(answer_of(to_service(request_retry::repeat_idempotent), 4), "8");
  EXPECT_EQ(handled_, 1);
}

TEST_F(repeating, handles_a_request_twice_where_that_is_asked_for) {
  publish_cutter();
  EXPECT_EQ(answer_of(to_service(request_retry::repeat), 4), "8");
  EXPECT_EQ(handled_, 2);
}

TEST_F(repeating, says_that_the_outcome_is_unknown_if_the_answer_is_not_kept) {
  far_options_.answer_memory_bytes = 0;
  publish_cutter();
  EXPECT_EQ(answer_of(to_service(request_retry::repeat_idempotent), 4), "outcome_unknown");
  EXPECT_EQ(handled_, 1);
}

TEST_F(repeating, says_that_the_outcome_is_unknown_if_the_process_was_started_again) {
  auto keeper = publish_keeper();
  const auto service = to_service(request_retry::repeat_idempotent);
  caf::scoped_actor self{near().system};
  auto asked = self->request(service, 20s, 4);
  ASSERT_TRUE(eventually([&] { return handled_ == 1; }));
  far().home.reset();
  caf::anon_send_exit(keeper, caf::exit_reason::kill);
  keeper = nullptr;
  far_.reset();
  publish_keeper();
  asked.receive([](int) { ADD_FAILURE() << "answered"; },
                [](const caf::error& error) { EXPECT_EQ(to_node_error(error).code(), node_errc::outcome_unknown); });
  EXPECT_EQ(handled_, 1);
  self->send(service, caf::atom("go")); // Plain messages find the new process.
  auto again = self->request(service, 20s, 5);
  ASSERT_TRUE(eventually([&] { return handled_ == 2; }));
  self->send(service, caf::atom("go"));
  again.receive([](int value) { EXPECT_EQ(value, 10); },
                [](const caf::error& error) { ADD_FAILURE() << troupe::text_of(error); });
}

TEST_F(repeating, moves_a_request_to_another_process_where_that_is_asked_for) {
  auto keeper = publish_keeper();
  const auto service = to_service(request_retry::repeat);
  caf::scoped_actor self{near().system};
  auto asked = self->request(service, 20s, 4);
  ASSERT_TRUE(eventually([&] { return handled_ == 1; }));
  far().home.reset();
  caf::anon_send_exit(keeper, caf::exit_reason::kill);
  far_.reset();
  keeper = publish_keeper();
  ASSERT_TRUE(eventually([&] { return handled_ == 2; }));
  caf::anon_send(keeper, caf::atom("go"));
  asked.receive([](int value) { EXPECT_EQ(value, 8); },
                [](const caf::error& error) { ADD_FAILURE() << troupe::text_of(error); });
}

TEST_F(repeating, fails_in_bounded_time_if_nobody_comes_back) {
  auto keeper = publish_keeper();
  const auto service = to_service(request_retry::repeat_idempotent, {.patience = 50ms});
  caf::scoped_actor self{near().system};
  auto asked = self->request(service, 20s, 4);
  ASSERT_TRUE(eventually([&] { return handled_ == 1; }));
  far().home.reset();
  asked.receive([](int) { ADD_FAILURE() << "answered"; },
                [](const caf::error& error) {
                  const auto why = to_node_error(error);
                  EXPECT_EQ(why.code(), node_errc::outcome_unknown);
                  EXPECT_NE(why.message().find("no actor was found"), std::string::npos) << why.message();
                });
  EXPECT_EQ(answer_of(service, 5), "link_down"); // It was never sent.
  caf::anon_send_exit(keeper, caf::exit_reason::kill);
}

TEST_F(repeating, bounds_the_bytes_of_requests_that_are_not_answered) {
  auto keeper = publish_keeper();
  const auto service = to_service(request_retry::repeat_idempotent, {.queue = 64_KiB});
  auto waiting = near().system.spawn([service](caf::event_based_actor* self) -> caf::behavior {
    for (auto count = 0; count < 100; ++count)
      self->request(service, caf::infinite, count).then([](int) {}, [](const caf::error&) {});
    return {[](caf::atom_value) {}};
  });
  ASSERT_TRUE(eventually([&] { return handled_ == 100; }));
  caf::scoped_actor self{near().system};
  auto busy = 0;
  for (auto count = 0; count < 5; ++count)
    self->request(service, 1s, count)
        .receive([](int) {},
                 [&](const caf::error& error) { busy += to_node_error(error).code() == node_errc::link_busy ? 1 : 0; });
  EXPECT_GE(busy, 3);
  caf::anon_send(keeper, caf::atom("go"));
  EXPECT_TRUE(eventually([&] {
    auto code = node_errc::none;
    self->request(service, 100ms, 1)
        .receive([](int) {}, [&](const caf::error& error) { code = to_node_error(error).code(); });
    return code != node_errc::link_busy;
  }));
  caf::anon_send(keeper, caf::atom("go"));
  caf::anon_send_exit(waiting, caf::exit_reason::kill);
}

TEST_F(repeating, waits_for_the_process_that_had_the_request_before_it_asks_another) {
  const auto keeper = publish_keeper();
  side other{{.name = "other", .listen = {"unix://@" + unique_name("other")}, .store = std::nullopt}};
  const auto service = near().home->lasting(
      {address_, other.home->addresses().front()}, "service",
      {.retry = request_retry::repeat_idempotent, .policy = {.first_pause = 1ms, .longest_pause = 20ms}});
  ASSERT_TRUE(service) << service.error().message();
  caf::scoped_actor self{near().system};
  auto asked = self->request(*service, 20s, 4);
  ASSERT_TRUE(eventually([&] { return handled_ == 1 && near().home->links().size() == 2; }));
  ASSERT_TRUE(
      other.home->publish("service", other.system.spawn([]() -> caf::behavior { return {[](int) { return -1; }}; })));
  const auto before = far().home->links().front().number();
  far().home->links().front().close();
  ASSERT_TRUE(eventually([&] {
    const auto now = far().home->links();
    return now.size() == 1 && now.front().number() != before && now.front().stats().messages_received == 1;
  }));
  caf::anon_send(keeper, caf::atom("go"));
  asked.receive([](int value) { EXPECT_EQ(value, 8); },
                [](const caf::error& error) { ADD_FAILURE() << troupe::text_of(error); });
  EXPECT_EQ(handled_, 1);
}

// -- requests in another's name

TEST_F(repeating, answers_requests_that_another_actor_delegates) {
  publish("service", far().system.spawn([]() -> caf::behavior { return {[](int value) { return 2 * value; }}; }));
  for (const auto retry : {request_retry::repeat_idempotent, request_retry::repeat}) {
    const auto gateway =
        near().system.spawn([service = to_service(retry)](caf::event_based_actor* self) -> caf::behavior {
          return {[self, service](int value) { return self->delegate(service, value); }};
        });
    EXPECT_EQ(answer_of(gateway, 4), "8");
    // Also for requesters in other processes.
    side third{{.name = "third", .store = std::nullopt}};
    near_options_.listen = {};
    const auto address = "unix://@" + unique_name("gateway");
    ASSERT_TRUE(near().home->listen(address));
    const auto name = "gateway" + std::to_string(static_cast<int>(retry));
    ASSERT_TRUE(near().home->publish(name, gateway));
    auto link = third.home->connect(address);
    ASSERT_TRUE(link) << link.error().message();
    auto found = link->find(name);
    ASSERT_TRUE(found) << found.error().message();
    for (auto value = 0; value < 20; ++value) {
      const auto answer = ask<int>(third.system, *found, value);
      EXPECT_EQ(answer ? *answer : -1, 2 * value) << text_of(answer);
    }
    near().home->unpublish(name);
  }
}

TEST_F(repeating, does_not_repeat_a_request_that_was_handled_and_dropped) {
  publish("service", far().system.spawn([this](caf::event_based_actor* self) -> caf::behavior {
    return {[self, this](int) {
      if (handled_++ == 0) {
        for (auto& each : far().home->links())
          each.close();
        EXPECT_TRUE(eventually([&] { return far().home->links().empty(); }));
      }
      return self->make_response_promise(); // Dropped.
    }};
  }));
  EXPECT_EQ(answer_of(to_service(request_retry::repeat_idempotent), 4), "broken_promise");
  EXPECT_EQ(handled_, 1);
}

TEST_F(repeating, passes_an_error_of_the_receivers_own_links_on) {
  publish("service", far().system.spawn([this]() -> caf::behavior {
    return {[this](int) -> caf::result<int> {
      ++handled_;
      return to_caf_error({node_errc::link_down, "a link of the service is down"});
    }};
  }));
  for (const auto retry : {request_retry::repeat_idempotent, request_retry::repeat})
    EXPECT_EQ(answer_of(to_service(retry), 4), "link_down");
  EXPECT_EQ(handled_, 2);
}

TEST_F(repeating, gives_up_requests_that_nobody_answers_when_room_is_needed) {
  const auto keeper = publish_keeper();
  const auto service = to_service(request_retry::repeat_idempotent, {.patience = 20ms, .queue = 64_KiB});
  caf::scoped_actor self{near().system};
  for (auto count = 0; count < 300; ++count) // About three times what fits.
    self->request(service, 1ms, count).receive([](int) {}, [](const caf::error&) {});
  EXPECT_TRUE(eventually([&] {
    auto code = node_errc::none;
    self->request(service, 50ms, 1)
        .receive([](int) {}, [&](const caf::error& error) { code = to_node_error(error).code(); });
    return code != node_errc::link_busy;
  }));
  EXPECT_GT(handled_, 150);
  caf::anon_send(keeper, caf::atom("go"));
}

// Method: four threads send requests while the links are cut again and again. Goal: each request is handled exactly
// once, and is answered.
TEST_F(repeating, handles_each_request_exactly_once_while_links_are_cut) {
  std::mutex mutex;
  std::map<std::pair<int, int>, int> times;
  publish("service", far().system.spawn([&]() -> caf::behavior {
    return {[&](int thread, int number) {
      const std::lock_guard guard{mutex};
      ++times[{thread, number}];
      return number;
    }};
  }));
  const auto service = to_service(request_retry::repeat_idempotent);
  std::atomic<bool> ends{false};
  std::atomic<int> answers{0};
  std::array<int, 4> sent{};
  std::vector<std::string> errors;
  std::vector<std::jthread> threads;
  for (auto thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      caf::scoped_actor self{near().system};
      for (auto number = 1; !ends; ++number) {
        sent[static_cast<std::size_t>(thread)] = number;
        self->request(service, 20s, thread, number)
            .receive(
                [&](int value) {
                  ++answers;
                  EXPECT_EQ(value, number);
                },
                [&](const caf::error& error) {
                  const std::lock_guard guard{mutex};
                  errors.push_back(troupe::text_of(error));
                });
      }
    });
  std::mt19937 random{7};
  for (auto cut = 0; cut < 30; ++cut) {
    const auto before = answers.load();
    const auto more = static_cast<int>(random() % 100);
    ASSERT_TRUE(eventually([&] { return answers > before + more; })) << "after cut " << cut;
    if (random() % 2 == 0)
      cut_links();
    else
      for (auto& each : far().home->links())
        each.close();
  }
  ends = true;
  threads.clear();
  EXPECT_EQ(errors, std::vector<std::string>{});
  for (auto thread = 0; thread < 4; ++thread)
    for (auto number = 1; number <= sent[static_cast<std::size_t>(thread)]; ++number)
      EXPECT_EQ((times[{thread, number}]), 1) << "thread " << thread << ", request " << number;
}

} // namespace
} // namespace troupe::tests
