// Goal: of several processes one runs the actor, and each run has a higher fencing number than all before it.
#include <atomic>
#include <map>
#include <mutex>

#include <gtest/gtest.h>

#include <caf/all.hpp>

#include <troupe/framework/cluster/internal/ownership/singleton_runner.hpp>
#include <troupe/framework/system_config.hpp>

#include "../../eventually.hpp"
#include "../memory_directory.hpp"

namespace troupe::tests {
namespace {

using namespace std::chrono_literals;
using namespace membership;

class singletons : public testing::Test {
protected:
  /// What one process has.
  struct process {
    explicit process(singletons& of, std::string called)
        : where(std::make_shared<memory_directory>(of.world_)), name(std::move(called)) {
      lease = where->grant(1h)->id;
      sure_until = (boot_clock::now() + 1h).time_since_epoch().count();
      runner = std::make_unique<singleton_runner>(singleton_runner::parts{
          .where = where,
          .value = name,
          .lease = [this] { return held(); },
          .margin = 100ms,
          .show = [this](const std::string&, const caf::actor& actor) { shown = actor != nullptr; },
          .problem = [this](const std::string&, const std::string&) { ++problems; }});
    }
    held_lease held() const {
      return {.id = lease, .sure_until = boot_clock::time_point{boot_clock::duration{sure_until.load()}}};
    }
    void lose_sureness() {
      sure_until = boot_clock::now().time_since_epoch().count();
      runner->wake();
    }

    std::shared_ptr<memory_directory> where;
    std::string name;
    std::atomic<std::uint64_t> lease{0};
    std::atomic<boot_clock::rep> sure_until{0};
    std::atomic<bool> shown{false};
    std::atomic<int> problems{0};
    std::unique_ptr<singleton_runner> runner;
  };

  /// Runs an actor that ends when it is told to "end", and notes what happens.
  singleton_runner::maker maker(const std::string& who) {
    return [this, who](const ownership& own) {
      const std::lock_guard guard{mutex_};
      EXPECT_GT(own.fence(), last_fence_);
      last_fence_ = own.fence();
      ++runs_[who];
      owner_ = std::make_shared<const ownership>(own);
      last_ = system_.spawn([]() -> caf::behavior { return {[](int) {}}; });
      return last_;
    };
  }
  int runs(const std::string& who) {
    const std::lock_guard guard{mutex_};
    return runs_[who];
  }
  std::uint64_t last_fence() {
    const std::lock_guard guard{mutex_};
    return last_fence_;
  }
  caf::actor last() {
    const std::lock_guard guard{mutex_};
    return last_;
  }
  bool is_sure() {
    const std::lock_guard guard{mutex_};
    return owner_->is_sure();
  }
  void TearDown() override { last_ = nullptr; }

