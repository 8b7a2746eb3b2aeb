#include "../log_lines.hpp"

#include <gtest/gtest.h>

#include <troupe/framework/internal/words/limited_log.hpp>

namespace troupe::tests {
namespace {

using internal::limited_log;
using internal::line_limit;
using std::chrono::seconds;

class limited : public testing::Test {
protected:
  std::string ten(const std::string& line) {
    std::string all;
    for (int i = 0; i < 10; ++i)
      all += line + '\n';
    return all;
  }

  const line_limit::clock::time_point now_ = line_limit::clock::now();
  log_lines lines_{log_level::debug};
};

TEST_F(limited, says_how_much_it_left_out_with_the_next_line) {
  limited_log log;
  for (int i = 0; i < 1'510; ++i)
    log.warn("not sent", now_);
  log.warn("not sent", now_ + seconds{2});
  log.warn("not sent", now_ + seconds{2});
  EXPECT_EQ(lines_.text(), ten("warning: not sent")
                               + "warning: not sent (1,500 more warnings of this link were left out)\n"
                                 "warning: not sent\n");
}

TEST_F(limited, says_at_the_end_what_it_has_not_said_yet) {
  limited_log log;
  for (int i = 0; i < 12; ++i)
    log.say(log_level::debug, "defined", now_);
  log.settle(now_);
  log.settle(now_);
  EXPECT_EQ(lines_.text(), ten("debug: defined") + "debug: 2 more lines of this link were left out\n");
}

TEST_F(limited, much_of_one_level_leaves_room_for_another) {
  limited_log log;
  for (int i = 0; i < 100; ++i)
    log.say(log_level::debug, "a detail", now_);
  log.warn("not sent", now_);
  EXPECT_EQ(lines_.with("warning: not sent"), 1u);
}

TEST_F(limited, what_nobody_reads_is_neither_made_nor_counted) {
  set_log_threshold(log_level::warning);
  limited_log log;
  int made = 0;
  for (int i = 0; i < 100; ++i)
    log.say(
        log_level::debug, [&] { return std::to_string(++made); }, now_);
  log.settle(now_);
  EXPECT_EQ(made, 0);
  EXPECT_EQ(lines_.text(), "");
}

TEST_F(limited, texts_beyond_the_limit_are_not_made) {
  limited_log log;
  int made = 0;
  for (int i = 0; i < 100; ++i)
    log.warn([&] { return std::to_string(++made); }, now_);
  EXPECT_EQ(made, 10);
}

// Goal: a peer that opens many links, at once or one after the other, does not cause ten lines for each of them.
TEST_F(limited, links_share_a_limit_and_nothing_is_left_unsaid) {
  limited_log node{"this node's links", 15};
  limited_log first{"this link", &node}, second{"this link", &node};
  for (int i = 0; i < 20; ++i)
    first.warn("first", now_);
  for (int i = 0; i < 20; ++i)
    second.warn("second", now_);
  EXPECT_EQ(lines_.with("first"), 10u);
  EXPECT_EQ(lines_.with("second"), 5u);
  const auto later = now_ + seconds{2};
  second.warn("second", later);
  EXPECT_EQ(lines_.all().back(), "warning: second (10 more warnings of this link were left out) (5 more warnings of "
                                 "this node's links were left out)");
  first.settle(later);
  EXPECT_EQ(lines_.all().back(), "warning: 10 more warnings of this link were left out");
}

} // namespace
} // namespace troupe::tests
