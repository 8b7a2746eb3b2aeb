// Requests that the peer has not answered: the actors that may answer them, the room that they keep, and the requests
// that are given up.
#include <troupe/framework/internal/flow/request_book.hpp>

#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

using std::chrono::seconds;

struct named_asker {
  std::string name;
  std::shared_ptr<bool> gone = std::make_shared<bool>(false);
  [[nodiscard]] bool is_gone() const { return *gone; }
};

class requests : public testing::Test {
protected:
  requests() {
    room.set_bounds({.all = 1'000'000, .of_receiver = 1'000'000});
    room.count_consumed([] {}, nullptr);
  }

  std::shared_ptr<bool> ask(std::uint64_t number, std::uint64_t receiver, int at_second = 0, std::string name = "ann") {
    auto gone = std::make_shared<bool>(false);
    book.add({asker_, number}, receiver, {std::move(name), gone});
    book.left({asker_, number}, receiver, begin + seconds{at_second});
    return gone;
  }

  std::string taken(std::uint64_t number, std::uint64_t receiver) {
    const auto found = book.take({asker_, number}, receiver);
    return found ? found->name : "nobody";
  }

  static constexpr std::uint64_t asker_ = 7;
  const std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
  reply_room room;
  request_book<named_asker> book{room};
};

TEST_F(requests, each_is_answered_once) {
  ask(1, 5);
  EXPECT_EQ(taken(2, 5), "nobody");
  EXPECT_EQ(taken(1, 5), "ann");
  EXPECT_EQ(taken(1, 5), "nobody");
}

TEST_F(requests, of_one_question_to_several_the_answer_of_each_takes_its_own) {
  ask(1, 5, 0, "five");
  ask(1, 6, 0, "six");
  EXPECT_EQ(taken(1, 6), "six");
  EXPECT_EQ(taken(1, 6), "five"); // Actor 5 may have let actor 6 answer.
  EXPECT_EQ(taken(1, 6), "nobody");
}

TEST_F(requests, room_for_the_answer_is_kept_from_leaving_to_answering) {
  book.add({asker_, 1}, 5, {"ann"});
  EXPECT_EQ(room.bytes(), 0u);
  book.left({asker_, 1}, 5, begin);
  EXPECT_EQ(room.bytes(), reply_room::estimate_min);
  EXPECT_TRUE(book.take_answered({asker_, 1}, 5, 600));
  EXPECT_EQ(room.bytes(), 600u); // Kept until it is consumed.
  ask(2, 5);
  EXPECT_EQ(room.bytes(), 1200u); // The estimate is the last answer's size.
}

TEST_F(requests, when_one_has_left_is_known_when_it_is_answered) {
  book.add({asker_, 1}, 5, {"ann"});
  book.left({asker_, 1}, 5, begin + seconds{3});
  const auto answered = book.take_answered({asker_, 1}, 5, 600);
  ASSERT_TRUE(answered);
  EXPECT_EQ(answered->since, begin + seconds{3});
  book.add({asker_, 2}, 5, {"bob"}); // Has not left.
  const auto early = book.take_answered({asker_, 2}, 5, 600);
  ASSERT_TRUE(early);
  EXPECT_EQ(early->since, request_book<named_asker>::time_point{});
}

TEST_F(requests, what_is_taken_back_keeps_no_room) {
  ask(1, 5);
  EXPECT_EQ(taken(1, 5), "ann");
  EXPECT_EQ(room.bytes(), 0u);
}

TEST_F(requests, leaving_after_it_was_taken_back_keeps_no_room) {
  book.left({asker_, 1}, 5, begin);
  EXPECT_EQ(room.bytes(), 0u);
}

TEST_F(requests, those_not_answered_for_long_keep_no_room_and_may_still_be_answered) {
  ask(1, 5, 0);
  ask(2, 5, 100);
  book.reclaim(begin + seconds{60});
  EXPECT_EQ(room.bytes(), reply_room::estimate_min);
  EXPECT_EQ(taken(1, 5), "ann");
  EXPECT_EQ(room.bytes(), reply_room::estimate_min);
}

