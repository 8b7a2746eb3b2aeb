// Goal: processes are supervised like actors, and none is left behind.
#include <csignal>
#include <random>

#include <gtest/gtest.h>

#include <troupe/framework/system_config.hpp>

#include "supervised_actors.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

using event = supervisor_event::kind;

class supervised_processes : public testing::Test {
protected:
  supervised_processes() = default;

  supervisor_options options(std::size_t most = 10'000) const {
    return {.most = most, .within = 1min, .back_off = 1ms, .longest_back_off = 20ms, .events = events_.sink()};
  }
  worker_options program(std::vector<std::string> arguments = {}) const {
    return {
        .program = SUPERVISED_WORKER, .arguments = std::move(arguments), .name = "worker", .output = [](auto, bool) {}};
  }
  pid_t process_of(const caf::actor& child) { return ask<int>(side_.system, child, std::string{"who"}).value_or(0); }
  static bool runs(pid_t process) { return ::kill(process, 0) == 0; }

  side side_{{.name = "home"}};
  caf::scoped_actor self_{side_.system};
  event_record events_;
};

TEST_F(supervised_processes, a_killed_process_is_started_again_with_its_actor) {
  auto team = supervise(self_, options()).process(*side_.home, program(), spawned{"squarer"}).start().value();
  const auto first = process_of(child_of(team, 0));
  ASSERT_GT(first, 0);
  ::kill(first, SIGKILL);
  EXPECT_EQ(ask<int>(side_.system, child_of(team, 0, 2), 7), 49);
  EXPECT_NE(process_of(child_of(team, 0, 2)), first);
  const auto ended = events_.of(event::child_ended).front();
  EXPECT_EQ(ended.signal, SIGKILL);
  EXPECT_EQ(ended.exit_status, std::nullopt);
  EXPECT_EQ(ended.name, "worker");
  EXPECT_TRUE(ended.cause.contains("SIGKILL")) << ended.cause;
  EXPECT_TRUE(ended.reason.message().contains("the process ended: SIGKILL")) << ended.reason.message();
}

TEST_F(supervised_processes, an_actor_that_the_process_publishes_is_found) {
  auto team = supervise(self_, options()).process(*side_.home, program(), published{"published"}).start().value();
  EXPECT_EQ(ask<int>(side_.system, child_of(team, 0), 7), 49);
}

TEST_F(supervised_processes, a_process_without_an_actor_runs_as_well) {
  auto team = supervise(self_, options()).process(*side_.home, program()).start().value();
  EXPECT_TRUE(all_run(team));
  EXPECT_FALSE(team.children().front().handle);
}

TEST_F(supervised_processes, an_actor_that_ends_ends_its_process) {
  auto team = supervise(self_, options())
                  .process(*side_.home, program(), spawned{"squarer"})
                  .with({.lifetime = lifetime::transient})
                  .start()
                  .value();
  const auto process = process_of(child_of(team, 0));
  self_->send(child_of(team, 0), std::string{"end"});
  EXPECT_TRUE(events_.comes_to("+worker-worker"));
  EXPECT_TRUE(eventually([&] { return !runs(process); }));
  EXPECT_EQ(events_.count(event::restarting), 0u); // It ended normally.
}

TEST_F(supervised_processes, a_program_that_ends_at_once_is_told_with_its_last_words) {
  auto team = supervise(self_, options(2)).process(*side_.home, program({"exit", "3"})).start().value();
  caf::error reason;
  self_->receive([&](caf::down_msg& down) { reason = std::move(down.reason); });
  EXPECT_EQ(to_node_error(reason).code(), node_errc::gave_up);
  EXPECT_TRUE(troupe::text_of(reason).contains("no use to go on")) << troupe::text_of(reason);
  EXPECT_EQ(events_.lives(), "!worker!worker!worker");
  const auto ended = events_.of(event::child_ended).front();
  EXPECT_EQ(ended.exit_status, 3);
  EXPECT_EQ(ended.last_lines, (std::vector<std::string>{"a line before the last", "no use to go on"}));
}

TEST_F(supervised_processes, a_program_that_is_not_there_is_a_failed_start) {
  auto team = supervise(self_, options(0)).process(*side_.home, {.program = "/not/there"}).start().value();
  ASSERT_TRUE(eventually([&] { return events_.count(event::gave_up) == 1; }));
  EXPECT_EQ(events_.lives(), "!there");
  EXPECT_EQ(events_.of(event::child_ended).front().reason.code(), node_errc::spawn_failed);
}

TEST_F(supervised_processes, an_actor_type_that_the_program_does_not_have_is_a_failed_start) {
  auto team = supervise(self_, options(0)).process(*side_.home, program(), spawned{"cube"}).start().value();
  ASSERT_TRUE(eventually([&] { return events_.count(event::gave_up) == 1; }));
  const auto ended = events_.of(event::child_ended).front();
  EXPECT_TRUE(ended.is_failed_start);
  EXPECT_EQ(ended.reason.code(), node_errc::not_found) << ended.reason.message();
}

