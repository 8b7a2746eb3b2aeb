// Lasting handles: their actors come and go, and move between addresses.
#include <algorithm>
#include <atomic>
#include <set>
#include <sstream>

#include <troupe/framework/dead_letter.hpp>
#include <troupe/framework/lasting.hpp>

#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

using event_kind = lasting_event::kind;
using doubling = caf::typed_actor<caf::replies_to<int>::with<int>>;
using naming = caf::typed_actor<caf::replies_to<std::string>::with<std::string>>;

/// Records the events.
class lasting_recorder {
public:
  lasting_events events() {
    return {.callback = [this](const lasting_event& event) {
      const std::lock_guard guard{mutex_};
      all_.push_back(event);
    }};
  }
  std::vector<lasting_event> all() {
    const std::lock_guard guard{mutex_};
    return all_;
  }
  std::size_t count(event_kind what) {
    return static_cast<std::size_t>(std::ranges::count(all(), what, &lasting_event::what));
  }

private:
  std::mutex mutex_;
  std::vector<lasting_event> all_; // Guarded by mutex_.
};

/// Tries often, so that tests do not wait long.
constexpr reconnect_policy often{.first_pause = 1ms, .longest_pause = 20ms};

/// Answers each number with the sum of the number and `more`.
caf::actor adder(caf::actor_system& system, int more) {
  return system.spawn([more]() -> caf::behavior { return {[more](int value) { return value + more; }}; });
}

class lasting : public two_nodes {
protected:
  lasting() { near_options_.store = far_options_.store = std::nullopt; }

  static lasting_options soon(lasting_options options = {}) {
    options.policy = often;
    return options;
  }

  caf::actor to_adder(lasting_options options = {}) {
    auto made = near().home->lasting(address_, "adder", soon(std::move(options)));
    if (!made)
      throw std::runtime_error(made.error().message());
    return *made;
  }

  /// Starts the far node with an adder.
  void far_comes(int more) {
    far_options_.publish = {{"adder", [more](caf::actor_system& system) { return adder(system, more); }}};
    far();
  }
  void far_goes() { far_.reset(); }

  /// The answer as text.
  std::string answer_of(const caf::actor& whom, int value) {
    const auto answer = ask<int>(near().system, whom, value);
    return answer ? std::to_string(*answer) : text_of(answer);
  }

  node_error error_of(const caf::actor& whom, int value) {
    const auto answer = ask<int>(near().system, whom, value);
    return answer ? node_error{node_errc::none, "answered"} : to_node_error(answer.error());
  }

  lasting_recorder told_;
};

// -- finding

TEST_F(lasting, finds_its_actor) {
  far_comes(10);
  EXPECT_EQ(answer_of(to_adder(), 1), "11");
}

TEST_F(lasting, finds_an_actor_whose_node_comes_later) {
  const auto handle = to_adder();
  caf::scoped_actor self{near().system};
  auto asked = self->request(handle, 10s, 1);
  far_comes(10);
  int answer = 0;
  asked.receive([&](int value) { answer = value; },
                [](const caf::error& error) { ADD_FAILURE() << troupe::text_of(error); });
  EXPECT_EQ(answer, 11);
}

TEST_F(lasting, finds_a_name_that_is_published_later) {
  far();
  const auto handle = to_adder();
  caf::scoped_actor self{near().system};
  auto asked = self->request(handle, 10s, 1);
  ASSERT_TRUE(eventually([&] { return near().home->links().size() == 1; }));
  publish("adder", adder(far().system, 10));
  int answer = 0;
  asked.receive([&](int value) { answer = value; },
                [](const caf::error& error) { ADD_FAILURE() << troupe::text_of(error); });
  EXPECT_EQ(answer, 11);
}

TEST_F(lasting, finds_the_actor_of_a_node_that_was_started_again) {
  far_comes(10);
  const auto handle = to_adder({.events = told_.events()});
  EXPECT_EQ(answer_of(handle, 1), "11");
  for (auto more = 20; more < 50; more += 10) {
    far_goes();
    ASSERT_TRUE(eventually([&] { return told_.count(event_kind::lost) == static_cast<std::size_t>(more / 10 - 1); }));
    far_comes(more);
    EXPECT_EQ(answer_of(handle, 1), std::to_string(more + 1));
  }
  EXPECT_EQ(told_.count(event_kind::found), 4u);
  EXPECT_EQ(told_.count(event_kind::given_up), 0u);
  EXPECT_EQ(told_.all().front().address, address_);
  EXPECT_EQ(told_.all().front().name, "adder");
}

