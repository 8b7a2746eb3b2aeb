// Goal: members have links only to the members that they use, and as long as they use them.
#include <algorithm>
#include <deque>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include <troupe/framework/cluster/cluster.hpp>
#include <troupe/framework/cluster/internal/join/subset.hpp>
#include <troupe/framework/cluster/internal/membership/addresses.hpp>

#include "../../framework/two_nodes.hpp"
#include "../memory_directory.hpp"

namespace troupe::tests {
namespace {

/// Answers with the name of its member. "hold" is answered when the test says "let go".
struct holder_state {
  std::vector<caf::response_promise> held;
};
caf::behavior holder(caf::stateful_actor<holder_state>* self, const std::string& name) {
  return {[name](int) { return name; },
          [self](const std::string& what) -> caf::result<std::string> {
            if (what == "hold") {
              self->state.held.push_back(self->make_response_promise());
              return self->state.held.back();
            }
            for (auto& each : std::exchange(self->state.held, {}))
              each.deliver(std::string{"held"});
            return std::string{"let go"};
          }};
}

class links_on_demand : public testing::Test {
protected:
  struct member {
    explicit member(node_options options) : at(std::move(options)) {}

    side at;
    caf::actor cart;
    std::optional<cluster> in;
  };

  member& join(const std::string& name, std::chrono::milliseconds idle_close = 60s,
               std::vector<std::string> allow_find = {"*"}) {
    node_options options{.name = name, .listen = {"unix://@" + unique_name("demand")}, .store = std::nullopt};
    options.accepted_links.allow_find = std::move(allow_find);
    auto& made = members_.emplace_back(std::make_unique<member>(std::move(options)));
    auto joined = cluster::join(*made->at.home, {.opened = std::make_shared<memory_directory>(world_),
                                                 .lease = 5s,
                                                 .join_timeout = 10s,
                                                 .idle_close = idle_close});
    EXPECT_TRUE(joined) << (joined ? "" : joined.error().message());
    if (joined)
      made->in.emplace(*std::move(joined));
    return *made;
  }
  member& join_with_cart(const std::string& name, std::chrono::milliseconds idle_close = 60s) {
    auto& made = join(name, idle_close);
    made.cart = made.at.system.spawn(holder, name);
    EXPECT_TRUE(made.in->publish("cart", made.cart));
    return made;
  }
  /// Members with the names "m0", "m1" and so on, all of which have published "cart".
  void join_carts(int count, std::chrono::milliseconds idle_close = 60s) {
    for (auto i = 0; i < count; ++i)
      join_with_cart("m" + std::to_string(i), idle_close);
    EXPECT_TRUE(eventually([&] {
      return std::ranges::all_of(
          members_, [&](const auto& each) { return each->in->names().size() >= static_cast<std::size_t>(count); });
    }));
  }
  std::size_t links() {
    std::size_t all = 0;
    for (const auto& each : members_)
      all += each->at.home ? each->at.home->links().size() : 0;
    return all;
  }
  std::string asked(member& by, const caf::actor& whom) {
    caf::scoped_actor self{by.at.system};
    std::string answer;
    self->request(whom, 10s, 1)
        .receive([&](std::string& value) { answer = std::move(value); },
                 [&](const caf::error& error) { answer = "error: " + troupe::text_of(error); });
    return answer;
  }
  std::set<std::string> answers(member& by, const caf::actor& whom, int count) {
    std::set<std::string> all;
    for (auto i = 0; i < count; ++i)
      all.insert(asked(by, whom));
    return all;
  }
  /// An entry of a member at an address where nobody listens.
  void enter_a_dead_member(const std::string& name) {
    const auto lease = world_->grant();
    world_->put("members/" + name,
                R"({"incarnation":")" + std::string(64, '0') + R"(","addresses":["unix://@)" + unique_name("nobody")
                    + R"("],"host":")" + membership::this_host() + R"("})",
                lease);
    world_->put("names/" + name + "/cart", "{}", lease);
  }

  const std::shared_ptr<memory_world> world_ = std::make_shared<memory_world>();
  std::deque<std::unique_ptr<member>> members_;
};

