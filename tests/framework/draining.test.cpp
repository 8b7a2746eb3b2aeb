// Nodes that end their work before they close.
#include <atomic>

#include <csignal>

#include <unistd.h>

#include <troupe/framework/drain_on_signal.hpp>
#include <troupe/framework/lasting.hpp>

#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

/// Answers each number with its double, a moment after the number has come.
caf::behavior slow_doubler(caf::event_based_actor* self, std::atomic<int>* under_way) {
  auto waiting = std::make_shared<std::vector<std::pair<caf::response_promise, int>>>();
  return {[self, waiting, under_way](int value) {
            waiting->emplace_back(self->make_response_promise(), value);
            ++*under_way;
            self->delayed_send(self, 100ms, caf::atom("later"));
            return waiting->back().first;
          },
          [waiting](caf::atom_value) {
            for (auto& [promise, value] : *waiting)
              promise.deliver(2 * value);
            waiting->clear();
          }};
}

class draining : public two_nodes {
protected:
  draining() { near_options_.store = far_options_.store = std::nullopt; }

  std::atomic<int> under_way_{0};
};

TEST_F(draining, answers_what_is_under_way_and_then_closes) {
  connect();
  publish("doubler", far().system.spawn(slow_doubler, &under_way_));
  const auto doubler = find("doubler");
  caf::scoped_actor self{near().system};
  auto asked = self->request(doubler, 10s, 4);
  ASSERT_TRUE(eventually([&] { return under_way_ == 1; }));
  const auto drained = far().home->drain(10s);
  EXPECT_TRUE(drained) << drained.error().message();
  asked.receive([](int value) { EXPECT_EQ(value, 8); },
                [](const caf::error& error) { ADD_FAILURE() << troupe::text_of(error); });
  EXPECT_TRUE(eventually([&] { return !link_->is_open(); }));
  EXPECT_FALSE(near().home->connect(address_));
  EXPECT_FALSE(far().home->publish("more", far().system.spawn(slow_doubler, &under_way_)));
  EXPECT_TRUE(far().home->drain(10s)); // Nothing is left to do.
}

TEST_F(draining, takes_an_idle_node_little_time) {
  connect();
  const auto begun = std::chrono::steady_clock::now();
  EXPECT_TRUE(far().home->drain(10s));
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 5s);
}

TEST_F(draining, says_what_is_not_answered_in_time) {
  connect();
  auto silent = publish("silent", far().system.spawn([&](caf::event_based_actor* self) -> caf::behavior {
    return {[self, this, kept = std::vector<caf::response_promise>{}](int) mutable {
      kept.push_back(self->make_response_promise());
      ++under_way_;
      return kept.back();
    }};
  }));
  caf::scoped_actor self{near().system};
  auto asked = self->request(find("silent"), 20s, 4);
  ASSERT_TRUE(eventually([&] { return under_way_ == 1; }));
  const auto drained = far().home->drain(50ms);
  ASSERT_FALSE(drained);
  EXPECT_EQ(drained.error().code(), node_errc::timed_out);
  EXPECT_NE(drained.error().message().find("not answered: 1 of the peers' requests"), std::string::npos)
      << drained.error().message();
  asked.receive([](int) { ADD_FAILURE() << "answered"; },
                [](const caf::error& error) { EXPECT_EQ(to_node_error(error).code(), node_errc::link_down); });
  caf::anon_send_exit(silent, caf::exit_reason::kill);
}