TEST_F(lasting, finds_the_next_actor_when_one_has_ended) {
  far();
  auto first = publish("adder", adder(far().system, 10));
  const auto handle = to_adder({.events = told_.events()});
  EXPECT_EQ(answer_of(handle, 1), "11");
  far().home->unpublish("adder");
  caf::anon_send_exit(first, caf::exit_reason::user_shutdown);
  first = nullptr;
  ASSERT_TRUE(eventually([&] { return told_.count(event_kind::lost) == 1; }));
  publish("adder", adder(far().system, 20));
  EXPECT_EQ(answer_of(handle, 1), "21");
}

TEST_F(lasting, moves_to_an_actor_that_is_published_anew_while_the_old_one_lives) {
  far();
  const auto old = publish("adder", adder(far().system, 10));
  const auto handle = to_adder();
  EXPECT_EQ(answer_of(handle, 1), "11");
  far().home->unpublish("adder");
  publish("adder", adder(far().system, 20));
  EXPECT_TRUE(eventually([&] { return answer_of(handle, 1) == "21"; }));
}

TEST_F(lasting, waits_if_the_name_is_withdrawn_while_the_actor_lives) {
  far();
  const auto old = publish("adder", adder(far().system, 10));
  const auto handle = to_adder({.patience = 50ms, .events = told_.events()});
  EXPECT_EQ(answer_of(handle, 1), "11");
  far().home->unpublish("adder");
  ASSERT_TRUE(eventually([&] { return told_.count(event_kind::lost) == 1; }));
  const auto error = error_of(handle, 1);
  EXPECT_EQ(error.code(), node_errc::link_down);
  EXPECT_NE(error.message().find("the name was withdrawn"), std::string::npos) << error.message();
}

TEST_F(lasting, finds_an_actor_of_another_node_in_this_process) {
  address_ = "inproc://" + unique_name("far");
  far_options_.listen = {address_};
  far_comes(10);
  const auto handle = to_adder();
  EXPECT_EQ(answer_of(handle, 1), "11");
  far_goes();
  far_comes(20);
  EXPECT_TRUE(eventually([&] { return answer_of(handle, 1) == "21"; }));
}

// -- several addresses

TEST_F(lasting, uses_the_one_address_of_ten_that_answers) {
  far_comes(10);
  std::vector<std::string> addresses;
  for (auto dead = 0; dead < 9; ++dead)
    addresses.push_back("unix://@" + unique_name("nobody"));
  addresses.push_back(address_);
  const auto handle = near().home->lasting(addresses, "adder", soon());
  ASSERT_TRUE(handle) << handle.error().message();
  EXPECT_EQ(answer_of(*handle, 1), "11");
}

TEST_F(lasting, moves_to_another_address_without_an_error) {
  far_comes(10);
  const auto other_address = "unix://@" + unique_name("other");
  side other{{.name = "other", .listen = {other_address}, .store = std::nullopt}};
  const auto handle = near().home->lasting({address_, other_address}, "adder", soon({.events = told_.events()}));
  ASSERT_TRUE(handle) << handle.error().message();
  EXPECT_EQ(answer_of(*handle, 1), "11");
  ASSERT_TRUE(other.home->publish("adder", adder(other.system, 20)));
  far().home->unpublish("adder");
  EXPECT_TRUE(eventually([&] { return answer_of(*handle, 1) == "21"; }));
  other.home.reset();
  ASSERT_TRUE(far().home->publish("adder", adder(far().system, 30)));
  EXPECT_TRUE(eventually([&] { return answer_of(*handle, 1) == "31"; }));
}

TEST_F(lasting, names_each_address_in_its_error) {
  far();
  const auto dead = "unix://@" + unique_name("nobody");
  const auto handle = near().home->lasting({dead, address_}, "adder", soon({.patience = 100ms}));
  ASSERT_TRUE(handle) << handle.error().message();
  const auto error = error_of(*handle, 1);
  EXPECT_EQ(error.code(), node_errc::link_down);
  EXPECT_NE(error.message().find("no actor was found as \"adder\" for "), std::string::npos) << error.message();
  EXPECT_NE(error.message().find(dead), std::string::npos) << error.message();
  EXPECT_NE(error.message().find(address_), std::string::npos) << error.message();
}

// -- messages that wait

