// Goal: an actor of a third node is reached through the node that introduced it. Messages pass that node unchanged,
// within the limits of both links. If any node or actor dies, all others are told.
#include <atomic>

#include "three_nodes.hpp"

namespace troupe::tests {
namespace {

/// A type that the node in the middle does not know.
struct sealed_letter {
  std::string text;
  std::vector<double> numbers;
  caf::actor from;
};
TROUPE_DESCRIBE(sealed_letter, text, numbers, from)

caf::behavior doubled() {
  return {[](int value) { return 2 * value; },
          [](reading& what) {
            what.celsius *= 2;
            return what;
          },
          [](sealed_letter& letter) {
            letter.text += ", read";
            return letter;
          },
          [](const array<double>& values) { return values.size(); }};
}

class third_parties : public three_nodes {
protected:
  third_parties() {
    near_types_ = third_types_ = [](type_registry& types) { types.add<sealed_letter>("test.letter"); };
  }
};

TEST_F(third_parties, answer_requests_through_the_node_that_introduced_them) {
  connect_all();
  auto remote = find_beyond("doubler", third().system.spawn(doubled));
  EXPECT_EQ(ask<int>(near().system, remote, 4), 8);
  EXPECT_EQ(ask<reading>(near().system, remote, reading{"roof", 21, {1, 2}}), (reading{"roof", 42, {1, 2}}));
  EXPECT_EQ(forwarded(), 4u) << "two requests and two answers";
}

TEST_F(third_parties, get_types_that_the_node_in_between_does_not_know) {
  connect_all();
  auto remote = find_beyond("doubler", third().system.spawn(doubled));
  auto me = near().system.spawn(doubled);
  auto back = ask<sealed_letter>(near().system, remote, sealed_letter{"dear", {1, 2, 3}, me});
  ASSERT_TRUE(back) << text_of(back);
  EXPECT_EQ(back->text, "dear, read");
  EXPECT_EQ(back->numbers, (std::vector<double>{1, 2, 3}));
  EXPECT_EQ(back->from, me);
}

TEST_F(third_parties, are_spared_what_they_do_not_read) {
  third_options_.accepted_links.receive_limits.frames = 1;
  connect_all();
  auto remote = find_beyond("doubler", third().system.spawn(doubled));
  auto refused = ask<std::size_t>(near().system, remote, array<double>(std::vector<double>(100'000, 0.5)));
  ASSERT_FALSE(refused);
  EXPECT_EQ(to_node_error(refused.error()).code(), node_errc::unserializable) << text_of(refused);
  EXPECT_NE(text_of(refused).find("2 frames, third reads at most"), std::string::npos) << text_of(refused);
  // Their own peer also does not send it.
  auto direct = beyond_->find("doubler");
  ASSERT_TRUE(direct) << direct.error().message();
  refused = ask<std::size_t>(far().system, *direct, array<double>(std::vector<double>(100'000, 0.5)));
  ASSERT_FALSE(refused);
  EXPECT_NE(text_of(refused).find("limits::frames"), std::string::npos) << text_of(refused);
  EXPECT_TRUE(beyond_->is_open());
  EXPECT_EQ(ask<int>(near().system, remote, 4), 8);
}

TEST_F(third_parties, write_to_actors_that_a_forwarded_message_names) {
  connect_all();
  auto remote = find_beyond("writer", third().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
    return {[self](const sealed_letter& letter) { self->send(letter.from, letter.text + " yourself"); }};
  }));
  caf::scoped_actor self{near().system};
  self->send(remote, sealed_letter{"dear", {}, caf::actor_cast<caf::actor>(self)});
  self->receive([](const std::string& text) { EXPECT_EQ(text, "dear yourself"); },
                caf::after(10s) >> [] { ADD_FAILURE() << "no letter"; });
}

TEST_F(third_parties, are_themselves_when_they_come_home) {
  connect_all();
  auto original = third().system.spawn(doubled);
  auto kept = std::make_shared<std::promise<caf::actor>>();
  auto remote = find_beyond("keeper", third().system.spawn([kept](caf::event_based_actor*) -> caf::behavior {
    return {[kept](const caf::actor& who) { kept->set_value(who); }};
  }));
  auto through = find_beyond("doubler", original);
  caf::anon_send(remote, through);
  auto home = kept->get_future();
  ASSERT_EQ(home.wait_for(10s), std::future_status::ready);
  EXPECT_EQ(home.get(), original);
}

TEST_F(third_parties, are_themselves_when_they_come_home_by_another_way) {
  third_options_.listen.edit().push_back("unix://@" + unique_name("troupe-test"));
  connect_all();
  auto direct = near().home->connect(third_options_.listen->back());
  ASSERT_TRUE(direct) << direct.error().message();
  auto original = third().system.spawn(doubled);
  auto same = std::make_shared<std::atomic<int>>(0);
  auto keeper = third().system.spawn([same, original](caf::event_based_actor*) -> caf::behavior {
    return {[same, original](const caf::actor& who) { *same += who == original ? 1 : 100; }};
  });
  ASSERT_TRUE(third().home->publish("keeper", keeper));
  auto through = find_beyond("doubler", original);
  auto to_keeper = direct->find("keeper");
  ASSERT_TRUE(to_keeper);
  // The handle reached near through far, and goes home directly. Repeated, so that numbers come and go.
  for (int i = 1; i <= 3; ++i) {
    caf::anon_send(*to_keeper, through);
    caf::anon_send(*to_keeper, through);
    EXPECT_TRUE(eventually([&] { return *same == 2 * i; })) << *same;
  }
  caf::anon_send_exit(keeper, caf::exit_reason::user_shutdown); // It holds a handle to another actor.
}

TEST_F(third_parties, go_no_further_than_sixteen_nodes) {
  // Near and far have two links, and pass the handle back and forth on different ones, so that it never comes home.
  connect_all();
  auto other = near().home->connect(address_);
  ASSERT_TRUE(other) << other.error().message();
  auto handle = find_beyond("doubler", third().system.spawn(doubled));
  auto kept = std::make_shared<caf::actor>();
  publish("keeper", far().system.spawn([kept](caf::event_based_actor*) -> caf::behavior {
    return {[kept](const caf::actor& who) { *kept = who; }, [kept](int) { return *kept; }};
  }));
  const caf::actor keepers[] = {link_->find("keeper").value(), other->find("keeper").value()};
  std::string failure;
  int rounds = 0;
  for (; rounds < 20 && failure.empty(); ++rounds) {
    caf::scoped_actor self{near().system};
    self->request(keepers[1], 10s, handle).receive([] {}, [&](caf::error& error) { failure = troupe::text_of(error); });
    auto back = ask<caf::actor>(near().system, keepers[0], 1);
    if (back)
      handle = *back;
    else
      failure = text_of(back);
  }
  *kept = nullptr;
  EXPECT_NE(failure.find("the handle has passed 16 nodes"), std::string::npos) << failure << " after " << rounds;
  handle = nullptr;
}

TEST_F(third_parties, keep_their_interfaces) {
  using typed_doubler = caf::typed_actor<caf::replies_to<int>::with<int>>;
  using typed_namer = caf::typed_actor<caf::replies_to<std::string>::with<std::string>>;
  connect_all();
  auto typed =
      third().system.spawn([]() -> typed_doubler::behavior_type { return {[](int value) { return 2 * value; }}; });
  auto remote = find_beyond("typed", typed_doubler{typed});
  caf::scoped_actor self{near().system};
  int answer = 0;
  self->request(remote, 10s, 4).receive([&](int value) { answer = value; }, [](caf::error&) {});
  EXPECT_EQ(answer, 8);
  EXPECT_EQ(link_->find<typed_namer>("typed").error().code(), node_errc::interface_mismatch);
}

TEST_F(third_parties, get_large_values_over_both_links) {
  for (bool shares : {true, false}) {
    link_options options{.share_store = shares};
    third_options_.accepted_links.share_store = far_options_.accepted_links.share_store = shares;
    connect_all(options, options);
    auto remote = find_beyond("doubler", third().system.spawn(doubled));
    EXPECT_EQ(ask<std::size_t>(near().system, remote, array<double>(std::vector<double>(1 << 20, 1.5))), 1u << 20);
    EXPECT_EQ(forwarded(), 2u);
    link_.reset();
    beyond_.reset();
    near_.reset();
    far_.reset();
    third_.reset();
  }
}

TEST_F(third_parties, get_what_only_the_last_link_does_not_accept_in_another_family) {
  third_options_.accepted_links.serializers = {"msgpack"};
  connect_all({.serializers = {"typed"}, .deserializers = {"typed", "msgpack"}}, {.serializers = {"msgpack", "typed"}});
  auto remote = find_beyond("doubler", third().system.spawn(doubled));
  EXPECT_EQ(ask<int>(near().system, remote, 4), 8);
  EXPECT_EQ(forwarded(), 1u) << "the answer; the request is decoded and encoded again in between";
}

TEST_F(third_parties, do_not_get_what_the_last_link_does_not_accept_and_nobody_in_between_can_read) {
  third_options_.accepted_links.serializers = {"msgpack"};
  connect_all({.serializers = {"typed"}, .deserializers = {"typed", "msgpack"}}, {.serializers = {"msgpack", "typed"}});
  auto remote = find_beyond("doubler", third().system.spawn(doubled));
  auto back = ask<sealed_letter>(near().system, remote, sealed_letter{"dear", {}, {}});
  ASSERT_FALSE(back);
  EXPECT_EQ(text_of(back),
            "far has no type \"test.letter\" in its registry; add it there with types.add<T>(\"test.letter\")");
}

TEST_F(third_parties, do_not_get_what_the_first_link_does_not_accept) {
  far_options_.accepted_links.serializers = {"msgpack"};
  connect_all({.serializers = {"json", "msgpack"}});
  auto remote = find_beyond("doubler", third().system.spawn(doubled));
  EXPECT_EQ(ask<int>(near().system, remote, 4), 8) << "in the family that far accepts";
  EXPECT_EQ(link_->serializers(), std::vector<std::string>{"msgpack"});
}

TEST_F(third_parties, are_seen_to_end_by_all_who_monitor_them) {
  connect_all();
  auto actor = third().system.spawn(doubled);
  auto remote = find_beyond("doubler", actor);
  caf::scoped_actor self{near().system};
  self->monitor(remote);
  caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
  self->receive([](const caf::down_msg& down) { EXPECT_EQ(down.reason, caf::exit_reason::user_shutdown); },
                caf::after(10s) >> [] { ADD_FAILURE() << "no down message"; });
}

TEST_F(third_parties, fail_what_was_asked_when_their_node_is_lost) {
  connect_all();
  auto silent = third().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
    auto promises = std::make_shared<std::vector<caf::response_promise>>();
    return {[self, promises](int) {
      promises->push_back(self->make_response_promise());
      return promises->back();
    }};
  });
  auto remote = find_beyond("silent", silent);
  caf::scoped_actor self{near().system};
  self->monitor(remote);
  auto asked = self->request(remote, caf::infinite, 1);
  ASSERT_TRUE(eventually([&] { return forwarded() == 1; }));
  beyond_->close();
  caf::error failure;
  asked.receive([](int) {}, [&](caf::error& error) { failure = std::move(error); });
  EXPECT_EQ(to_node_error(failure).code(), node_errc::link_down) << troupe::text_of(failure);
  self->receive([](const caf::down_msg& down) { EXPECT_EQ(down.reason, caf::exit_reason::remote_link_unreachable); },
                caf::after(10s) >> [] { ADD_FAILURE() << "no down message"; });
  EXPECT_TRUE(link_->is_open());
  caf::anon_send_exit(silent, caf::exit_reason::user_shutdown); // Breaks the cycle: its promises refer to it.
}

TEST_F(third_parties, fail_what_was_asked_and_waits_for_room_when_their_node_is_lost) {
  third_options_.accepted_links.actor_window_bytes = 1'000;
  far_options_.drain_timeout = 10ms;
  connect_all();
  auto stuck = third().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
    self->set_default_handler(caf::skip); // Consumes nothing.
    return {[](double) {}};
  });
  auto remote = find_beyond("stuck", stuck);
  caf::scoped_actor self{near().system};
  const std::string text(600, 'x');
  for (int i = 0; i < 3; ++i) // Without a sender, so that only the request refers to its asker at far.
    caf::anon_send(remote, text);
  ASSERT_TRUE(eventually([&] { return beyond_->stats().waiting_bytes > 0; }));
  const auto waiting = beyond_->stats().waiting_bytes;
  auto asked = self->request(remote, 20s, text);
  ASSERT_TRUE(eventually([&] { return beyond_->stats().waiting_bytes > waiting; }));
  beyond_->close();
  caf::error failure;
  asked.receive([](int) {}, [&](caf::error& error) { failure = std::move(error); });
  EXPECT_EQ(to_node_error(failure).code(), node_errc::link_down) << troupe::text_of(failure);
}

TEST_F(third_parties, are_lost_with_the_node_in_between) {
  connect_all();
  auto remote = find_beyond("doubler", third().system.spawn(doubled));
  caf::scoped_actor self{near().system};
  self->monitor(remote);
  beyond_.reset();
  far_.reset();
  self->receive([](const caf::down_msg& down) { EXPECT_EQ(down.reason, caf::exit_reason::remote_link_unreachable); },
                caf::after(10s) >> [] { ADD_FAILURE() << "no down message"; });
  EXPECT_FALSE(ask<int>(near().system, remote, 4));
}

TEST_F(third_parties, that_drop_a_promise_answer) {
  connect_all();
  auto remote = find_beyond("forgetful", third().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
    return {[self](int) { std::ignore = self->make_response_promise(); }};
  }));
  auto answer = ask<int>(near().system, remote, 1);
  ASSERT_FALSE(answer);
  EXPECT_EQ(to_node_error(answer.error()).code(), node_errc::broken_promise) << text_of(answer);
}

