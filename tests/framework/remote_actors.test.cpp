// Remote actors are ordinary CAF actors: a holder of a handle need not know where the actor lives.
#include "two_nodes.hpp"

#include <caf/actor_pool.hpp>

namespace troupe::tests {
namespace {

caf::behavior doubler() {
  return {
      [](int value) { return 2 * value; },
      [](const std::string& text) { return text + text; },
      [](reading& what) {
        what.celsius *= 2;
        return what;
      },
      [](caf::atom_value what) { return what == caf::atom("ping") ? caf::atom("pong") : what; },
      [](const std::vector<double>& samples) { return samples.size(); },
      [](const std::map<std::string, int>& map) { return static_cast<int>(map.size()); },
  };
}

TEST_F(two_nodes, a_request_is_answered_with_each_type_of_value) {
  publish("doubler", far().system.spawn(doubler));
  connect();
  auto remote = find("doubler");
  EXPECT_EQ(ask<int>(near().system, remote, 21), 42);
  EXPECT_EQ(ask<std::string>(near().system, remote, std::string{"ab"}), "abab");
  EXPECT_EQ(ask<reading>(near().system, remote, reading{"roof", 21.5, {1, 2}}), (reading{"roof", 43, {1, 2}}));
  EXPECT_EQ(ask<caf::atom_value>(near().system, remote, caf::atom("ping")), caf::atom("pong"));
  EXPECT_EQ(ask<int>(near().system, remote, std::map<std::string, int>{{"a", 1}, {"b", 2}}), 2);
}

TEST_F(two_nodes, each_family_carries_messages) {
  far_options_.accepted_links.serializers = {"typed", "msgpack", "json"};
  far_options_.accepted_links.deserializers = far_options_.accepted_links.serializers;
  publish("doubler", far().system.spawn(doubler));
  for (const auto* family : {"typed", "msgpack", "json"}) {
    connect({.serializers = {family}});
    EXPECT_EQ(link_->serializers(), std::vector<std::string>{family});
    EXPECT_EQ(ask<reading>(near().system, find("doubler"), reading{"roof", -0.0, {1, 2}}),
              (reading{"roof", 0, {1, 2}}));
    link_->close();
  }
}

TEST_F(two_nodes, messages_of_one_sender_arrive_in_order) {
  auto collected = std::make_shared<std::vector<int>>();
  auto done = std::make_shared<std::promise<void>>();
  publish("collector", far().system.spawn([collected, done](caf::event_based_actor*) -> caf::behavior {
    return {[collected, done](int value) {
      collected->push_back(value);
      if (value == 9'999)
        done->set_value();
    }};
  }));
  connect();
  auto remote = find("collector");
  for (int i = 0; i < 10'000; ++i)
    caf::anon_send(remote, i);
  ASSERT_EQ(done->get_future().wait_for(10s), std::future_status::ready);
  for (int i = 0; i < 10'000; ++i)
    ASSERT_EQ((*collected)[static_cast<std::size_t>(i)], i);
}

TEST_F(two_nodes, an_error_reply_arrives_as_an_error) {
  publish("grumbler", far().system.spawn([]() -> caf::behavior {
    return {[](int) -> caf::result<int> { return caf::error{caf::sec::invalid_argument}; }};
  }));
  connect();
  auto answer = ask<int>(near().system, find("grumbler"), 1);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error(), caf::sec::invalid_argument);
}

TEST_F(two_nodes, a_void_answer_arrives) {
  publish("quiet", far().system.spawn([]() -> caf::behavior { return {[](int) {}}; }));
  connect();
  caf::scoped_actor self{near().system};
  bool answered = false;
  self->request(find("quiet"), 10s, 1).receive([&] { answered = true; }, [&](caf::error&) {});
  EXPECT_TRUE(answered);
}

TEST_F(two_nodes, a_message_that_the_actor_does_not_handle_is_answered_as_locally) {
  publish("doubler", far().system.spawn(doubler));
  connect();
  auto answer = ask<int>(near().system, find("doubler"), 1.5f);
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error(), caf::sec::unexpected_message);
}

TEST_F(two_nodes, a_request_to_an_actor_that_has_ended_is_answered) {
  auto actor = publish("doubler", far().system.spawn(doubler));
  connect();
  auto remote = find("doubler");
  caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
  EXPECT_TRUE(eventually([&] { return !ask<int>(near().system, remote, 1); }));
}

TEST_F(two_nodes, handles_inside_values_work_and_come_back_as_themselves) {
  publish("introducer", far().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
    return {[self](guest_list& list) {
      for (auto& guest : list.guests)
        self->send(guest, list.host);
      return list;
    }};
  }));
  connect();
  auto heard = std::make_shared<std::promise<std::string>>();
  auto guest = near().system.spawn([heard](caf::event_based_actor*) -> caf::behavior {
    return {[heard](std::string& text) { heard->set_value(std::move(text)); }};
  });
  auto back = ask<guest_list>(near().system, find("introducer"), guest_list{"ada", {guest}});
  ASSERT_TRUE(back) << text_of(back);
  ASSERT_EQ(back->guests.size(), 1u);
  EXPECT_EQ(back->guests[0], guest);
  EXPECT_EQ(heard->get_future().get(), "ada");
}

TEST_F(two_nodes, a_delegated_request_is_answered_by_the_delegate) {
  auto worker = far().system.spawn(doubler);
  publish("boss", far().system.spawn([worker](caf::event_based_actor* self) -> caf::behavior {
    return {[self, worker](int value) { return self->delegate(worker, value); }};
  }));
  connect();
  EXPECT_EQ(ask<int>(near().system, find("boss"), 4), 8);
}

TEST_F(two_nodes, a_request_delegated_back_over_the_link_is_answered) {
  auto worker = near().system.spawn(doubler);
  publish("boss", far().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
    return {[self](const caf::actor& whom, int value) { return self->delegate(whom, value); }};
  }));
  connect();
  EXPECT_EQ(ask<int>(near().system, find("boss"), worker, 4), 8);
}

