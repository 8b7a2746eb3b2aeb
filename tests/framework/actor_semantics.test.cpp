// CAF's promises for local actors also hold across a link: order of urgent messages, delayed sends, promises, typed and
// untyped handles in messages, monitors, actor links, and exit messages if they are allowed.
#include <atomic>
#include <mutex>

#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

using doubling = caf::typed_actor<caf::replies_to<int>::with<int>>;

/// Carries a typed handle and an address inside a value.
struct invitation {
  doubling whom;
  caf::actor_addr known;
};
TROUPE_DESCRIBE(invitation, whom, known)

caf::behavior doubler() {
  return {[](int value) { return 2 * value; }};
}

caf::error user_shutdown() {
  return caf::make_error(caf::exit_reason::user_shutdown);
}

/// Records what actors report, in order.
class diary {
public:
  void note(std::string what) {
    std::lock_guard guard{mutex_};
    entries_.push_back(std::move(what));
  }
  [[nodiscard]] std::vector<std::string> entries() const {
    std::lock_guard guard{mutex_};
    return entries_;
  }

private:
  mutable std::mutex mutex_;
  std::vector<std::string> entries_;
};

class actors_over_a_link : public two_nodes {
protected:
  actors_over_a_link() {
    far_types_ = near_types_ = [](type_registry& types) { types.add<invitation>("test.invitation"); };
  }

  /// Spawns an actor at the near end that records every exit message and its own end.
  caf::actor exit_noting_actor(const caf::actor& linked_to) {
    return near().system.spawn([this, linked_to](caf::event_based_actor* self) -> caf::behavior {
      if (linked_to)
        self->link_to(linked_to);
      self->set_exit_handler(
          [this](const caf::exit_msg& exit) { diary_.note("exit: " + troupe::text_of(exit.reason)); });
      return {[](int value) { return value; }};
    });
  }

  [[nodiscard]] bool has_ended(const caf::actor& local) {
    caf::scoped_actor self{local.home_system()};
    self->monitor(local);
    auto ended = false;
    self->receive([&](const caf::down_msg&) { ended = true; }, caf::after(10s) >> [] {});
    return ended;
  }

  diary diary_;
};

// -- sending

TEST_F(actors_over_a_link, urgent_messages_stand_ahead_in_the_mailbox) {
  auto go_on = std::make_shared<std::promise<void>>();
  auto started = std::make_shared<std::promise<void>>();
  publish("listener", far().system.spawn<caf::detached>([=, this](caf::event_based_actor*) -> caf::behavior {
    return {[=](caf::unit_t) {
              started->set_value();
              go_on->get_future().wait_for(10s);
            },
            [this](const std::string& text) { diary_.note(text); }};
  }));
  connect();
  auto remote = find("listener");
  caf::anon_send(remote, caf::unit);
  ASSERT_EQ(started->get_future().wait_for(10s), std::future_status::ready);
  caf::anon_send(remote, std::string{"normal"});
  caf::anon_send<caf::message_priority::high>(remote, std::string{"urgent"});
  ASSERT_TRUE(eventually([&] { return far().home->links().front().stats().messages_received == 3; }));
  go_on->set_value();
  EXPECT_TRUE(eventually([&] { return diary_.entries() == std::vector<std::string>{"urgent", "normal"}; }));
}

TEST_F(actors_over_a_link, delayed_messages_come_later_and_in_their_order) {
  publish("listener", far().system.spawn([this](caf::event_based_actor*) -> caf::behavior {
    return {[this](const std::string& text) { diary_.note(text); }};
  }));
  connect();
  auto remote = find("listener");
  near().system.spawn([remote](caf::event_based_actor* self) {
    self->delayed_send(remote, 50ms, std::string{"late"});
    self->send(remote, std::string{"at once"});
  });
  EXPECT_TRUE(eventually([&] { return diary_.entries() == std::vector<std::string>{"at once", "late"}; }));
}

TEST_F(actors_over_a_link, answers_come_to_then_and_await_and_receive) {
  publish("doubler", far().system.spawn(doubler));
  connect();
  auto remote = find("doubler");
  near().system.spawn([this, remote](caf::event_based_actor* self) {
    self->request(remote, 10s, 1).then([this](int value) { diary_.note("then " + std::to_string(value)); });
    self->request(remote, 10s, 2).await([this](int value) { diary_.note("await " + std::to_string(value)); });
  });
  EXPECT_TRUE(eventually([&] { return diary_.entries().size() == 2; }));
  // An awaited response comes first, as among local actors.
  EXPECT_EQ(diary_.entries(), (std::vector<std::string>{"await 4", "then 2"}));
  EXPECT_EQ(ask<int>(near().system, remote, 3), 6);
}

