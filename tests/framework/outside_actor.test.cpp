// Goal: code outside of actors asks actors and is sent messages, as if it were an actor.
#include <future>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include <troupe/framework/message_values.hpp>
#include <troupe/framework/node_error.hpp>
#include <troupe/framework/outside_actor.hpp>

#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

using keep_atom = caf::atom_constant<caf::atom("keep")>;

/// Adds, drops a promise, and echoes texts to the sender as messages.
caf::behavior helper(caf::event_based_actor* self) {
  return {
      [](int a, int b) { return a + b; }, [=](keep_atom) { return self->make_response_promise(); },
      [=](const std::string& text) { self->send(caf::actor_cast<caf::actor>(self->current_sender()), text + "!"); }};
}

class an_outside_actor : public testing::Test {
protected:
  using answer = std::expected<caf::message, node_error>;

  std::future<answer> asked(const caf::actor& whom, caf::message what) {
    auto told = std::make_shared<std::promise<answer>>();
    auto result = told->get_future();
    self_.ask(whom, std::move(what), 10s, [told](answer given) { told->set_value(std::move(given)); });
    return result;
  }
  static answer answer_in(std::future<answer> future) {
    if (future.wait_for(20s) != std::future_status::ready)
      return std::unexpected{node_error{node_errc::timed_out, "the test has waited in vain"}};
    return future.get();
  }

  side home_{{.name = "home", .store = std::nullopt}};
  const caf::actor helper_ = home_.system.spawn(helper);
  std::mutex mutex_;
  std::vector<std::string> heard_; // Guarded by mutex_.
  outside_actor self_{home_.system, [this](relayed_message what) {
                        const std::lock_guard guard{mutex_};
                        heard_.push_back(what.content().get_as<std::string>(0));
                        std::move(what).answer(caf::make_message(true));
                      }};
};

TEST_F(an_outside_actor, gets_the_answers_to_its_own_requests) {
  auto first = asked(helper_, caf::make_message(1, 2));
  auto second = asked(helper_, caf::make_message(3, 4));
  EXPECT_EQ(answer_in(std::move(second))->get_as<int>(0), 7);
  EXPECT_EQ(answer_in(std::move(first))->get_as<int>(0), 3);
}

TEST_F(an_outside_actor, learns_that_a_promise_was_dropped_that_an_actor_has_ended_and_that_it_was_not_understood) {
  EXPECT_EQ(answer_in(asked(helper_, caf::make_message(keep_atom::value))).error().code(), node_errc::broken_promise);
  EXPECT_EQ(answer_in(asked(helper_, caf::make_message(1.5))).error().code(), node_errc::task_failed);
  const auto ended = home_.system.spawn([](caf::event_based_actor*) {});
  EXPECT_EQ(answer_in(asked(ended, caf::make_message(1, 2))).error().code(), node_errc::link_down);
}

TEST_F(an_outside_actor, gets_messages_and_answers_requests) {
  self_.tell(helper_, caf::make_message(std::string("hello")));
  EXPECT_TRUE(eventually([&] {
    const std::lock_guard guard{mutex_};
    return heard_ == std::vector<std::string>{"hello!"};
  }));
  caf::scoped_actor other{home_.system};
  bool answered = false;
  other->request(self_.handle(), 10s, std::string("you?")).receive([&](bool so) { answered = so; }, [](caf::error&) {});
  EXPECT_TRUE(answered);
}

TEST_F(an_outside_actor, answers_requests_later_and_knows_until_when_they_are_awaited) {
  std::optional<relayed_message> kept; // Set before ask() returns.
  outside_actor slow{home_.system, [&](relayed_message what) { kept.emplace(std::move(what)); }};
  const auto before = std::chrono::steady_clock::now();
  auto first = asked(slow.handle(), caf::make_message(1));
  ASSERT_TRUE(kept && kept->deadline());
  EXPECT_GE(*kept->deadline(), before + 10s);
  EXPECT_LE(*kept->deadline(), std::chrono::steady_clock::now() + 10s);
  std::thread{[&] { std::move(*kept).answer(caf::make_message(2)); }}.join();
  EXPECT_EQ(answer_in(std::move(first))->get_as<int>(0), 2);
  auto second = asked(slow.handle(), caf::make_message(1));
  kept.reset();
  EXPECT_EQ(answer_in(std::move(second)).error().code(), node_errc::broken_promise);
  self_.tell(slow.handle(), caf::make_message(1));
  ASSERT_TRUE(kept);
  EXPECT_FALSE(kept->deadline());
}

