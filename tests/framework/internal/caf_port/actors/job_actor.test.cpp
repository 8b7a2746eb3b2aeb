// Goal: jobs run in order, on other threads, and at most the permitted number at a time.
#include <troupe/framework/internal/caf_port/actors/job_actor.hpp>

#include <atomic>
#include <chrono>
#include <future>
#include <latch>
#include <optional>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>

namespace troupe::internal {
namespace {

class jobs_in_an_actor : public testing::Test {
protected:
  caf::actor_system_config config_;
  caf::actor_system system_{config_};
  std::optional<job_actor> jobs_{std::in_place, system_};
};

TEST_F(jobs_in_an_actor, run_in_their_order_on_another_thread) {
  std::vector<int> seen;
  std::promise<std::thread::id> last;
  for (int i = 0; i < 100; ++i)
    jobs_->run_soon([&seen, i] { seen.push_back(i); });
  jobs_->run_soon([&] { last.set_value(std::this_thread::get_id()); });
  EXPECT_NE(last.get_future().get(), std::this_thread::get_id());
  ASSERT_EQ(seen.size(), 100u);
  for (int i = 0; i < 100; ++i)
    EXPECT_EQ(seen[static_cast<std::size_t>(i)], i);
}

TEST_F(jobs_in_an_actor, are_one_at_a_time_whoever_comes_first) {
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  std::atomic<int> left = 200;
  std::promise<void> done;
  const auto job = [&] {
    const auto now = ++running;
    most = std::max(most.load(), now);
    std::this_thread::yield();
    --running;
    if (--left == 0)
      done.set_value();
  };
  {
    std::vector<std::jthread> callers;
    for (int i = 0; i < 4; ++i)
      callers.emplace_back([&] {
        for (int each = 0; each < 50; ++each)
          jobs_->run_soon(job);
      });
  }
  done.get_future().get();
  EXPECT_EQ(most, 1);
}

TEST_F(jobs_in_an_actor, may_ask_for_others) {
  std::promise<void> done;
  jobs_->run_soon([&] { jobs_->run_soon([&] { done.set_value(); }); });
  done.get_future().get();
}

TEST_F(jobs_in_an_actor, are_dropped_at_its_end) {
  std::promise<void> begun;
  std::promise<void> go_on;
  auto kept = std::make_shared<int>(5);
  jobs_->run_soon([&] {
    begun.set_value();
    go_on.get_future().get();
  });
  jobs_->run_soon([kept] { FAIL() << "ran after the end"; });
  begun.get_future().get();
  jobs_.reset();
  go_on.set_value();
  while (kept.use_count() > 1)
    std::this_thread::yield();
}

/// Has a system with a specified number of workers.
class several_jobs : public testing::Test {
protected:
  job_actor& make(std::size_t workers, std::size_t at_once) {
    config_.set("scheduler.max-threads", workers);
    system_.emplace(config_);
    return jobs_.emplace(*system_, at_once);
  }

  caf::actor_system_config config_;
  std::optional<caf::actor_system> system_;
  std::optional<job_actor> jobs_;
};

// Method: no job ends before all of them have started.
TEST_F(several_jobs, run_at_a_time) {
  auto& jobs = make(4, 3);
  std::latch begun{3};
  std::latch done{6};
  for (int i = 0; i < 3; ++i)
    jobs.run_soon([&] {
      begun.arrive_and_wait();
      done.count_down();
    });
  for (int i = 0; i < 3; ++i)
    jobs.run_soon([&] { done.count_down(); });
  done.wait();
}

TEST_F(several_jobs, are_no_more_than_they_may_be) {
  auto& jobs = make(4, 2);
  std::atomic<int> running = 0;
  std::atomic<int> most = 0;
  std::latch done{200};
  for (int i = 0; i < 200; ++i)
    jobs.run_soon([&] {
      const auto now = ++running;
      for (auto before = most.load(); before < now && !most.compare_exchange_weak(before, now);) {
      }
      std::this_thread::yield();
      --running;
      done.count_down();
    });
  done.wait();
  EXPECT_LE(most, 2);
}

TEST_F(several_jobs, leave_one_worker_to_others) {
  auto& jobs = make(2, 8);
  std::promise<void> open;
  auto opened = open.get_future().share();
  std::latch done{8};
  for (int i = 0; i < 8; ++i)
    jobs.run_soon([&, opened] {
      opened.wait();
      done.count_down();
    });
  std::promise<void> ran;
  system_->spawn([&] { ran.set_value(); });
  EXPECT_EQ(ran.get_future().wait_for(std::chrono::seconds{10}), std::future_status::ready);
  open.set_value();
  done.wait();
}

} // namespace
} // namespace troupe::internal
