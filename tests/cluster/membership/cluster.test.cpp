// Goal: nodes that have joined find each other's actors, as long as they live.
#include <deque>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

#include <troupe/framework/cluster/cluster.hpp>
#include <troupe/framework/cluster/internal/membership/addresses.hpp>
#include <troupe/framework/cluster/internal/membership/entry_keys.hpp>

#include "../../framework/two_nodes.hpp"
#include "../memory_directory.hpp"

namespace troupe::tests {
namespace {

/// Answers with the name of its member.
caf::behavior signer(caf::event_based_actor*, const std::string& name) {
  return {[name](int) { return name; }};
}

class a_cluster : public testing::Test {
protected:
  struct member {
    explicit member(node_options options) : at(std::move(options)) {}

    side at;
    std::optional<cluster> in;
  };

  node_options options(std::string name) {
    return {.name = std::move(name), .listen = {"unix://@" + unique_name("member")}, .store = std::nullopt};
  }
  cluster_options joining(const std::shared_ptr<memory_directory>& where) {
    return {.opened = where, .lease = 2s, .join_timeout = 10s};
  }
  member& join(const std::string& name) {
    auto& made = members_.emplace_back(std::make_unique<member>(options(name)));
    auto joined = cluster::join(*made->at.home, joining(std::make_shared<memory_directory>(world_)));
    EXPECT_TRUE(joined) << (joined ? "" : joined.error().message());
    if (joined)
      made->in.emplace(*std::move(joined));
    return *made;
  }
  caf::actor signer_at(member& of) { return of.at.system.spawn(signer, of.at.home->name()); }
  std::string asked(member& by, const caf::actor& whom) {
    caf::scoped_actor self{by.at.system};
    std::string answer;
    self->request(whom, 10s, 1)
        .receive([&](std::string& value) { answer = std::move(value); },
                 [&](const caf::error& error) { answer = "error: " + troupe::text_of(error); });
    return answer;
  }

