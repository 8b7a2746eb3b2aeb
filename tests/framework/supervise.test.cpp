// Goal: a supervisor starts, restarts and stops real actors as it was told, and never outlives its owner.
#include <gtest/gtest.h>

#include <troupe/framework/system_config.hpp>

#include "supervised_actors.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

using event = supervisor_event::kind;

class supervise_test : public testing::Test {
protected:
  supervise_test() = default;

  supervisor_options options(restart strategy, std::size_t most = 50) const {
    return {.strategy = strategy, .most = most, .within = 1min, .back_off = 1ms, .events = events_.sink()};
  }
  team three(restart strategy) {
    return supervise(self_, options(strategy))
        .function(tally, 0)
        .with({.name = "a"})
        .function(tally, 0)
        .with({.name = "b"})
        .function(tally, 0)
        .with({.name = "c"})
        .start()
        .value();
  }
  void send(const caf::actor& whom, const std::string& what) { self_->send(whom, what); }
  int add(const caf::actor& whom, int value) { return ask<int>(system_, whom, value).value_or(-1); }
  /// The reason of the supervisor's end, as its owner gets it.
  caf::error down_reason() {
    caf::error reason;
    self_->receive([&](caf::down_msg& down) { reason = std::move(down.reason); },
                   caf::after(10s) >> [&] { reason = caf::sec::request_timeout; });
    return reason;
  }

  system_config config_;
  caf::actor_system system_{config_};
  caf::scoped_actor self_{system_};
  event_record events_;
};

TEST_F(supervise_test, a_child_that_crashed_starts_again_in_its_first_state) {
  auto team = supervise(self_, options(restart::one_for_one)).function(tally, 100).start().value();
  EXPECT_EQ(add(child_of(team, 0), 1), 101);
  EXPECT_EQ(add(child_of(team, 0), 1), 102);
  send(child_of(team, 0), "crash");
  EXPECT_EQ(add(child_of(team, 0, 2), 1), 101);
  const auto ended = events_.of(event::child_ended).front();
  EXPECT_EQ(ended.name, "child");
  EXPECT_EQ(ended.reason.message(), "crashed");
  EXPECT_EQ(events_.count(event::restarting), 1u);
}

TEST_F(supervise_test, one_for_one_restarts_one) {
  auto team = three(restart::one_for_one);
  ASSERT_TRUE(all_run(team));
  send(child_of(team, 1), "throw");
  EXPECT_TRUE(events_.comes_to("+a+b+c-b+b")) << events_.lives();
}

TEST_F(supervise_test, one_for_all_restarts_all) {
  auto team = three(restart::one_for_all);
  ASSERT_TRUE(all_run(team));
  send(child_of(team, 1), "crash");
  EXPECT_TRUE(events_.comes_to("+a+b+c-b-c-a+a+b+c")) << events_.lives();
}

TEST_F(supervise_test, rest_for_one_restarts_the_rest) {
  auto team = three(restart::rest_for_one);
  ASSERT_TRUE(all_run(team));
  send(child_of(team, 1), "crash");
  EXPECT_TRUE(events_.comes_to("+a+b+c-b-c+b+c")) << events_.lives();
}

TEST_F(supervise_test, a_killed_child_starts_again_for_each_strategy) {
  for (const auto strategy : {restart::one_for_one, restart::one_for_all, restart::rest_for_one}) {
    auto team = three(strategy);
    ASSERT_TRUE(all_run(team));
    self_->send_exit(child_of(team, 0), caf::exit_reason::kill);
    EXPECT_EQ(add(child_of(team, 0, 2), 3), 3);
    EXPECT_TRUE(all_run(team));
    team.stop();
    EXPECT_FALSE(down_reason());
  }
}

TEST_F(supervise_test, transient_and_temporary_children_end_normally_for_good) {
  auto team = supervise(self_, options(restart::one_for_one))
                  .function(tally, 0)
                  .with({.name = "a", .lifetime = lifetime::transient})
                  .function(tally, 0)
                  .with({.name = "b", .lifetime = lifetime::temporary})
                  .start()
                  .value();
  ASSERT_TRUE(all_run(team));
  send(child_of(team, 0), "crash");
  EXPECT_TRUE(events_.comes_to("+a+b-a+a"));
  send(child_of(team, 0, 2), "end");
  send(child_of(team, 1), "crash");
  EXPECT_TRUE(eventually([&] { return events_.count(event::child_ended) == 3; }));
  EXPECT_EQ(events_.count(event::restarting), 1u);
  EXPECT_FALSE(team.children()[0].is_running);
  EXPECT_FALSE(team.children()[1].is_running);
}