TEST_F(actors_over_a_link, a_request_that_nobody_answers_in_time_fails) {
  auto slow = publish("slow", far().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
    auto promises = std::make_shared<std::vector<caf::response_promise>>();
    return {[self, promises](int) {
      promises->push_back(self->make_response_promise());
      return promises->back();
    }};
  }));
  connect();
  caf::scoped_actor self{near().system};
  caf::error failure;
  self->request(find("slow"), 20ms, 1).receive([](int) {}, [&](caf::error& error) { failure = std::move(error); });
  EXPECT_EQ(failure, caf::sec::request_timeout);
  caf::anon_send_exit(slow, caf::exit_reason::user_shutdown); // Breaks the cycle: its promises refer to it.
}

TEST_F(actors_over_a_link, composed_actors_may_be_remote) {
  auto increment = [](caf::event_based_actor*) -> caf::behavior {
    return {[](int value) -> caf::result<int> {
      if (value < 0)
        return caf::make_error(caf::sec::invalid_argument);
      return value + 1;
    }};
  };
  publish("doubler", far().system.spawn(doubler));
  publish("increment", far().system.spawn(increment));
  connect();
  auto remote_doubler = find("doubler");
  auto remote_increment = find("increment");
  auto local_increment = near().system.spawn(increment);
  EXPECT_EQ(ask<int>(near().system, remote_doubler * remote_increment, 4), 10);
  EXPECT_EQ(ask<int>(near().system, remote_increment * remote_doubler, 4), 9);
  EXPECT_EQ(ask<int>(near().system, local_increment * remote_doubler, 4), 9);
  EXPECT_EQ(ask<int>(near().system, remote_doubler * local_increment, 4), 10);
  EXPECT_EQ(ask<int>(near().system, remote_doubler * remote_increment * local_increment, 4), 12);
  auto failed = ask<int>(near().system, remote_doubler * remote_increment, -1);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error(), caf::sec::invalid_argument);
  // A plain message also passes through all stages.
  publish("noting", far().system.spawn([this](caf::event_based_actor*) -> caf::behavior {
    return {[this](int value) { diary_.note(std::to_string(value)); }};
  }));
  caf::anon_send(find("noting") * remote_doubler, 4);
  EXPECT_TRUE(eventually([&] { return diary_.entries() == std::vector<std::string>{"8"}; }));
}

// -- promises

TEST_F(actors_over_a_link, a_promise_is_kept_later) {
  auto promise = std::make_shared<caf::typed_response_promise<int>>();
  publish("later", far().system.spawn([promise](caf::event_based_actor* self) -> caf::behavior {
    return {[self, promise](int) {
              *promise = self->make_response_promise<int>();
              return *promise;
            },
            [promise](const std::string&) {
              promise->deliver(7);
              *promise = {};
            }};
  }));
  connect();
  auto remote = find("later");
  caf::scoped_actor self{near().system};
  auto asked = self->request(remote, 10s, 1);
  self->send(remote, std::string{"now"});
  int answer = 0;
  asked.receive([&](int value) { answer = value; }, [](caf::error&) {});
  EXPECT_EQ(answer, 7);
}

TEST_F(actors_over_a_link, a_dropped_promise_answers) {
  publish("forgetful", far().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
    return {[self](int) { std::ignore = self->make_response_promise(); }};
  }));
  connect();
  auto answer = ask<int>(near().system, find("forgetful"), 1);
  ASSERT_FALSE(answer);
  EXPECT_EQ(to_node_error(answer.error()).code(), node_errc::broken_promise) << text_of(answer);
}

TEST_F(actors_over_a_link, a_promise_dropped_by_its_delegate_answers) {
  auto forgetful = far().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
    return {[self](int) { std::ignore = self->make_response_promise(); }};
  });
  publish("boss", far().system.spawn([forgetful](caf::event_based_actor* self) -> caf::behavior {
    return {[self, forgetful](int value) { return self->delegate(forgetful, value); }};
  }));
  connect();
  auto answer = ask<int>(near().system, find("boss"), 1);
  ASSERT_FALSE(answer);
  EXPECT_EQ(to_node_error(answer.error()).code(), node_errc::broken_promise) << text_of(answer);
}