  const std::shared_ptr<memory_world> world_ = std::make_shared<memory_world>();
  std::deque<std::unique_ptr<member>> members_;
};

TEST_F(a_cluster, knows_its_members) {
  auto& one = join("one");
  auto& two = join("two");
  ASSERT_TRUE(eventually([&] { return one.in->members().size() == 2; }));
  EXPECT_EQ(two.in->members().size(), 2u);
  EXPECT_EQ(one.in->members().front().name, "one");
  EXPECT_EQ(one.in->members().front(), one.in->self());
  two.in.reset();
  EXPECT_TRUE(eventually([&] { return one.in->members().size() == 1; }));
}

TEST_F(a_cluster, leads_requests_to_whoever_has_published_the_name) {
  auto& one = join("one");
  auto& two = join("two");
  const auto carts = one.in->service("cart");
  ASSERT_TRUE(two.in->publish("cart", signer_at(two)));
  EXPECT_EQ(asked(one, carts.handle()), "two");
}

TEST_F(a_cluster, prefers_its_own_actor_until_it_is_withdrawn) {
  auto& one = join("one");
  auto& two = join("two");
  ASSERT_TRUE(two.in->publish("cart", signer_at(two)));
  const auto carts = one.in->service("cart", {.pick = nearest});
  EXPECT_EQ(asked(one, carts.handle()), "two");
  ASSERT_TRUE(one.in->publish("cart", signer_at(one)));
  ASSERT_TRUE(eventually([&] { return asked(one, carts.handle()) == "one"; }));
  EXPECT_TRUE(one.in->unpublish("cart"));
  EXPECT_FALSE(one.in->unpublish("cart"));
  EXPECT_TRUE(eventually([&] { return asked(one, carts.handle()) == "two"; }));
}

TEST_F(a_cluster, says_in_errors_which_service_nobody_provides) {
  auto& one = join("one");
  const auto carts = one.in->service("cart", {.patience = 30ms});
  const auto clocks = one.in->singleton("clock", {.patience = 30ms});
  const auto account = one.in->entities("account", {.patience = 30ms}).value().of("7");
  const auto cart_error = asked(one, carts.handle());
  EXPECT_NE(cart_error.find("service cart: not taken within "), std::string::npos) << cart_error;
  EXPECT_NE(cart_error.find("; no member publishes it"), std::string::npos) << cart_error;
  const auto clock_error = asked(one, clocks.handle());
  EXPECT_NE(clock_error.find("singleton clock: not taken within "), std::string::npos) << clock_error;
  EXPECT_NE(clock_error.find("; no member owns it"), std::string::npos) << clock_error;
  const auto account_error = asked(one, account);
  EXPECT_NE(account_error.find("entities account: not taken within "), std::string::npos) << account_error;
  EXPECT_NE(account_error.find("; no member hosts it"), std::string::npos) << account_error;
  one.in.reset();
  const auto left_error = asked(one, carts.handle());
  EXPECT_NE(left_error.find("service cart: not taken within "), std::string::npos) << left_error;
  EXPECT_NE(left_error.find("; this process has left the cluster"), std::string::npos) << left_error;
}

// Method: both members publish actors; only the other one's has the interface.
TEST_F(a_cluster, does_not_lead_to_its_own_actor_if_that_has_another_interface) {
  using cart_actor = caf::typed_actor<caf::replies_to<int>::with<std::string>>;
  using till_actor = caf::typed_actor<caf::replies_to<std::string>::with<int>>;
  auto& one = join("one");
  auto& two = join("two");
  ASSERT_TRUE(one.in->publish("cart", one.at.system.spawn([]() -> till_actor::behavior_type {
    return {[](const std::string&) { return 1; }};
  })));
  const auto carts = one.in->service<cart_actor>("cart", {.pick = nearest, .patience = 30ms});
  const auto why = asked(one, caf::actor_cast<caf::actor>(carts.handle()));
  EXPECT_NE(why.find("this process (\"cart\" in this process does not have the requested interface: "),
            std::string::npos)
      << why;
  EXPECT_EQ(std::ranges::count_if(one.in->problems(),
                                  [](const auto& each) { return each.find("interface") != std::string::npos; }),
            1);
  ASSERT_TRUE(two.in->publish("cart", two.at.system.spawn([]() -> cart_actor::behavior_type {
    return {[](int) { return std::string{"two"}; }};
  })));
  ASSERT_TRUE(eventually([&] { return carts.stats().running == 1; }));
  const auto patient = one.in->service<cart_actor>("cart", {.pick = nearest});
  EXPECT_EQ(asked(one, caf::actor_cast<caf::actor>(patient.handle())), "two");
  EXPECT_TRUE(one.in->unpublish("cart"));
  EXPECT_TRUE(one.in->problems().empty());
}

TEST_F(a_cluster, delivers_what_waits_although_nobody_has_the_handle_any_more) {
  auto& one = join("one");
  auto& two = join("two");
  caf::scoped_actor self{one.at.system};
  auto request = self->request(one.in->service("cart").handle(), 20s, 1);
  ASSERT_TRUE(two.in->publish("cart", signer_at(two)));
  request.receive([](const std::string& by) { EXPECT_EQ(by, "two"); },
                  [](const caf::error& error) { ADD_FAILURE() << troupe::text_of(error); });
}

TEST_F(a_cluster, takes_turns) {
  auto& one = join("one");
  auto& two = join("two");
  auto& three = join("three");
  ASSERT_TRUE(two.in->publish("cart", signer_at(two)));
  ASSERT_TRUE(three.in->publish("cart", signer_at(three)));
  const auto carts = one.in->service("cart", {.pick = round_robin});
  ASSERT_TRUE(eventually([&] { return carts.stats().running == 2; }));
  EXPECT_NE(asked(one, carts.handle()), asked(one, carts.handle()));
}

TEST_F(a_cluster, leads_requests_to_another_member_when_one_is_lost) {
  auto& one = join("one");
  auto& two = join("two");
  auto& three = join("three");
  ASSERT_TRUE(two.in->publish("cart", signer_at(two)));
  ASSERT_TRUE(three.in->publish("cart", signer_at(three)));
  const auto carts = one.in->service("cart", {.pick = round_robin, .retry_idempotent = true});
  ASSERT_TRUE(eventually([&] { return carts.stats().running == 2; }));
  two.in.reset();
  two.at.home.reset();
  for (auto i = 0; i < 10; ++i)
    EXPECT_EQ(asked(one, carts.handle()), "three");
}

TEST_F(a_cluster, tells_what_is_there_and_what_changes) {
  auto& one = join("one");
  ASSERT_TRUE(one.in->publish("cart", signer_at(one)));
  std::mutex mutex;
  std::vector<std::string> told;
  const auto watcher = one.at.system.spawn([&]() -> caf::behavior {
    return {[&](const cluster_event& event) {
      using enum cluster_event::kind;
      const std::lock_guard guard{mutex};
      told.push_back((event.what == member_up     ? "up "
                      : event.what == member_down ? "down "
                      : event.what == name_added  ? "added "
                      : event.what == name_gone   ? "gone "
                                                  : "other ")
                     + event.member.name + (event.name.empty() ? "" : "/" + event.name));
    }};
  });
  one.in->watch(watcher);
  auto& two = join("two");
  ASSERT_TRUE(two.in->publish("till", signer_at(two)));
  ASSERT_TRUE(eventually([&] { return one.in->names().size() == 2; })); // Otherwise both changes may come at once.
  two.in.reset();
  const std::vector<std::string> due{"up one",         "added one/cart", "up two",
                                     "added two/till", "gone two/till",  "down two"};
  EXPECT_TRUE(eventually([&] {
    const std::lock_guard guard{mutex};
    return told.size() >= due.size();
  }));
  const std::lock_guard guard{mutex};
  EXPECT_EQ(told, due);
  caf::anon_send_exit(watcher, caf::exit_reason::user_shutdown);
}

TEST_F(a_cluster, writes_its_entries_again_if_somebody_removes_them) {
  auto& one = join("one");
  auto& two = join("two");
  ASSERT_TRUE(two.in->publish("cart", signer_at(two)));
  const auto remove = [&](std::string key) {
    const directory_write removal{.key = std::move(key), .what = directory_write::kind::remove};
    ASSERT_TRUE(memory_directory{world_}.commit({}, {&removal, 1}));
  };
  ASSERT_TRUE(eventually([&] { return one.in->names().size() == 1; }));
  const auto name = world_->entry("names/two/cart");
  ASSERT_TRUE(name);
  remove("names/two/cart");
  ASSERT_TRUE(eventually([&] {
    const auto again = world_->entry("names/two/cart");
    return again && again->created_revision > name->created_revision;
  }));
  const auto entry = world_->entry("members/two");
  remove("members/two");
  ASSERT_TRUE(eventually([&] {
    const auto again = world_->entry("members/two");
    return again && again->created_revision > entry->created_revision;
  }));
  EXPECT_TRUE(eventually([&] { return one.in->names().size() == 1 && one.in->members().size() == 2; }));
}

TEST_F(a_cluster, ends_the_actor_of_a_singleton_whose_entry_somebody_has_removed) {
  auto& one = join("one");
  std::mutex mutex;
  std::vector<ownership> owned;
  ASSERT_TRUE(one.in->singleton("clock", [&](caf::actor_system& system, const ownership& own) {
    const std::lock_guard guard{mutex};
    owned.push_back(own);
    return system.spawn(signer, std::string{"one"});
  }));
  ASSERT_TRUE(eventually([&] { return one.in->singletons().size() == 1; }));
  const directory_write removal{.key = "singletons/clock", .what = directory_write::kind::remove};
  ASSERT_TRUE(memory_directory{world_}.commit({}, {&removal, 1}));
  EXPECT_TRUE(eventually([&] {
    const std::lock_guard guard{mutex};
    return owned.size() == 2;
  }));
  const std::lock_guard guard{mutex};
  EXPECT_FALSE(owned.front().is_sure());
  EXPECT_TRUE(owned.back().is_sure());
}

TEST_F(a_cluster, withdraws_the_name_of_an_actor_that_has_ended) {
  auto& one = join("one");
  auto& two = join("two");
  const auto own = signer_at(one);
  ASSERT_TRUE(one.in->publish("cart", own));
  ASSERT_TRUE(two.in->publish("cart", signer_at(two)));
  const auto carts = one.in->service("cart");
  ASSERT_TRUE(eventually([&] { return asked(one, carts.handle()) == "one"; }));
  caf::anon_send_exit(own, caf::exit_reason::user_shutdown);
  EXPECT_TRUE(eventually([&] { return asked(one, carts.handle()) == "two"; }));
  EXPECT_TRUE(eventually([&] { return one.in->names().size() == 1; }));
  EXPECT_FALSE(one.in->unpublish("cart"));
  EXPECT_TRUE(one.in->publish("cart", signer_at(one)));
}

TEST_F(a_cluster, refuses_a_name_that_another_member_has) {
  auto& one = join("one");
  side other{options("one")};
  auto joining_late = joining(std::make_shared<memory_directory>(world_));
  joining_late.join_timeout = 200ms;
  const auto refused = cluster::join(*other.home, joining_late);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), directory_errc::name_taken);
  const auto& why = refused.error().message();
  EXPECT_NE(why.find("not joined within 200 ms (cluster_options::join_timeout): the name \"one\" is taken"),
            std::string::npos)
      << why;
  EXPECT_NE(why.find("members/one in memory"), std::string::npos) << why;
  EXPECT_NE(why.find("the node " + one.at.home->identity() + " at " + one.at.home->addresses().front()),
            std::string::npos)
      << why;
  EXPECT_NE(why.find("cluster_options::name"), std::string::npos) << why;
}

