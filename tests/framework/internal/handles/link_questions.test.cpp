#include <troupe/framework/internal/handles/link_questions.hpp>

#include <gtest/gtest.h>

namespace troupe::internal::handles {
namespace {

using namespace std::chrono_literals;
class questions : public testing::Test {
protected:
  using kind = open_request::kind;
  using standing = link_questions::standing;

  void TearDown() override { EXPECT_EQ(asked_.broken_invariant(), ""); }

  request_number ask(kind what, time_point until = never) {
    return asked_.ask({.what = what, .about = {1, 1}, .name = {}, .token = 0, .offered_by = 0}, until);
  }

  timer_queue timers_;
  link_questions asked_{5, timers_};
};

TEST_F(questions, are_numbered_upwards) {
  EXPECT_EQ(ask(kind::pull), 1u);
  EXPECT_EQ(ask(kind::pull), 2u);
  (void)asked_.close(2);
  EXPECT_EQ(ask(kind::pull), 3u);
}

TEST_F(questions, have_answers_of_their_kind_only) {
  const auto pull = ask(kind::pull);
  EXPECT_EQ(asked_.standing_of(pull, kind::pull), standing::open);
  EXPECT_EQ(asked_.standing_of(pull, kind::adopt), standing::never_asked);
  EXPECT_EQ(asked_.standing_of(pull + 1, kind::pull), standing::never_asked);
  EXPECT_EQ(asked_.standing_of(0, kind::pull), standing::never_asked);
}

TEST_F(questions, that_are_closed_may_be_answered_late) {
  const auto pull = ask(kind::pull);
  EXPECT_EQ(asked_.close(pull).about, (reference{1, 1}));
  EXPECT_EQ(asked_.standing_of(pull, kind::pull), standing::given_up);
  EXPECT_EQ(asked_.find(pull), nullptr);
  EXPECT_TRUE(asked_.was_asked(pull));
}

TEST_F(questions, are_due_until_they_are_closed) {
  const auto adopt = ask(kind::adopt, 10s);
  EXPECT_EQ(timers_.next(), time_point{10s});
  (void)asked_.close(adopt);
  EXPECT_FALSE(timers_.next());
}

TEST_F(questions, of_the_peer_must_have_rising_numbers) {
  EXPECT_TRUE(asked_.admit(1));
  EXPECT_TRUE(asked_.admit(5));
  EXPECT_FALSE(asked_.admit(5));
  EXPECT_FALSE(asked_.admit(2));
  EXPECT_TRUE(asked_.admit(6));
}

} // namespace
} // namespace troupe::internal::handles