TEST_F(supervise_test, too_many_restarts_end_the_supervisor_with_a_report) {
  auto team =
      supervise(self_, options(restart::one_for_one, 2)).function(tally, 0).with({.name = "weak"}).start().value();
  for (std::size_t run = 1; run <= 3; ++run)
    send(child_of(team, 0, run), "crash");
  const auto reason = to_node_error(down_reason());
  EXPECT_EQ(reason.code(), node_errc::gave_up);
  EXPECT_TRUE(reason.message().starts_with("'weak' would be started again, but 3 restarts within 0."))
      << reason.message();
  EXPECT_TRUE(reason.message().ends_with("exceed the limit of 2 within 60.0 s; last reasons: 'weak': crashed; 'weak': "
                                         "crashed; 'weak': crashed"))
      << reason.message();
  EXPECT_EQ(events_.all().back().what, event::gave_up);
}

TEST_F(supervise_test, a_supervisor_that_gives_up_stops_its_other_children) {
  auto team = supervise(self_, options(restart::one_for_one, 0))
                  .function(tally, 0)
                  .with({.name = "a"})
                  .function(tally, 0)
                  .with({.name = "b"})
                  .start()
                  .value();
  ASSERT_TRUE(all_run(team));
  auto other = child_of(team, 1);
  self_->monitor(other);
  send(child_of(team, 0), "crash");
  EXPECT_EQ(down_reason(), caf::exit_reason::user_shutdown); // The child.
  EXPECT_EQ(to_node_error(down_reason()).code(), node_errc::gave_up);
}

TEST_F(supervise_test, an_owner_that_ends_ends_its_children_in_reverse_order) {
  auto keep = std::make_shared<std::optional<team>>();
  auto owner = system_.spawn([this, keep](caf::event_based_actor* self) -> caf::behavior {
    keep->emplace(supervise(self, options(restart::one_for_one))
                      .function(tally, 0)
                      .with({.name = "a"})
                      .function(tally, 0)
                      .with({.name = "b"})
                      .start()
                      .value());
    return {[](int) {}};
  });
  ASSERT_TRUE(events_.comes_to("+a+b"));
  caf::anon_send_exit(owner, caf::exit_reason::user_shutdown);
  EXPECT_TRUE(events_.comes_to("+a+b-b-a")) << events_.lives();
}

TEST_F(supervise_test, an_event_based_owner_ends_with_the_report) {
  auto owner = system_.spawn([this](caf::event_based_actor* self) -> caf::behavior {
    (void)supervise(self, options(restart::one_for_one, 0))
        .function([](caf::actor_system&) -> caf::actor { throw std::runtime_error("no way"); })
        .start();
    return {[](int) {}};
  });
  self_->monitor(owner);
  const auto reason = to_node_error(down_reason());
  EXPECT_EQ(reason.code(), node_errc::gave_up);
  EXPECT_TRUE(reason.message().contains("the child's function threw: no way")) << reason.message();
}

TEST_F(supervise_test, a_scoped_owner_that_ends_ends_its_children) {
  {
    caf::scoped_actor owner{system_};
    auto team = supervise(owner, options(restart::one_for_one)).function(tally, 0).with({.name = "a"}).start().value();
    ASSERT_TRUE(all_run(team));
  }
  EXPECT_TRUE(events_.comes_to("+a-a"));
}

TEST_F(supervise_test, a_killed_supervisor_takes_its_children_with_it) {
  auto team = three(restart::one_for_one);
  ASSERT_TRUE(all_run(team));
  auto child = child_of(team, 2);
  self_->monitor(child);
  self_->send_exit(team.handle(), caf::exit_reason::kill);
  EXPECT_EQ(down_reason(), caf::exit_reason::kill);
  EXPECT_EQ(down_reason(), caf::exit_reason::kill);
}

