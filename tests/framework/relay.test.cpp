// Goal: a relay passes messages on as if their senders had sent them there, and answers every request once.
#include <mutex>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include <troupe/framework/node_error.hpp>
#include <troupe/framework/relay.hpp>

#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

using namespace std::chrono_literals;

/// Answers with the sum of two numbers.
caf::behavior adder() {
  return {[](int a, int b) { return a + b; }};
}

class a_relay : public testing::Test {
protected:
  /// Asks with one number.
  std::string asked(const caf::actor& whom, int what) {
    caf::scoped_actor self{near_.system};
    std::string text;
    self->request(whom, 10s, what)
        .receive([&](int sum) { text = std::to_string(sum); },
                 [&](const caf::error& error) { text = troupe::text_of(error); });
    return text;
  }

  side near_{{.name = "near", .store = std::nullopt}};
  const caf::actor adder_ = near_.system.spawn(adder);
};

TEST_F(a_relay, passes_a_request_on_with_other_content_and_the_answer_goes_to_the_sender) {
  const auto relay = make_relay(near_.system, [to = adder_](relayed_message what) {
    EXPECT_TRUE(what.is_request());
    what.set_content(what.content() + caf::make_message(40));
    std::move(what).pass_to(to);
  });
  EXPECT_EQ(asked(relay, 2), "42");
}

TEST_F(a_relay, keeps_messages_and_passes_them_on_later) {
  std::mutex mutex;
  std::vector<relayed_message> kept;
  const auto relay = make_relay(near_.system, [&](relayed_message what) {
    const std::lock_guard guard{mutex};
    what.set_content(what.content() + caf::make_message(1));
    kept.push_back(std::move(what));
  });
  caf::scoped_actor self{near_.system};
  auto first = self->request(relay, 10s, 1);
  auto second = self->request(relay, 10s, 2);
  for (auto& one : kept)
    std::move(one).pass_to(adder_);
  kept.clear();
  const auto refuse = [](const caf::error& error) { ADD_FAILURE() << troupe::text_of(error); };
  second.receive([](int sum) { EXPECT_EQ(sum, 3); }, refuse);
  first.receive([](int sum) { EXPECT_EQ(sum, 2); }, refuse);
}

TEST_F(a_relay, answers_requests_itself) {
  const auto relay = make_relay(near_.system, [](relayed_message what) {
    switch (what.content().get_as<int>(0)) {
    case 0:
      return std::move(what).answer(caf::make_message(7));
    case 1:
      return std::move(what).fail({node_errc::link_busy, "not now"});
    default:
      return; // Dropped.
    }
  });
  EXPECT_EQ(asked(relay, 0), "7");
  EXPECT_EQ(asked(relay, 1), "not now");
  EXPECT_NE(asked(relay, 2).find("dropped"), std::string::npos);
}

TEST_F(a_relay, answers_a_kept_request_that_another_message_replaces) {
  std::optional<relayed_message> kept;
  const auto relay = make_relay(near_.system, [&](relayed_message what) { kept = std::move(what); });
  caf::scoped_actor self{near_.system};
  auto first = self->request(relay, 10s, 1);
  auto second = self->request(relay, 10s, 2);
  first.receive([](int) { ADD_FAILURE(); },
                [](const caf::error& error) { EXPECT_NE(troupe::text_of(error).find("dropped"), std::string::npos); });
  kept.reset();
  second.receive([](int) { ADD_FAILURE(); },
                 [](const caf::error& error) { EXPECT_NE(troupe::text_of(error).find("dropped"), std::string::npos); });
}

TEST_F(a_relay, stays_when_it_is_told_to_end) {
  const auto relay =
      make_relay(near_.system, [](relayed_message what) { std::move(what).answer(caf::make_message(7)); });
  caf::anon_send_exit(relay, caf::exit_reason::kill);
  EXPECT_EQ(asked(relay, 0), "7");
}

TEST_F(a_relay, serves_other_nodes) {
  side far{{.name = "far", .listen = {"unix://@" + unique_name("relay")}, .store = std::nullopt}};
  const auto far_adder = far.system.spawn(adder);
  const auto relay = make_relay(far.system, [to = far_adder](relayed_message what) {
    what.set_content(what.content() + caf::make_message(40));
    std::move(what).pass_to(to);
  });
  ASSERT_TRUE(far.home->publish("relay", relay));
  auto link = near_.home->connect(far.home->addresses().front());
  ASSERT_TRUE(link);
  const auto found = link->find("relay");
  ASSERT_TRUE(found);
  EXPECT_EQ(asked(*found, 2), "42");
}

} // namespace
} // namespace troupe::tests
