#include <troupe/framework/internal/handles/shared_fetches.hpp>

#include "some_books.hpp"

namespace troupe::internal::handles {
namespace {

using namespace std::chrono_literals;

class fetches : public part_of_a_ledger, protected pull_server {
protected:
  fetches() : source_(link(5, b)), what_(import(source_, x)) {}

  void serve(const peer_waiter& who, reference) override { served_.push_back(who); }
  void refuse(const peer_waiter& who, const fetch_error& why) override { refused_.emplace_back(who, why.code); }

  /// Concludes one fetch, as at the end of an event.
  void conclude(reference what) {
    fetches_.stop_unless_awaited(what);
    fetches_.answer_failed(what);
    fetches_.finish_parts(what);
  }
  /// Runs a fetch until the source is asked.
  void ask(waiter_id who = 1, time_point until = never) {
    fetches_.begin(who, what_, until);
    fetches_.begin_pulls(source_);
    fetches_.room_made(1);
    EXPECT_EQ(wanted(), (words{"make room 1", "5: pull 1"}));
  }
  violation head(std::uint64_t size_bytes = 5, const std::vector<reference>& captured = {}) {
    return fetches_.on_head(source_, {1, size_bytes, {}}, captured);
  }

  link_record& source_;
  reference what_;
  imports imports_{books_};
  shared_fetches fetches_{books_, imports_, *this, *this};
  std::vector<peer_waiter> served_;
  std::vector<std::pair<peer_waiter, handle_errc>> refused_;
};

TEST_F(fetches, make_room_ask_receive_and_seal) {
  ask();
  EXPECT_EQ(head(), "");
  EXPECT_EQ(fetches_.room_for(source_, {1, 0, 3}), 1u);
  EXPECT_FALSE(fetches_.room_filled(1, 3));
  EXPECT_EQ(wanted(), words{});
  EXPECT_EQ(fetches_.room_for(source_, {1, 3, 2}), 1u);
  EXPECT_TRUE(fetches_.room_filled(1, 2));
  EXPECT_EQ(wanted(), words{"seal room 1 with 0"});
  EXPECT_TRUE(fetches_.is_sealing(what_));
  EXPECT_TRUE(fetches_.has_replica(1, y, fetch_step::sealing));
  EXPECT_EQ(wanted(), (words{"5: release 1 x1", "answer 1 none"}));
  EXPECT_EQ(at(what_).state, entry_state::here);
  EXPECT_EQ(at(what_).place, y);
  EXPECT_EQ(came_, std::vector{what_});
  EXPECT_EQ(at(what_).references, 2u); // The answer brought one reference.
  EXPECT_EQ(fetches_.broken_invariant(), "");
}

TEST_F(fetches, of_one_object_are_one) {
  fetches_.begin(1, what_, never);
  fetches_.begin(2, what_, never);
  fetches_.add_waiter(what_, peer_waiter{6, 3});
  fetches_.begin_pulls(source_);
  EXPECT_EQ(wanted(), words{"make room 1"});
  EXPECT_TRUE(fetches_.has_replica(1, y, fetch_step::making_room)); // Another node has made it.
  EXPECT_EQ(wanted(), (words{"5: release 1 x1", "answer 1 none", "answer 2 none"}));
  EXPECT_EQ(served_, (std::vector{peer_waiter{6, 3}}));
}

TEST_F(fetches, of_what_is_here_are_answered_at_once) {
  fetches_.begin(1, books_.entries.refer_to(y), never);
  EXPECT_EQ(wanted(), words{"answer 1 none"});
}

TEST_F(fetches, that_are_cancelled_stop) {
  ask();
  fetches_.cancel(1);
  fetches_.cancel(1);
  EXPECT_EQ(wanted(), words{"answer 1 cancelled"});
  conclude(what_);
  EXPECT_EQ(wanted(), (words{"drop room 1", "5: cancel 1"}));
  EXPECT_FALSE(fetches_.has_replica(1, y, fetch_step::sealing));
  EXPECT_EQ(fetches_.room_for(source_, {1, 0, 5}), 0u); // The chunk comes too late.
  EXPECT_FALSE(fetches_.room_filled(1, 5));
  EXPECT_EQ(fetches_.broken_invariant(), "");
}

TEST_F(fetches, that_fail_tell_all_who_wait) {
  ask();
  fetches_.add_waiter(what_, peer_waiter{6, 3});
  fetches_.room_failed(1, handle_errc::full);
  EXPECT_EQ(wanted(), words{});
  conclude(what_);
  EXPECT_EQ(wanted(), (words{"drop room 1", "5: cancel 1", "answer 1 full"}));
  EXPECT_EQ(refused_, (std::vector{std::pair{peer_waiter{6, 3}, handle_errc::full}}));
}

TEST_F(fetches, end_with_the_time_of_who_waits) {
  ask(1, 10s);
  pass(10s);
  const auto due = books_.timers.take_due(10s);
  ASSERT_TRUE(due);
  EXPECT_EQ(due->what, timer::kind::waiter);
  fetches_.expire_waiter(due->owner);
  EXPECT_EQ(wanted(), words{"answer 1 timed_out"});
  EXPECT_EQ(fetches_.waiters(), 0u);
}

TEST_F(fetches, that_bring_nothing_for_too_long_stall) {
  ask();
  const auto due = books_.timers.take_due(60s);
  ASSERT_TRUE(due);
  std::vector<reference> patient;
  fetches_.expire_patience(what_, patient);
  EXPECT_TRUE(patient.empty());
  conclude(what_);
  EXPECT_EQ(wanted(), (words{"drop room 1", "5: cancel 1", "answer 1 stalled"}));
}

TEST_F(fetches, wait_for_what_is_captured) {
  ask();
  const auto inner = import(source_, y);
  EXPECT_EQ(head(5, {inner}), "");
  fetches_.begin_pulls(source_);
  EXPECT_EQ(wanted(), words{"make room 2"});
  EXPECT_FALSE(fetches_.waits_for_captured(1));
  EXPECT_TRUE(fetches_.room_filled(1, 5));
  EXPECT_EQ(wanted(), words{});
  EXPECT_TRUE(fetches_.waits_for_captured(1));
  EXPECT_TRUE(fetches_.has_replica(2, {1, 9, 1}, fetch_step::making_room));
  EXPECT_EQ(wanted(), (words{"5: release 2 x1", "seal room 1 with 1"}));
  EXPECT_EQ(fetches_.broken_invariant(), "");
}

TEST_F(fetches, that_a_liar_makes_wait_for_themselves_stall) {
  ask();
  books_.entries.refer(what_);
  EXPECT_EQ(head(5, {what_}), "");
  EXPECT_TRUE(fetches_.room_filled(1, 5));
  pass(60s);
  EXPECT_TRUE(books_.timers.take_due(60s));
  std::vector<reference> patient;
  fetches_.expire_patience(what_, patient);
  EXPECT_EQ(patient, std::vector{what_});
  fetches_.judge(patient);
  conclude(what_);
  EXPECT_EQ(wanted(), (words{"drop room 1", "answer 1 stalled"}));
}

TEST_F(fetches, begin_again_when_the_source_was_busy) {
  ask();
  source_.questions.close(1);
  fetches_.on_refused(source_, what_, {1, handle_errc::busy});
  EXPECT_EQ(wanted(), words{"drop room 1"});
  fetches_.begin_pulls(source_);
  EXPECT_EQ(wanted(), words{}); // The pause is not over.
  source_.pause.end();
  fetches_.begin_pulls(source_);
  EXPECT_EQ(wanted(), words{"make room 2"});
}

TEST_F(fetches, of_a_lost_link_wait_for_another) {
  ask();
  lose(source_);
  fetches_.restart(what_);
  EXPECT_EQ(wanted(), words{"drop room 1"});
  EXPECT_EQ(at(what_).fetch->step, fetch_step::waiting);
  EXPECT_EQ(fetches_.waiters(), 1u);
}

TEST_F(fetches, of_what_a_neighbour_hands_over_move_to_that) {
  auto& neighbour = link(6, c, true);
  const auto what = import(neighbour, y);
  fetches_.begin(1, what, never);
  fetches_.begin_pulls(neighbour);
  EXPECT_EQ(wanted(), words{"6: pull 1"}); // This needs no room.
  const auto handed = books_.entries.refer_to(y);
  EXPECT_EQ(fetches_.on_here(neighbour, 1, handed), "");
  EXPECT_EQ(moves_, (std::vector{std::pair{what, handed}}));
}

TEST_F(fetches, of_an_unfinished_object_have_its_bytes_already) {
  const auto outer = books_.entries.make(entry_state::remote);
  at(outer).parts = std::make_unique<std::vector<reference>>(1, books_.entries.refer_to(y));
  fetches_.begin(1, outer, never);
  conclude(outer);
  EXPECT_EQ(wanted(), words{"seal room 1 with 1"});
}

TEST_F(fetches, refuse_bytes_that_do_not_follow_the_last) {
  ask();
  EXPECT_FALSE(fetches_.room_for(source_, {1, 0, 5})); // The head has not arrived.
  EXPECT_EQ(head(), "");
  EXPECT_FALSE(fetches_.room_for(source_, {1, 1, 2}));
  EXPECT_FALSE(fetches_.room_for(source_, {1, 0, 6}));
  EXPECT_FALSE(fetches_.room_for(source_, {1, 0, 0}));
  EXPECT_FALSE(fetches_.room_for(source_, {2, 0, 5})); // It was not requested.
}

TEST_F(fetches, refuse_a_head_of_another_size) {
  ask();
  const auto inner = import(source_, y);
  EXPECT_NE(head(6, {inner}), "");
  EXPECT_EQ(at(inner).references, 0u); // The captured import is released.
}

} // namespace
} // namespace troupe::internal::handles
