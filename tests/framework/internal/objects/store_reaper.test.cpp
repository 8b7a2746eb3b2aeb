// Goal: the remains of a dead process are cleaned up at once, and again a limited number of times later.
#include <asio/io_context.hpp>

#include <troupe/framework/internal/objects/store_reaper.hpp>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

class reaping : public testing::Test {
protected:
  int reaps_ = 0;
  asio::io_context io_;
  std::shared_ptr<store_reaper> reaper_ = std::make_shared<store_reaper>(
      io_, [this] { ++reaps_; }, std::chrono::milliseconds{0});
};

TEST_F(reaping, begins_at_once_and_ends) {
  reaper_->reap_soon();
  EXPECT_EQ(reaps_, 1);
  io_.run();
  EXPECT_EQ(reaps_, store_reaper::reaps_max);
}

TEST_F(reaping, begins_anew_with_each_process_that_goes) {
  reaper_->reap_soon();
  io_.run_one();
  EXPECT_EQ(reaps_, 2);
  reaper_->reap_soon();
  EXPECT_EQ(reaps_, 2) << "it is under way";
  io_.run();
  EXPECT_EQ(reaps_, 2 + store_reaper::reaps_max);
}

TEST_F(reaping, happens_once_for_each_process_after_the_end) {
  reaper_->reap_soon();
  reaper_->end();
  io_.run();
  EXPECT_EQ(reaps_, 1);
  reaper_->reap_soon();
  io_.restart();
  EXPECT_EQ(io_.run(), 0u);
  EXPECT_EQ(reaps_, 2);
}

TEST_F(reaping, stops_when_nobody_has_it) {
  reaper_->reap_soon();
  reaper_.reset();
  io_.run();
  EXPECT_EQ(reaps_, 1);
}

} // namespace
} // namespace troupe::internal