TEST_F(a_cluster, says_for_how_long_it_has_waited_for_the_directory_and_why_in_vain) {
  side late{options("late")};
  const auto away = cluster::join(
      *late.home, {.directory = "etcd://127.0.0.1:1/shop", .access = {.timeout = 50ms}, .join_timeout = 100ms});
  ASSERT_FALSE(away);
  EXPECT_EQ(away.error().code(), directory_errc::unavailable);
  const auto& why = away.error().message();
  EXPECT_TRUE(why.starts_with("not joined within 100 ms (cluster_options::join_timeout): ")) << why;
  EXPECT_NE(why.find("127.0.0.1:1"), std::string::npos) << why;
}

TEST_F(a_cluster, publishes_no_more_names_than_others_read) {
  auto& one = join("one");
  auto& two = join("two");
  const auto actor = signer_at(one);
  ASSERT_TRUE(one.in->host_entities(
      "account", [](caf::actor_system& system, const entity_context&) { return system.spawn(signer, "one"); }));
  for (auto i = 1; i < 1'000; ++i)
    ASSERT_TRUE(one.in->publish("cart-" + std::to_string(i), actor)) << i;
  const auto refused = one.in->publish("one-more", actor);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), directory_errc::full);
  EXPECT_NE(refused.error().message().find("at most 1,000"), std::string::npos) << refused.error().message();
  EXPECT_EQ(one.in
                ->host_entities("till", [](caf::actor_system& system,
                                           const entity_context&) { return system.spawn(signer, "one"); })
                .error()
                .code(),
            directory_errc::full);
  EXPECT_TRUE(eventually([&] { return two.in->names().size() == 999; }));
  EXPECT_TRUE(two.in->problems().empty());
  EXPECT_TRUE(one.in->unpublish("cart-1"));
  EXPECT_TRUE(one.in->publish("one-more", actor)) << "also on the node, the name was free again";
}

