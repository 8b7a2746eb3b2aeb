#include <troupe/framework/internal/limited_log.hpp>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

TEST(limited_log, says_how_much_it_left_out_with_the_next_line) {
  limited_log log;
  auto now = line_limit::clock::now();
  testing::internal::CaptureStderr();
  for (int i = 0; i < 1'510; ++i)
    log.warn("not sent", now);
  log.warn("not sent", now + std::chrono::seconds{2});
  log.warn("not sent", now + std::chrono::seconds{2});
  std::string expected;
  for (int i = 0; i < 10; ++i)
    expected += "troupe warning: not sent\n";
  expected += "troupe warning: not sent (1,500 more warnings of this link were left out)\n"
              "troupe warning: not sent\n";
  EXPECT_EQ(testing::internal::GetCapturedStderr(), expected);
}

TEST(limited_log, writes_one_line_whatever_the_text_is) {
  limited_log log;
  testing::internal::CaptureStderr();
  log.warn("not\ntroupe error: sent\x1b[31m");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "troupe warning: not?troupe error: sent?[31m\n");
}

} // namespace
} // namespace troupe::internal
