#include <asio/io_context.hpp>

#include <troupe/framework/internal/words/refusal_log.hpp>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

class refusals : public testing::Test {
protected:
  void note(int attempts, log_level level = log_level::warning) {
    for (int i = 0; i < attempts; ++i)
      log_->note(level, "a peer was refused");
  }

  static std::string lines(int count) {
    std::string text;
    for (int i = 0; i < count; ++i)
      text += "troupe warning: a peer was refused\n";
    return text;
  }

  asio::io_context io_;
  std::shared_ptr<refusal_log> log_ = std::make_shared<refusal_log>(io_, "tcp://127.0.0.1:4000");
};

TEST_F(refusals, beyond_ten_are_summarized_when_the_second_is_over) {
  testing::internal::CaptureStderr();
  note(15);
  io_.run(); // Returns after the timer.
  note(1);
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            lines(10) + "troupe warning: 5 further attempts at tcp://127.0.0.1:4000 were refused in the last second\n"
                + lines(1));
}

TEST_F(refusals, are_summarized_at_the_end) {
  testing::internal::CaptureStderr();
  note(1'510);
  log_.reset();
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            lines(10)
                + "troupe warning: 1,500 further attempts at tcp://127.0.0.1:4000 were refused in the last second\n");
}

TEST_F(refusals, that_nobody_wants_to_read_are_not_counted) {
  testing::internal::CaptureStderr();
  note(100, log_level::info);
  note(10);
  log_.reset();
  EXPECT_EQ(testing::internal::GetCapturedStderr(), lines(10));
}

} // namespace
} // namespace troupe::internal
