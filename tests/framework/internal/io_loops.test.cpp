// Goal: links are spread over a node's loops, and a loop runs as long as a link may post work to it.
#include <asio/io_context.hpp>
#include <asio/post.hpp>

#include <troupe/framework/internal/net/io_loops.hpp>

#include <future>
#include <thread>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

using namespace std::chrono_literals;
using counts = std::vector<std::size_t>;

class idle_worker final : public round_worker {
public:
  bool empty() override { return true; }
  void run(std::chrono::steady_clock::time_point, std::chrono::microseconds) override {}
  void hand_over() override {}
  void depose() override {}
  void lead() override {}
};

class idle_host final : public loop_host {
public:
  std::unique_ptr<round_worker> make_worker(bool) override { return std::make_unique<idle_worker>(); }
  void on_thread_started() override {}
  void on_thread_ends() override {}
  void keep(std::shared_ptr<system_threads>) override {}
  void forget(const system_threads&) override {}
};

class several_loops : public testing::Test {
protected:
  io_loops& make(std::size_t count) {
    return loops_.emplace(std::make_shared<idle_host>(), "kitchen", dispatch_budget{}, count);
  }
  void start(std::size_t count) {
    ASSERT_TRUE(make(count).start([] {}));
  }

  std::optional<io_loops> loops_;
  std::vector<loop_seat> seats_; // Destroyed before the loops.
};

TEST(loops_of_a_node, are_as_many_as_asked_for_or_as_there_are_cores) {
  EXPECT_EQ(loops_for(1), 1u);
  EXPECT_EQ(loops_for(4), 4u);
  EXPECT_EQ(loops_for(1'000'000), io_loops::loops_max);
  EXPECT_EQ(loops_for(0), std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, io_loops::loops_max));
}

TEST_F(several_loops, take_a_new_link_where_there_are_the_fewest) {
  auto& loops = make(3);
  for (int i = 0; i < 7; ++i)
    seats_.push_back(loops.seat_for_link());
  EXPECT_EQ(loops.links(), (counts{2, 2, 3}));
  seats_[0].leave(); // Both seats are on the last loop.
  seats_[3].leave();
  EXPECT_EQ(loops.links(), (counts{2, 2, 1}));
  seats_.push_back(loops.seat_for_link());
  EXPECT_EQ(loops.links(), (counts{2, 2, 2}));
}

TEST_F(several_loops, leave_the_main_one_the_last_to_be_taken) {
  auto& loops = make(2);
  seats_.push_back(loops.seat_for_link());
  EXPECT_NE(&seats_.front().io(), &loops.main());
  seats_.push_back(loops.seat_for_link());
  EXPECT_EQ(&seats_.back().io(), &loops.main());
}

TEST_F(several_loops, count_a_link_once_however_often_it_leaves) {
  auto& loops = make(2);
  auto seat = loops.seat_for_link();
  auto moved = std::move(seat);
  moved.leave();
  moved.leave();
  EXPECT_EQ(loops.links(), (counts{0, 0}));
}

TEST_F(several_loops, may_be_one) {
  auto& loops = make(1);
  for (int i = 0; i < 3; ++i)
    seats_.push_back(loops.seat_for_link());
  EXPECT_EQ(loops.links(), counts{3});
  EXPECT_EQ(&seats_.front().io(), &loops.main());
}

TEST_F(several_loops, run_by_themselves) {
  start(3);
  std::promise<void> open;
  auto opened = open.get_future().share();
  for (int i = 0; i < 2; ++i) {
    seats_.push_back(loops_->seat_for_link());
    asio::post(seats_.back().io(), [opened] { opened.wait_for(10s); });
  }
  std::promise<void> ran;
  asio::post(loops_->main(), [&ran] { ran.set_value(); });
  EXPECT_EQ(ran.get_future().wait_for(5s), std::future_status::ready) << "while the two others are held";
  open.set_value();
  seats_.clear();
  loops_->stop();
}

// Method: the loops are stopped while a link has a seat, and the seat's loop then posts work to the main loop.
TEST_F(several_loops, run_on_while_a_link_may_tell_them_something) {
  start(2);
  auto seat = loops_->seat_for_link();
  auto stopped = std::async(std::launch::async, [&] { loops_->stop(); });
  std::promise<void> told;
  asio::post(seat.io(), [&] { asio::post(loops_->main(), [&] { told.set_value(); }); });
  EXPECT_EQ(told.get_future().wait_for(10s), std::future_status::ready);
  EXPECT_EQ(stopped.wait_for(0s), std::future_status::timeout);
  seat.leave();
  EXPECT_EQ(stopped.wait_for(10s), std::future_status::ready);
}

} // namespace
} // namespace troupe::internal