TEST_F(supervise_test, a_stopped_team_ends_normally) {
  auto team = three(restart::one_for_all);
  ASSERT_TRUE(all_run(team));
  team.stop();
  EXPECT_FALSE(down_reason());
  EXPECT_EQ(events_.lives(), "+a+b+c-c-b-a");
  for (const auto& one : events_.of(event::child_ended))
    EXPECT_TRUE(one.was_stopped);
}

TEST_F(supervise_test, a_child_that_refuses_to_stop_is_killed) {
  auto deaf = [](caf::event_based_actor* self) -> caf::behavior {
    self->set_exit_handler([](caf::exit_msg&) {});
    return {[](int) {}};
  };
  auto team = supervise(self_, options(restart::one_for_one))
                  .function([deaf](caf::actor_system& system) { return system.spawn(deaf); })
                  .with({.stop_within = 20ms})
                  .start()
                  .value();
  ASSERT_TRUE(all_run(team));
  team.stop();
  EXPECT_FALSE(down_reason());
  EXPECT_TRUE(events_.of(event::child_ended).back().reason.message().contains("kill"));
}

TEST_F(supervise_test, a_function_that_returns_no_actor_is_a_failed_start) {
  auto team = supervise(self_, options(restart::one_for_one, 1))
                  .function([](caf::actor_system&) { return caf::actor{}; })
                  .start()
                  .value();
  EXPECT_EQ(to_node_error(down_reason()).code(), node_errc::gave_up);
  EXPECT_EQ(events_.lives(), "!child!child");
}

TEST_F(supervise_test, a_failed_start_in_the_middle_of_a_group_starts_the_group_again) {
  auto failures = std::make_shared<std::atomic<int>>(1);
  auto team = supervise(self_, options(restart::one_for_all))
                  .function(tally, 0)
                  .with({.name = "a"})
                  .function([failures](caf::actor_system& system) {
                    if (failures->fetch_sub(1) > 0)
                      throw std::runtime_error("not yet");
                    return system.spawn(tally, 0);
                  })
                  .with({.name = "b"})
                  .start()
                  .value();
  EXPECT_TRUE(events_.comes_to("+a!b-a+a+b")) << events_.lives();
}

TEST_F(supervise_test, the_end_of_a_nested_supervisor_is_the_end_of_a_child) {
  event_record inner;
  auto team = supervise(self_, options(restart::one_for_one))
                  .function(tally, 0)
                  .with({.name = "a"})
                  .supervisor({.most = 0, .events = inner.sink()},
                              [](supervision& nested) { nested.function(tally, 0).with({.name = "deep"}); })
                  .with({.name = "inner"})
                  .start()
                  .value();
  ASSERT_TRUE(inner.comes_to("+deep"));
  self_->send_exit(child_of(team, 1), caf::exit_reason::kill);
  EXPECT_TRUE(events_.comes_to("+a+inner-inner+inner")) << events_.lives();
  EXPECT_TRUE(inner.comes_to("+deep+deep"));
}

TEST_F(supervise_test, a_nested_supervisor_that_gives_up_is_restarted_until_the_outer_one_gives_up) {
  event_record inner;
  auto team =
      supervise(self_, options(restart::one_for_one, 2))
          .supervisor({.most = 1, .back_off = 0ms, .events = inner.sink()},
                      [](supervision& nested) {
                        nested.function([](caf::actor_system&) -> caf::actor { throw std::runtime_error("broken"); })
                            .with({.name = "deep"});
                      })
          .with({.name = "inner"})
          .start()
          .value();
  const auto reason = to_node_error(down_reason());
  EXPECT_EQ(reason.code(), node_errc::gave_up);
  EXPECT_TRUE(reason.message().starts_with("'inner'")) << reason.message();
  EXPECT_TRUE(reason.message().contains("broken")) << reason.message();
  EXPECT_EQ(inner.count(event::gave_up), 3u);
  EXPECT_EQ(inner.count(event::child_ended), 6u);
}