TEST_F(a_cluster, lets_a_process_that_was_started_again_take_its_entry_over) {
  const auto old = world_->grant();
  const auto address = "unix://@" + unique_name("again");
  world_->put("members/one", R"({"incarnation":"old","addresses":[")" + address + R"("]})", old);
  world_->put("names/one/cart", "{}", old);
  side again{{.name = "one", .listen = {address}, .store = std::nullopt}};
  const auto joined = cluster::join(*again.home, joining(std::make_shared<memory_directory>(world_)));
  ASSERT_TRUE(joined) << joined.error().message();
  EXPECT_EQ(joined->members().size(), 1u);
  EXPECT_TRUE(eventually([&] { return joined->names().empty(); }));
}

TEST_F(a_cluster, registers_everything_again_after_its_lease_was_lost) {
  auto& one = join("one");
  auto& two = join("two");
  ASSERT_TRUE(two.in->publish("cart", signer_at(two)));
  const auto carts = one.in->service("cart");
  ASSERT_EQ(asked(one, carts.handle()), "two");
  world_->expire_all();
  ASSERT_TRUE(eventually([&] { return world_->entry("names/two/cart").has_value(); }));
  ASSERT_TRUE(eventually([&] { return one.in->names().size() == 1; }));
  EXPECT_EQ(asked(one, carts.handle()), "two");
}