TEST_F(requests, those_that_left_before_nothing_was_answered_keep_no_room_from_those_that_wait) {
  ask(1, 5, 0);
  ask(2, 5, 10);
  book.reclaim_stalled(begin + seconds{5}, 10);
  EXPECT_EQ(room.bytes(), 2 * reply_room::estimate_min);
  book.reclaim_stalled(begin + seconds{6}, 10);
  EXPECT_EQ(room.bytes(), reply_room::estimate_min);
  EXPECT_EQ(taken(1, 5), "ann");
  book.reclaim_stalled(begin + seconds{11}, 10); // One was answered meanwhile.
  EXPECT_EQ(room.bytes(), reply_room::estimate_min);
  book.reclaim_stalled(begin + seconds{12}, 10);
  EXPECT_EQ(room.bytes(), 0u);
}

TEST_F(requests, of_those_that_nothing_answers_only_so_many_keep_no_room) {
  for (std::uint64_t i = 0; i < 100; ++i)
    ask(i, 5, static_cast<int>(i));
  book.reclaim_stalled(begin + seconds{200}, 10);
  book.reclaim_stalled(begin + seconds{201}, 10);
  EXPECT_EQ(room.bytes(), 90 * reply_room::estimate_min);
  EXPECT_EQ(taken(50, 5), "ann"); // It kept its room, because it was not among the oldest.
  EXPECT_EQ(room.bytes(), 89 * reply_room::estimate_min);
  EXPECT_TRUE(book.take_oldest(10).empty()); // None has been overdue for long.
  book.reclaim_stalled(begin + seconds{202}, 10);
  book.reclaim_stalled(begin + seconds{203}, 10);
  EXPECT_EQ(room.bytes(), 89 * reply_room::estimate_min);
}

TEST_F(requests, those_taken_back_before_they_left_are_no_answers) {
  ask(1, 5);
  book.reclaim_stalled(begin + seconds{5}, 10);
  book.add({asker_, 2}, 5, {"ann"});
  EXPECT_EQ(taken(2, 5), "ann");
  book.reclaim_stalled(begin + seconds{6}, 10);
  EXPECT_EQ(room.bytes(), 0u);
}

TEST_F(requests, those_of_askers_that_are_gone_keep_no_room) {
  const auto gone = ask(1, 5, 100);
  *gone = true;
  book.reclaim(begin);
  EXPECT_EQ(room.bytes(), 0u);
}

TEST_F(requests, entries_of_askers_that_are_gone_do_not_pile_up) {
  for (std::uint64_t i = 0; i < 10'000; ++i)
    *ask(i, 5) = true;
  EXPECT_LE(book.size(), 1025u);
  EXPECT_EQ(room.bytes(), book.size() * reply_room::estimate_min);
}

TEST_F(requests, the_oldest_of_too_many_that_are_not_answered_are_given_up) {
  for (std::uint64_t i = 0; i < 100; ++i)
    ask(i, 1, static_cast<int>(i));
  EXPECT_TRUE(book.take_oldest(10).empty()); // All of them still keep room.
  book.reclaim(begin + seconds{1000});
  const auto given_up = book.take_oldest(10);
  EXPECT_EQ(given_up.size(), 95u);
  for (const auto& [question, asked] : given_up)
    EXPECT_LT(question.number, 95u);
  EXPECT_EQ(book.size(), 5u);
  EXPECT_EQ(taken(99, 1), "ann");
}

TEST_F(requests, few_that_are_not_answered_stay) {
  for (std::uint64_t i = 0; i < 10; ++i)
    ask(i, 1);
  book.reclaim(begin + seconds{60});
  EXPECT_TRUE(book.take_oldest(10).empty());
  EXPECT_EQ(book.size(), 10u);
}

TEST_F(requests, what_waits_to_leave_is_not_given_up) {
  for (std::uint64_t i = 0; i < 100; ++i)
    book.add({asker_, i}, 1, {"ann"});
  EXPECT_TRUE(book.take_oldest(10).empty());
}

TEST_F(requests, at_the_end_all_are_taken_out_with_the_room_that_they_keep) {
  ask(1, 5);
  ask(2, 6);
  EXPECT_EQ(book.take_all().size(), 2u);
  EXPECT_EQ(book.size(), 0u);
  EXPECT_EQ(room.bytes(), 0u);
}

} // namespace
} // namespace troupe::internal