TEST_F(supervise_test, a_listener_gets_events_as_messages) {
  auto names = std::make_shared<std::atomic<int>>(0);
  auto listener = system_.spawn(
      [names](caf::event_based_actor*) -> caf::behavior { return {[names](const supervisor_event&) { ++*names; }}; });
  auto team = supervise(self_, {.events = {.listener = listener}}).function(tally, 0).start().value();
  EXPECT_TRUE(eventually([&] { return *names == 1; }));
}

TEST_F(supervise_test, children_are_named_and_numbered) {
  auto team = supervise(self_, options(restart::one_for_one))
                  .function(tally, 0)
                  .function(tally, 0)
                  .with({.copies = 2})
                  .function(tally, 0)
                  .with({.name = "one"})
                  .function(tally, 0)
                  .with({.name = "two", .copies = 2})
                  .start()
                  .value();
  std::string names;
  for (const auto& one : team.children())
    names += one.name + ' ';
  EXPECT_EQ(names, "child-1 child-2 child-3 one two-1 two-2 ");
}

TEST_F(supervise_test, unusable_options_are_refused_by_name) {
  const auto problem = [](std::expected<team, node_error> made) {
    EXPECT_FALSE(made);
    EXPECT_EQ(made.error().code(), node_errc::bad_option);
    return made.error().message();
  };
  const auto has = [](const std::string& text, const std::string& part) { EXPECT_TRUE(text.contains(part)) << text; };
  has(problem(supervise(self_, {}).start()), "no children");
  has(problem(supervise(self_, {.within = 0ms}).function(tally, 0).start()), "within of 0 ms");
  has(problem(supervise(self_, {.back_off = -1ms}).function(tally, 0).start()), "back_off of -1 ms");
  has(problem(supervise(self_, {.back_off = 1min}).function(tally, 0).start()), "longest_back_off of 10000 ms");
  has(problem(supervise(self_, {}).with({.name = "a"}).function(tally, 0).start()), "before the first child");
  has(problem(supervise(self_, {}).function(tally, 0).with({.copies = 0}).start()), "copies of 'child' is 0");
  has(problem(supervise(self_, {}).function(tally, 0).with({.start_within = 0ms}).start()), "start_within of 'child'");
  has(problem(supervise(self_, {}).function(tally, 0).with({.stop_within = -1ms}).start()),
      "stop_within of 'child' is");
  has(problem(
          supervise(self_, {}).function(tally, 0).with({.name = "a"}).function(tally, 0).with({.name = "a"}).start()),
      "two children are named 'a'");
  has(problem(supervise(self_, {}).supervisor({}, [](supervision&) {}).start()), "no children");
}

TEST_F(supervise_test, the_longest_times_mean_for_ever) {
  constexpr auto for_ever = std::chrono::milliseconds::max();
  auto team = supervise(self_, {.most = 1, .within = for_ever, .back_off = 0ms, .longest_back_off = for_ever})
                  .function(tally, 0)
                  .with({.start_within = for_ever, .stop_within = for_ever})
                  .start()
                  .value();
  auto pool = team.pool({.patience = for_ever, .answer_within = for_ever}).value();
  EXPECT_EQ(ask<int>(system_, pool.handle(), 1), 1);
  self_->send(child_of(team, 0), std::string{"crash"});
  EXPECT_EQ(ask<int>(system_, child_of(team, 0, 2), 1), 1); // Restarted, and not killed for its start.
  self_->send(child_of(team, 0, 2), std::string{"crash"});  // Once too often.
  caf::error reason;
  self_->receive([&](caf::down_msg& down) { reason = std::move(down.reason); });
  EXPECT_EQ(to_node_error(reason).code(), node_errc::gave_up);
}

// -- children in a peer --

class supervised_remotely : public two_nodes {
protected:
  supervised_remotely() {
    far_config_ = [](caf::actor_system_config& config) { config.add_actor_type("tally", tally_in_peer); };
    far_options_.accepted_links.allow_spawn = true;
    far_options_.accepted_links.allow_exit = true;
  }
  static caf::behavior tally_in_peer(caf::stateful_actor<tally_state>* self, int first) { return tally(self, first); }

  supervisor_options options(std::size_t most = 50) const {
    return {.most = most, .within = 1min, .back_off = 1ms, .events = events_.sink()};
  }