// Method: two services have the same name. One after the other is drained and started again, while four threads ask.
// Goal: no request fails.
TEST_F(draining, moves_lasting_handles_of_peers_without_an_error) {
  struct service {
    std::string address = "unix://@" + unique_name("service");
    std::unique_ptr<side> at;
    void start() {
      const auto make = [](caf::actor_system& system) {
        return system.spawn([]() -> caf::behavior { return {[](int value) { return 2 * value; }}; });
      };
      node_options options{.name = "service", .listen = {address}, .publish = {{"doubler", make}}};
      options.store = std::nullopt;
      at = std::make_unique<side>(std::move(options));
    }
  };
  std::array<service, 2> services;
  for (auto& each : services)
    each.start();
  const auto handle = near().home->lasting({services[0].address, services[1].address}, "doubler",
                                           {.policy = {.first_pause = 1ms, .longest_pause = 20ms}});
  ASSERT_TRUE(handle) << handle.error().message();
  std::atomic<bool> ends{false};
  std::atomic<int> answers{0};
  std::mutex mutex;
  std::vector<std::string> errors;
  std::vector<std::jthread> threads;
  for (auto thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      caf::scoped_actor self{near().system};
      for (auto value = 1; !ends; ++value)
        self->request(*handle, 20s, value)
            .receive([&](int) { ++answers; },
                     [&](const caf::error& error) {
                       const std::lock_guard guard{mutex};
                       errors.push_back(troupe::text_of(error));
                     });
    });
  for (auto time = 0; time < 6; ++time) {
    auto& next = services[static_cast<std::size_t>(time) % services.size()];
    const auto before = answers.load();
    ASSERT_TRUE(eventually([&] { return answers > before + 50; })) << time;
    const auto drained = next.at->home->drain(10s);
    EXPECT_TRUE(drained) << drained.error().message();
    next.at.reset();
    next.start();
  }
  ends = true;
  threads.clear();
  EXPECT_EQ(errors, std::vector<std::string>{});
}

// -- signals

TEST(draining_on_a_signal, ends_the_node_and_says_which_signal_came) {
  side home{{.name = "service", .listen = {"unix://@" + unique_name("signal")}, .store = std::nullopt}};
  std::jthread sender{[] {
    // The handler is installed once it is not the default any more.
    struct sigaction now {};
    while (::sigaction(SIGTERM, nullptr, &now) == 0 && now.sa_handler == SIG_DFL)
      std::this_thread::sleep_for(1ms);
    ::kill(::getpid(), SIGTERM);
  }};
  const auto ended = drain_on_signal(*home.home, 5s);
  ASSERT_TRUE(ended) << ended.error().message();
  EXPECT_EQ(*ended, SIGTERM);
  EXPECT_FALSE(home.home->listen("unix://@" + unique_name("more"))); // It is closed.
  struct sigaction now {};
  ASSERT_EQ(::sigaction(SIGTERM, nullptr, &now), 0);
  EXPECT_EQ(now.sa_handler, SIG_DFL);
}

TEST(draining_on_a_signal, needs_a_signal) {
  side home{{.name = "service", .store = std::nullopt}};
  const auto ended = drain_on_signal(*home.home, 5s, {});
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code(), node_errc::bad_option);
}

TEST(draining_a_node, refuses_a_time_below_zero_and_leaves_the_node_open) {
  side home{{.name = "service", .store = std::nullopt}};
  const auto drained = home.home->drain(-1ms);
  ASSERT_FALSE(drained);
  EXPECT_EQ(drained.error().code(), node_errc::bad_option);
  const auto on_signal = drain_on_signal(*home.home, -1ms);
  ASSERT_FALSE(on_signal);
  EXPECT_EQ(on_signal.error().code(), node_errc::bad_option);
  EXPECT_TRUE(home.home->listen("unix://@" + unique_name("open")));
}

TEST(draining_on_a_signal, refuses_signals_that_nobody_can_handle) {
  side home{{.name = "service", .store = std::nullopt}};
  const auto ended = drain_on_signal(*home.home, 5s, {SIGTERM, SIGKILL});
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().code(), node_errc::bad_option);
  struct sigaction now {};
  ASSERT_EQ(::sigaction(SIGTERM, nullptr, &now), 0);
  EXPECT_EQ(now.sa_handler, SIG_DFL);
}

} // namespace
} // namespace troupe::tests