TEST_F(two_nodes, a_monitor_reports_the_remote_actors_end_with_its_reason) {
  auto actor = publish("doubler", far().system.spawn(doubler));
  connect();
  caf::scoped_actor self{near().system};
  self->monitor(find("doubler"));
  caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
  self->receive([](const caf::down_msg& down) { EXPECT_EQ(down.reason, caf::exit_reason::user_shutdown); },
                caf::after(10s) >> [] { ADD_FAILURE() << "no down message"; });
}

TEST_F(two_nodes, a_monitor_of_an_actor_that_has_ended_already_reports_at_once) {
  auto actor = publish("doubler", far().system.spawn(doubler));
  connect();
  auto remote = find("doubler");
  caf::anon_send_exit(actor, caf::exit_reason::user_shutdown);
  ASSERT_TRUE(eventually([&] { return !ask<int>(near().system, remote, 1); }));
  caf::scoped_actor self{near().system};
  self->monitor(remote);
  self->receive([](const caf::down_msg&) {}, caf::after(10s) >> [] { ADD_FAILURE() << "no down message"; });
}

TEST_F(two_nodes, a_typed_actor_is_found_by_its_interface_only) {
  using doubling = caf::typed_actor<caf::replies_to<int>::with<int>>;
  using naming = caf::typed_actor<caf::replies_to<std::string>::with<std::string>>;
  auto actor = far().system.spawn([]() -> doubling::behavior_type { return {[](int value) { return 2 * value; }}; });
  ASSERT_TRUE(far().home->publish("typed", actor));
  connect();
  auto found = link_->find<doubling>("typed");
  ASSERT_TRUE(found) << found.error().message();
  caf::scoped_actor self{near().system};
  int answer = 0;
  self->request(*found, 10s, 4).receive([&](int value) { answer = value; }, [](caf::error&) {});
  EXPECT_EQ(answer, 8);
  auto mismatch = link_->find<naming>("typed");
  ASSERT_FALSE(mismatch);
  EXPECT_EQ(mismatch.error().code(), node_errc::interface_mismatch);
}

