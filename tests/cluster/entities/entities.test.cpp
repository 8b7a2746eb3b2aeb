// Goal: the cluster has one actor for each key, messages arrive in order, and none is lost while shards move.
#include <atomic>
#include <deque>
#include <future>
#include <map>
#include <mutex>
#include <set>

#include <gtest/gtest.h>

#include <troupe/framework/cluster/cluster.hpp>
#include <troupe/framework/cluster/internal/entities/entity_address.hpp>
#include <troupe/framework/cluster/internal/entities/shard_map.hpp>
#include <troupe/framework/cluster/internal/membership/entry_keys.hpp>
#include <troupe/framework/node_error.hpp>

#include "../../framework/two_nodes.hpp"
#include "../memory_directory.hpp"

namespace troupe::tests {
namespace {

class entities_of_a_cluster : public testing::Test {
protected:
  struct member {
    explicit member(node_options options) : at(std::move(options)) {}

    side at;
    std::optional<cluster> in;
    std::optional<entities<caf::actor>> accounts;
  };

  /// A key-value store that outlives its writers, and checks their fencing numbers.
  struct state_store {
    std::mutex mutex;
    std::map<std::string, std::pair<std::uint64_t, std::string>> all;
    std::atomic<int> loads{0};
    std::atomic<bool> fails{false};

    std::expected<std::string, std::string> load(const std::string& key, std::uint64_t fence) {
      ++loads;
      const std::lock_guard guard{mutex};
      auto& [highest, value] = all[key];
      highest = std::max(highest, fence);
      return value;
    }
    std::expected<void, std::string> save(const std::string& key, std::uint64_t fence, const std::string& state) {
      const std::lock_guard guard{mutex};
      if (fails)
        return std::unexpected{std::string{"the disk is full"}};
      auto& [highest, value] = all[key];
      if (fence < highest)
        return std::unexpected{std::string{"a later owner has written"}};
      highest = fence;
      value = state;
      return {};
    }
  };

  member& join(const std::string& name, std::chrono::milliseconds lease = 2s,
               std::chrono::milliseconds idle_close = 60s) {
    auto& made = members_.emplace_back(std::make_unique<member>(
        node_options{.name = name, .listen = {"unix://@" + unique_name("entities")}, .store = std::nullopt}));
    auto joined = cluster::join(*made->at.home, {.opened = std::make_shared<memory_directory>(world_),
                                                 .lease = lease,
                                                 .join_timeout = 10s,
                                                 .idle_close = idle_close});
    EXPECT_TRUE(joined) << (joined ? "" : joined.error().message());
    if (joined)
      made->in.emplace(*std::move(joined));
    return *made;
  }

  /// Counts what it gets, answers with its member and the count; keeps the count in the store.
  class account_actor : public caf::event_based_actor {
  public:
    account_actor(caf::actor_config& config, entities_of_a_cluster& of, std::string at, entity_context entity)
        : caf::event_based_actor(config), of_(of), at_(std::move(at)), entity_(std::move(entity)) {}

    caf::behavior make_behavior() override {
      {
        const std::lock_guard guard{of_.mutex_};
        EXPECT_TRUE(of_.running_.insert(entity_.key()).second || of_.may_overlap_) << entity_.key() << " runs twice";
      }
      count_ = entity_.state().empty() ? 0 : std::stoi(entity_.state());
      return {[this](int) {
                count();
                return at_ + ' ' + std::to_string(count_);
              },
              [this](double) { count(); }, [this](bool) { entity_.passivate(); }};
    }
    void on_exit() override {
      const std::lock_guard guard{of_.mutex_};
      of_.running_.erase(entity_.key());
    }

  private:
    void count() { entity_.save(std::to_string(++count_)); }