TEST_F(links_on_demand, are_only_those_that_services_use) {
  join_carts(20);
  EXPECT_EQ(links(), 0u);
  std::vector<service<caf::actor>> kept;
  for (auto& each : members_) { // A service in each that uses only the member of its key.
    kept.push_back(each->in->service("cart", {.pick = by_key([](const caf::message&) { return 7; })}));
    EXPECT_EQ(answers(*each, kept.back().handle(), 3).size(), 1u);
  }
  EXPECT_LE(links(), 2 * members_.size()); // Each link has two ends; 20 members with each other would have 380.
  const auto turns = members_.front()->in->service("cart", {.pick = round_robin});
  EXPECT_EQ(answers(*members_.front(), turns.handle(), 40).size(), 20u);
  EXPECT_LE(members_.front()->at.home->links().size(), 2 * 19u);
}

TEST_F(links_on_demand, are_closed_when_idle_and_made_again) {
  join_carts(4, 20ms);
  auto& client = *members_.front();
  const auto carts = client.in->service("cart", {.pick = round_robin});
  for (auto i = 0; i < 3; ++i) {
    EXPECT_EQ(answers(client, carts.handle(), 8), (std::set<std::string>{"m0", "m1", "m2", "m3"}));
    ASSERT_TRUE(eventually([&] { return links() == 0; }));
  }
}

TEST_F(links_on_demand, do_not_end_under_a_request) {
  auto& client = join("client", 20ms);
  auto& shop = join_with_cart("shop", 20ms);
  auto& other = join("other", 20ms);
  auto till = other.at.system.spawn(holder, "other");
  ASSERT_TRUE(other.in->publish("till", till));
  const auto carts = client.in->service("cart");
  const auto tills = client.in->service("till");
  caf::scoped_actor self{client.at.system};
  auto held = self->request(carts.handle(), 30s, std::string{"hold"});
  for (auto i = 0; i < 4; ++i) { // Long after the idle time.
    EXPECT_EQ(asked(client, tills.handle()), "other");
    ASSERT_TRUE(eventually([&] { return other.at.home->links().empty(); }));
  }
  EXPECT_EQ(shop.at.home->links().size(), 1u);
  caf::anon_send(shop.cart, std::string{"let go"});
  held.receive([](const std::string& answer) { EXPECT_EQ(answer, "held"); },
               [](const caf::error& why) { ADD_FAILURE() << troupe::text_of(why); });
  EXPECT_TRUE(eventually([&] { return links() == 0; }));
}

// Method: messages and requests come at random times, so that some meet a link that is just being closed.
TEST_F(links_on_demand, lose_no_message_and_no_request_however_often_they_are_closed) {
  constexpr std::uint64_t links = 20;
  auto& client = join("client", 2ms);
  auto& shop = join("shop", 2ms);
  const auto disordered = std::make_shared<std::atomic<int>>(0);
  const auto last = std::make_shared<std::atomic<int>>(0);
  ASSERT_TRUE(shop.in->publish("counter", shop.at.system.spawn([=]() -> caf::behavior {
    return {[=](int number) {
              *disordered += *last + 1 == number ? 0 : 1;
              *last = number;
            },
            [=](const std::string&) { return last->load(); }};
  })));
  const auto counter = client.in->service("counter");
  caf::scoped_actor self{client.at.system};
  std::minstd_rand random{1};
  const auto deadline = std::chrono::steady_clock::now() + 60s;
  auto number = 0;
  while (client.at.home->stats().links_opened < links && std::chrono::steady_clock::now() < deadline) {
    for (auto burst = random() % 4; burst > 0; --burst)
      self->send(counter.handle(), ++number);
    self->request(counter.handle(), 10s, std::string{"how many"})
        .receive([&](int count) { EXPECT_EQ(count, number); },
                 [](const caf::error& why) { ADD_FAILURE() << troupe::text_of(why); });
    const auto until = std::chrono::steady_clock::now() + std::chrono::microseconds{100'000 + random() % 100'000};
    while (std::chrono::steady_clock::now() < until) // The peer keeps the last sender for 50 to 100 ms.
      std::this_thread::yield();
  }
  EXPECT_GE(client.at.home->stats().links_opened, links);
  EXPECT_EQ(*last, number);
  EXPECT_EQ(*disordered, 0);
  EXPECT_EQ(counter.stats().failed, 0u);
}

