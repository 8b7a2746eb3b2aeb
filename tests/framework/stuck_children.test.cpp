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
};

/// Never ends, and starts only if it may.
class stuck_kind final : public internal::child_kind {
public:
  stuck_kind(std::shared_ptr<stuck_calls> calls, bool starts) : calls_(std::move(calls)), starts_(starts) {}

  std::shared_ptr<internal::child_run> start(caf::event_based_actor&, const std::string&, std::chrono::milliseconds,
                                             internal::news_sink news) const override {
    ++calls_->starts;
    if (starts_)
      news({.started = caf::actor{}});
    return std::make_shared<run>(calls_);
  }

private:
  class run final : public internal::child_run {
  public:
    explicit run(std::shared_ptr<stuck_calls> calls) : calls_(std::move(calls)) {}
    void stop() override { ++calls_->stops; }
    void kill() override { ++calls_->kills; }

  private:
    const std::shared_ptr<stuck_calls> calls_;
  };

  const std::shared_ptr<stuck_calls> calls_;
  const bool starts_;
};

class stuck_children : public testing::Test {
protected:
  stuck_children() = default;

  caf::actor supervise_one(bool starts, std::size_t most) {
    internal::supervisor_spec spec{.options = {.most = most, .back_off = 0ms, .events = events_.sink()},
                                   .children = {{{.name = "stuck", .start_within = 30ms, .stop_within = 20ms},
                                                 std::make_shared<const stuck_kind>(calls_, starts)}},
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
  (void)supervise_one(false, 2);
  const auto reason = to_node_error(down_reason());
  EXPECT_EQ(reason.code(), node_errc::gave_up);
  EXPECT_TRUE(reason.message().contains("it has not started within 30 ms")) << reason.message();
  EXPECT_EQ(calls_->starts, 3);
  EXPECT_EQ(calls_->kills, 3);
  EXPECT_EQ(events_.lives(), "!stuck!stuck!stuck");
}

TEST_F(stuck_children, that_do_not_end_when_they_are_killed_are_given_up) {
  auto supervisor = supervise_one(true, 2);
  ASSERT_TRUE(events_.comes_to("+stuck"));
  internal::stop_supervisor(supervisor);
  EXPECT_FALSE(down_reason()); // After 5 s.
  EXPECT_EQ(calls_->stops, 1);
  EXPECT_EQ(calls_->kills, 1);
  EXPECT_EQ(events_.count(supervisor_event::kind::child_stuck), 1u);
}

} // namespace
} // namespace troupe::tests