TEST_F(a_cluster, goes_on_while_the_directory_is_away) {
  auto& one = join("one");
  auto& two = join("two");
  ASSERT_TRUE(two.in->publish("cart", signer_at(two)));
  const auto carts = one.in->service("cart");
  ASSERT_EQ(asked(one, carts.handle()), "two");
  world_->fail(directory_errc::unavailable);
  ASSERT_TRUE(eventually([&] { return !one.in->problems().empty(); }));
  EXPECT_EQ(asked(one, carts.handle()), "two");
  EXPECT_EQ(one.in->members().size(), 2u);
  const auto published = one.in->publish("till", signer_at(one));
  ASSERT_FALSE(published);
  EXPECT_EQ(published.error().code(), directory_errc::unavailable);
  world_->fail(std::nullopt);
  EXPECT_TRUE(eventually([&] { return two.in->names().size() == 2; })); // Written later, as the header says.
}

TEST_F(a_cluster, reaches_no_node_that_an_entry_only_claims_to_be_the_member) {
  auto& one = join("one");
  auto& two = join("two");
  ASSERT_TRUE(two.at.home->publish("cart", signer_at(two)));
  // An entry that leads to the node of `two` in the name of another one.
  const auto lease = world_->grant();
  world_->put("members/three",
              R"({"incarnation":")" + std::string(64, '0') + R"(","addresses":[")" + two.at.home->addresses().front()
                  + R"("],"host":")" + membership::this_host() + R"("})",
              lease);
  world_->put("names/three/cart", "{}", lease);
  const auto carts = one.in->service("cart", {.patience = 300ms});
  ASSERT_TRUE(eventually([&] { return one.in->names().size() == 1; }));
  std::string why;
  EXPECT_TRUE(eventually([&] {
    why = asked(one, carts.handle());
    return why.find("but this link is for " + std::string(64, '0')) != std::string::npos;
  })) << why;
  EXPECT_NE(why.find("1 member publishes it: three ("), std::string::npos) << why;
  EXPECT_EQ(carts.stats().running, 0u);
}

