// If the answer to a question is not delivered, the question is pending again.
#include <troupe/framework/internal/link/taken_question.hpp>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

class taking_questions : public testing::Test {
protected:
  taking_questions() {
    replies_.count_consumed([] {}, nullptr);
  }

  void ask() { asked_.add(key_, 6, {}); }
  void take(taken_question& into) { into.take(asked_, mutex_, key_, 6, *asked_.take(key_, 6)); }

  const question_key key_{3, 12};
  link_mutex mutex_;
  reply_room replies_;
  pending_requests asked_{replies_};
};

TEST_F(taking_questions, puts_them_back_at_the_end) {
  ask();
  {
    taken_question taken;
    EXPECT_FALSE(taken);
    take(taken);
    EXPECT_TRUE(taken);
    EXPECT_EQ(asked_.size(), 0u);
  }
  EXPECT_EQ(asked_.size(), 1u);
  EXPECT_TRUE(asked_.take(key_, 6));
}

TEST_F(taking_questions, does_not_once_all_is_settled) {
  ask();
  {
    taken_question taken;
    take(taken);
    taken.answered();
    EXPECT_FALSE(taken);
  }
  EXPECT_EQ(asked_.size(), 0u);
}

} // namespace
} // namespace troupe::internal