  const std::shared_ptr<memory_world> world_ = std::make_shared<memory_world>();
  system_config config_;
  caf::actor_system system_{config_};
  std::mutex mutex_;
  std::map<std::string, int> runs_;
  std::uint64_t last_fence_ = 0;
  std::shared_ptr<const ownership> owner_;
  caf::actor last_;
};

TEST_F(singletons, are_given_up_by_a_process_that_stands_back_until_it_does_not) {
  process one{*this, "one"};
  process two{*this, "two"};
  ASSERT_TRUE(one.runner->add("clock", maker("one")));
  ASSERT_TRUE(eventually([&] { return runs("one") == 1 && one.shown; }));
  ASSERT_TRUE(two.runner->add("clock", maker("two")));
  one.runner->stand_back(true);
  ASSERT_TRUE(eventually([&] {
    two.runner->wake();
    return runs("two") == 1;
  }));
  two.runner->stand_back(true);
  ASSERT_TRUE(eventually([&] { return !world_->entry("singletons/clock"); }));
  EXPECT_EQ(runs("one"), 1);
  one.runner->stand_back(false);
  EXPECT_TRUE(eventually([&] { return runs("one") == 2; }));
}

TEST_F(singletons, are_run_by_one_process) {
  process one{*this, "one"};
  process two{*this, "two"};
  EXPECT_TRUE(one.runner->add("clock", maker("one")));
  EXPECT_FALSE(one.runner->add("clock", maker("one")));
  ASSERT_TRUE(eventually([&] { return one.shown.load(); }));
  two.runner->add("clock", maker("two"));
  EXPECT_EQ(world_->entry("singletons/clock")->value, "one");
  EXPECT_EQ(world_->entry("singletons/clock")->created_revision, last_fence());
  EXPECT_TRUE(is_sure());
  EXPECT_EQ(runs("two"), 0);
}

TEST_F(singletons, move_in_order_when_their_process_leaves) {
  process two{*this, "two"};
  {
    process one{*this, "one"};
    one.runner->add("clock", maker("one"));
    ASSERT_TRUE(eventually([&] { return runs("one") == 1; }));
    two.runner->add("clock", maker("two"));
  }
  two.runner->wake(); // As the watch would.
  ASSERT_TRUE(eventually([&] { return runs("two") == 1; }));
}

TEST_F(singletons, end_before_the_lease_may_and_begin_anew_with_a_higher_number_when_it_is_sure_again) {
  process one{*this, "one"};
  one.runner->add("clock", maker("one"));
  ASSERT_TRUE(eventually([&] { return one.shown.load(); }));
  const auto first = last_fence();
  const auto actor = last();
  one.lose_sureness();
  EXPECT_FALSE(is_sure());
  ASSERT_TRUE(eventually([&] { return !one.shown.load(); }));
  one.sure_until = (boot_clock::now() + 1h).time_since_epoch().count();
  one.runner->wake();
  ASSERT_TRUE(eventually([&] { return runs("one") == 2; }));
  EXPECT_GT(last_fence(), first);
}

TEST_F(singletons, move_when_the_lease_of_their_process_is_gone) {
  process one{*this, "one"};
  process two{*this, "two"};
  one.runner->add("clock", maker("one"));
  ASSERT_TRUE(eventually([&] { return runs("one") == 1; }));
  two.runner->add("clock", maker("two"));
  world_->expire(one.lease);
  two.runner->wake();
  ASSERT_TRUE(eventually([&] { return runs("two") == 1; }));
  one.lease = one.where->grant(1h)->id;
  one.runner->wake();
  ASSERT_TRUE(eventually([&] { return !one.shown.load(); }));
  EXPECT_EQ(world_->entry("singletons/clock")->value, "two");
}

TEST_F(singletons, begin_anew_when_their_actor_ends) {
  process one{*this, "one"};
  one.runner->add("clock", maker("one"));
  ASSERT_TRUE(eventually([&] { return one.shown.load(); }));
  caf::anon_send_exit(last(), caf::exit_reason::kill);
  ASSERT_TRUE(eventually([&] { return runs("one") == 2; }));
}

TEST_F(singletons, keep_their_entry_while_a_handler_goes_on) {
  process one{*this, "one"};
  process two{*this, "two"};
  std::atomic<bool> is_busy{false};
  std::atomic<bool> may_end{false};
  one.runner->add("clock", [&](const ownership&) {
    const auto busy = system_.spawn([&]() -> caf::behavior {
      return {[&](int) {
        is_busy = true;
        while (!may_end)
          std::this_thread::sleep_for(1ms);
      }};
    });
    caf::anon_send(busy, 1);
    return busy;
  });
  ASSERT_TRUE(eventually([&] { return is_busy.load(); }));
  two.runner->add("clock", maker("two"));
  one.lose_sureness();
  ASSERT_TRUE(eventually([&] { return !one.shown.load(); }));
  two.runner->wake();
  EXPECT_EQ(world_->entry("singletons/clock")->value, "one"); // Until its lease is gone.
  EXPECT_EQ(runs("two"), 0);
  may_end = true;
  ASSERT_TRUE(eventually([&] {
    two.runner->wake();
    return runs("two") == 1;
  }));
}

TEST_F(singletons, end_although_many_messages_wait_for_their_actor) {
  process one{*this, "one"};
  std::atomic<int> handled{0};
  caf::actor slow;
  one.runner->add("clock", [&](const ownership&) {
    slow = system_.spawn([&]() -> caf::behavior {
      return {[&](int) {
        ++handled;
        std::this_thread::sleep_for(5ms);
      }};
    });
    return slow;
  });
  ASSERT_TRUE(eventually([&] { return one.shown.load(); }));
  for (auto i = 0; i < 5'000; ++i)
    caf::anon_send(slow, i);
  one.lose_sureness();
  ASSERT_TRUE(eventually([&] { return !world_->entry("singletons/clock"); }));
  EXPECT_LT(handled, 5'000);
  slow = nullptr;
}

TEST_F(singletons, that_ended_by_themselves_are_not_owned_any_more_in_any_copy_of_their_ownership) {
  process one{*this, "one"};
  one.runner->add("clock", maker("one"));
  ASSERT_TRUE(eventually([&] { return one.shown.load(); }));
  const auto first = [&] {
    const std::lock_guard guard{mutex_};
    return *owner_;
  }();
  EXPECT_TRUE(first.is_sure());
  caf::anon_send_exit(last(), caf::exit_reason::kill);
  ASSERT_TRUE(eventually([&] { return !first.is_sure(); }));
  ASSERT_TRUE(eventually([&] { return runs("one") == 2; }));
  EXPECT_FALSE(first.is_sure());
  const std::lock_guard guard{mutex_};
  EXPECT_TRUE(owner_->is_sure());
}

TEST_F(singletons, are_left_to_others_if_they_cannot_be_made) {
  process one{*this, "one"};
  process two{*this, "two"};
  one.runner->add("clock", [](const ownership&) -> caf::actor { throw std::runtime_error("oh"); });
  ASSERT_TRUE(eventually([&] { return one.problems > 0; }));
  two.runner->add("clock", maker("two"));
  ASSERT_TRUE(eventually([&] {
    two.runner->wake();
    return runs("two") == 1;
  }));
}

TEST_F(singletons, wait_for_a_directory_that_is_away) {
  process one{*this, "one"};
  world_->fail(directory_errc::unavailable);
  one.runner->add("clock", maker("one"));
  ASSERT_TRUE(eventually([&] { return one.problems > 1; }));
  world_->fail(std::nullopt);
  ASSERT_TRUE(eventually([&] { return runs("one") == 1; }));
}

TEST(a_fencing_gate, admits_nobody_after_a_higher_number) {
  fencing_gate gate;
  EXPECT_TRUE(gate.admits(3));
  EXPECT_TRUE(gate.admits(3));
  EXPECT_TRUE(gate.admits(5));
  EXPECT_FALSE(gate.admits(3));
  EXPECT_EQ(gate.highest(), 5u);
  fencing_gate later{gate.highest()};
  EXPECT_FALSE(later.admits(4));
}

} // namespace
} // namespace troupe::tests