TEST_F(lasting, keeps_the_order_of_messages_that_wait) {
  const auto handle = to_adder();
  constexpr auto count = 200;
  caf::scoped_actor self{near().system};
  for (auto value = 0; value < count; ++value)
    self->send(handle, value);
  std::mutex mutex;
  std::vector<int> got;
  far_options_.publish = {{"adder", [&](caf::actor_system& system) {
                             return system.spawn([&]() -> caf::behavior {
                               return {[&](int value) {
                                 const std::lock_guard guard{mutex};
                                 got.push_back(value);
                               }};
                             });
                           }}};
  far();
  for (auto value = count; value < 2 * count; ++value)
    self->send(handle, value);
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard guard{mutex};
    return got.size() == 2 * count;
  }));
  EXPECT_TRUE(std::ranges::is_sorted(got));
}

TEST_F(lasting, delivers_what_waits_even_if_the_handle_is_dropped) {
  caf::anon_send(to_adder(), 7);
  std::atomic<int> got{0};
  far_options_.publish = {{"adder", [&](caf::actor_system& system) {
                             return system.spawn([&]() -> caf::behavior { return {[&](int value) { got = value; }}; });
                           }}};
  far();
  EXPECT_TRUE(eventually([&] { return got == 7; }));
  EXPECT_TRUE(eventually([&] { return near().home->links().empty(); }));
}

TEST_F(lasting, bounds_the_bytes_that_wait) {
  const auto handle = to_adder({.queue = 64_KiB});
  caf::scoped_actor self{near().system};
  for (auto count = 0; count < 102; ++count) // Each counts as 640 bytes and its value.
    self->send(handle, 1);
  const auto error = error_of(handle, 2);
  EXPECT_EQ(error.code(), node_errc::link_busy);
  EXPECT_NE(error.message().find("limit 65,536"), std::string::npos) << error.message();
}

