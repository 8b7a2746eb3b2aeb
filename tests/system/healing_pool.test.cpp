// Supervised worker processes that are killed, stopped, ended and cut off at random while clients use their pool.
#include <array>
#include <deque>

#include <troupe/framework/supervise.hpp>

#include "healing_world.hpp"

namespace troupe::tests {
namespace {

std::size_t entries(const char* folder) {
  return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator{folder}, {}));
}

class healing_pool : public healing, public testing::WithParamInterface<restart> {
protected:
  troupe::team start_team() {
    const supervisor_options options{
        .strategy = GetParam(), .most = 1'000'000, .back_off = 1ms, .longest_back_off = 20ms};
    return supervise(self_, options)
        .process(home_->node,
                 {.program = TROUPE_HEALING_PEER,
                  .environment = {{"TROUPE_TEST_RUN", run_}},
                  .stop_timeout = 500ms,
                  .output = [](auto, bool) {}},
                 spawned{"doubler"})
        .with({.name = "worker", .copies = 4, .stop_within = 500ms})
        .start()
        .value();
  }

  static bool all_run(const team& whole) {
    return eventually([&] { return std::ranges::all_of(whole.children(), &child_status::is_running); }, 30s);
  }

  void order(const team& whole, const char* what) {
    const auto children = whole.children();
    if (const auto& to = children[any(children.size())].handle)
      caf::anon_send(to, std::string{what});
  }

  void disturb(const team& whole) {
    enum class kind { kill, suspend, exit, quit, fail, cut, close };
    using enum kind;
    static const std::vector<kind> kinds{kill, kill, suspend, suspend, exit, quit, fail, cut, close};
    static std::vector<kind> rest;
    const auto workers = left();
    const auto links = home_->node.links();
    switch (next_of(kinds, rest)) {
    case kill:
      if (!workers.empty())
        send(workers[any(workers.size())], SIGKILL);
      break;
    case suspend:
      if (!workers.empty())
        healing::suspend(workers[any(workers.size())]);
      break;
    case exit:
      return order(whole, "exit");
    case quit:
      return order(whole, "quit");
    case fail:
      return order(whole, "fail");
    case cut:
      return order(whole, "cut");
    case close:
      if (!links.empty()) {
        auto link = links[any(links.size())];
        link.close();
      }
      break;
    }
  }

  void disturb_for_a_while(const team& whole) {
    const auto pause = GetParam() == restart::one_for_one ? 150ms : 400ms;
    auto next = clock::now();
    for (const auto end = clock::now() + strategy_time; clock::now() < end; std::this_thread::sleep_for(2ms)) {
      resume(false);
      if (clock::now() < next)
        continue;
      disturb(whole);
      next = clock::now() + up_to(pause);
    }
    resume(true);
  }

  /// The pool has answered as many requests as its clients have made.
  static void expect_all_answered(const pool_stats& stats, const ledger& answers) {
    EXPECT_EQ(stats.answered + stats.failed, answers.total());
    EXPECT_EQ(stats.unanswered, 0u);
    EXPECT_EQ(stats.waiting, 0u);
  }

  void expect_end(const team& whole) {
    whole.stop();
    caf::error reason = caf::sec::runtime_error;
    self_->receive([&](caf::down_msg& down) { reason = std::move(down.reason); },
                   caf::after(30s) >> [] { ADD_FAILURE() << "the supervisor has not ended"; });
    EXPECT_FALSE(reason) << troupe::text_of(reason);
  }

  std::optional<home> home_{run_};
  caf::scoped_actor self_{home_->system};
};

std::string name_of(const testing::TestParamInfo<restart>& strategy) {
  static constexpr std::array names{"one_for_one", "one_for_all", "rest_for_one"};
  return names[static_cast<std::size_t>(strategy.param)];
}

INSTANTIATE_TEST_SUITE_P(each_strategy, healing_pool,
                         testing::Values(restart::one_for_one, restart::one_for_all, restart::rest_for_one), name_of);