TEST_F(actors_over_a_link, who_keeps_the_asker_and_not_the_promise_can_still_write_to_it) {
  auto asker = std::make_shared<caf::actor>();
  publish("subscribing", far().system.spawn([asker](caf::event_based_actor* self) -> caf::behavior {
    return {[self, asker](int value) {
              *asker = caf::actor_cast<caf::actor>(self->current_sender());
              return value;
            },
            [self, asker](const std::string& news) { self->send(*asker, news); },
            [asker](const caf::actor& other) { return *asker == other; }};
  }));
  connect();
  auto remote = find("subscribing");
  caf::scoped_actor self{near().system};
  self->request(remote, 10s, 1).receive([](int) {}, [](caf::error& error) { ADD_FAILURE() << troupe::text_of(error); });
  self->send(remote, std::string{"news"});
  self->receive([](const std::string& text) { EXPECT_EQ(text, "news"); },
                caf::after(10s) >> [] { ADD_FAILURE() << "no news"; });
  // Both handles refer to the same actor, although they arrived by different paths.
  bool same = false;
  self->request(remote, 10s, caf::actor_cast<caf::actor>(self))
      .receive([&](bool value) { same = value; }, [](caf::error& error) { ADD_FAILURE() << troupe::text_of(error); });
  EXPECT_TRUE(same);
  *asker = nullptr;
}

// -- handles in messages

TEST_F(actors_over_a_link, typed_handles_and_addresses_travel_and_come_back_as_themselves) {
  publish("introducer", far().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
    return {[self](invitation& what) -> caf::result<invitation> {
      auto promise = self->make_response_promise<invitation>();
      self->request(what.whom, 10s, 4).then([promise, what](int doubled) mutable {
        if (doubled == 8)
          promise.deliver(what);
        else
          promise.deliver(caf::make_error(caf::sec::runtime_error));
      });
      return promise;
    }};
  }));
  connect();
  auto typed = near().system.spawn([]() -> doubling::behavior_type { return {[](int value) { return 2 * value; }}; });
  auto back = ask<invitation>(near().system, find("introducer"), invitation{typed, typed.address()});
  ASSERT_TRUE(back) << text_of(back);
  EXPECT_EQ(back->whom, typed);
  EXPECT_EQ(back->known, typed.address());
}

TEST_F(actors_over_a_link, one_actor_is_one_handle_however_often_it_comes) {
  publish("again", publish("doubler", far().system.spawn(doubler)));
  connect();
  auto first = find("doubler");
  EXPECT_EQ(first, find("doubler"));
  EXPECT_EQ(first, find("again"));
  EXPECT_EQ(link_->stats().actors_imported, 1u);
}

TEST_F(actors_over_a_link, no_actor_travels_as_no_actor) {
  publish("looking", far().system.spawn([](caf::event_based_actor*) -> caf::behavior {
    return {[](const caf::strong_actor_ptr& who) { return who == nullptr; }};
  }));
  connect();
  EXPECT_EQ(ask<bool>(near().system, find("looking"), caf::strong_actor_ptr{}), true);
}

TEST_F(actors_over_a_link, an_actor_found_under_a_name_may_be_ones_own) {
  publish("board", far().system.spawn([this](caf::event_based_actor*) -> caf::behavior {
    return {[this](const caf::actor& who) { return far().home->publish("yours", who).has_value(); }};
  }));
  connect();
  auto own = near().system.spawn(doubler);
  ASSERT_EQ(ask<bool>(near().system, find("board"), own), true);
  EXPECT_EQ(find("yours"), own);
  EXPECT_TRUE(far().home->unpublish("yours"));
}

TEST_F(actors_over_a_link, an_actor_finds_others_without_waiting) {
  publish("doubler", far().system.spawn(doubler));
  connect();
  near().system.spawn([this](caf::event_based_actor* self) {
    link_->find(self, "doubler", 10s).then([this, self](const caf::strong_actor_ptr& found) {
      self->request(caf::actor_cast<caf::actor>(found), 10s, 4).then([this](int value) {
        diary_.note(std::to_string(value));
      });
    });
    link_->find(self, "nobody", 0s)
        .then([](const caf::strong_actor_ptr&) {},
              [this](const caf::error& error) { diary_.note(troupe::text_of(error)); });
    link_->find<doubling>(self, "doubler", 10s)
        .then([](const caf::strong_actor_ptr&) {},
              [this](const caf::error& error) { diary_.note(to_string(to_node_error(error).code())); });
  });
  ASSERT_TRUE(eventually([&] { return diary_.entries().size() == 3; }));
  auto entries = diary_.entries();
  std::ranges::sort(entries);
  EXPECT_EQ(entries, (std::vector<std::string>{"8", "far has nothing published as \"nobody\"", "interface_mismatch"}));
}

