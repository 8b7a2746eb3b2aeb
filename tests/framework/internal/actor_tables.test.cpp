#include <troupe/framework/internal/link/actor_tables.hpp>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

using std::chrono::seconds;

class pending : public testing::Test {
protected:
  void ask(std::uint64_t number, std::uint64_t receiver, int at_second) {
    table_.add({asker_, number}, {.asker = {}, .receiver = receiver, .since = {}});
    EXPECT_TRUE(table_.reserve({asker_, number}, {receiver, 256}, begin_ + seconds{at_second}));
  }

  static constexpr std::uint64_t asker_ = 7;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  pending_requests table_;
};

TEST_F(pending, the_oldest_of_too_many_that_are_not_answered_are_given_up) {
  for (std::uint64_t i = 0; i < 100; ++i)
    ask(i, 1, static_cast<int>(i));
  EXPECT_TRUE(table_.take_oldest_unreserved(10).empty());                    // All still keep room for their answers.
  EXPECT_EQ(table_.reclaim_reservations(begin_ + seconds{60}).size(), 100u); // Their asker is gone as well.
  auto given_up = table_.take_oldest_unreserved(10);
  EXPECT_EQ(given_up.size(), 95u);
  for (const auto& [question, asked] : given_up)
    EXPECT_LT(question.number, 95u);
  EXPECT_EQ(table_.size(), 5u);
  EXPECT_TRUE(table_.take({asker_, 99}, 1));
}

TEST_F(pending, few_that_are_not_answered_stay) {
  for (std::uint64_t i = 0; i < 10; ++i)
    ask(i, 1, 0);
  EXPECT_EQ(table_.reclaim_reservations(begin_ + seconds{60}).size(), 10u);
  EXPECT_TRUE(table_.take_oldest_unreserved(10).empty());
  EXPECT_EQ(table_.size(), 10u);
}

TEST_F(pending, what_waits_to_leave_is_not_given_up) {
  for (std::uint64_t i = 0; i < 100; ++i)
    table_.add({asker_, i}, {.asker = {}, .receiver = 1, .since = {}});
  EXPECT_TRUE(table_.take_oldest_unreserved(10).empty());
}

} // namespace
} // namespace troupe::internal