TEST_F(a_cluster, has_one_actor_of_a_singleton_and_moves_it_when_its_member_leaves) {
  auto& one = join("one");
  auto& two = join("two");
  auto& three = join("three");
  std::atomic<std::uint64_t> fence{0};
  const auto make = [&](std::string who) {
    return [&fence, who](caf::actor_system& system, const ownership& own) {
      EXPECT_GT(own.fence(), fence);
      EXPECT_TRUE(own.is_sure());
      fence = own.fence();
      return system.spawn(signer, who);
    };
  };
  const auto first = one.in->singleton("clock", make("one"));
  ASSERT_TRUE(first);
  EXPECT_EQ(asked(one, first->handle()), "one");
  const auto second = two.in->singleton("clock", make("two"));
  ASSERT_TRUE(second);
  const auto third = three.in->singleton("clock");
  EXPECT_EQ(asked(two, second->handle()), "one");
  EXPECT_EQ(asked(three, third.handle()), "one");
  EXPECT_EQ(three.in->singletons(), (std::vector<std::pair<std::string, std::string>>{{"clock", "one"}}));
  EXPECT_EQ(one.in->singleton("clock", make("one")).error().code(), directory_errc::invalid_argument);
  one.in.reset();
  ASSERT_TRUE(eventually([&] { return asked(three, third.handle()) == "two"; }));
}