TEST_F(an_outside_actor, is_not_called_for_a_request_that_it_has_given_up) {
  std::atomic<bool> called{false};
  caf::response_promise kept;
  const auto slow = home_.system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    return {[&kept, self](int) { return kept = self->make_response_promise(); }, [&kept](double) { kept.deliver(1); }};
  });
  const auto request = self_.ask(slow, caf::make_message(1), 10s, [&](const answer&) { called = true; });
  EXPECT_TRUE(self_.give_up(request));
  EXPECT_FALSE(self_.give_up(request));
  caf::anon_send(slow, 1.5);
  static_cast<void>(answer_in(asked(slow, caf::make_message(1))));
  EXPECT_FALSE(called);
  caf::anon_send_exit(slow, caf::exit_reason::kill);
}

TEST_F(an_outside_actor, that_has_ended_is_down_for_those_who_watch_it) {
  std::promise<std::string> told;
  const auto handle = self_.handle();
  const auto watcher = home_.system.spawn([&](caf::event_based_actor* self) {
    self->monitor(handle);
    self->set_down_handler([&](const caf::down_msg& down) { told.set_value(troupe::text_of(down.reason)); });
    return caf::behavior{[](int a) { return a; }};
  });
  EXPECT_TRUE(answer_in(asked(watcher, caf::make_message(1)))); // It monitors by now.
  self_.end({node_errc::link_busy, "nobody reads"});
  self_.end({node_errc::link_down, "a second reason does not count"});
  caf::scoped_actor other{home_.system};
  std::string refusal;
  other->request(handle, 10s, std::string("you?"))
      .receive([](bool) {}, [&](caf::error& error) { refusal = troupe::text_of(error); });
  EXPECT_EQ(refusal, "the receiver has ended");
  auto reason = told.get_future();
  ASSERT_EQ(reason.wait_for(20s), std::future_status::ready);
  EXPECT_EQ(reason.get(), "nobody reads");
}

TEST_F(an_outside_actor, asks_actors_of_other_nodes) {
  side far{{.name = "far", .listen = {"unix://@" + unique_name("outside")}, .store = std::nullopt}};
  ASSERT_TRUE(far.home->publish("helper", far.system.spawn(helper)));
  auto link = home_.home->connect(far.home->addresses().front());
  ASSERT_TRUE(link);
  const auto found = link->find("helper");
  ASSERT_TRUE(found);
  EXPECT_EQ(answer_in(asked(*found, caf::make_message(20, 22)))->get_as<int>(0), 42);
  EXPECT_EQ(answer_in(asked(*found, caf::make_message(keep_atom::value))).error().code(), node_errc::broken_promise);
  auto pending = asked(*found, caf::make_message(std::string("no answer")));
  EXPECT_TRUE(answer_in(std::move(pending))); // A handler without a result answers with nothing.
}

TEST(a_message_of_types_known_at_run_time, holds_its_values_and_keeps_what_it_shall_until_it_is_consumed) {
  type_registry types;
  types.add<reading>("test.reading");
  const std::vector<const type_entry*> of{types.find("test.reading"), types.find("i32")};
  auto keeps = std::make_shared<const int>(1);
  const std::weak_ptr<const int> kept = keeps;
  const auto fill = [&](std::size_t place, void* value) -> std::expected<void, node_error> {
    if (place == 0)
      static_cast<reading*>(value)->sensor = "roof";
    else
      *static_cast<std::int32_t*>(value) = 7;
    return {};
  };
  auto made = message_with(of, fill, std::move(keeps));
  ASSERT_TRUE(made);
  EXPECT_TRUE((made->match_elements<reading, std::int32_t>()));
  EXPECT_EQ(made->get_as<reading>(0).sensor, "roof");
  auto copy = *made;
  const auto values = values_of(copy, types);
  ASSERT_EQ(values.size(), 2U);
  EXPECT_EQ(values[1].type, of[1]);
  EXPECT_EQ(*static_cast<const std::int32_t*>(values[1].value), 7);
  *made = {};
  EXPECT_FALSE(kept.expired());
  copy = {};
  EXPECT_TRUE(kept.expired());
  const auto failed = message_with(of, [](std::size_t place, void*) -> std::expected<void, node_error> {
    if (place == 1)
      return std::unexpected{node_error{node_errc::undecodable, "no"}};
    return {};
  });
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message(), "no");
  EXPECT_EQ(values_of(caf::make_message(secret{}), types).front().type, nullptr);
  EXPECT_EQ(type_name_of(caf::make_message(secret{}), 0), "troupe::tests::secret");
}

} // namespace
} // namespace troupe::tests
