// Names that are published before any peer can dial, names that peers wait for, and addresses that a node listens at
// later.
#include <algorithm>
#include <sstream>

#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

using doubling = caf::typed_actor<caf::replies_to<int>::with<int>>;
using naming = caf::typed_actor<caf::replies_to<std::string>::with<std::string>>;

caf::behavior doubler() {
  return {[](int value) { return 2 * value; }};
}

doubling::behavior_type typed_doubler() {
  return {[](int value) { return 2 * value; }};
}

class finding : public two_nodes {
protected:
  /// Returns the answer as text: "8", or the error's code and text.
  std::string find_in_an_actor(const std::string& name, std::chrono::milliseconds timeout) {
    caf::scoped_actor self{near().system};
    std::string answer = "nothing";
    link_->find(self.ptr(), name, timeout)
        .receive([&](const caf::strong_actor_ptr& found) { answer = doubled_by(caf::actor_cast<caf::actor>(found)); },
                 [&](const caf::error& error) {
                   auto reason = to_node_error(error);
                   answer = std::string{to_string(reason.code())} + ": " + reason.message();
                 });
    return answer;
  }

  std::string doubled_by(const caf::actor& actor) {
    const auto answer = ask<int>(near().system, actor, 4);
    return answer ? std::to_string(*answer) : text_of(answer);
  }

  template <class Question>
  static std::chrono::milliseconds time_of(Question&& question) {
    const auto begun = std::chrono::steady_clock::now();
    question();
    return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - begun);
  }

  /// Publishes after `pause`, in a thread of its own.
  std::jthread publish_later(const std::string& name, std::chrono::milliseconds pause) {
    far();
    return std::jthread{[this, name, pause] {
      std::this_thread::sleep_for(pause);
      publish(name, far().system.spawn(doubler));
    }};
  }
};

// -- waiting for a name

TEST_F(finding, waits_until_the_name_is_published) {
  connect();
  auto later = publish_later("doubler", 200ms);
  const auto found = link_->find("doubler", 10s);
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(doubled_by(*found), "8");
}

TEST_F(finding, waits_without_being_told_a_time) {
  connect();
  auto later = publish_later("doubler", 200ms);
  EXPECT_TRUE(link_->find("doubler"));
}

TEST_F(finding, of_a_typed_actor_waits_as_well) {
  connect();
  std::jthread later{[this] {
    std::this_thread::sleep_for(200ms);
    EXPECT_TRUE(far().home->publish("doubler", far().system.spawn(typed_doubler)));
  }};
  EXPECT_TRUE(link_->find<doubling>("doubler", 10s));
}

TEST_F(finding, in_an_actor_waits_as_well) {
  connect();
  auto later = publish_later("doubler", 200ms);
  EXPECT_EQ(find_in_an_actor("doubler", 10s), "8");
}

TEST_F(finding, ends_when_its_time_is_over) {
  connect();
  std::string text;
  EXPECT_GE(time_of([&] { text = link_->find("nobody", 100ms).error().message(); }), 100ms);
  EXPECT_EQ(text, "far has nothing published as \"nobody\" after a wait of 100 ms");
  EXPECT_GE(time_of([&] { text = find_in_an_actor("nobody", 100ms); }), 100ms);
  EXPECT_EQ(text, "not_found: far has nothing published as \"nobody\" after a wait of 100 ms");
}

TEST_F(finding, asks_once_where_the_time_is_zero) {
  connect();
  std::string text;
  EXPECT_LT(time_of([&] { text = link_->find("nobody", 0s).error().message(); }), 4s);
  EXPECT_EQ(text, "far has nothing published as \"nobody\"");
  EXPECT_LT(time_of([&] { text = find_in_an_actor("nobody", 0s); }), 4s);
  EXPECT_EQ(text, "not_found: far has nothing published as \"nobody\"");
  publish("doubler", far().system.spawn(doubler));
  EXPECT_TRUE(link_->find("doubler", 0s));
  EXPECT_EQ(find_in_an_actor("doubler", 0s), "8");
}