  event_record events_;
};

TEST_F(supervised_remotely, a_remote_child_that_crashed_is_spawned_again) {
  connect();
  caf::scoped_actor self{near().system};
  auto team = supervise(self, options()).actor(*link_, "tally", 10).start().value();
  EXPECT_EQ(ask<int>(near().system, child_of(team, 0), 1), 11);
  self->send(child_of(team, 0), std::string{"crash"});
  EXPECT_EQ(ask<int>(near().system, child_of(team, 0, 2), 1), 11);
  EXPECT_EQ(events_.of(event::child_ended).front().reason.message(), "crashed");
  EXPECT_EQ(events_.all().front().name, "tally");
}

TEST_F(supervised_remotely, a_remote_child_is_stopped_with_its_supervisor) {
  connect();
  caf::scoped_actor self{near().system};
  auto team = supervise(self, options()).actor(*link_, "tally", 10).start().value();
  ASSERT_TRUE(all_run(team));
  auto child = child_of(team, 0);
  team.stop();
  EXPECT_TRUE(events_.comes_to("+tally-tally"));
  EXPECT_FALSE(ask<int>(near().system, child, 1));
}

TEST_F(supervised_remotely, a_lost_link_that_does_not_return_makes_the_supervisor_give_up) {
  connect();
  caf::scoped_actor self{near().system};
  auto team = supervise(self, options(3)).actor(*link_, "tally", 10).start().value();
  ASSERT_TRUE(all_run(team));
  link_->close();
  caf::error reason;
  self->receive([&](caf::down_msg& down) { reason = std::move(down.reason); });
  EXPECT_EQ(to_node_error(reason).code(), node_errc::gave_up);
  EXPECT_TRUE(troupe::text_of(reason).contains("the link to far is down")) << troupe::text_of(reason);
  EXPECT_EQ(events_.lives(), "+tally-tally!tally!tally!tally");
}

TEST_F(supervised_remotely, children_come_back_over_the_next_link) {
  far();
  auto kept = std::make_shared<reconnecting_link>(
      near().home->keep_connected(address_, {.policy = {.first_pause = 1ms, .longest_pause = 5ms}}).value());
  caf::scoped_actor self{near().system};
  auto team = supervise(self, options(10'000))
                  .actor([kept] { return kept->current(); }, "tally", 10)
                  .with({.copies = 3})
                  .start()
                  .value();
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(all_run(team));
    const auto starts = team.children()[2].starts;
    kept->current()->close();
    EXPECT_EQ(ask<int>(near().system, child_of(team, 2, starts + 1), 1), 11);
  }
  team.stop();
  EXPECT_TRUE(eventually([&] { return events_.all().back().was_stopped; }));
}

TEST_F(supervised_remotely, a_spawn_that_the_peer_refuses_is_a_failed_start_with_its_reason) {
  far_options_.accepted_links.allow_spawn = false;
  connect();
  caf::scoped_actor self{near().system};
  auto team = supervise(self, options(0)).actor(*link_, "tally", 10).start().value();
  ASSERT_TRUE(eventually([&] { return events_.count(event::gave_up) == 1; }));
  EXPECT_EQ(events_.of(event::child_ended).front().reason.code(), node_errc::not_allowed);
}

class slow_to_start : public caf::event_based_actor {
public:
  slow_to_start(caf::actor_config& config, const int&) : caf::event_based_actor(config) {
    std::this_thread::sleep_for(300ms); // In the peer's spawner.
  }
  caf::behavior make_behavior() override {
    return {[](int) {}};
  }
};

TEST_F(supervised_remotely, a_start_that_takes_too_long_fails) {
  far_config_ = [](caf::actor_system_config& config) { config.add_actor_type<slow_to_start, const int&>("tally"); };
  connect();
  caf::scoped_actor self{near().system};
  auto team = supervise(self, options(0)).actor(*link_, "tally", 10).with({.start_within = 10ms}).start().value();
  ASSERT_TRUE(eventually([&] { return events_.count(event::gave_up) == 1; }));
  EXPECT_EQ(events_.of(event::child_ended).front().reason.code(), node_errc::timed_out);
}

} // namespace
} // namespace troupe::tests
