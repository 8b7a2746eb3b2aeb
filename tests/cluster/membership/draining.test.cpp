// Goal: a member that is to drain gives its work to the others, and takes it again when the order is cancelled.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include <troupe/framework/cluster/cluster.hpp>
#include <troupe/framework/cluster/cluster_observer.hpp>
#include <troupe/framework/cluster/drain_order.hpp>

#include "../../framework/two_nodes.hpp"
#include "../memory_directory.hpp"

namespace troupe::tests {
namespace {

using names_of_members = std::vector<std::pair<std::string, std::string>>;

/// A node that has joined, and the events that it was told.
struct drained_member {
  drained_member(const std::string& name, const std::shared_ptr<memory_world>& world)
      : at({.name = name, .listen = {"unix://@" + unique_name("drained")}, .store = std::nullopt}),
        in(cluster::join(*at.home, {.opened = std::make_shared<memory_directory>(world), .lease = 2s}).value()),
        watcher(at.system.spawn([this]() -> caf::behavior {
          return {[this](const cluster_event& event) {
            const std::lock_guard guard{mutex};
            ++told[event.what];
          }};
        })) {
    in->watch(watcher);
  }
  ~drained_member() { caf::anon_send_exit(watcher, caf::exit_reason::user_shutdown); }

  int times_told(cluster_event::kind what) {
    const std::lock_guard guard{mutex};
    return told[what];
  }
  caf::actor echo() {
    return at.system.spawn([]() -> caf::behavior { return {[](int x) { return x; }}; });
  }
  void own(const std::string& singleton) {
    EXPECT_TRUE(in->singleton(singleton, [](caf::actor_system& system, const ownership&) {
      return system.spawn([]() -> caf::behavior { return {[](int x) { return x; }}; });
    }));
  }

  std::mutex mutex;
  std::map<cluster_event::kind, int> told; // Guarded by mutex.
  side at;
  std::optional<cluster> in;
  caf::actor watcher;
};

class a_drained_member : public testing::Test {
protected:
  /// Waits for the observer to see the member.
  [[nodiscard]] cluster_member entry_of(const std::string& name) const {
    cluster_member found;
    EXPECT_TRUE(sees([&](const auto& now) {
      const auto at = std::ranges::find(now.members, name, &cluster_member::name);
      if (at != now.members.end())
        found = *at;
      return at != now.members.end();
    })) << name;
    return found;
  }
  [[nodiscard]] bool sees(const std::function<bool(const cluster_snapshot&)>& is_so) const {
    return outside_.wait_until(is_so, std::chrono::steady_clock::now() + 10s);
  }

