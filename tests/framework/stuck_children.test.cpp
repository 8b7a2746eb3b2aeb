// Goal: a supervisor waits for no child without an end.
// Method: children of a kind that reports only what it is told to.
#include <gtest/gtest.h>

#include <troupe/framework/internal/supervision/supervisor_actor.hpp>
#include <troupe/framework/system_config.hpp>

#include "supervised_actors.hpp"

namespace troupe::tests {
namespace {

struct stuck_calls {
  std::atomic<int> starts{0};
  std::atomic<int> stops{0};
  std::atomic<int> kills{0};
  std::mutex mutex;
  internal::news_sink news; // Of the newest run. Guarded by mutex.
};

/// What children do by themselves.
struct stuck_habits {
  bool starts = false;
  bool ends_if_killed = false;
  caf::actor actor = {};
};

/// Starts, and ends if it is killed, only if these are its habits.
class stuck_kind final : public internal::child_kind {
public:
  stuck_kind(std::shared_ptr<stuck_calls> calls, stuck_habits habits)
      : calls_(std::move(calls)), habits_(std::move(habits)) {}

  std::shared_ptr<internal::child_run> start(caf::event_based_actor&, const std::string&, std::chrono::milliseconds,
                                             internal::news_sink news) const override {
    ++calls_->starts;
    {
      const std::lock_guard guard{calls_->mutex};
      calls_->news = news;
    }
    if (habits_.starts)
      news({.started = habits_.actor});
    return std::make_shared<run>(calls_, habits_.ends_if_killed ? std::move(news) : internal::news_sink{});
  }

  std::string_view name() const override { return "actor"; }

private:
  class run final : public internal::child_run {
  public:
    run(std::shared_ptr<stuck_calls> calls, internal::news_sink ended)
        : calls_(std::move(calls)), ended_(std::move(ended)) {}
    void stop() override { ++calls_->stops; }
    void kill() override {
      ++calls_->kills;
      if (ended_)
        ended_({.ended = internal::child_end{.reason = {node_errc::spawn_failed, "its last words"}}});
    }

  private:
    const std::shared_ptr<stuck_calls> calls_;
    const internal::news_sink ended_; // Empty if it never ends.
  };

  const std::shared_ptr<stuck_calls> calls_;
  const stuck_habits habits_;
};

class stuck_children : public testing::Test {
protected:
  stuck_children() = default;

  caf::actor supervise_one(const stuck_habits& habits, std::size_t most) {
    internal::supervisor_spec spec{.options = {.most = most, .back_off = 0ms, .events = events_.sink()},
                                   .children = {{{.name = "stuck", .start_within = 30ms, .stop_within = 20ms},
                                                 std::make_shared<const stuck_kind>(calls_, habits)}},
                                   .groups = {"stuck"}};
    auto supervisor = internal::spawn_supervisor(system_, spec, internal::roster_of(spec));
    self_->monitor(supervisor);
    return supervisor;
  }
  caf::error down_reason() {
    caf::error reason;
    self_->receive([&](caf::down_msg& down) { reason = std::move(down.reason); },
                   caf::after(20s) >> [&] { reason = caf::sec::request_timeout; });
    return reason;
  }

  system_config config_;
  caf::actor_system system_{config_};
  caf::scoped_actor self_{system_};
  event_record events_;
  const std::shared_ptr<stuck_calls> calls_ = std::make_shared<stuck_calls>();
};

TEST_F(stuck_children, that_do_not_start_are_killed_and_started_again) {
  (void)supervise_one({.ends_if_killed = true}, 2);
  const auto reason = to_node_error(down_reason());
  EXPECT_EQ(reason.code(), node_errc::gave_up);
  EXPECT_TRUE(reason.message().contains("it has not started within 30 ms; its last words")) << reason.message();
  EXPECT_EQ(calls_->starts, 3);
  EXPECT_EQ(calls_->kills, 3);
  EXPECT_EQ(events_.lives(), "!stuck!stuck!stuck");
  EXPECT_EQ(events_.of(supervisor_event::kind::child_ended).front().reason.code(), node_errc::timed_out);
}

TEST_F(stuck_children, that_neither_start_nor_end_when_they_are_killed_are_given_up) {
  (void)supervise_one({}, 0);
  const auto reason = to_node_error(down_reason()); // After 5 s.
  EXPECT_EQ(reason.code(), node_errc::gave_up);
  EXPECT_EQ(calls_->starts, 1);
  EXPECT_EQ(events_.count(supervisor_event::kind::child_stuck), 1u);
  EXPECT_EQ(events_.lives(), "!stuck");
}

TEST_F(stuck_children, that_start_although_they_are_to_stop_are_not_offered_to_pools) {
  auto other_calls = std::make_shared<stuck_calls>();
  internal::supervisor_spec spec{
      .options = {.strategy = restart::one_for_all, .most = 10, .events = events_.sink()},
      .children = {{{.name = "first", .start_within = 1h},
                    std::make_shared<const stuck_kind>(other_calls, stuck_habits{.starts = true})},
                   {{.name = "slow", .start_within = 1h, .stop_within = 1h},
                    std::make_shared<const stuck_kind>(calls_, stuck_habits{})}},
      .groups = {"first", "slow"}};
  auto roster = internal::roster_of(spec);
  auto supervisor = internal::spawn_supervisor(system_, spec, roster);
  ASSERT_TRUE(eventually([&] { return calls_->starts == 1; }));
  other_calls->news({.ended = internal::child_end{}});
  ASSERT_TRUE(eventually([&] { return calls_->stops == 1; }));
  internal::news_sink slow;
  {
    const std::lock_guard guard{calls_->mutex};
    slow = calls_->news;
  }
  slow({.started = system_.spawn([](caf::event_based_actor*) -> caf::behavior { return {[](int) {}}; })});
  EXPECT_TRUE(events_.comes_to("+first-first+slow"));
  EXPECT_FALSE(roster->now().children[1].handle);
  slow({.ended = internal::child_end{}});
  EXPECT_TRUE(events_.comes_to("+first-first+slow-slow+first"));
  caf::anon_send_exit(supervisor, caf::exit_reason::kill);
}

TEST_F(stuck_children, that_do_not_end_when_they_are_killed_are_given_up) {
  auto supervisor = supervise_one({.starts = true}, 2);
  ASSERT_TRUE(events_.comes_to("+stuck"));
  internal::stop_supervisor(supervisor);
  EXPECT_FALSE(down_reason()); // After 5 s.
  EXPECT_EQ(calls_->stops, 1);
  EXPECT_EQ(calls_->kills, 1);
  EXPECT_EQ(events_.count(supervisor_event::kind::child_stuck), 1u);
}

} // namespace
} // namespace troupe::tests