TEST_F(finding, does_not_wait_for_another_interface) {
  ASSERT_TRUE(far().home->publish("doubler", far().system.spawn(typed_doubler)));
  connect();
  auto code = node_errc::none;
  EXPECT_LT(time_of([&] { code = link_->find<naming>("doubler", 60s).error().code(); }), 30s);
  EXPECT_EQ(code, node_errc::interface_mismatch);
}

TEST_F(finding, ends_with_the_link) {
  connect();
  std::jthread closes{[this] {
    std::this_thread::sleep_for(100ms);
    link_->close();
  }};
  EXPECT_EQ(link_->find("nobody", 60s).error().code(), node_errc::link_down);
  EXPECT_EQ(find_in_an_actor("nobody", 60s).substr(0, 9), "link_down");
}

TEST_F(finding, ends_with_the_node) {
  connect();
  caf::scoped_actor self{near().system};
  auto answer = link_->find(self.ptr(), "nobody", 60s);
  ASSERT_TRUE(eventually([&] { return link_->ping().has_value(); }));
  near().home.reset();
  node_errc code = node_errc::none;
  answer.receive([](const caf::strong_actor_ptr&) {},
                 [&](const caf::error& error) { code = to_node_error(error).code(); });
  EXPECT_EQ(code, node_errc::link_down);
}

// Goal: at most 1024 questions wait for names over a link; further ones are refused at once.
TEST_F(finding, is_waited_for_by_a_bounded_number_at_a_time) {
  connect();
  caf::scoped_actor self{near().system};
  std::size_t refused = 0;
  std::size_t found = 0;
  constexpr std::size_t askers = 1100;
  auto asks = near().system.spawn([this, whom = caf::actor{self}](caf::event_based_actor* asker) {
    for (std::size_t i = 0; i < askers; ++i)
      link_->find(asker, "doubler", 30s)
          .then([=](const caf::strong_actor_ptr&) { asker->send(whom, true); },
                [=](const caf::error& error) {
                  EXPECT_EQ(to_node_error(error).code(), node_errc::link_busy) << troupe::text_of(error);
                  asker->send(whom, false);
                });
  });
  const auto count = [&] {
    self->receive([&](bool is_found) { ++(is_found ? found : refused); },
                  caf::after(20s) >> [] { FAIL() << "no answer"; });
  };
  while (refused < askers - 1024 && !HasFatalFailure())
    count();
  publish("doubler", far().system.spawn(doubler));
  while (refused + found < askers && !HasFatalFailure())
    count();
  EXPECT_EQ(found, 1024u);
  EXPECT_TRUE(link_->find("doubler", 0s)); // There is room again.
}

TEST_F(finding, of_an_untyped_handle_takes_a_typed_actor) {
  ASSERT_TRUE(far().home->publish("typed", far().system.spawn(typed_doubler)));
  connect();
  const auto found = link_->find("typed");
  ASSERT_TRUE(found) << found.error().message();
  EXPECT_EQ(doubled_by(*found), "8");
  EXPECT_EQ(find_in_an_actor("typed", 10s), "8");
}

// -- published before any peer dials

// Goal: a client that redials without a pause never finds a node without its actors.
// Method: nodes come and go, while a client dials without a pause and asks once per link.
TEST_F(finding, never_comes_too_early_for_what_the_options_publish) {
  std::atomic<bool> over{false};
  std::atomic<int> found{0};
  const auto address = address_;
  near();
  std::jthread client{[&] {
    while (!over) {
      auto dialed = near().home->connect(address, {});
      if (!dialed)
        continue;
      const auto actor = dialed->find("doubler", 0s);
      if (actor)
        ++found;
      else
        EXPECT_NE(actor.error().code(), node_errc::not_found) << actor.error().message();
      dialed->close();
    }
  }};
  for (int round = 0; round < 20; ++round) {
    const auto before = found.load();
    far_options_.publish = {{"doubler", [](caf::actor_system& system) { return system.spawn(doubler); }}};
    far();
    EXPECT_TRUE(eventually([&] { return found > before; }));
    far_.reset();
  }
  over = true;
}