TEST_F(actors_over_a_link, finding_fails_with_the_link) {
  publish("doubler", far().system.spawn(doubler));
  connect();
  link_->close();
  ASSERT_TRUE(eventually([&] { return !link_->is_open(); }));
  caf::scoped_actor self{near().system};
  node_errc code = node_errc::none;
  link_->find(self.ptr(), "doubler", 10s)
      .receive([](const caf::strong_actor_ptr&) {},
               [&](const caf::error& error) { code = to_node_error(error).code(); });
  EXPECT_EQ(code, node_errc::link_down);
}

// -- monitors

TEST_F(actors_over_a_link, a_monitor_that_was_taken_back_reports_nothing) {
  auto watched = publish("watched", far().system.spawn(doubler));
  auto other = publish("other", far().system.spawn(doubler));
  connect();
  auto remote = find("watched");
  caf::scoped_actor self{near().system};
  self->monitor(remote);
  self->monitor(find("other"));
  self->demonitor(remote);
  caf::anon_send_exit(watched, caf::exit_reason::user_shutdown);
  ASSERT_TRUE(has_ended(watched));
  caf::anon_send_exit(other, caf::exit_reason::user_shutdown);
  self->receive([&](const caf::down_msg& down) { EXPECT_EQ(down.source, find("other").address()); },
                caf::after(10s) >> [] { ADD_FAILURE() << "no down message"; });
}

TEST_F(actors_over_a_link, an_actor_monitored_again_reports) {
  auto watched = publish("watched", far().system.spawn(doubler));
  connect();
  auto remote = find("watched");
  caf::scoped_actor self{near().system};
  for (int i = 0; i < 10; ++i) {
    self->monitor(remote);
    self->demonitor(remote);
  }
  self->monitor(remote);
  caf::anon_send_exit(watched, caf::exit_reason::user_shutdown);
  self->receive([](const caf::down_msg& down) { EXPECT_EQ(down.reason, caf::exit_reason::user_shutdown); },
                caf::after(10s) >> [] { ADD_FAILURE() << "no down message"; });
}

TEST_F(actors_over_a_link, an_actor_that_nobody_monitors_any_more_is_let_go) {
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
    caf::scoped_actor self{near().system};
    self->monitor(*child);
    self->demonitor(*child);
  }
  EXPECT_TRUE(eventually([&] { return ended->load(); }));
}

// -- actor links and exit messages

TEST_F(actors_over_a_link, a_linked_actor_ends_with_the_remote_one) {
  auto remote = publish("doubler", far().system.spawn(doubler));
  connect();
  auto local = exit_noting_actor(find("doubler"));
  ASSERT_EQ(ask<int>(near().system, local, 1), 1); // The actor has linked itself by now.
  caf::anon_send_exit(remote, caf::exit_reason::user_shutdown);
  EXPECT_TRUE(eventually([&] { return !diary_.entries().empty(); }));
  EXPECT_EQ(diary_.entries(), std::vector<std::string>{"exit: " + troupe::text_of(user_shutdown())});
}

TEST_F(actors_over_a_link, the_remote_one_ends_with_the_linked_actor_where_that_is_allowed) {
  far_options_.accepted_links.allow_exit = true;
  auto remote = publish("doubler", far().system.spawn(doubler));
  connect();
  auto local = near().system.spawn([whom = find("doubler")](caf::event_based_actor* self) -> caf::behavior {
    self->link_to(whom);
    return {[](int value) { return value; }};
  });
  ASSERT_EQ(ask<int>(near().system, local, 1), 1);
  caf::anon_send_exit(local, caf::exit_reason::user_shutdown);
  EXPECT_TRUE(has_ended(remote));
}

TEST_F(actors_over_a_link, the_remote_one_lives_on_where_that_is_not_allowed) {
  auto remote = publish("doubler", far().system.spawn(doubler));
  connect();
  auto local = near().system.spawn([whom = find("doubler")](caf::event_based_actor* self) -> caf::behavior {
    self->link_to(whom);
    return {[](int value) { return value; }};
  });
  ASSERT_EQ(ask<int>(near().system, local, 1), 1);
  caf::anon_send_exit(local, caf::exit_reason::user_shutdown);
  EXPECT_TRUE(eventually([&] { return link_->stats().refused_by_policy == 1; }));
  EXPECT_EQ(ask<int>(near().system, find("doubler"), 4), 8);
}