    entities_of_a_cluster& of_;
    const std::string at_;
    const entity_context entity_;
    int count_ = 0;
  };
  auto account(const std::string& at) {
    return [this, at](caf::actor_system& system, const entity_context& entity) {
      ++made_;
      return system.spawn<account_actor>(*this, at, entity);
    };
  }
  entity_options keeping(entity_options options = {}) {
    options.shards = 16;
    options.load = [this](const std::string& key, std::uint64_t fence) { return store_.load(key, fence); };
    options.save = [this](const std::string& key, std::uint64_t fence, const std::string& state) {
      return store_.save(key, fence, state);
    };
    return options;
  }
  member& hosting(const std::string& name, entity_options options, std::chrono::milliseconds idle_close = 60s) {
    auto& made = join(name, 2s, idle_close);
    auto hosted = made.in->host_entities("account", account(name), std::move(options));
    EXPECT_TRUE(hosted) << (hosted ? "" : hosted.error().message());
    if (hosted)
      made.accounts.emplace(*std::move(hosted));
    return made;
  }
  std::string asked(member& by, const caf::actor& whom) {
    caf::scoped_actor self{by.at.system};
    std::string answer;
    self->request(whom, 20s, 1)
        .receive([&](std::string& value) { answer = std::move(value); },
                 [&](const caf::error& error) { answer = "error: " + troupe::text_of(error); });
    return answer;
  }
  std::size_t links() const {
    std::size_t all = 0;
    for (const auto& each : members_)
      all += each->at.home->links().size();
    return all;
  }
  static std::uint64_t received_by(member& of) {
    std::uint64_t count = 0;
    for (const auto& each : of.at.home->links())
      count += each.stats().messages_received;
    return count;
  }
  std::size_t shards_of(const std::string& owner) {
    std::size_t count = 0;
    for (auto i = 0; i < 16; ++i)
      if (const auto entry = world_->entry("shards/account/" + std::to_string(i)); entry && entry->value == owner)
        ++count;
    return count;
  }
  std::string stored(const std::string& key) {
    const std::lock_guard guard{store_.mutex};
    return store_.all.contains(key) ? store_.all[key].second : "";
  }