TEST_F(finding, takes_handles_and_functions_of_options) {
  int made = 0;
  far_options_.publish = {{"untyped", [&](caf::actor_system& system) { return ++made, system.spawn(doubler); }},
                          {"typed", [&](caf::actor_system& system) { return ++made, system.spawn(typed_doubler); }}};
  connect();
  far_options_.publish = {};
  EXPECT_EQ(made, 2);
  EXPECT_EQ(doubled_by(*link_->find("untyped", 0s)), "8");
  EXPECT_TRUE(link_->find<doubling>("typed", 0s));
  EXPECT_TRUE(far().home->unpublish("untyped")); // It can be unpublished like any other name.
}

/// Has an actor system whose node the test opens.
class opening : public testing::Test {
protected:
  std::expected<node, node_error> open(std::vector<publication> publish) {
    return node::open(system_, types_, families_,
                      {.name = "kitchen", .publish = std::move(publish), .store = std::nullopt});
  }

  type_registry types_;
  family_set families_;
  system_config config_;
  caf::actor_system system_{config_};
};

TEST_F(opening, publishes_handles) {
  const auto actor = system_.spawn(doubler);
  const auto typed = system_.spawn(typed_doubler);
  auto home = open({{"untyped", actor}, {"typed", typed}, {"made", [&] { return system_.spawn(doubler); }}});
  ASSERT_TRUE(home) << home.error().message();
  EXPECT_EQ(home->stats().names_published, 3u);
  EXPECT_TRUE(home->unpublish("made"));
}

TEST_F(opening, fails_where_a_name_cannot_be_published) {
  const auto actor = system_.spawn(doubler);
  EXPECT_EQ(open({{"cup", actor}, {"cup", actor}}).error().code(), node_errc::name_taken);
  EXPECT_EQ(open({{"", actor}}).error().code(), node_errc::bad_option);
  EXPECT_EQ(open({{"cup", caf::actor{}}}).error().message(), "the handle of the actor to publish as \"cup\" is empty");
  const auto thrown = open({{"cup", []() -> caf::actor { throw std::runtime_error{"out of cups"}; }}});
  EXPECT_EQ(thrown.error().message(), "the actor to publish as \"cup\" could not be made: out of cups");
  const auto strange = open({{"cup", []() -> caf::actor { throw 42; }}});
  EXPECT_EQ(strange.error().message(),
            "the actor to publish as \"cup\" could not be made: an object was thrown that is not "
            "a std::exception");
}

// Goal: a node releases the actors that it has published. Otherwise CAF's actor system would wait for them for ever.
TEST_F(opening, lets_go_of_what_it_has_published) {
  caf::weak_actor_ptr made;
  {
    auto home = open({{"cup", [&](caf::actor_system& system) {
                         auto actor = system.spawn(doubler);
                         made = caf::actor_cast<caf::weak_actor_ptr>(actor);
                         return actor;
                       }}});
    ASSERT_TRUE(home);
    EXPECT_TRUE(made.lock());
    EXPECT_TRUE(home->unpublish("cup"));
    EXPECT_TRUE(eventually([&] { return !made.lock(); }));
  }
}

TEST_F(opening, as_configured_publishes_as_well) {
  const auto at = "inproc://" + unique_name("configured");
  std::istringstream file{"troupe.node { name = \"kitchen\" listen = [\"" + at + "\"] store.enabled = false }"};
  system_config config;
  ASSERT_FALSE(config.parse({}, file));
  caf::actor_system system{config};
  const auto home = node::open(system, types_, families_, {.publish = {{"cup", system.spawn(doubler)}}});
  ASSERT_TRUE(home) << home.error().message();
  EXPECT_EQ(home->stats().names_published, 1u);
  EXPECT_EQ(home->addresses(), std::vector{at});
}