TEST_F(links_on_demand, lead_around_members_that_cannot_be_reached) {
  auto& client = join("client");
  join_with_cart("alive");
  for (const auto* name : {"dead-1", "dead-2", "dead-3"})
    enter_a_dead_member(name);
  ASSERT_TRUE(eventually([&] { return client.in->names().size() == 4; }));
  for (const auto& how : {round_robin, nearest, least_loaded, by_key([](const caf::message&) { return 3; })}) {
    const auto carts = client.in->service("cart", {.pick = how, .patience = 10s});
    EXPECT_EQ(answers(client, carts.handle(), 12), (std::set<std::string>{"alive"}));
  }
}

TEST_F(links_on_demand, that_lead_nowhere_are_named_in_the_errors_of_the_service) {
  auto& client = join("client");
  for (const auto* name : {"dead-1", "dead-2"})
    enter_a_dead_member(name);
  ASSERT_TRUE(eventually([&] { return client.in->names().size() == 2; }));
  const auto carts = client.in->service("cart", {.pick = round_robin, .patience = 200ms});
  std::string why;
  ASSERT_TRUE(eventually([&] {
    why = asked(client, carts.handle());
    return why.find("not connected yet") == std::string::npos;
  }));
  EXPECT_NE(why.find("service cart: "), std::string::npos) << why;
  EXPECT_NE(why.find("2 members publish it: dead-1 ("), std::string::npos) << why;
  EXPECT_NE(why.find("), dead-2 ("), std::string::npos) << why;
  EXPECT_NE(why.find("Connection refused"), std::string::npos) << why;
  const auto problems = client.in->problems();
  EXPECT_TRUE(std::ranges::any_of(problems, [](const auto& one) {
    return one.starts_with("member dead-1: \"cart\" cannot be used: ") && one.ends_with("Connection refused");
  })) << problems.size();
}

// Method: the role that everybody has at "shop" lets its peers find other names only.
TEST_F(links_on_demand, to_a_member_that_refuses_the_name_are_a_problem) {
  auto& client = join("client");
  auto& shop = join("shop", 60s, {"till"});
  shop.cart = shop.at.system.spawn(holder, "shop");
  ASSERT_TRUE(shop.in->publish("cart", shop.cart));
  const auto carts = client.in->service("cart", {.patience = 200ms});
  const auto name_problem = [&] {
    for (const auto& one : client.in->problems())
      if (one.starts_with("member shop: \"cart\" cannot be used: ") && one.find("allow_find") != std::string::npos)
        return one;
    return std::string{};
  };
  std::string why;
  EXPECT_TRUE(eventually([&] {
    why = asked(client, carts.handle());
    return why.find("allow_find") != std::string::npos;
  })) << why;
  EXPECT_NE(why.find("service cart: "), std::string::npos) << why;
  EXPECT_NE(why.find("1 member publishes it: shop ("), std::string::npos) << why;
  EXPECT_FALSE(name_problem().empty());
  shop.in.reset(); // With the member, its problem is gone.
  EXPECT_TRUE(eventually([&] { return client.in->members().size() == 1 && name_problem().empty(); }));
}