TEST_F(third_parties, are_delegated_to) {
  connect_all();
  find_beyond("doubler", third().system.spawn(doubled));
  auto worker = beyond_->find("doubler");
  ASSERT_TRUE(worker);
  publish("boss", far().system.spawn([whom = *worker](caf::event_based_actor* self) -> caf::behavior {
    return {[self, whom](int value) { return self->delegate(whom, value); }};
  }));
  EXPECT_EQ(ask<int>(near().system, find("boss"), 4), 8);
}

class third_parties_with : public third_parties, public testing::WithParamInterface<const char*> {};

/// With another family on the last link, the node in between decodes each message.
INSTANTIATE_TEST_SUITE_P(families, third_parties_with, testing::Values("typed", "msgpack"),
                         [](const auto& each) { return std::string{each.param}; });

TEST_P(third_parties_with, get_every_message_in_order_however_slow_they_are) {
  constexpr int messages = 20'000;
  auto go_on = std::make_shared<std::promise<void>>();
  auto next = std::make_shared<std::atomic<int>>(0);
  auto actor = third().system.spawn<caf::detached>([=](caf::event_based_actor*) -> caf::behavior {
    return {[=](caf::unit_t) { go_on->get_future().wait_for(10s); },
            [=](int value) {
              if (*next == value)
                ++*next;
            }};
  });
  link_options tight{.window_bytes = 64_KiB,
                     .actor_window_bytes = 64_KiB,
                     .queue_bytes = 64_KiB,
                     .actor_queue_bytes = 64_KiB,
                     .block_timeout = std::chrono::seconds(20)};
  auto last = tight;
  tight.serializers = {"typed"};
  last.serializers = {GetParam()};
  connect_all(tight, last);
  auto remote = find_beyond("slow", actor);
  caf::anon_send(remote, caf::unit);
  std::thread sender{[remote] {
    for (int i = 0; i < messages; ++i)
      caf::anon_send(remote, i);
  }};
  // Near's messages wait at near only when its credit is used up. Far holds at most the amount that near had credit
  // for. A small waiting message counts as the several hundred bytes that it takes.
  EXPECT_TRUE(eventually([&] { return link_->stats().waiting_bytes > 0; }));
  EXPECT_LE(link_->stats().unconsumed_bytes_there, tight.window_bytes + 1'000);
  EXPECT_TRUE(eventually([&] { return beyond_->stats().waiting_bytes > 0; }));
  EXPECT_LE(beyond_->stats().waiting_bytes, 10 * tight.window_bytes);
  go_on->set_value();
  sender.join();
  EXPECT_TRUE(eventually([&] { return *next == messages; })) << *next;
  EXPECT_EQ(beyond_->stats().refused_at_bound, 0u);
}

TEST_F(third_parties, end_by_exit_messages_where_both_links_allow_it) {
  for (bool far_allows : {false, true}) {
    far_options_.accepted_links.allow_exit = far_allows;
    third_options_.accepted_links.allow_exit = true;
    connect_all();
    auto actor = third().system.spawn(doubled);
    auto remote = find_beyond("doubler", actor);
    caf::anon_send_exit(remote, caf::exit_reason::user_shutdown);
    if (far_allows) {
      caf::scoped_actor self{third().system};
      self->monitor(actor);
      self->receive([](const caf::down_msg&) {}, caf::after(10s) >> [] { ADD_FAILURE() << "it lives"; });
    } else {
      EXPECT_EQ(link_->stats().refused_by_policy, 1u);
      EXPECT_EQ(ask<int>(near().system, remote, 4), 8);
    }
    actor = remote = nullptr; // Otherwise their systems would not end.
    link_.reset();
    beyond_.reset();
    near_.reset();
    far_.reset();
    third_.reset();
  }
}

} // namespace
} // namespace troupe::tests
