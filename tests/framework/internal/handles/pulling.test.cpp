#include <troupe/framework/internal/handles/pulling.hpp>

#include <memory>

#include "some_books.hpp"

namespace troupe::internal::handles {
namespace {

class pulls_by_turns : public part_of_a_ledger {
protected:
  pulls_by_turns() : source_(link(5, b)) {}

  /// Returns an import from the source with a fetch in progress.
  reference fetched(std::uint32_t index, handle_mode mode = handle_mode::mine) {
    const auto what = import(source_, {1, index, 1}, mode);
    at(what).fetch = std::make_unique<fetch_state>(books_.timers, what);
    pulling_.take_turn(what);
    pulling_.queue(what);
    return what;
  }

  link_record& source_;
  pulling pulling_{books_};
};

TEST_F(pulls_by_turns, begin_in_order_with_what_the_source_has_first) {
  const auto first = fetched(1, handle_mode::behind);
  const auto second = fetched(2);
  const auto third = fetched(3);
  EXPECT_EQ(pulling_.next(source_), second);
  EXPECT_EQ(pulling_.next(source_), third);
  EXPECT_EQ(pulling_.next(source_), first);
  EXPECT_FALSE(pulling_.next(source_));
}

TEST_F(pulls_by_turns, are_asked_and_make_room_when_all_has_come) {
  const auto what = fetched(1);
  EXPECT_EQ(pulling_.next(source_), what);
  pulling_.ask(what);
  EXPECT_EQ(wanted(), words{"5: pull 1"});
  EXPECT_EQ(source_.pulls_of_own.asked(), 1u);
  pulling_.end(what);
  EXPECT_EQ(source_.questions.size(), 0u);
  EXPECT_EQ(source_.pulls_of_own.asked(), 0u);
}

TEST_F(pulls_by_turns, that_are_given_up_are_cancelled) {
  const auto what = fetched(1);
  EXPECT_EQ(pulling_.next(source_), what);
  pulling_.ask(what);
  pulling_.leave(what);
  pulling_.cancel(what);
  pulling_.cancel(what);
  EXPECT_EQ(wanted(), (words{"5: pull 1", "5: cancel 1"}));
  EXPECT_TRUE(source_.pulls_of_own.empty());
}

TEST_F(pulls_by_turns, do_not_begin_when_they_have_left_the_queue) {
  const auto what = fetched(1);
  pulling_.leave_queue(what);
  EXPECT_FALSE(pulling_.next(source_));
}

TEST_F(pulls_by_turns, rest_when_the_source_is_busy_and_nothing_else_is_asked) {
  const auto what = fetched(1);
  EXPECT_EQ(pulling_.next(source_), what);
  pulling_.leave(what);
  pulling_.on_busy(what);
  EXPECT_TRUE(source_.pause.is_for_pulls());
  EXPECT_FALSE(pulling_.next(source_));
  source_.pause.end();
  EXPECT_EQ(pulling_.next(source_), what);
}

TEST_F(pulls_by_turns, let_others_go_first_when_the_source_has_no_room) {
  const auto first = fetched(1);
  const auto second = fetched(2);
  EXPECT_EQ(pulling_.next(source_), first);
  pulling_.leave(first);
  pulling_.on_full(first);
  source_.pause.end();
  EXPECT_EQ(pulling_.next(source_), second);
  EXPECT_EQ(pulling_.next(source_), first);
}

TEST_F(pulls_by_turns, wait_for_a_link) {
  const auto what = fetched(1);
  pulling_.leave_queue(what);
  lose(source_);
  pulling_.queue(what);
  EXPECT_FALSE(at(what).fetch->pull.is_queued);
}

} // namespace
} // namespace troupe::internal::handles