TEST_F(actors_over_a_link, unlinked_actors_do_not_end_with_each_other) {
  far_options_.accepted_links.allow_exit = true;
  auto remote = publish("doubler", far().system.spawn(doubler));
  connect();
  auto whom = find("doubler");
  auto local = near().system.spawn([whom](caf::event_based_actor* self) -> caf::behavior {
    self->link_to(whom);
    self->unlink_from(whom);
    return {[](int value) { return value; }};
  });
  ASSERT_EQ(ask<int>(near().system, local, 1), 1);
  caf::anon_send_exit(local, caf::exit_reason::user_shutdown);
  ASSERT_TRUE(has_ended(local));
  EXPECT_EQ(ask<int>(near().system, whom, 4), 8);
}

TEST_F(actors_over_a_link, linking_to_an_actor_that_has_ended_ends_at_once) {
  auto remote = publish("doubler", far().system.spawn(doubler));
  connect();
  auto whom = find("doubler");
  caf::anon_send_exit(remote, caf::exit_reason::user_shutdown);
  ASSERT_TRUE(has_ended(remote));
  auto local = exit_noting_actor(whom);
  EXPECT_TRUE(eventually([&] { return !diary_.entries().empty(); }));
}

TEST_F(actors_over_a_link, a_linked_actor_ends_with_the_link) {
  publish("doubler", far().system.spawn(doubler));
  connect();
  auto local = exit_noting_actor(find("doubler"));
  ASSERT_EQ(ask<int>(near().system, local, 1), 1);
  far_.reset();
  EXPECT_TRUE(eventually([&] { return !diary_.entries().empty(); }));
  EXPECT_EQ(diary_.entries().front(),
            "exit: " + troupe::text_of(caf::make_error(caf::exit_reason::remote_link_unreachable)));
}

TEST_F(actors_over_a_link, who_asks_may_be_linked_to) {
  near_options_.accepted_links.allow_exit = true;
  publish("guard", far().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
    self->set_exit_handler([self](const caf::exit_msg& exit) { self->quit(exit.reason); });
    return {[self](int value) {
      self->link_to(self->current_sender());
      return value;
    }};
  }));
  connect({.allow_exit = true});
  auto guard = find("guard");
  auto local = near().system.spawn([this, guard](caf::event_based_actor* self) -> caf::behavior {
    self->request(guard, 10s, 1).then([this](int) { diary_.note("answered"); });
    return {[](int value) { return value; }};
  });
  ASSERT_TRUE(eventually([&] { return !diary_.entries().empty(); }));
  caf::scoped_actor self{near().system};
  self->monitor(guard);
  caf::anon_send_exit(local, caf::exit_reason::user_shutdown);
  self->receive([](const caf::down_msg& down) { EXPECT_EQ(down.reason, caf::exit_reason::user_shutdown); },
                caf::after(10s) >> [] { ADD_FAILURE() << "the guard did not end"; });
}

TEST_F(actors_over_a_link, exit_messages_end_remote_actors_where_that_is_allowed) {
  far_options_.accepted_links.allow_exit = true;
  auto first = publish("first", far().system.spawn(doubler));
  auto second = publish("second", far().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
    self->set_exit_handler([](const caf::exit_msg&) {}); // Only a kill ends this actor.
    return {[](int value) { return value; }};
  }));
  connect();
  caf::anon_send_exit(find("first"), caf::exit_reason::user_shutdown);
  EXPECT_TRUE(has_ended(first));
  caf::anon_send_exit(find("second"), caf::exit_reason::user_shutdown);
  EXPECT_EQ(ask<int>(near().system, find("second"), 3), 3);
  caf::anon_send_exit(find("second"), caf::exit_reason::kill);
  EXPECT_TRUE(has_ended(second));
}

TEST_F(actors_over_a_link, exit_messages_come_behind_what_was_sent_before) {
  far_options_.accepted_links.allow_exit = true;
  constexpr int messages = 20'000;
  auto counted = std::make_shared<std::atomic<int>>(0);
  auto remote = publish("counter", far().system.spawn([counted](caf::event_based_actor*) -> caf::behavior {
    return {[counted](int) { ++*counted; }};
  }));
  connect({.window_bytes = 64_KiB, .actor_window_bytes = 64_KiB});
  auto whom = find("counter");
  for (int i = 0; i < messages; ++i)
    caf::anon_send(whom, i);
  caf::anon_send_exit(whom, caf::exit_reason::user_shutdown);
  EXPECT_TRUE(has_ended(remote));
  EXPECT_EQ(*counted, messages);
}

} // namespace
} // namespace troupe::tests