// Goal: a client written as in the guide always gets its actor.
// Method: a server is opened again and again, and publishes only after the client has linked.
TEST_F(finding, of_a_client_that_reconnects_does_not_depend_on_who_is_first) {
  struct state {
    caf::actor cup;
  };
  std::atomic<int> has{0}; // The number of servers whose actor the client has found.
  auto client = near().system.spawn([&](caf::stateful_actor<state>* self) -> caf::behavior {
    return {[self, &has](const link_event& event) {
      if (event.what != link_event::kind::connected)
        return;
      auto link = *event.link;
      link.find(self, "doubler", 30s)
          .then(
              [self, &has](const caf::strong_actor_ptr& found) {
                self->state.cup = caf::actor_cast<caf::actor>(found);
                self->request(self->state.cup, 10s, 4).then([&has](int) { ++has; }, [](const caf::error&) {});
              },
              [](const caf::error&) {});
    }};
  });
  const auto kept = near().home->keep_connected(
      address_, {.policy = {.first_pause = 1ms, .longest_pause = 10ms}, .events = {.listener = client}});
  ASSERT_TRUE(kept);
  for (int round = 0; round < 5; ++round) {
    far();
    ASSERT_TRUE(eventually([&] { return !far().home->links().empty(); }));
    EXPECT_EQ(has, round);
    publish("doubler", far().system.spawn(doubler));
    EXPECT_TRUE(eventually([&] { return has > round; }));
    far_.reset();
  }
  caf::anon_send_exit(client, caf::exit_reason::user_shutdown);
}

// -- listening later

TEST_F(finding, a_node_listens_once_its_actors_are_there) {
  far_options_.listen = {};
  far_ = std::make_unique<side>(far_options_);
  EXPECT_TRUE(far().home->addresses().empty());
  EXPECT_EQ(near().home->connect(address_, {}).error().code(), node_errc::cannot_connect);
  publish("doubler", far().system.spawn(doubler));
  const auto listens = far().home->listen(address_);
  ASSERT_TRUE(listens) << listens.error().message();
  EXPECT_EQ(far().home->addresses(), std::vector{address_});
  connect();
  EXPECT_EQ(doubled_by(*link_->find("doubler", 0s)), "8");
}

TEST_F(finding, a_node_listens_at_more_addresses_of_every_kind) {
  far();
  const auto more = "unix://@" + unique_name("more");
  const auto inside = "inproc://" + unique_name("inside");
  ASSERT_TRUE(far().home->listen({more, inside, "tcp://127.0.0.1:0"}));
  const auto addresses = far().home->addresses();
  ASSERT_EQ(addresses.size(), 4u);
  EXPECT_EQ(addresses[1], more);
  EXPECT_EQ(addresses[2], inside);
  EXPECT_NE(addresses[3], "tcp://127.0.0.1:0"); // It holds the port that the system chose.
  for (const auto& address : addresses)
    EXPECT_TRUE(near().home->connect(address, {})) << address;
}

TEST_F(finding, a_node_that_cannot_listen_at_one_address_listens_at_none) {
  far();
  const auto free = "unix://@" + unique_name("free");
  const auto inside = "inproc://" + unique_name("inside");
  EXPECT_EQ(far().home->listen({free, inside, address_}).error().code(), node_errc::cannot_connect);
  EXPECT_EQ(far().home->listen("nowhere").error().code(), node_errc::bad_address);
  EXPECT_EQ(far().home->listen("tcp://0.0.0.0:0").error().code(), node_errc::bad_option);
  EXPECT_EQ(far().home->addresses(), std::vector{address_});
  EXPECT_TRUE(eventually([&] { return !near().home->connect(free, {}) && !near().home->connect(inside, {}); }));
  const auto both = std::vector{free, inside};
  EXPECT_TRUE(eventually([&] { return far().home->listen(both).has_value(); }));
}

} // namespace
} // namespace troupe::tests