  const std::shared_ptr<memory_world> world_ = std::make_shared<memory_world>();
  const std::shared_ptr<memory_directory> directory_ = std::make_shared<memory_directory>(world_);
  const cluster_observer outside_ = cluster_observer::open(directory_, 10s).value();
};

TEST_F(a_drained_member, withdraws_its_names_and_gives_its_singletons_to_another_one) {
  drained_member one{"one", world_};
  ASSERT_TRUE(one.in->publish("cart", one.echo()));
  one.own("clock");
  ASSERT_TRUE(sees([](const auto& now) { return now.singletons == names_of_members{{"clock", "one"}}; }));
  drained_member two{"two", world_};
  two.own("clock");
  one.in->drain();
  EXPECT_TRUE(sees([](const auto& now) {
    return now.names.empty() && now.singletons == names_of_members{{"clock", "two"}};
  }));
  EXPECT_TRUE(one.in->is_draining());
  EXPECT_TRUE(entry_of("one").is_draining);
  EXPECT_FALSE(entry_of("two").is_draining);
  EXPECT_TRUE(eventually([&] { return one.times_told(cluster_event::kind::drain_ordered) == 1; }));
  EXPECT_EQ(two.times_told(cluster_event::kind::drain_ordered), 0);
  EXPECT_TRUE(eventually([&] { return two.times_told(cluster_event::kind::member_changed) == 1; }));
}

TEST_F(a_drained_member, keeps_its_actors_and_links) {
  drained_member one{"one", world_};
  const auto echo = one.echo();
  ASSERT_TRUE(one.in->publish("cart", echo));
  side other{{.name = "other", .listen = {}, .store = std::nullopt}};
  auto link = other.home->connect(one.at.home->addresses().front());
  ASSERT_TRUE(link);
  one.in->drain();
  ASSERT_TRUE(sees([](const auto& now) { return now.names.empty(); }));
  const auto found = link->find("cart", 0s);
  ASSERT_TRUE(found) << found.error().message();
}

TEST_F(a_drained_member, sends_its_own_requests_to_the_others) {
  drained_member one{"one", world_};
  drained_member two{"two", world_};
  const auto signer = [](drained_member& at, int number) {
    return at.at.system.spawn([number]() -> caf::behavior { return {[number](int) { return number; }}; });
  };
  ASSERT_TRUE(one.in->publish("cart", signer(one, 1)));
  ASSERT_TRUE(two.in->publish("cart", signer(two, 2)));
  const auto carts = one.in->service("cart");
  const auto answer = [&] {
    caf::scoped_actor self{one.at.system};
    auto got = 0;
    self->request(carts.handle(), 10s, 0).receive([&](int x) { got = x; }, [](const caf::error&) {});
    return got;
  };
  ASSERT_TRUE(eventually([&] { return one.in->names().size() == 2; }));
  EXPECT_EQ(answer(), 1); // The nearest one.
  one.in->drain();
  EXPECT_TRUE(eventually([&] { return answer() == 2; }));
}

TEST_F(a_drained_member, gives_its_entities_to_another_one_and_takes_them_again) {
  drained_member one{"one", world_};
  drained_member two{"two", world_};
  const auto host = [](drained_member& at) {
    return at.in
        ->host_entities("user",
                        [](caf::actor_system& system, const entity_context&) {
                          return system.spawn([]() -> caf::behavior { return {[](int x) { return x + 1; }}; });
                        },
                        {.shards = 8})
        .value();
  };
  const auto users = host(one);
  host(two);
  const auto shards_of = [](const cluster_snapshot& now, const std::string& member) {
    return std::ranges::count(now.shards, member, &shard_owner::member);
  };
  ASSERT_TRUE(sees([&](const auto& now) {
    return shards_of(now, "one") > 0 && shards_of(now, "one") + shards_of(now, "two") == 8;
  }));
  const auto answers = [&] {
    caf::scoped_actor self{one.at.system};
    auto count = 0;
    for (auto i = 0; i < 20; ++i)
      self->request(users.of("user-" + std::to_string(i)), 10s, i)
          .receive([&](int x) { count += x == i + 1 ? 1 : 0; }, [](const caf::error&) {});
    return count;
  };
  EXPECT_EQ(answers(), 20);
  one.in->drain();
  EXPECT_EQ(answers(), 20);
  EXPECT_TRUE(sees([&](const auto& now) { return shards_of(now, "two") == 8; }));
  EXPECT_TRUE(eventually([&] { return one.in->stats().shards_owned == 0 && one.in->stats().shards == 8; }));
  EXPECT_EQ(answers(), 20);
  one.in->cancel_drain();
  EXPECT_TRUE(sees([&](const auto& now) { return shards_of(now, "one") > 0; }));
  EXPECT_EQ(answers(), 20);
}

TEST_F(a_drained_member, obeys_an_order_and_works_again_when_it_is_cancelled) {
  drained_member one{"one", world_};
  ASSERT_TRUE(one.in->publish("cart", one.echo()));
  one.own("clock");
  ASSERT_TRUE(sees([](const auto& now) { return now.singletons.size() == 1 && now.names.size() == 1; }));
  ASSERT_TRUE(order_drain(*directory_, entry_of("one"), "a test"));
  ASSERT_TRUE(sees([](const auto& now) { return now.singletons.empty() && now.names.empty(); }));
  EXPECT_TRUE(entry_of("one").is_draining);
  ASSERT_TRUE(one.in->publish("till", one.echo())); // On the node alone.
  EXPECT_EQ(world_->entry("names/one/till"), std::nullopt);
  EXPECT_EQ(cancel_drain(*directory_, "one").value(), true);
  EXPECT_TRUE(sees([](const auto& now) { return now.singletons.size() == 1 && now.names.size() == 2; }));
  EXPECT_FALSE(entry_of("one").is_draining);
  EXPECT_FALSE(one.in->is_draining());
  EXPECT_TRUE(eventually([&] { return one.times_told(cluster_event::kind::drain_cancelled) == 1; }));
  EXPECT_EQ(cancel_drain(*directory_, "one").value(), false);
}

TEST_F(a_drained_member, drains_while_either_the_program_or_an_order_says_so) {
  drained_member one{"one", world_};
  ASSERT_TRUE(order_drain(*directory_, entry_of("one"), "a test"));
  ASSERT_TRUE(eventually([&] { return one.in->is_draining(); }));
  one.in->drain();
  ASSERT_TRUE(cancel_drain(*directory_, "one"));
  ASSERT_TRUE(sees([](const auto& now) { return now.orders.empty(); }));
  EXPECT_TRUE(one.in->is_draining());
  one.in->cancel_drain();
  EXPECT_TRUE(eventually([&] { return !one.in->is_draining(); })); // The member may see the end of the order later.
}

TEST_F(a_drained_member, removes_its_order_when_it_leaves) {
  drained_member one{"one", world_};
  ASSERT_TRUE(order_drain(*directory_, entry_of("one"), "a test"));
  ASSERT_TRUE(eventually([&] { return one.in->is_draining(); }));
  one.in.reset();
  EXPECT_EQ(world_->entry("orders/one"), std::nullopt);
}

TEST_F(a_drained_member, is_not_the_next_process_of_its_name) {
  ASSERT_TRUE(order_drain(*directory_, {.name = "one", .incarnation = "of a process that was killed"}, "a test"));
  drained_member one{"one", world_};
  EXPECT_EQ(world_->entry("orders/one"), std::nullopt);
  EXPECT_FALSE(one.in->is_draining());
}

TEST_F(a_drained_member, is_told_to_those_who_watch_later) {
  drained_member one{"one", world_};
  one.in->drain();
  drained_member two{"two", world_};
  one.in->watch(one.watcher);
  EXPECT_TRUE(eventually([&] { return one.times_told(cluster_event::kind::drain_ordered) == 2; }));
}

TEST_F(a_drained_member, is_in_the_figures) {
  drained_member one{"one", world_};
  ASSERT_TRUE(one.in->publish("cart", one.echo()));
  one.own("clock");
  ASSERT_TRUE(eventually([&] { return one.in->stats().singletons_owned == 1; }));
  const auto before = one.in->stats();
  EXPECT_EQ(before.members, 1u);
  EXPECT_EQ(before.names_published, 1u);
  EXPECT_FALSE(before.is_draining);
  EXPECT_TRUE(before.directory_is_up);
  EXPECT_GT(before.lease_left, 0ms);
  EXPECT_LE(before.lease_left, 2s);
  EXPECT_GT(before.requests.commit.answered, 0u);
  EXPECT_EQ(before.requests.commit.failed, 0u);
  EXPECT_EQ(before.requests.grant.answered, 1u);
  one.in->drain();
  EXPECT_TRUE(eventually([&] {
    const auto stats = one.in->stats();
    return stats.is_draining && stats.members_draining == 1 && stats.names_published == 0
           && stats.singletons_owned == 0;
  }));
  world_->fail(directory_errc::unavailable);
  EXPECT_TRUE(eventually([&] { return !one.in->stats().directory_is_up && one.in->stats().problems > 0; }));
  EXPECT_TRUE(eventually([&] { return one.in->stats().requests.keep_alive.failed > 0; }));
  world_->fail(std::nullopt);
  const auto reader = one.in->stats_reader();
  EXPECT_TRUE(reader());
  one.in.reset();
  EXPECT_FALSE(reader());
}

TEST_F(a_drained_member, is_not_ordered_without_its_incarnation) {
  EXPECT_EQ(order_drain(*directory_, {.name = "one"}, "a test").error().code(), directory_errc::invalid_argument);
  EXPECT_EQ(order_drain(*directory_, {.name = "one", .incarnation = "x"}, std::string(1'025, 'x')).error().code(),
            directory_errc::invalid_argument);
}

class an_observer : public a_drained_member {};

TEST_F(an_observer, tells_what_is_there_and_then_each_change) {
  drained_member one{"one", world_};
  std::mutex mutex;
  std::vector<std::string> told;
  const auto seen = cluster_observer::open(directory_, 10s, [&](const cluster_event& event) {
    const std::lock_guard guard{mutex};
    using enum cluster_event::kind;
    told.push_back((event.what == member_up         ? "up "
                    : event.what == name_added      ? "added "
                    : event.what == name_gone       ? "gone "
                    : event.what == member_changed  ? "changed "
                    : event.what == drain_ordered   ? "ordered "
                    : event.what == drain_cancelled ? "cancelled "
                                                    : "other ")
                   + event.member.name);
  });
  ASSERT_TRUE(seen);
  ASSERT_TRUE(one.in->publish("cart", one.echo()));
  // In any order, since several changes may come at once.
  const auto has_told = [&](std::vector<std::string> due) {
    return eventually([&] {
      const std::lock_guard guard{mutex};
      std::ranges::sort(told);
      return told == due;
    });
  };
  ASSERT_TRUE(has_told({"added one", "up one"}));
  one.in->drain();
  ASSERT_TRUE(has_told({"added one", "changed one", "gone one", "up one"}));
  ASSERT_TRUE(order_drain(*directory_, entry_of("one"), "a test"));
  EXPECT_TRUE(has_told({"added one", "changed one", "gone one", "ordered one", "up one"}));
}

TEST_F(an_observer, names_the_entries_that_do_not_count) {
  const auto lease = world_->grant();
  world_->put("members/two", R"({"incarnation":"x","addresses":["tcp://a:1"]})", lease);
  world_->put("members/three", R"({"incarnation":"y","addresses":["tcp://a:2"]})");
  world_->put("members/four", "[]", lease);
  world_->put("names/one/cart", "{}", lease);
  world_->put("names/two/cart", "{}", world_->grant());
  world_->put("singletons/clock", "one", lease);
  world_->put("shards/user/7", "one", lease);
  world_->put("orders/one", R"({"drain":true,"incarnation":"x"})");
  world_->put("orders/two", R"({"drain":true})");
  EXPECT_TRUE(sees([](const auto& now) { return now.faults.size() == 8; }));
  std::string keys;
  for (const auto& [key, why] : outside_.now().faults)
    keys += key + ": " + why + '\n';
  EXPECT_EQ(keys, "members/four: it cannot be read: it is not a JSON object\n"
                  "members/three: it has no lease, so that it stays for ever\n"
                  "names/one/cart: the member one is not up\n"
                  "names/two/cart: it has another lease than the entry of two\n"
                  "orders/one: the process that it is for is gone\n"
                  "orders/two: it cannot be read: it does not say which process it is for\n"
                  "shards/user/7: the member one is not up\n"
                  "singletons/clock: the member one is not up\n");
}

TEST_F(an_observer, fails_if_the_directory_does_not_answer) {
  world_->fail(directory_errc::unavailable);
  const auto opened = cluster_observer::open(directory_, 100ms);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code(), directory_errc::unavailable);
}

} // namespace
} // namespace troupe::tests