TEST_F(supervised_processes, a_function_that_throws_instead_of_spawning_is_a_failed_start) {
  hosted_actor thrower;
  thrower.spawn = [](const link&) -> spawn_request<caf::actor> { throw std::runtime_error("no arguments"); };
  auto team = supervise(self_, options(0)).process(*side_.home, program(), thrower).start().value();
  ASSERT_TRUE(eventually([&] { return events_.count(event::gave_up) == 1; }));
  const auto ended = events_.of(event::child_ended).front();
  EXPECT_TRUE(ended.is_failed_start);
  EXPECT_EQ(ended.reason.code(), node_errc::spawn_failed) << ended.reason.message();
  EXPECT_TRUE(ended.reason.message().ends_with("threw: no arguments")) << ended.reason.message();
}

TEST_F(supervised_processes, a_process_that_hangs_in_its_start_is_told_with_its_last_words) {
  auto team = supervise(self_, options(0))
                  .process(*side_.home, program({"sleep"}))
                  .with({.start_within = 2s})
                  .start()
                  .value();
  ASSERT_TRUE(eventually([&] { return events_.count(event::gave_up) == 1; }));
  const auto ended = events_.of(event::child_ended).front();
  EXPECT_TRUE(ended.is_failed_start);
  EXPECT_EQ(ended.reason.code(), node_errc::timed_out) << ended.reason.message();
  EXPECT_EQ(ended.signal, SIGKILL);
  EXPECT_EQ(ended.last_lines, (std::vector<std::string>{"waiting for the key"}));
}

TEST_F(supervised_processes, unusable_options_of_a_worker_are_refused_before_it_is_started) {
  auto bad = program();
  bad.limits.niceness = 20;
  const auto made = supervise(self_, options()).process(*side_.home, bad).start();
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code(), node_errc::bad_option);
  EXPECT_TRUE(made.error().message().contains("limits.niceness of worker worker is 20")) << made.error().message();
}

TEST_F(supervised_processes, a_stopped_team_leaves_no_process) {
  auto team = supervise(self_, options())
                  .process(*side_.home, program(), spawned{"squarer"})
                  .with({.copies = 3})
                  .start()
                  .value();
  ASSERT_TRUE(all_run(team));
  std::vector<pid_t> processes;
  for (const auto& one : team.children())
    processes.push_back(process_of(one.handle));
  team.stop();
  caf::error reason;
  self_->receive([&](caf::down_msg& down) { reason = std::move(down.reason); });
  EXPECT_FALSE(reason);
  EXPECT_EQ(std::ranges::count_if(processes, runs), 0);
}

TEST_F(supervised_processes, answer_every_request_once_while_they_are_killed_at_random) {
  auto team = supervise(self_, options())
                  .process(*side_.home, program(), spawned{"squarer"})
                  .with({.copies = 3})
                  .start()
                  .value();
  auto pool = team.pool({.retry_idempotent = true, .repeats_most = 1'000}).value();
  constexpr int requests = 3'000;
  auto answers = std::make_shared<std::vector<std::atomic<int>>>(requests);
  auto wrong = std::make_shared<std::atomic<int>>(0);
  auto settled = std::make_shared<std::atomic<int>>(0);
  auto asking = side_.system.spawn([=, to = pool.handle()](caf::event_based_actor* self) -> caf::behavior {
    return {[=](int from) {
      for (int i = from; i < from + 100; ++i)
        self->request(to, caf::infinite, i)
            .then(
                [=](int square) {
                  ++(*answers)[static_cast<std::size_t>(i)];
                  *wrong += square != i * i;
                  ++*settled;
                },
                [=](const caf::error&) {
                  ++(*answers)[static_cast<std::size_t>(i)];
                  ++*wrong;
                  ++*settled;
                });
    }};
  });
  std::mt19937_64 random{7};
  std::size_t kills = 0;
  for (int from = 0; from < requests; from += 100) {
    caf::anon_send(asking, from);
    if (from % 300 == 0)
      if (const auto process = process_of(child_of(team, random() % 3)); process > 0)
        kills += ::kill(process, SIGKILL) == 0;
    EXPECT_TRUE(eventually([&] { return *settled >= from; }));
  }
  EXPECT_TRUE(eventually([&] { return *settled == requests; }));
  EXPECT_EQ(*wrong, 0);
  for (const auto& one : *answers)
    EXPECT_EQ(one, 1);
  EXPECT_GT(kills, 5u);
  EXPECT_TRUE(eventually([&] { return events_.count(event::child_ended) >= kills; }));
}

} // namespace
} // namespace troupe::tests