TEST_F(two_nodes, a_name_that_nobody_published_is_not_found) {
  connect();
  auto found = link_->find("nobody", 0s);
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().code(), node_errc::not_found);
  EXPECT_EQ(found.error().message(), "far has nothing published as \"nobody\"");
}

TEST_F(two_nodes, an_unpublished_name_is_free_again) {
  auto actor = far().system.spawn(doubler);
  publish("doubler", actor);
  EXPECT_EQ(far().home->publish("doubler", actor).error().code(), node_errc::name_taken);
  EXPECT_TRUE(far().home->unpublish("doubler"));
  EXPECT_FALSE(far().home->unpublish("doubler"));
  publish("doubler", actor);
}

TEST_F(two_nodes, handles_in_a_message_that_cannot_be_decoded_are_let_go) {
  publish("introducer", far().system.spawn(doubler));
  near().types.add<std::pair<caf::actor, int>>("test.unknown_to_far");
  connect();
  auto ended = std::make_shared<std::atomic<bool>>(false);
  {
    auto guest = near().system.spawn(doubler);
    guest->attach_functor([ended](const caf::error&) { *ended = true; });
    EXPECT_FALSE(ask<int>(near().system, find("introducer"), std::pair{guest, 1}));
  }
  EXPECT_TRUE(eventually([&] { return ended->load(); }));
}

TEST_F(two_nodes, an_actor_that_only_a_peer_refers_to_lives_until_the_peer_drops_it) {
  auto ended = std::make_shared<std::atomic<bool>>(false);
  publish("factory", far().system.spawn([ended](caf::event_based_actor* self) -> caf::behavior {
    return {[self, ended](int) {
      auto child = self->spawn(doubler);
      child->attach_functor([ended](const caf::error&) { *ended = true; });
      return child;
    }};
  }));
  connect();
  {
    auto child = ask<caf::actor>(near().system, find("factory"), 1);
    ASSERT_TRUE(child) << text_of(child);
    EXPECT_EQ(ask<int>(near().system, *child, 4), 8);
    EXPECT_FALSE(*ended);
  }
  EXPECT_TRUE(eventually([&] { return ended->load(); }));
}

TEST_F(two_nodes, a_pool_that_asks_two_actors_of_the_asker_ends_no_link) {
  auto pool = std::make_shared<caf::actor>();
  publish("pooler", far().system.spawn([pool](caf::event_based_actor* self) -> caf::behavior {
    return {[pool, self](const caf::actor& first, const caf::actor& second) {
      *pool = caf::actor_pool::make(self->context(), caf::actor_pool::broadcast());
      for (const auto& one : {first, second})
        caf::anon_send(*pool, caf::sys_atom::value, caf::put_atom::value, one);
      return *pool;
    }};
  }));
  connect();
  auto increment = []() -> caf::behavior { return {[](std::int32_t value) { return value + 1; }}; };
  auto remote =
      ask<caf::actor>(near().system, find("pooler"), near().system.spawn(increment), near().system.spawn(increment));
  ASSERT_TRUE(remote) << text_of(remote);
  EXPECT_EQ(ask<std::int32_t>(near().system, *remote, std::int32_t{1}), 2);
  // The second copy of the question also comes back, although it has been answered.
  EXPECT_TRUE(eventually([&] { return link_->stats().undelivered == 1; }));
  EXPECT_TRUE(link_->is_open());
  caf::anon_send_exit(*pool, caf::exit_reason::user_shutdown);
  *pool = nullptr;
}

} // namespace
} // namespace troupe::tests
