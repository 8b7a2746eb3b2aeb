// Goal: the goodbye is said once, as soon as nothing waits or the timeout has expired.
// Method: the test runs the I/O context and sets the condition.
#include <asio/io_context.hpp>

#include <troupe/framework/internal/link/farewell.hpp>

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

using namespace std::chrono_literals;

class a_farewell : public testing::Test {
protected:
  asio::io_context io_;
  bool waits_ = true;
  std::vector<std::string> said_;
  std::chrono::milliseconds left_{};
  farewell bye_{io_, [this] { return waits_; },
                [this](const std::string& reason, std::chrono::milliseconds left) {
                  said_.push_back(reason);
                  left_ = left;
                }};
};

TEST_F(a_farewell, is_said_at_once_where_nothing_waits) {
  waits_ = false;
  bye_.begin("enough", 1h);
  EXPECT_EQ(said_, std::vector<std::string>{"enough"});
  EXPECT_GT(left_, 59min);
  EXPECT_FALSE(bye_.is_under_way());
}

TEST_F(a_farewell, is_said_when_the_last_has_left_and_never_again) {
  bye_.begin("enough", 1h);
  bye_.look();
  EXPECT_TRUE(said_.empty());
  EXPECT_TRUE(bye_.is_under_way());
  waits_ = false;
  bye_.look();
  bye_.look();
  EXPECT_EQ(said_.size(), 1u);
  io_.run(); // The timer is canceled, so this does not wait for it.
  EXPECT_EQ(said_.size(), 1u);
}

TEST_F(a_farewell, is_said_when_patience_is_over) {
  bye_.begin("enough", 1ms);
  io_.run();
  EXPECT_EQ(said_, std::vector<std::string>{"enough"});
  EXPECT_EQ(left_, 0ms);
}

TEST_F(a_farewell, is_not_said_of_a_link_that_has_ended) {
  bye_.begin("enough", 1ms);
  bye_.cancel();
  io_.run();
  EXPECT_TRUE(said_.empty());
}

TEST_F(a_farewell, waits_for_encoding_no_longer_than_it_is_told) {
  auto given_up = 0;
  bye_.await_encoding(farewell::clock::now() + 1ms, [&] { ++given_up; });
  io_.run();
  EXPECT_EQ(given_up, 1);
  EXPECT_TRUE(said_.empty());
}

TEST_F(a_farewell, forgets_the_encoding_once_it_begins) {
  auto given_up = 0;
  bye_.await_encoding(farewell::clock::now() + 1h, [&] { ++given_up; });
  waits_ = false;
  bye_.begin("enough", 1h);
  io_.run();
  EXPECT_EQ(given_up, 0);
  EXPECT_EQ(said_.size(), 1u);
}

} // namespace
} // namespace troupe::internal