// Goal: a pool answers each request once, even if workers end, stop or lose their links. Nothing is left behind.
// Method: one pool repeats requests, the other one does not; each has two clients.
TEST_P(healing_pool, answers_every_request_once_and_leaves_nothing) {
  auto team = std::make_optional(start_team());
  ASSERT_TRUE(all_run(*team));
  const auto descriptors = entries("/proc/self/fd");
  const auto threads = entries("/proc/self/task");
  ledger once, repeated;
  {
    const auto plain = team->pool().value();
    const auto stubborn = team->pool({.retry_idempotent = true, .repeats_most = 1'000'000}).value();
    {
      std::deque<client> clients;
      for (const auto number : {0, 200'000'000})
        clients.emplace_back(home_->system, plain.handle(), number, true, once);
      for (const auto number : {400'000'000, 600'000'000})
        clients.emplace_back(home_->system, stubborn.handle(), number, true, repeated);
      disturb_for_a_while(*team);
      for (auto& each : clients)
        each.stop();
    }
    std::cout << "once:" << once << "\nrepeated:" << repeated << std::endl;
    once.expect_only({"child_lost"});
    repeated.expect_only({});
    expect_all_answered(plain.stats(), once);
    expect_all_answered(stubborn.stats(), repeated);
    EXPECT_TRUE(all_run(*team));
    EXPECT_TRUE(eventually([&] { return entries("/proc/self/fd") < descriptors + 10; })) << entries("/proc/self/fd");
    EXPECT_TRUE(eventually([&] { return entries("/proc/self/task") < threads + 10; })) << entries("/proc/self/task");
  }
  expect_end(*team);
  EXPECT_EQ(left(), std::vector<pid_t>{});
  EXPECT_EQ(processes::family_of(::getpid()), std::vector<pid_t>{::getpid()});
  team.reset();
  EXPECT_TRUE(eventually([&] { return store::object_store{*home_->node.store()}.summary()->objects == 0; }));
}

/// A process that supervises workers until it is killed.
class healing_parent : public healing {
protected:
  enum class moment { any, all_run, in_a_restart, one_is_stopped };

  processes::process start_parent() {
    return processes::process::start({.program = TROUPE_HEALING_PEER,
                                      .words = {TROUPE_HEALING_PEER, "parent", run_},
                                      .output = processes::lines{},
                                      .environment = {{"TROUPE_TEST_RUN", run_}}})
        .value();
  }

  void wait_for_moment(moment which, processes::process& parent) {
    if (which == moment::any)
      return std::this_thread::sleep_for(std::chrono::microseconds{any(200'000)});
    ASSERT_EQ(parent.channel().read_line(30s), "all");
    if (which == moment::all_run)
      return;
    auto workers = left();
    std::erase(workers, parent.number());
    ASSERT_EQ(workers.size(), 4u);
    send(workers[any(4)], which == moment::one_is_stopped ? SIGSTOP : SIGKILL);
    if (which == moment::in_a_restart)
      std::this_thread::sleep_for(std::chrono::microseconds{any(50'000)});
  }
};

TEST_F(healing_parent, that_is_killed_takes_its_workers_along_at_any_moment) {
  for (auto round = 0; round < 20; ++round) {
    const auto when = static_cast<moment>(round % 4);
    SCOPED_TRACE("round " + std::to_string(round));
    auto parent = start_parent();
    ASSERT_NO_FATAL_FAILURE(wait_for_moment(when, parent));
    parent.kill();
    ASSERT_TRUE(eventually([this] { return left().empty(); }));
    if (when != moment::all_run) { // All of them may have been killed; then the next one to open the store cleans up.
      EXPECT_TRUE(store::object_store::open({.name = run_, .capacity_bytes = 64_MiB}));
    }
    ASSERT_EQ(files(), std::vector<std::string>{});
  }
}

} // namespace
} // namespace troupe::tests