TEST_F(links_on_demand, are_at_most_as_many_as_the_service_may_use) {
  join_carts(12);
  auto& client = *members_.front();
  const auto few = client.in->service("cart", {.pick = round_robin, .members_most = 3});
  auto used = answers(client, few.handle(), 40);
  EXPECT_EQ(used.size(), 4u); // Three others and this process.
  EXPECT_LE(client.at.home->links().size(), 3u);
  used.erase("m0");
  const auto lost = *used.begin();
  for (auto& each : members_)
    if (each->at.home->name() == lost)
      each->in.reset();
  EXPECT_TRUE(eventually([&] {
    const auto now = answers(client, few.handle(), 12);
    return now.size() == 4 && !now.contains(lost);
  }));
}

TEST_F(links_on_demand, replace_a_member_of_few_that_cannot_be_reached) {
  auto& client = join("client");
  for (auto i = 0; i < 10; ++i)
    enter_a_dead_member("dead-" + std::to_string(i));
  join_with_cart("alive");
  ASSERT_TRUE(eventually([&] { return client.in->names().size() == 11; }));
  const auto few = client.in->service("cart", {.pick = round_robin, .members_most = 2});
  EXPECT_EQ(asked(client, few.handle()), "alive");
}

TEST_F(links_on_demand, lead_to_the_member_with_the_least_load_of_all_clients) {
  auto& busy = join("busy-client");
  auto& client = join("client");
  auto& first = join_with_cart("first");
  const auto firsts = busy.in->service("cart", {.answer_within = 1min}); // Counts requests.
  std::vector<caf::actor> waiting;
  for (auto i = 0; i < 20; ++i)
    waiting.push_back(busy.at.system.spawn([to = firsts.handle()](caf::event_based_actor* self) {
      self->request(to, caf::infinite, std::string{"hold"}).then([](const std::string&) {}, [](const caf::error&) {});
    }));
  ASSERT_TRUE(eventually([&] { return firsts.stats().unanswered == 20; }));
  join_with_cart("second");
  const auto carts = client.in->service("cart", {.pick = least_loaded});
  ASSERT_TRUE(eventually([&] { return client.in->names().size() == 2; }));
  EXPECT_TRUE(eventually([&] { return answers(client, carts.handle(), 20) == std::set<std::string>{"second"}; }, 20s));
  caf::anon_send(first.cart, std::string{"let go"});
  EXPECT_TRUE(eventually([&] { return answers(client, carts.handle(), 20).size() == 2; }, 20s));
}

TEST_F(links_on_demand, show_that_a_member_has_another_contract) {
  auto& client = join("client");
  EXPECT_TRUE(client.in->problems().empty());
  const auto lease = world_->grant();
  world_->put("members/newer", R"({"addresses":["tcp://127.0.0.1:1"],"contract":"0123456789abcdef"})", lease);
  ASSERT_TRUE(eventually([&] { return client.in->members().size() == 2; }));
  ASSERT_EQ(client.in->problems().size(), 1u);
  EXPECT_NE(client.in->problems().front().find("newer has another contract"), std::string::npos);
}

// 400 clients, each of which uses 10 of 100 members: 40 clients for each member on average, with a standard deviation
// of 6.
TEST(subset, spreads_the_clients_over_the_members) {
  std::map<int, int> clients_of;
  for (auto client = 0; client < 400; ++client) {
    std::vector<std::pair<std::uint64_t, int>> ranks;
    for (auto member = 0; member < 100; ++member)
      ranks.emplace_back(membership::rank_of("client-" + std::to_string(client), "member-" + std::to_string(member)),
                         member);
    std::ranges::sort(ranks, std::ranges::greater{});
    for (std::size_t i = 0; i < 10; ++i)
      ++clients_of[ranks.at(i).second];
  }
  EXPECT_EQ(clients_of.size(), 100u);
  for (const auto& [member, count] : clients_of) {
    EXPECT_GT(count, 15) << member;
    EXPECT_LT(count, 70) << member;
  }
}

} // namespace
} // namespace troupe::tests
