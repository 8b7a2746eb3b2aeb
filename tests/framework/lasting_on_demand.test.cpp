// Goal: a lasting handle that makes its link on demand needs none while it is idle, and nothing is lost by that.
#include <array>
#include <atomic>
#include <random>
#include <thread>

#include <troupe/framework/lasting.hpp>
#include <troupe/framework/node_error.hpp>
#include <troupe/framework/object_ref.hpp>

#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

using demand_event = lasting_event::kind;

/// Counts the events of a lasting handle.
class demand_events {
public:
  lasting_events sink() {
    return {.callback = [this](const lasting_event& event) { ++counts_.at(static_cast<std::size_t>(event.what)); }};
  }
  int count(demand_event what) const { return counts_.at(static_cast<std::size_t>(what)); }

private:
  std::array<std::atomic<int>, 5> counts_{};
};

/// Answers a number at once, "later" when the test says so, and keeps the handles and objects that it is sent.
struct far_host_state {
  std::vector<caf::response_promise> promises;
  std::vector<caf::actor> guests;
  std::vector<object_ref<reading>> kept;
  std::vector<caf::actor> rooms;
};
caf::behavior far_host(caf::stateful_actor<far_host_state>* self) {
  return {[](int value) { return value + 1; },
          [self](const std::string& what) -> caf::result<int> {
            if (what == "later") {
              self->state.promises.push_back(self->make_response_promise());
              return self->state.promises.back();
            }
            if (what == "now")
              for (auto& each : std::exchange(self->state.promises, {}))
                each.deliver(42);
            if (what == "greet")
              for (const auto& each : self->state.guests)
                self->send(each, 7);
            if (what == "end the rooms")
              for (const auto& each : std::exchange(self->state.rooms, {}))
                self->send_exit(each, caf::exit_reason::user_shutdown);
            if (what == "forget") {
              self->state.guests.clear();
              self->state.kept.clear();
            }
            return static_cast<int>(self->state.guests.size() + self->state.kept.size());
          },
          [self](guest_list& list) {
            for (auto& each : list.guests)
              self->state.guests.push_back(std::move(each));
            return static_cast<int>(self->state.guests.size());
          },
          [self](object_ref<reading>& object) {
            self->state.kept.push_back(std::move(object));
            return 1;
          },
          // An actor of the far node, for the near one to keep.
          [self](const std::string&, int) -> caf::actor {
            self->state.rooms.push_back(
                self->spawn([]() -> caf::behavior { return {[](int value) { return value + 2; }}; }));
            return self->state.rooms.back();
          }};
}

class lasting_on_demand : public two_nodes {
protected:
  static constexpr auto idle = 20ms;

  caf::actor to(std::string name, std::chrono::milliseconds idle_close = idle, lasting_events events = {}) {
    auto made = near().home->lasting(address_, std::move(name),
                                     {.patience = 10s,
                                      .idle_close = idle_close,
                                      .policy = {.first_pause = 1ms, .longest_pause = 20ms},
                                      .events = std::move(events)});
    if (!made)
      throw std::runtime_error(made.error().message());
    return *made;
  }
  caf::actor to_host() { return to("host", idle, told_.sink()); }
  void far_has_a_host() {
    far();
    host_ = publish("host", far().system.spawn(far_host));
  }
  template <class... Values>
  int answer_of(const caf::actor& whom, Values&&... values) {
    const auto answer = ask<int>(near().system, whom, std::forward<Values>(values)...);
    EXPECT_TRUE(answer) << text_of(answer);
    return answer ? *answer : -1;
  }
  bool is_linked() { return !near().home->links().empty() || !far().home->links().empty(); }
  bool is_closed_in_time() {
    return eventually([&] { return !is_linked(); });
  }
  /// Waits until a link that nothing uses, over which the same was done, is closed several times.
  void long_after_the_idle_time() {
    if (!other_) {
      other_ = std::make_unique<side>(
          node_options{.name = "other", .listen = {"unix://@" + unique_name("other")}, .store = std::nullopt});
      ASSERT_TRUE(other_->home->publish("host", other_->system.spawn(far_host)));
    }
    const auto handle = near().home->lasting(other_->home->addresses().front(), "host", {.idle_close = idle});
    ASSERT_TRUE(handle);
    for (auto i = 0; i < 3; ++i) {
      EXPECT_EQ(answer_of(*handle, 1), 2);
      ASSERT_TRUE(eventually([&] { return other_->home->links().empty(); }));
    }
  }

