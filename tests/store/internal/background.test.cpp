// Background jobs, without a store.
#include <troupe/store/internal/attachment/background.hpp>

#include <gtest/gtest.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <vector>

namespace troupe::store::internal {

namespace {

using namespace std::chrono_literals;

class background_test : public ::testing::Test {
protected:
  /// Records the job. Returns the last of `answers_` and removes it, or `done` if none is left.
  [[nodiscard]] progress note(job what) {
    auto guard = std::unique_lock{mutex_};
    done_.push_back(what);
    changed_.notify_all();
    changed_.wait(guard, [&] { return !is_held_; });
    if (answers_.empty())
      return progress::done;
    const auto answer = answers_.back();
    answers_.pop_back();
    return answer;
  }

  [[nodiscard]] bool are_done(std::size_t count) {
    auto guard = std::unique_lock{mutex_};
    return changed_.wait_for(guard, 10s, [&] { return done_.size() >= count; });
  }

  void let_go() {
    const auto guard = std::lock_guard{mutex_};
    is_held_ = false;
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_held_ = false;
  std::vector<progress> answers_;
  std::vector<job> done_;
};

TEST_F(background_test, jobs_are_done_in_their_order_and_each_once_however_often_it_is_wanted) {
  is_held_ = true;
  auto unasked = background{0ns, [&](job what) { return note(what); }};
  unasked.want(job::spill);
  ASSERT_TRUE(are_done(1));
  unasked.want(job::touch);
  unasked.want(job::reap);
  unasked.want(job::touch);
  let_go();
  ASSERT_TRUE(are_done(3));
  unasked.end();
  EXPECT_EQ(done_, (std::vector{job::spill, job::reap, job::touch}));
}

TEST_F(background_test, what_is_not_done_is_done_again) {
  answers_ = {progress::done, progress::held_up, progress::more};
  auto unasked = background{0ns, [&](job what) { return note(what); }};
  unasked.want(job::touch);
  ASSERT_TRUE(are_done(3));
  unasked.end();
  EXPECT_EQ(done_, std::vector(3, job::touch));
}

TEST_F(background_test, it_looks_unasked_once_it_has_begun) {
  auto unasked = background{1ms, [&](job what) { return note(what); }};
  unasked.want(job::look);
  EXPECT_TRUE(are_done(3));
}

TEST_F(background_test, nothing_is_done_after_its_end) {
  auto unasked = background{0ns, [&](job what) { return note(what); }};
  unasked.end();
  unasked.want(job::reap);
  EXPECT_TRUE(done_.empty());
}

} // namespace

} // namespace troupe::store::internal