  const std::shared_ptr<memory_world> world_ = std::make_shared<memory_world>();
  state_store store_;
  std::atomic<int> made_{0};
  std::atomic<bool> may_overlap_{false};
  std::mutex mutex_;
  std::set<std::string> running_;
  std::deque<std::unique_ptr<member>> members_;
};

TEST_F(entities_of_a_cluster, are_made_by_their_first_message) {
  auto& one = hosting("one", keeping());
  EXPECT_EQ(made_, 0);
  const auto account = one.accounts->of("nl-4711");
  EXPECT_EQ(asked(one, account), "one 1");
  EXPECT_EQ(asked(one, one.accounts->of("nl-4711")), "one 2");
  EXPECT_EQ(made_, 1);
  EXPECT_EQ(one.in->hosted_entities(), (std::vector{std::pair<std::string, std::size_t>{"account", 1}}));
}

TEST_F(entities_of_a_cluster, are_the_same_for_every_member) {
  auto& one = hosting("one", keeping());
  auto& two = hosting("two", keeping());
  auto& visitor = join("visitor");
  ASSERT_TRUE(eventually([&] { return shards_of("one") + shards_of("two") == 16 && shards_of("two") > 0; }));
  const auto seen = visitor.in->entities("account");
  ASSERT_TRUE(seen);
  for (auto i = 0; i < 40; ++i) {
    const auto key = "key-" + std::to_string(i);
    const auto first = asked(one, one.accounts->of(key));
    EXPECT_EQ(first.substr(3), " 1") << first;
    EXPECT_EQ(asked(two, two.accounts->of(key)), first.substr(0, 3) + " 2");
    EXPECT_EQ(asked(visitor, seen->of(key)), first.substr(0, 3) + " 3");
  }
  EXPECT_EQ(made_, 40);
}

TEST_F(entities_of_a_cluster, wait_for_the_first_host) {
  auto& visitor = join("visitor");
  const auto account = visitor.in->entity("account", "nl-4711");
  ASSERT_TRUE(account);
  caf::scoped_actor self{visitor.at.system};
  auto early = self->request(*account, 20s, 1);
  hosting("one", keeping());
  early.receive([](const std::string& text) { EXPECT_EQ(text, "one 1"); },
                [](const caf::error& error) { ADD_FAILURE() << troupe::text_of(error); });
}

TEST_F(entities_of_a_cluster, get_messages_from_handles_that_are_gone) {
  auto& visitor = join("visitor");
  caf::scoped_actor self{visitor.at.system};
  auto early = self->request(*visitor.in->entity("account", "nl-4711"), 20s, 1);
  hosting("one", keeping());
  early.receive([](const std::string& text) { EXPECT_EQ(text, "one 1"); },
                [](const caf::error& error) { ADD_FAILURE() << troupe::text_of(error); });
}

TEST_F(entities_of_a_cluster, are_passivated_when_idle_and_made_again_with_their_state) {
  auto options = keeping();
  options.idle_after = 20ms;
  auto& one = hosting("one", options);
  const auto account = one.accounts->of("nl-4711");
  EXPECT_EQ(asked(one, account), "one 1");
  ASSERT_TRUE(eventually([&] { return one.in->hosted_entities().front().second == 0; }));
  EXPECT_EQ(asked(one, account), "one 2");
  EXPECT_EQ(made_, 2);
}

TEST_F(entities_of_a_cluster, lose_no_message_to_passivation) {
  auto& one = hosting("one", keeping());
  const auto account = one.accounts->of("nl-4711");
  caf::scoped_actor self{one.at.system};
  for (auto i = 1; i <= 500; ++i) {
    if (i % 3 == 0)
      self->send(account, true);
    self->request(account, 20s, 1)
        .receive([&](const std::string& text) { EXPECT_EQ(text, "one " + std::to_string(i)); },
                 [](const caf::error& error) { ADD_FAILURE() << troupe::text_of(error); });
  }
  EXPECT_GT(made_, 100);
}

TEST_F(entities_of_a_cluster, move_with_their_state_when_a_member_comes) {
  auto& one = hosting("one", keeping());
  for (auto i = 0; i < 40; ++i)
    EXPECT_EQ(asked(one, one.accounts->of(std::to_string(i))), "one 1");
  auto& two = hosting("two", keeping());
  ASSERT_TRUE(eventually([&] { return shards_of("two") > 0; }));
  std::map<std::string, int> where;
  for (auto i = 0; i < 40; ++i) {
    const auto text = asked(i % 2 == 0 ? one : two, one.accounts->of(std::to_string(i)));
    EXPECT_EQ(text.substr(3), " 2") << text;
    ++where[text.substr(0, 3)];
  }
  EXPECT_GT(where["one"], 0);
  EXPECT_GT(where["two"], 0);
}

TEST_F(entities_of_a_cluster, keep_the_order_of_each_sender_while_shards_move) {
  auto& one = hosting("one", keeping());
  auto& visitor = join("visitor");
  const auto accounts = visitor.in->entities("account");
  ASSERT_TRUE(accounts);
  std::vector<caf::actor> handles;
  for (auto i = 0; i < 16; ++i)
    handles.push_back(accounts->of(std::to_string(i)));
  std::atomic<bool> stops{false};
  std::vector<int> sent(handles.size());
  std::vector<std::string> failures;
  std::thread sender{[&] {
    caf::scoped_actor self{visitor.at.system};
    while (!stops)
      for (std::size_t i = 0; i < handles.size(); ++i) {
        self->send(handles[i], 1.0); // If a message overtakes another one, the count in the answer tells.
        sent[i] += 2;
        self->request(handles[i], 30s, 1)
            .receive(
                [&](const std::string& text) {
                  if (text.substr(text.find(' ') + 1) != std::to_string(sent[i]))
                    failures.push_back(std::to_string(i) + ": " + text + ", not " + std::to_string(sent[i]));
                },
                [&](const caf::error& error) { failures.push_back(troupe::text_of(error)); });
      }
  }};
  for (auto round = 0; round < 3; ++round) {
    auto& two = hosting("two" + std::to_string(round), keeping());
    EXPECT_TRUE(eventually([&] { return shards_of("two" + std::to_string(round)) > 0; }));
    two.accounts.reset();
    two.in.reset(); // In order.
    EXPECT_TRUE(eventually([&] { return shards_of("one") == 16; }));
  }
  stops = true;
  sender.join();
  EXPECT_EQ(failures, std::vector<std::string>{});
  EXPECT_GT(sent[0], 4);
  static_cast<void>(one);
}

TEST_F(entities_of_a_cluster, need_links_only_while_messages_go_to_them) {
  hosting("one", keeping(), 20ms);
  hosting("two", keeping(), 20ms);
  ASSERT_TRUE(eventually([&] { return shards_of("two") > 0 && shards_of("one") + shards_of("two") == 16; }));
  auto& visitor = join("visitor", 2s, 20ms);
  const auto accounts = visitor.in->entities("account");
  ASSERT_TRUE(accounts);
  for (auto round = 1; round <= 3; ++round) {
    std::set<std::string> owners;
    for (auto i = 0; i < 20; ++i) {
      const auto text = asked(visitor, accounts->of(std::to_string(i)));
      EXPECT_EQ(text.substr(3), ' ' + std::to_string(round)) << text;
      owners.insert(text.substr(0, 3));
    }
    EXPECT_EQ(owners, (std::set<std::string>{"one", "two"}));
    EXPECT_GT(links(), 0u);
    EXPECT_TRUE(eventually([&] { return links() == 0; })) << round;
  }
}

// Method: when the link to the old owner is closed, it still has many messages, which wait for the states of their
// entities. It passes them on while a later one is sent, as soon as the directory has the new owner.
TEST_F(entities_of_a_cluster, keep_the_order_although_the_link_to_the_old_owner_was_closed) {
  const std::vector<std::string> hosts{"one", "two"};
  std::map<std::string, std::uint32_t> moving; // Keys and their shards.
  for (auto i = 0; moving.size() < 8; ++i)
    if (const auto shard = membership::shard_of(std::to_string(i), 16);
        membership::place_of("account", shard, hosts) == 1u)
      moving.emplace(std::to_string(i), shard);
  std::promise<void> may_load;
  auto options = keeping();
  options.load = [this, loads = may_load.get_future().share()](const std::string& key, std::uint64_t fence) {
    loads.wait_for(20s);
    return store_.load(key, fence);
  };
  auto& one = hosting("one", options, 20ms);
  ASSERT_TRUE(eventually([&] { return shards_of("one") == 16; }));
  auto& visitor = join("visitor", 2s, 20ms);
  const auto accounts = visitor.in->entities("account");
  ASSERT_TRUE(accounts);
  for (const auto& [key, shard] : moving)
    for (auto turn = 0; turn < 2'000; ++turn)
      caf::anon_send(accounts->of(key), 1.0);
  ASSERT_TRUE(eventually([&] { return one.in->hosted_entities().front().second == 8; }));
  ASSERT_TRUE(eventually([&] { return links() == 0; }));
  hosting("two", keeping(), 20ms);
  may_load.set_value();
  caf::scoped_actor self{visitor.at.system};
  auto unasked = moving;
  ASSERT_TRUE(eventually([&] {
    return std::erase_if(unasked,
                         [&](const auto& each) {
                           const auto entry = world_->entry("shards/account/" + std::to_string(each.second));
                           if (!entry || entry->value != "two")
                             return false;
                           self->send(accounts->of(each.first), 1);
                           return true;
                         }),
           unasked.empty();
  }));
  for (std::size_t i = 0; i < moving.size(); ++i)
    self->receive([](const std::string& answer) { EXPECT_EQ(answer, "two 2001"); },
                  caf::after(20s) >> [] { ADD_FAILURE() << "no answer"; });
}

TEST_F(entities_of_a_cluster, are_taken_over_when_the_lease_of_their_owner_ends) {
  auto& one = hosting("one", keeping());
  hosting("two", keeping());
  ASSERT_TRUE(eventually([&] { return shards_of("two") > 0 && shards_of("one") > 0; }));
  for (auto i = 0; i < 20; ++i)
    EXPECT_NE(asked(one, one.accounts->of(std::to_string(i))), "");
  for (auto i = 0; i < 20; ++i)
    ASSERT_TRUE(eventually([&] { return stored(std::to_string(i)) == "1"; }));
  const auto before = made_.load();
  may_overlap_ = true; // The lease ends sooner than the directory has promised.
  world_->expire(world_->entry("members/two")->lease);
  for (auto i = 0; i < 20; ++i) {
    const auto text = asked(one, one.accounts->of(std::to_string(i)));
    EXPECT_EQ(text.substr(3), " 2") << text;
  }
  EXPECT_GT(made_, before);
}

TEST_F(entities_of_a_cluster, get_other_owners_if_somebody_removes_the_entries_of_their_shards) {
  auto& one = hosting("one", keeping());
  const auto account = one.accounts->of("nl-4711");
  EXPECT_EQ(asked(one, account), "one 1");
  ASSERT_TRUE(eventually([&] { return stored("nl-4711") == "1" && shards_of("one") == 16; }));
  std::vector<directory_write> removals;
  for (auto i = 0; i < 16; ++i)
    removals.push_back(
        {.key = "shards/account/" + std::to_string(i), .what = directory_write::kind::remove, .value = {}});
  may_overlap_ = true;
  ASSERT_TRUE(memory_directory{world_}.commit({}, removals));
  EXPECT_TRUE(eventually([&] { return shards_of("one") == 16; }));
  EXPECT_EQ(asked(one, account), "one 2");
}

// Later messages may have gone to the next owner.
TEST_F(entities_of_a_cluster, fail_what_has_waited_at_a_member_whose_lease_has_ended) {
  auto& one = hosting("one", keeping());
  auto& visitor = join("visitor");
  const auto account = visitor.in->entity("account", "nl-1");
  ASSERT_TRUE(account);
  ASSERT_EQ(asked(visitor, *account), "one 1");
  world_->fail(directory_errc::unavailable);
  ASSERT_TRUE(
      eventually([&] { return one.in->stats().lease_left == 0ms && one.in->hosted_entities().front().second == 0; }));
  const auto received = received_by(one);
  caf::scoped_actor self{visitor.at.system};
  auto request = self->request(*account, 20s, 1);
  ASSERT_TRUE(eventually([&] { return received_by(one) > received; }));
  // Received after the request, which waits in its shard by then.
  caf::anon_send(*visitor.in->entity("account", "nl-2"), 1.0);
  ASSERT_TRUE(eventually([&] { return received_by(one) > received + 1; }));
  world_->expire(world_->entry("members/one")->lease);
  world_->fail(std::nullopt);
  request.receive([](const std::string& text) { ADD_FAILURE() << text; },
                  [](const caf::error& why) { EXPECT_EQ(to_node_error(why).code(), node_errc::child_lost); });
  EXPECT_TRUE(eventually([&] { return asked(visitor, *account) == "one 2"; })); // Refused until the shard has left.
}

TEST_F(entities_of_a_cluster, are_remembered_and_made_again_without_a_message) {
  auto options = keeping();
  options.remember = true;
  options.idle_after = 1ms;
  auto& one = hosting("one", options);
  for (auto i = 0; i < 10; ++i)
    EXPECT_EQ(asked(one, one.accounts->of(std::to_string(i))), "one 1");
  caf::anon_send(one.accounts->of("9"), true); // Passivates it, so that it is forgotten.
  ASSERT_TRUE(eventually([&] { return one.in->hosted_entities().front().second == 9; }));
  const auto forgotten = membership::remembered_key("account", membership::shard_of("9", 16), "9");
  ASSERT_TRUE(eventually([&] { return !world_->entry(forgotten); }));
  one.accounts.reset();
  one.in.reset();
  const auto before = made_.load();
  auto& two = hosting("two", options);
  EXPECT_TRUE(eventually([&] { return made_ == before + 9; })) << made_ - before;
  EXPECT_EQ(asked(two, two.accounts->of("3")), "two 2");
}

TEST_F(entities_of_a_cluster, that_are_remembered_and_find_no_room_are_a_problem_until_their_shards_move) {
  auto options = keeping();
  options.remember = true;
  auto& one = hosting("one", options);
  for (auto i = 0; i < 10; ++i)
    EXPECT_EQ(asked(one, one.accounts->of(std::to_string(i))), "one 1");
  one.accounts.reset();
  one.in.reset();
  options.entities_most = 3;
  auto& two = hosting("two", options);
  const auto has_problem = [&](const std::string& text) {
    return std::ranges::any_of(two.in->problems(), [&](const auto& each) { return each.starts_with(text); });
  };
  EXPECT_TRUE(eventually([&] {
    return has_problem("entities account, remembering: 7 remembered entities were not made");
  })) << testing::PrintToString(two.in->problems());
  EXPECT_EQ(two.in->hosted_entities().front().second, 3u);
  two.in->drain();
  EXPECT_TRUE(eventually([&] { return !has_problem("entities account, remembering"); }));
}

TEST_F(entities_of_a_cluster, answer_with_the_reason_if_their_state_cannot_be_loaded) {
  auto options = keeping();
  options.load = [](const std::string&, std::uint64_t) -> std::expected<std::string, std::string> {
    return std::unexpected{std::string{"the disk is gone"}};
  };
  auto& one = hosting("one", options);
  const auto text = asked(one, one.accounts->of("nl-4711"));
  EXPECT_NE(text.find("the disk is gone"), std::string::npos) << text;
  EXPECT_TRUE(eventually([&] { return one.in->hosted_entities().front().second == 0; }));
}

TEST_F(entities_of_a_cluster, are_not_made_again_before_their_state_is_saved) {
  auto options = keeping();
  options.end_within = 20s;
  auto& one = hosting("one", options);
  store_.fails = true;
  const auto account = one.accounts->of("nl-4711");
  EXPECT_EQ(asked(one, account), "one 1");
  caf::anon_send(account, true); // Passivates it.
  ASSERT_TRUE(eventually([&] { return !one.in->problems().empty(); }));
  EXPECT_NE(one.in->problems().front().find("the disk is full"), std::string::npos);
  caf::scoped_actor self{one.at.system};
  auto next = self->request(account, 20s, 1);
  store_.fails = false;
  next.receive([](const std::string& text) { EXPECT_EQ(text, "one 2"); },
               [](const caf::error& error) { ADD_FAILURE() << troupe::text_of(error); });
  EXPECT_TRUE(eventually([&] { return one.in->problems().empty(); }));
}

TEST_F(entities_of_a_cluster, answer_a_request_whose_promise_they_drop) {
  auto& one = join("one");
  const auto hosted = one.in->host_entities("forgetful", [](caf::actor_system& system, const entity_context&) {
    return system.spawn([](caf::event_based_actor* self) -> caf::behavior {
      return {[self](int) -> caf::result<std::string> {
        [[maybe_unused]] const auto dropped = self->make_response_promise();
        return caf::delegated<std::string>{};
      }};
    });
  });
  ASSERT_TRUE(hosted);
  const auto text = asked(one, hosted->of("1"));
  EXPECT_NE(text.find("dropped the request"), std::string::npos) << text;
}

TEST_F(entities_of_a_cluster, are_saved_before_the_cluster_is_left) {
  auto options = keeping();
  std::atomic<bool> is_saving{false};
  std::atomic<bool> may_save{false};
  options.save = [&](const std::string& key, std::uint64_t fence, const std::string& state) {
    is_saving = true;
    while (!may_save)
      std::this_thread::sleep_for(1ms);
    return store_.save(key, fence, state);
  };
  auto& one = hosting("one", options);
  EXPECT_EQ(asked(one, one.accounts->of("1")), "one 1");
  ASSERT_TRUE(eventually([&] { return is_saving.load(); }));
  std::thread saves{[&] {
    std::this_thread::sleep_for(1s); // Longer than a quarter of the lease.
    may_save = true;
  }};
  one.accounts.reset();
  one.in.reset();
  EXPECT_EQ(stored("1"), "1");
  saves.join();
}

TEST_F(entities_of_a_cluster, are_hosted_by_members_with_the_role) {
  auto& one = join("one");
  auto options = keeping();
  options.role = "bank";
  ASSERT_TRUE(one.in->host_entities("account", account("one"), options));
  EXPECT_TRUE(one.in->hosted_entities().empty());
}

TEST_F(entities_of_a_cluster, need_the_same_number_of_shards_everywhere) {
  hosting("one", keeping());
  auto& two = join("two");
  const auto refused = two.in->host_entities("account", account("two"), {.shards = 32});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), directory_errc::invalid_argument);
  EXPECT_NE(refused.error().message().find("16 shards"), std::string::npos) << refused.error().message();
}

TEST_F(entities_of_a_cluster, refuse_messages_that_a_peer_has_addressed_wrongly) {
  auto& one = hosting("one", keeping());
  auto& visitor = join("visitor");
  auto link = visitor.at.home->connect(one.in->self().addresses.front());
  ASSERT_TRUE(link);
  std::expected<caf::actor, node_error> region = link->find("troupe.entities.account");
  ASSERT_TRUE(region);
  caf::scoped_actor self{visitor.at.system};
  const auto refusal = [&](auto... elements) {
    std::string text = "answered";
    self->request(*region, 20s, elements...)
        .receive([](const std::string&) {}, [&](const caf::error& error) { text = troupe::text_of(error); });
    return text;
  };
  const std::uint64_t shard = membership::shard_of("key", 16);
  constexpr std::uint64_t fence = 0;
  EXPECT_NE(refusal(1).find("no entity's address"), std::string::npos);
  EXPECT_NE(refusal(1, std::string{"key"}, shard).find("no entity's address"), std::string::npos);
  EXPECT_NE(refusal(1, std::string(2'000, 'k'), shard, fence).find("no entity's address"), std::string::npos);
  EXPECT_NE(refusal(1, std::string{"key"}, (shard + 1) % 16, fence).find("belongs to another one"), std::string::npos);
  EXPECT_NE(refusal(1, std::string{"key"}, std::uint64_t{4'000}, fence).find("belongs to another one"),
            std::string::npos);
  const auto order = caf::exit_msg{caf::actor_addr{}, caf::exit_reason::kill};
  EXPECT_NE(refusal(order, std::string{"key"}, shard, fence).find("not an order"), std::string::npos);
  EXPECT_NE(refusal(caf::make_error(caf::sec::runtime_error), std::string{"key"}, shard, fence).find("not an order"),
            std::string::npos);
  EXPECT_EQ(made_, 0);
  EXPECT_EQ(refusal(1, std::string{"key"}, shard, fence), "answered");
}

TEST_F(entities_of_a_cluster, answer_when_their_function_makes_none) {
  auto& one = join("one");
  auto options = keeping();
  auto tries = std::make_shared<std::atomic<int>>(0);
  const auto hosted = one.in->host_entities(
      "account",
      [=, this](caf::actor_system& system, const entity_context& entity) -> caf::actor {
        if (++*tries == 1)
          throw std::runtime_error{"not today"};
        return *tries == 2 ? caf::actor{} : account("one")(system, entity);
      },
      options);
  ASSERT_TRUE(hosted);
  EXPECT_NE(asked(one, hosted->of("1")).find("not today"), std::string::npos);
  EXPECT_NE(asked(one, hosted->of("1")).find("returned no actor"), std::string::npos);
  EXPECT_EQ(asked(one, hosted->of("1")), "one 1");
}

TEST_F(entities_of_a_cluster, fail_what_waits_if_they_have_ended_before_they_were_made) {
  auto& one = join("one");
  const auto gone = one.at.system.spawn([]() -> caf::behavior { return {[](int) { return std::string{"gone"}; }}; });
  caf::anon_send_exit(gone, caf::exit_reason::kill);
  {
    caf::scoped_actor self{one.at.system};
    self->wait_for(gone);
  }
  const auto hosted = one.in->host_entities(
      "account", [gone](caf::actor_system&, const entity_context&) { return gone; }, keeping());
  ASSERT_TRUE(hosted);
  const auto text = asked(one, hosted->of("1"));
  EXPECT_NE(text.find("before it got a message"), std::string::npos) << text;
}

TEST_F(entities_of_a_cluster, are_made_again_after_they_have_crashed_with_messages_waiting) {
  auto options = keeping();
  options.idle_after = 50ms;
  auto& one = join("one");
  auto crashes = std::make_shared<std::atomic<int>>(0);
  const auto hosted = one.in->host_entities(
      "crashing",
      [crashes](caf::actor_system& system, const entity_context&) {
        return system.spawn([crashes](caf::event_based_actor* self) -> caf::behavior {
          return {[](int) { return std::string{"well"}; },
                  [=](double) {
                    ++*crashes;
                    self->quit(caf::sec::runtime_error);
                  }};
        });
      },
      options);
  ASSERT_TRUE(hosted);
  const auto entity = hosted->of("1");
  for (auto i = 0; i < 50; ++i) {
    caf::anon_send(entity, 1.0);
    const auto text = asked(one, entity);
    EXPECT_TRUE(text == "well" || text.starts_with("error")) << text;
  }
  EXPECT_GT(*crashes, 0);
  EXPECT_TRUE(eventually([&] { return one.in->hosted_entities().front().second == 0; })); // It is still passivated.
}

TEST_F(entities_of_a_cluster, leave_no_handle_without_an_answer_when_the_cluster_is_left) {
  auto& one = hosting("one", keeping());
  const auto account = one.accounts->of("1");
  EXPECT_EQ(asked(one, account), "one 1");
  const auto unknown = one.in->entities("other", {.patience = 10ms});
  ASSERT_TRUE(unknown);
  const auto other = unknown->of("1");
  one.accounts.reset();
  one.in.reset();
  const auto why = asked(one, other);
  EXPECT_NE(why.find("entities other: not taken within "), std::string::npos) << why;
  EXPECT_NE(why.find("; this process has left the cluster"), std::string::npos) << why;
}

TEST_F(entities_of_a_cluster, are_bounded_in_number) {
  auto options = keeping();
  options.entities_most = 3;
  auto& one = hosting("one", options);
  for (auto i = 0; i < 3; ++i)
    EXPECT_EQ(asked(one, one.accounts->of(std::to_string(i))), "one 1");
  const auto text = asked(one, one.accounts->of("3"));
  EXPECT_NE(text.find("entities_most"), std::string::npos) << text;
  caf::anon_send(one.accounts->of("0"), true);
  EXPECT_TRUE(eventually([&] { return asked(one, one.accounts->of("3")) == "one 1"; }));
}

} // namespace
} // namespace troupe::tests