  void expect_that_an_object_keeps_the_link() {
    far_has_a_host();
    const auto handle = to_host();
    {
      auto object = near().home->put(reading{"roof", 21.5, std::vector<double>(100'000, 1.5)});
      ASSERT_TRUE(object) << object.error().message();
      EXPECT_EQ(answer_of(handle, *object), 1);
    }
    ASSERT_TRUE(eventually([&] { return told_.count(demand_event::resting) == 1; }));
    long_after_the_idle_time();
    EXPECT_EQ(far().home->links().size(), 1u);
    caf::anon_send(host_, std::string{"forget"});
    EXPECT_TRUE(is_closed_in_time());
  }

  demand_events told_;
  caf::actor host_;
  std::unique_ptr<side> other_;
};

TEST_F(lasting_on_demand, makes_no_link_until_a_message_waits) {
  far_has_a_host();
  const auto handle = to_host();
  long_after_the_idle_time();
  EXPECT_FALSE(is_linked());
  EXPECT_EQ(answer_of(handle, 1), 2);
  EXPECT_EQ(told_.count(demand_event::found), 1);
}

TEST_F(lasting_on_demand, closes_an_idle_link_and_makes_it_again) {
  far_has_a_host();
  const auto handle = to_host();
  for (auto i = 0; i < 5; ++i) {
    EXPECT_EQ(answer_of(handle, i), i + 1);
    ASSERT_TRUE(is_closed_in_time());
  }
  EXPECT_EQ(told_.count(demand_event::found), 5);
  EXPECT_EQ(told_.count(demand_event::resting), 5);
  EXPECT_EQ(told_.count(demand_event::lost), 0);
}

TEST_F(lasting_on_demand, keeps_the_link_if_the_idle_time_is_zero) {
  far_has_a_host();
  const auto handle = to("host", 0ms);
  long_after_the_idle_time();
  EXPECT_FALSE(is_linked());
  EXPECT_EQ(answer_of(handle, 1), 2);
  long_after_the_idle_time();
  EXPECT_EQ(far().home->links().size(), 1u);
}

TEST_F(lasting_on_demand, does_not_close_a_link_that_another_handle_needs) {
  far_has_a_host();
  const auto handle = to_host();
  auto lasting = near().home->lasting(address_, "host", {.policy = {.first_pause = 1ms, .longest_pause = 20ms}});
  ASSERT_TRUE(lasting);
  EXPECT_EQ(answer_of(handle, 1), 2);
  ASSERT_TRUE(eventually([&] { return told_.count(demand_event::resting) == 1; }));
  long_after_the_idle_time();
  EXPECT_EQ(far().home->links().size(), 1u);
  EXPECT_EQ(answer_of(*lasting, 1), 2);
  *lasting = nullptr;
  EXPECT_TRUE(is_closed_in_time());
}

TEST_F(lasting_on_demand, does_not_cut_a_request_under_way) {
  far_has_a_host();
  const auto handle = to_host();
  caf::scoped_actor self{near().system};
  auto asked = self->request(handle, 30s, std::string{"later"});
  ASSERT_TRUE(eventually([&] { return told_.count(demand_event::resting) == 1; }));
  long_after_the_idle_time();
  EXPECT_EQ(far().home->links().size(), 1u);
  caf::anon_send(host_, std::string{"now"});
  asked.receive([](int value) { EXPECT_EQ(value, 42); },
                [](const caf::error& why) { ADD_FAILURE() << troupe::text_of(why); });
  EXPECT_TRUE(is_closed_in_time());
}

TEST_F(lasting_on_demand, does_not_close_a_link_while_the_peer_has_a_handle_of_this_node) {
  far_has_a_host();
  const auto handle = to_host();
  caf::scoped_actor self{near().system};
  EXPECT_EQ(answer_of(handle, guest_list{"near", {caf::actor_cast<caf::actor>(self)}}), 1);
  ASSERT_TRUE(eventually([&] { return told_.count(demand_event::resting) == 1; }));
  long_after_the_idle_time();
  EXPECT_EQ(far().home->links().size(), 1u);
  caf::anon_send(host_, std::string{"greet"});
  self->receive([](int value) { EXPECT_EQ(value, 7); },
                caf::after(10s) >> [] { ADD_FAILURE() << "the message was lost"; });
  caf::anon_send(host_, std::string{"forget"});
  EXPECT_TRUE(is_closed_in_time());
}

TEST_F(lasting_on_demand, does_not_close_a_link_while_this_node_has_a_handle_of_the_peer) {
  far_has_a_host();
  const auto handle = to_host();
  auto room = ask<caf::actor>(near().system, handle, std::string{"spawn"}, 1);
  ASSERT_TRUE(room) << text_of(room);
  ASSERT_TRUE(eventually([&] { return told_.count(demand_event::resting) == 1; }));
  long_after_the_idle_time();
  EXPECT_EQ(answer_of(*room, 1), 3);
  *room = nullptr;
  EXPECT_TRUE(is_closed_in_time());
}

TEST_F(lasting_on_demand, does_not_close_a_link_over_which_an_actor_is_monitored) {
  far_has_a_host();
  const auto handle = to_host();
  caf::scoped_actor self{near().system};
  auto room = ask<caf::actor>(near().system, handle, std::string{"spawn"}, 1);
  ASSERT_TRUE(room) << text_of(room);
  self->monitor(*room);
  *room = nullptr; // Only the monitor is left.
  ASSERT_TRUE(eventually([&] { return told_.count(demand_event::resting) == 1; }));
  long_after_the_idle_time();
  caf::anon_send(host_, std::string{"end the rooms"});
  self->receive([](const caf::down_msg& down) { EXPECT_EQ(down.reason, caf::exit_reason::user_shutdown); },
                caf::after(10s) >> [] { ADD_FAILURE() << "no end was told"; });
  EXPECT_TRUE(is_closed_in_time());
}

TEST_F(lasting_on_demand, does_not_close_a_link_while_the_peer_has_an_object) {
  expect_that_an_object_keeps_the_link();
}

TEST_F(lasting_on_demand, does_not_close_a_link_while_the_peer_has_an_object_of_another_store) {
  far_options_.store = store::options{.name = unique_name("far-store"), .capacity_bytes = 64_MiB};
  expect_that_an_object_keeps_the_link();
}

TEST_F(lasting_on_demand, tells_that_its_actor_is_unreachable_and_finds_it_later) {
  const auto handle = to_host();
  wake(handle);
  ASSERT_TRUE(eventually([&] { return told_.count(demand_event::unreachable) == 1; }));
  caf::scoped_actor self{near().system};
  auto asked = self->request(handle, 10s, 1);
  far_has_a_host();
  asked.receive([](int value) { EXPECT_EQ(value, 2); },
                [](const caf::error& why) { ADD_FAILURE() << troupe::text_of(why); });
}

TEST_F(lasting_on_demand, does_not_rest_while_a_message_waits_for_an_actor_that_is_away) {
  const auto handle = to_host();
  caf::scoped_actor self{near().system};
  auto asked = self->request(handle, 10s, 1);
  ASSERT_TRUE(eventually([&] { return told_.count(demand_event::unreachable) == 1; }));
  long_after_the_idle_time();
  EXPECT_EQ(told_.count(demand_event::resting), 0);
  far_has_a_host();
  asked.receive([](int value) { EXPECT_EQ(value, 2); },
                [](const caf::error& why) { ADD_FAILURE() << troupe::text_of(why); });
}

TEST_F(lasting_on_demand, tells_that_a_name_is_missing_at_once) {
  far();
  auto handle = to("nobody", 10s, told_.sink());
  wake(handle);
  EXPECT_TRUE(eventually([&] { return told_.count(demand_event::unreachable) == 1; }, 3s));
}

TEST_F(lasting_on_demand, tells_why_its_actor_is_absent_until_it_is_found) {
  const auto handle = to_host();
  const auto absent_as = [&](node_errc code) { return eventually([&] { return absence_of(handle).code() == code; }); };
  EXPECT_EQ(absence_of(handle).code(), node_errc::none);
  wake(handle);
  EXPECT_TRUE(eventually([&] { return absence_of(handle).code() != node_errc::none; }));
  EXPECT_EQ(absence_of(handle).message(), "cannot connect to " + address_ + ": Connection refused");
  far();
  caf::anon_send(handle, 1);
  EXPECT_TRUE(absent_as(node_errc::not_found)) << absence_of(handle).message();
  far_has_a_host();
  EXPECT_TRUE(absent_as(node_errc::none)) << absence_of(handle).message();
  EXPECT_EQ(absence_of(host_).code(), node_errc::none); // Not a lasting handle.
}

TEST_F(lasting_on_demand, dials_no_more_if_nothing_waits_for_an_actor_that_is_away) {
  const auto handle = to_host();
  for (auto i = 1; i < 4; ++i) {
    wake(handle);
    ASSERT_TRUE(eventually([&] { return told_.count(demand_event::resting) == i; }));
  }
  EXPECT_EQ(told_.count(demand_event::unreachable), 3);
}

TEST_F(lasting_on_demand, refuses_a_negative_idle_time) {
  const auto made = near().home->lasting(address_, "host", {.idle_close = -1ms});
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), node_errc::bad_option);
}

// Method: several senders pause for about as long as the handle needs to rest, so that messages come before, while and
// after the link is closed.
TEST_F(lasting_on_demand, loses_no_message_and_keeps_the_order_however_often_it_rests) {
  constexpr int senders = 3;
  constexpr std::uint64_t links = 40;
  far();
  struct record {
    std::array<int, senders> last{};
    std::atomic<int> disordered{0};
    std::atomic<int> count{0};
  };
  const auto seen = std::make_shared<record>();
  publish("sink", far().system.spawn([seen]() -> caf::behavior {
    return {[seen](int sender, int number) {
      seen->disordered += seen->last.at(static_cast<std::size_t>(sender)) + 1 == number ? 0 : 1;
      seen->last.at(static_cast<std::size_t>(sender)) = number;
      ++seen->count;
    }};
  }));
  const auto handle = to("sink", 1ms, told_.sink());
  const auto links_made = [&] { return near().home->stats().links_opened; };
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  std::atomic<int> sent{0};
  std::vector<std::thread> threads;
  for (auto sender = 0; sender < senders; ++sender)
    threads.emplace_back([&, sender] {
      std::minstd_rand random{static_cast<unsigned>(sender + 1)};
      auto number = 0;
      while (links_made() < links && std::chrono::steady_clock::now() < deadline) {
        for (auto burst = random() % 5; burst > 0; --burst, ++sent)
          caf::anon_send(handle, sender, ++number);
        const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds{random() % 30'000};
        while (std::chrono::steady_clock::now() < until)
          std::this_thread::yield();
      }
    });
  for (auto& each : threads)
    each.join();
  EXPECT_TRUE(eventually([&] { return seen->count == sent; }, 30s)) << seen->count << " of " << sent;
  EXPECT_EQ(seen->disordered, 0);
  EXPECT_GE(links_made(), links);
  EXPECT_EQ(told_.count(demand_event::lost), 0);
}

} // namespace
} // namespace troupe::tests