TEST_F(lasting, counts_the_memory_of_values_that_wait) {
  const auto handle = to_adder({.queue = 1_MiB});
  caf::scoped_actor self{near().system};
  self->send(handle, std::string(900'000, 'x'));
  const auto answer = ask<int>(near().system, handle, std::string(200'000, 'x'));
  ASSERT_FALSE(answer);
  EXPECT_EQ(to_node_error(answer.error()).code(), node_errc::link_busy);
}

TEST_F(lasting, keeps_messages_with_actors) {
  const auto handle = to_adder({.patience = 10ms});
  caf::scoped_actor self{near().system};
  self->send(handle, caf::actor{self}, std::vector<caf::actor>{caf::actor{self}});
  EXPECT_EQ(error_of(handle, 1).code(), node_errc::link_down);
}

TEST_F(lasting, lets_messages_wait_no_longer_than_its_patience) {
  const auto handle = to_adder({.patience = 30ms});
  const auto begun = std::chrono::steady_clock::now();
  const auto error = error_of(handle, 1);
  EXPECT_GE(std::chrono::steady_clock::now() - begun, 30ms);
  EXPECT_EQ(error.code(), node_errc::link_down);
  EXPECT_NE(error.message().find("no actor was found as \"adder\""), std::string::npos) << error.message();
  EXPECT_EQ(error_of(handle, 1).code(), node_errc::link_down); // Also the next one.
}

TEST_F(lasting, makes_dead_letters_of_messages_that_waited_in_vain) {
  std::mutex mutex;
  std::vector<dead_letter> letters;
  auto reader = near().system.spawn([&]() -> caf::behavior {
    return {[&](const dead_letter& letter) {
      const std::lock_guard guard{mutex};
      letters.push_back(letter);
    }};
  });
  ASSERT_TRUE(near().home->dead_letters(reader));
  const auto handle = to_adder({.patience = 10ms});
  caf::anon_send(handle, 7);
  ASSERT_TRUE(eventually([&] {
    const std::lock_guard guard{mutex};
    return letters.size() == 1;
  }));
  EXPECT_EQ(letters[0].peer, "adder");
  EXPECT_EQ(letters[0].reason, node_errc::link_down);
  ASSERT_TRUE(near().home->dead_letters({}));
}

TEST_F(lasting, fails_requests_under_way_when_the_link_is_lost) {
  std::atomic<bool> has_begun{false};
  auto silent = publish("adder", far().system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    return {[self, &has_begun, kept = std::vector<caf::response_promise>{}](int) mutable {
      kept.push_back(self->make_response_promise());
      has_begun = true;
      return kept.back();
    }};
  }));
  const auto handle = to_adder();
  caf::scoped_actor self{near().system};
  auto asked = self->request(handle, 20s, 1);
  ASSERT_TRUE(eventually([&] { return has_begun.load(); }));
  far().home.reset();
  asked.receive([](int) { ADD_FAILURE() << "answered"; },
                [](const caf::error& error) { EXPECT_EQ(to_node_error(error).code(), node_errc::link_down); });
  caf::anon_send_exit(silent, caf::exit_reason::kill);
}

// -- the end

TEST_F(lasting, tells_monitors_when_it_is_given_up_and_not_of_interruptions) {
  far_comes(10);
  const auto handle = to_adder({.give_up = 100ms, .events = told_.events()});
  caf::scoped_actor self{near().system};
  self->monitor(handle);
  EXPECT_EQ(answer_of(handle, 1), "11");
  far_goes();
  ASSERT_TRUE(eventually([&] { return told_.count(event_kind::lost) == 1; }));
  far_comes(20);
  EXPECT_EQ(answer_of(handle, 1), "21");
  EXPECT_FALSE(self->has_next_message());
  far_goes();
  self->receive([&](const caf::down_msg& down) {
    EXPECT_EQ(down.source, handle.address());
    EXPECT_EQ(to_node_error(down.reason).code(), node_errc::link_down);
  });
  EXPECT_TRUE(eventually([&] { return told_.count(event_kind::given_up) == 1; }));
  EXPECT_EQ(error_of(handle, 1).code(), node_errc::link_down);
}

TEST_F(lasting, tells_an_actor_which_it_does_not_keep_alive) {
  far_comes(10);
  std::atomic<int> found{0};
  auto listener = near().system.spawn([&]() -> caf::behavior {
    return {[&](const lasting_event& event) { found += event.what == event_kind::found ? 1 : 0; }};
  });
  const auto handle = to_adder({.events = {.listener = listener}});
  EXPECT_TRUE(eventually([&] { return found == 1; }));
  const caf::actor_addr weak = listener.address();
  listener = nullptr;
  EXPECT_TRUE(eventually([&] { return caf::actor_cast<caf::strong_actor_ptr>(weak) == nullptr; }));
  EXPECT_EQ(answer_of(handle, 1), "11");
}

TEST_F(lasting, is_given_up_when_no_address_is_dialed_any_more) {
  auto options = soon({.events = told_.events()});
  options.policy.attempts_max = 3;
  const auto handle =
      near().home->lasting({"unix://@" + unique_name("a"), "unix://@" + unique_name("b")}, "adder", options);
  ASSERT_TRUE(handle) << handle.error().message();
  const auto error = error_of(*handle, 1);
  EXPECT_EQ(error.code(), node_errc::link_down);
  EXPECT_TRUE(eventually([&] { return told_.count(event_kind::given_up) == 1; }));
}

TEST_F(lasting, fails_what_waits_when_the_node_ends) {
  const auto handle = to_adder();
  caf::scoped_actor self{near().system};
  auto asked = self->request(handle, 20s, 1);
  near().home.reset();
  asked.receive([](int) { ADD_FAILURE() << "answered"; },
                [](const caf::error& error) { EXPECT_EQ(to_node_error(error).code(), node_errc::link_down); });
  self->request(handle, 20s, 1)
      .receive([](int) { ADD_FAILURE() << "answered"; },
               [](const caf::error& error) { EXPECT_EQ(to_node_error(error).code(), node_errc::link_down); });
}

// -- handles

TEST_F(lasting, may_be_typed) {
  far_options_.publish = {{"doubler", [](caf::actor_system& system) {
                             return system.spawn(
                                 []() -> doubling::behavior_type { return {[](int value) { return 2 * value; }}; });
                           }}};
  far();
  const auto handle = near().home->lasting<doubling>(address_, "doubler", soon());
  ASSERT_TRUE(handle) << handle.error().message();
  caf::scoped_actor self{near().system};
  self->request(*handle, 10s, 4)
      .receive([](int value) { EXPECT_EQ(value, 8); },
               [](const caf::error& error) { ADD_FAILURE() << troupe::text_of(error); });
  const auto other = near().home->lasting<naming>(address_, "doubler", soon({.patience = 50ms}));
  ASSERT_TRUE(other) << other.error().message();
  self->request(*other, 10s, std::string{"x"})
      .receive([](const std::string&) { ADD_FAILURE() << "answered"; },
               [](const caf::error& error) { EXPECT_EQ(to_node_error(error).code(), node_errc::link_down); });
}

TEST_F(lasting, serves_other_nodes_that_get_the_handle_in_a_message) {
  far_comes(10);
  const auto handle = to_adder();
  EXPECT_EQ(answer_of(handle, 1), "11");
  side third{{.name = "third", .listen = {"unix://@" + unique_name("third")}, .store = std::nullopt}};
  ASSERT_TRUE(third.home->publish("asker", third.system.spawn([](caf::event_based_actor* self) -> caf::behavior {
    return {[self](const guest_list& guests) { return self->delegate(guests.guests.at(0), 5); }};
  })));
  auto linked = near().home->connect(third.home->addresses().front());
  ASSERT_TRUE(linked) << linked.error().message();
  auto asker = linked->find("asker");
  ASSERT_TRUE(asker) << asker.error().message();
  const auto answer = ask<int>(near().system, *asker, guest_list{.host = "h", .guests = {handle}});
  EXPECT_EQ(answer ? std::to_string(*answer) : text_of(answer), "15");
}

TEST_F(lasting, shares_links_and_closes_those_that_no_handle_uses) {
  far_comes(10);
  std::vector<caf::actor> handles;
  for (auto count = 0; count < 300; ++count)
    handles.push_back(to_adder());
  for (const auto& each : handles)
    EXPECT_EQ(answer_of(each, 1), "11");
  EXPECT_EQ(near().home->links().size(), 1u);
  handles.clear();
  EXPECT_TRUE(eventually([&] { return near().home->links().empty(); }));
}

TEST_F(lasting, needs_a_name_and_addresses) {
  auto& home = *near().home;
  const auto code_of = [](const auto& made) { return made ? node_errc::none : made.error().code(); };
  EXPECT_EQ(code_of(home.lasting(address_, "")), node_errc::bad_option);
  EXPECT_EQ(code_of(home.lasting(std::vector<std::string>{}, "adder")), node_errc::bad_option);
  EXPECT_EQ(code_of(home.lasting("nonsense", "adder")), node_errc::bad_address);
  EXPECT_EQ(code_of(home.lasting({address_, "nonsense"}, "adder")), node_errc::bad_address);
  EXPECT_EQ(code_of(home.lasting(address_, "adder", {.patience = -1ms})), node_errc::bad_option);
  EXPECT_EQ(code_of(home.lasting(address_, "adder", {.policy = {.growth = 0.5}})), node_errc::bad_option);
}

// -- many at once

// Method: four threads ask while the service is started again ten times. Goal: every request is answered once, with
// a result or an error, and the messages of each thread arrive in order.
TEST_F(lasting, answers_every_request_once_while_its_actor_comes_and_goes) {
  std::mutex mutex;
  std::map<int, int> last; // Of each thread: the largest number that came.
  auto out_of_order = 0;
  far_options_.publish = {{"adder", [&](caf::actor_system& system) {
                             return system.spawn([&]() -> caf::behavior {
                               return {[&](int thread, int number) {
                                 const std::lock_guard guard{mutex};
                                 out_of_order += number <= last[thread] ? 1 : 0;
                                 last[thread] = number;
                                 return number;
                               }};
                             });
                           }}};
  far();
  const auto handle = to_adder({.patience = 20s});
  std::atomic<bool> ends{false};
  std::atomic<int> answers{0};
  std::atomic<int> errors{0};
  std::atomic<int> wrong{0};
  std::vector<std::jthread> threads;
  for (auto thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      caf::scoped_actor self{near().system};
      for (auto number = 1; !ends; ++number)
        self->request(handle, 20s, thread, number)
            .receive(
                [&](int value) {
                  ++answers;
                  wrong += value != number ? 1 : 0;
                },
                [&](const caf::error& error) {
                  ++errors;
                  wrong += to_node_error(error).code() != node_errc::link_down ? 1 : 0;
                });
    });
  for (auto time = 0; time < 10; ++time) {
    const auto before = answers.load();
    ASSERT_TRUE(eventually([&] { return answers > before + 50; })) << "after restart " << time;
    far_goes();
    far();
  }
  ends = true;
  threads.clear();
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(out_of_order, 0);
  EXPECT_LE(errors, 4 * 10);
}

} // namespace
} // namespace troupe::tests