TEST_F(a_cluster, refuses_names_that_no_key_can_hold_and_goes_on) {
  auto& one = join("one");
  const auto actor = signer_at(one);
  for (const auto& name : {std::string(1'015, 'x'), std::string(400, '/'), std::string{"troupe.singleton.clock"}}) {
    const auto refused = one.in->publish(name, actor);
    ASSERT_FALSE(refused) << name;
    EXPECT_EQ(refused.error().code(), directory_errc::invalid_argument);
  }
  EXPECT_TRUE(one.in->publish("cart", actor));
  const auto make = [&](caf::actor_system&, const ownership&) { return actor; };
  EXPECT_EQ(one.in->singleton(std::string(1'010, 'x'), make).error().code(), directory_errc::invalid_argument);
}

TEST_F(a_cluster, does_not_take_the_entry_of_a_node_over_that_has_joined_already) {
  auto& one = join("one");
  auto again = joining(std::make_shared<memory_directory>(world_));
  again.join_timeout = 200ms;
  const auto refused = cluster::join(*one.at.home, again);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), directory_errc::name_taken);
}

TEST_F(a_cluster, does_not_take_an_entry_with_an_address_of_another_host_over) {
  const auto address = "unix://@" + unique_name("elsewhere");
  world_->put("members/one", R"({"incarnation":"x","host":"elsewhere","addresses":[")" + address + R"("]})",
              world_->grant());
  side node{{.name = "one", .listen = {address}, .store = std::nullopt}};
  auto late = joining(std::make_shared<memory_directory>(world_));
  late.join_timeout = 200ms;
  EXPECT_EQ(cluster::join(*node.home, late).error().code(), directory_errc::name_taken);
}

TEST_F(a_cluster, waits_for_a_directory_that_starts_later) {
  world_->fail(directory_errc::unavailable);
  side node{options("one")};
  std::jthread starter{[&] {
    std::this_thread::sleep_for(200ms);
    world_->fail(std::nullopt);
  }};
  EXPECT_TRUE(cluster::join(*node.home, joining(std::make_shared<memory_directory>(world_))));
}

TEST_F(a_cluster, refuses_a_node_that_others_cannot_reach) {
  side silent{{.name = "silent", .store = std::nullopt}};
  const auto joined = cluster::join(*silent.home, joining(std::make_shared<memory_directory>(world_)));
  ASSERT_FALSE(joined);
  EXPECT_EQ(joined.error().code(), directory_errc::invalid_argument);
  EXPECT_NE(joined.error().message().find("node_options::listen"), std::string::npos) << joined.error().message();
}

TEST_F(a_cluster, finds_the_members_of_a_fixed_list_and_asks_them_for_names) {
  side one{options("one")};
  side two{options("two")};
  const auto actor = two.system.spawn(signer, "two");
  ASSERT_TRUE(two.home->publish("cart", actor));
  const auto file = std::filesystem::temp_directory_path() / unique_name("members");
  std::ofstream{file} << "# The shop.\nunix://@" << unique_name("nobody") << '\n'
                      << two.home->addresses().front() << '\n';
  auto joined = cluster::join(*one.home, {.directory = "static://" + file.string()});
  ASSERT_TRUE(joined) << joined.error().message();
  EXPECT_EQ(joined->members().size(), 2u);
  const auto carts = joined->service("cart");
  caf::scoped_actor self{one.system};
  self->request(carts.handle(), 10s, 1)
      .receive([](const std::string& who) { EXPECT_EQ(who, "two"); },
               [](const caf::error& error) { ADD_FAILURE() << troupe::text_of(error); });
  const auto refused = joined->singleton(
      "clock", [](caf::actor_system& system, const ownership&) { return system.spawn(signer, "one"); });
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), directory_errc::read_only);
  EXPECT_EQ(joined->drain().error().code(), directory_errc::read_only);
  EXPECT_FALSE(joined->is_draining());
  std::filesystem::remove(file);
}

TEST_F(a_cluster, shows_that_its_fixed_list_cannot_be_read_until_it_can) {
  side one{options("one")};
  const auto file = std::filesystem::temp_directory_path() / unique_name("members");
  const auto write = [&](const std::string& text) {
    std::ofstream{file.string() + ".new"} << text;
    std::filesystem::rename(file.string() + ".new", file);
  };
  write("tcp://127.0.0.1:1\n");
  auto joined = cluster::join(*one.home, {.directory = "static://" + file.string()});
  ASSERT_TRUE(joined) << joined.error().message();
  EXPECT_TRUE(joined->problems().empty());
  const auto has_problem = [&](const std::string& text) {
    return std::ranges::any_of(joined->problems(),
                               [&](const auto& each) { return each.find(text) != std::string::npos; });
  };
  write("tcp://127.0.0.1:1\ntcp://nowhere\n");
  EXPECT_TRUE(eventually([&] { return has_problem("is wrong in line 2"); }));
  std::filesystem::remove(file);
  EXPECT_TRUE(eventually([&] { return has_problem("No such file"); }));
  EXPECT_EQ(joined->members().size(), 1u);
  write("tcp://127.0.0.1:1\n");
  EXPECT_TRUE(eventually([&] { return joined->problems().empty(); }));
  std::filesystem::remove(file);
}

TEST(addresses, that_lead_nowhere_are_refused_with_what_to_do) {
  using membership::advertised_addresses;
  const std::vector<std::string> any{"tcp://0.0.0.0:4000"};
  EXPECT_NE(advertised_addresses({}, any).error().find("advertise"), std::string::npos);
  EXPECT_EQ(advertised_addresses(std::vector<std::string>{"tls://host:4000"}, any).value(),
            (std::vector<std::string>{"tls://host:4000"}));
  EXPECT_FALSE(advertised_addresses({}, std::vector<std::string>{"tcp://[::]:1"}));
  EXPECT_FALSE(advertised_addresses({}, std::vector<std::string>{"inproc://x"}));
  EXPECT_FALSE(advertised_addresses(std::vector<std::string>{"host:4000"}, any));
}

TEST(addresses, of_the_same_host_come_first_and_then_protected_ones) {
  using membership::best_address;
  const cluster_member member{.name = "m", .addresses = {"tcp://a:1", "unix://@m", "tls://a:2"}, .host = "here"};
  EXPECT_EQ(best_address(member, "here"), "unix://@m");
  EXPECT_EQ(best_address(member, "elsewhere"), "tls://a:2");
  EXPECT_EQ(best_address({.addresses = {"unix://@m"}, .host = "here"}, "elsewhere"), std::nullopt);
  EXPECT_EQ(best_address({.addresses = {"unix://@m"}}, "here"), "unix://@m"); // A list says nothing of hosts.
}

} // namespace
} // namespace troupe::tests
