// Tests how waiters are served: their order, their time limits, and the errors that they get. The nodes are those of
// protocol.test.cpp.
#include "scenario.hpp"

namespace troupe::simulation {

namespace {

using handles::handle_descriptor;
using handles::handle_errc;
using handles::handle_mode;

class waiting : public two_nodes {
protected:
  waiting() : over(ab) {}

  [[nodiscard]] handles::waiter_id begin_reading_number(std::size_t which) { return in_.fetch(b, which, far_off); }
  /// Delivers everything except heads and bytes.
  void carry() {
    while (in_.deliver(over, 0) || in_.deliver(over, 1) || in_.finish_room(b))
      continue;
  }
  void pass_and_tick(std::chrono::nanoseconds how_long) {
    in_.pass(how_long);
    for (auto each : {a, b})
      in_.tick(each);
  }
  /// Puts an object that captures `outer_width` others, which capture `inner_width` leaves each.
  [[nodiscard]] held put_graph(std::size_t outer_width, std::size_t inner_width) {
    std::vector<held> middle;
    while (middle.size() < outer_width) {
      std::vector<held> leaves;
      while (leaves.size() < inner_width)
        leaves.push_back(in_.put(a, 4));
      middle.push_back(in_.put(a, 4, leaves));
    }
    return in_.put(a, 4, middle);
  }

  link_index over; // The link that carry() delivers over.
};

TEST_F(waiting, is_cancelled_also_where_the_reference_is_dropped_and_the_entry_has_moved) {
  auto c = node_on_new_host();
  auto bc = link(b, c);
  auto ca = link(c, a);
  send_and_arrive(a, b, {in_.put(a, 10)});
  send(b, c, {last_of(b)});
  ASSERT_TRUE(in_.deliver(bc, 1));
  auto waiter = begin_reading(c);
  in_.drop_all(c);
  while (in_.deliver(over, 0) || in_.deliver(ca, 0) || in_.deliver(ca, 1)) // C adopts it.
    continue;
  ASSERT_EQ(in_.adoptions, 1u);
  EXPECT_EQ(answer_to(waiter), handle_errc::violation); // No answer yet.
  in_.cancel(c, waiter);
  EXPECT_EQ(answer_to(waiter), handle_errc::cancelled);
  EXPECT_EQ(tables(c).entries, 0u);
}

TEST_F(waiting, for_fifty_thousand_captured_objects_ends_well_for_two_who_ask_at_once) {
  auto c = node_on_new_host();
  link(a, c);
  auto graph = put_graph(50, 1000);
  send_and_arrive(a, b, {graph});
  send_and_arrive(a, c, {graph});
  auto at_b = begin_reading(b);
  auto at_c = begin_reading(c);
  arrive();
  EXPECT_EQ(answer_to(at_b), handle_errc::none);
  EXPECT_EQ(answer_to(at_c), handle_errc::none);
  EXPECT_EQ(objects_at(c), 50'051u);
}

TEST_F(waiting, for_a_turn_is_in_order_and_makes_no_room) {
  in_.limits.pulls_max = 2;
  b = node_on_new_host();
  over = link(a, b);
  std::vector<handles::waiter_id> waiters;
  for (std::uint64_t i = 0; i < 5; ++i)
    send_and_arrive(a, b, {in_.put(a, 4)});
  for (std::size_t each = 0; each < 5; ++each)
    waiters.push_back(begin_reading_number(each));
  carry();
  EXPECT_EQ(tables(b).requests, 2u);
  EXPECT_EQ(tables(b).rooms, 2u);
  for (std::size_t done = 0; done < 5; ++done) {
    for (std::size_t each = 0; each < 5; ++each)
      EXPECT_EQ(answer_to(waiters[each]), each < done ? handle_errc::none : handle_errc::violation);
    while (answer_to(waiters[done]) == handle_errc::violation && in_.send_chunk(over, 0))
      carry();
  }
}

TEST_F(waiting, for_what_others_must_fetch_first_holds_up_nothing_that_the_source_has) {
  in_.limits.pulls_max = 1;
  in_.limits.servings_max = 1;
  auto liar = node_on_new_host(true);
  auto c = node_on_new_host();
  link(liar, b);
  over = link(b, c);
  forge(liar, b, {{{invented_store, 1, 1}, handle_mode::mine, 4, {}}});
  arrive();
  in_.freeze(liar);
  send_and_arrive(b, c, {last_of(b)});
  in_.nodes[c].wanted_links.clear();
  auto never_answered = begin_reading(c);
  arrive();
  send_and_arrive(b, c, {in_.put(b, 10)});
  EXPECT_EQ(read(c), handle_errc::none);
  EXPECT_EQ(answer_to(never_answered), handle_errc::violation); // No answer yet.
}

TEST_F(waiting, for_a_busy_source_goes_on_when_that_has_time) {
  in_.limits.servings_max = 1;
  a = node_on_new_host();
  over = link(a, b);
  send_and_arrive(a, b, {in_.put(a, 10)});
  send_and_arrive(a, b, {in_.put(a, 11)});
  auto first = begin_reading_number(0);
  auto second = begin_reading_number(1);
  carry();
  EXPECT_EQ(tables(a).servings, 1u);
  EXPECT_EQ(tables(b).requests, 1u); // The other pull was refused and waits.
  arrive();
  EXPECT_EQ(answer_to(first), handle_errc::none);
  EXPECT_EQ(answer_to(second), handle_errc::none);
}

TEST_F(waiting, for_a_store_that_could_not_be_asked_goes_on_a_moment_later) {
  auto c = node_beside(b);
  auto bc = link(b, c);
  send_and_arrive(a, b, {in_.put(a, 10)});
  in_.freeze(a);
  send_and_arrive(b, c, {last_of(b)});
  in_.nodes[c].wanted_links.clear();
  in_.thaw(a);
  ASSERT_EQ(read(b), handle_errc::none);
  in_.hand_over_fails = true;
  auto waiter = begin_reading(c);
  arrive();
  EXPECT_EQ(answer_to(waiter), handle_errc::violation); // No answer yet.
  EXPECT_EQ(in_.nodes[c].ledger->next_deadline(), in_.now + handles::ledger_options{}.busy_pause);
  in_.hand_over_fails = false;
  in_.pass(handles::ledger_options{}.busy_pause);
  in_.tick(c);
  arrive();
  EXPECT_EQ(answer_to(waiter), handle_errc::none);
  EXPECT_TRUE(in_.links[bc].up[0]);
}

TEST_F(waiting, for_a_source_that_stays_busy_ends_with_that) {
  auto liar = node_on_new_host(true);
  over = link(liar, b);
  forge(liar, b, {{{invented_store, 1, 1}, handle_mode::mine, 4, {}}});
  arrive();
  auto waiter = begin_reading(b);
  auto began = in_.now;
  handles::request_number request = 0;
  while (answer_to(waiter) == handle_errc::violation && request < 1000) {
    arrive();
    say(liar, b, handles::refused{++request, handle_errc::busy});
    arrive();
    in_.pass(handles::ledger_options{}.busy_pause);
    in_.tick(b);
  }
  EXPECT_EQ(answer_to(waiter), handle_errc::busy);
  EXPECT_GE(in_.now - began, in_.limits.pull_patience);
  EXPECT_LE(in_.now - began, in_.limits.pull_patience + 1s);
}

TEST_F(waiting, for_a_source_that_is_busy_after_each_head_ends_with_that) {
  auto liar = node_on_new_host(true);
  link(liar, b);
  forge(liar, b, {{{invented_store, 1, 1}, handle_mode::mine, 4, {}}});
  arrive();
  auto waiter = begin_reading(b);
  auto began = in_.now;
  for (handles::request_number request = 1; answer_to(waiter) == handle_errc::violation && request < 1000; ++request) {
    arrive();
    say(liar, b, handles::pull_head{request, 4, {}});
    say(liar, b, handles::refused{request, handle_errc::busy}); // The liar could repeat this for ever.
    arrive();
    in_.pass(handles::ledger_options{}.busy_pause);
    in_.tick(b);
  }
  EXPECT_EQ(answer_to(waiter), handle_errc::busy);
  EXPECT_LE(in_.now - began, in_.limits.pull_patience + 1s);
}

TEST_F(waiting, for_room_in_a_sources_store_ends_with_the_time_of_who_waits) {
  for (auto time : {std::chrono::nanoseconds{3s}, 2 * in_.limits.pull_patience}) {
    auto liar = node_on_new_host(true);
    link(liar, b);
    forge(liar, b, {{{invented_store, 1, 1}, handle_mode::mine, 4, {}}});
    arrive();
    auto waiter = in_.fetch(b, in_.nodes[b].application.size() - 1, time);
    auto began = in_.now;
    handles::request_number request = 0;
    while (answer_to(waiter) == handle_errc::violation && in_.now - began < 10 * time) {
      arrive();
      if (tables(b).requests > 0) {
        say(liar, b, handles::pull_head{++request, 4, {}});
        say(liar, b, handles::refused{request, handle_errc::full});
      }
      arrive();
      in_.pass(handles::ledger_options{}.busy_pause);
      in_.tick(b);
    }
    const auto& told = in_.answers.at(waiter);
    EXPECT_EQ(told.code, handle_errc::full);
    EXPECT_TRUE(told.was_told); // The full store is not this node's.
    EXPECT_GE(in_.now - began, time);
    EXPECT_LE(in_.now - began, time + 1s);
  }
}

TEST_F(waiting, for_an_exporter_that_stays_too_busy_to_be_adopted_from_ends_with_the_source) {
  auto c = node_on_new_host();
  auto liar = node_on_new_host(true);
  link(liar, b);
  auto to_liar = link(liar, c);
  link(b, c);
  forge(liar, b, {{{invented_store, 1, 1}, handle_mode::mine, 4, {}}});
  arrive();
  send_and_arrive(b, c, {last_of(b)});
  auto waiter = begin_reading(c);
  kill(b);
  arrive();
  auto began = in_.now; // After a grace period, only the adoption keeps it alive.
  for (handles::request_number request = 1; in_.now - began < 10min; in_.pass(200ms), in_.tick(c)) {
    in_.links[to_liar].queues[in_.end_of(to_liar, liar)].clear();
    if (tables(c).requests > 0)
      (void)in_.nodes[c].core->on_message(in_.links[to_liar].number, handles::refused{request++, handle_errc::busy});
    arrive();
    if (answer_to(waiter) != handle_errc::violation)
      break;
  }
  EXPECT_EQ(answer_to(waiter), handle_errc::object_lost);
  EXPECT_LE(in_.now - began, std::max<handles::time_point>(in_.limits.adopt_patience, world::grace) + 1s);
}

TEST_F(waiting, for_a_source_that_was_busy_is_for_more_at_a_time_again_when_it_serves) {
  in_.limits.pulls_max = 4;
  b = node_on_new_host();
  auto liar = node_on_new_host(true);
  link(liar, b);
  for (std::uint32_t index = 1; index <= 4; ++index)
    forge(liar, b, {{{invented_store, index, 1}, handle_mode::mine, 4, {}}});
  arrive();
  for (std::size_t each = 0; each < 4; ++each)
    (void)begin_reading_number(each);
  arrive();
  ASSERT_EQ(tables(b).requests, 4u);
  for (handles::request_number request : {2, 3, 4})
    say(liar, b, handles::refused{request, handle_errc::busy});
  arrive();
  ASSERT_EQ(tables(b).requests, 1u);
  say(liar, b, handles::pull_head{1, 4, {}});
  say(liar, b, handles::pull_chunk{1, 0, 4});
  arrive();
  EXPECT_EQ(tables(b).requests, 2u);
}

TEST_F(waiting, for_a_source_that_was_busy_is_not_held_up_by_a_slow_pull) {
  b = node_on_new_host();
  auto liar = node_on_new_host(true);
  link(liar, b);
  for (std::uint32_t index = 1; index <= 6; ++index)
    forge(liar, b, {{{invented_store, index, 1}, handle_mode::mine, 4, {}}});
  arrive();
  for (std::size_t each = 0; each < 6; ++each)
    (void)begin_reading_number(each);
  arrive();
  for (handles::request_number request : {2, 3, 4, 5, 6})
    say(liar, b, handles::refused{request, handle_errc::busy});
  arrive();
  ASSERT_EQ(tables(b).requests, 1u); // This request gets no answer.
  for (std::size_t asked : {2, 4, 6}) {
    pass_and_tick(handles::ledger_options{}.busy_pause);
    carry();
    EXPECT_EQ(tables(b).requests, asked);
  }
}

// -- patience

TEST_F(waiting, for_a_slow_pull_outlasts_any_patience_while_bytes_come) {
  send_and_arrive(a, b, {in_.put(a, 6 * world::chunk_bytes)});
  auto waiter = begin_reading(b);
  carry();
  while (in_.send_chunk(over, 0)) { // Six chunks, each just before the patience runs out.
    EXPECT_EQ(answer_to(waiter), handle_errc::violation);
    pass_and_tick(in_.limits.pull_patience - 1s);
    carry();
  }
  EXPECT_EQ(answer_to(waiter), handle_errc::none);
}

TEST_F(waiting, for_a_pull_that_stops_ends_after_its_patience_also_after_some_bytes) {
  send_and_arrive(a, b, {in_.put(a, 6 * world::chunk_bytes)});
  auto waiter = begin_reading(b);
  carry();
  for (int parts = 0; parts < 3; ++parts)
    ASSERT_TRUE(in_.send_chunk(over, 0));
  carry();
  pass_and_tick(in_.limits.pull_patience - 1s);
  EXPECT_EQ(answer_to(waiter), handle_errc::violation); // No answer yet.
  pass_and_tick(1s);
  EXPECT_EQ(answer_to(waiter), handle_errc::stalled);
}

// Goal: an object waits for the objects that it captures as long as bytes arrive, at any depth and for any length of
// time.
TEST_F(waiting, for_what_is_captured_outlasts_any_patience_while_its_bytes_come) {
  auto inner = in_.put(a, 6 * world::chunk_bytes);
  send_and_arrive(a, b, {in_.put(a, 4, {in_.put(a, 4, {in_.put(a, 4, {inner})}), in_.put(a, 4)})});
  auto waiter = begin_reading(b);
  carry();
  for (int parts = 0; parts < 3 || tables(a).servings > 1; ++parts) { // Until only the innermost is left.
    ASSERT_TRUE(in_.send_chunk(over, 0));
    carry();
  }
  while (in_.send_chunk(over, 0)) {
    EXPECT_EQ(answer_to(waiter), handle_errc::violation);
    pass_and_tick(in_.limits.pull_patience - 1s);
    carry();
  }
  EXPECT_EQ(answer_to(waiter), handle_errc::none);
}

TEST_F(waiting, for_what_is_captured_ends_when_that_stops) {
  auto inner = in_.put(a, 6 * world::chunk_bytes);
  send_and_arrive(a, b, {in_.put(a, 4, {in_.put(a, 4, {inner})})});
  auto waiter = begin_reading(b);
  carry();
  for (int parts = 0; parts < 4; ++parts) {
    ASSERT_TRUE(in_.send_chunk(over, 0));
    carry();
  }
  pass_and_tick(in_.limits.pull_patience);
  EXPECT_EQ(answer_to(waiter), handle_errc::stalled);
  EXPECT_EQ(tables(b).fetches, 0u);
}

TEST_F(waiting, for_a_turn_is_no_lack_of_progress) {
  in_.limits.pulls_max = 1;
  b = node_on_new_host();
  over = link(a, b);
  send_and_arrive(a, b, {in_.put(a, 6 * world::chunk_bytes)});
  send_and_arrive(a, b, {in_.put(a, 4)});
  auto slow = begin_reading_number(0);
  auto next = begin_reading_number(1);
  carry();
  while (in_.send_chunk(over, 0)) {
    pass_and_tick(in_.limits.pull_patience - 1s);
    carry();
  }
  EXPECT_EQ(answer_to(slow), handle_errc::none);
  EXPECT_EQ(answer_to(next), handle_errc::none);
}

// -- the exporter's side

TEST_F(waiting, of_two_pulls_over_one_link_is_by_turns) {
  send_and_arrive(a, b, {in_.put(a, 100 * world::chunk_bytes)});
  send_and_arrive(a, b, {in_.put(a, 3 * world::chunk_bytes)});
  auto large = begin_reading_number(0);
  auto small = begin_reading_number(1);
  carry();
  for (int parts = 0; parts < 6; ++parts) { // Three chunks of each.
    ASSERT_TRUE(in_.send_chunk(over, 0));
    carry();
  }
  EXPECT_EQ(answer_to(small), handle_errc::none);
  EXPECT_EQ(answer_to(large), handle_errc::violation); // No answer yet.
  arrive();
  EXPECT_EQ(answer_to(large), handle_errc::none);
}

TEST_F(waiting, for_the_links_room_keeps_heads_too_from_piling_up) {
  auto liar = node_on_new_host(true);
  over = link(a, liar);
  std::vector<held> leaves;
  while (leaves.size() < 100)
    leaves.push_back(in_.put(a, 4));
  for (const auto& object : {in_.put(a, 4, leaves), in_.put(a, 0)}) {
    send_and_arrive(a, liar, {object});
    auto name = in_.nodes[a].ledger->place_of(object.what).value();
    auto& lies = in_.links[over].liars[1];
    for (int times = 0; times < 1000; ++times) {
      auto number = lies.fresh_number();
      say(liar, a, handles::pull{number, name});
      say(liar, a, handles::cancel{number});
    }
    arrive_over(over, a);
    EXPECT_TRUE(in_.links[over].queues[1].empty()); // There was no room, so nothing was sent.
    EXPECT_EQ(tables(a).servings, 0u);
    say(liar, a, handles::pull{lies.fresh_number(), name});
    arrive_over(over, a);
    EXPECT_TRUE(in_.links[over].queues[1].empty());
    EXPECT_EQ(tables(a).exports, 1u); // Only the object itself is exported. No unsent answer has exported anything.
    while (in_.send_chunk(over, 0))
      continue;
    EXPECT_EQ(in_.links[over].queues[1].size(), object.truth == 101 ? 2u : 1u); // Head and chunk, or only a head.
    kill(liar);
    arrive();
    pass_grace();
    liar = node_on_new_host(true);
    over = link(a, liar);
  }
}

// -- loss

TEST_F(waiting, behind_an_entry_that_has_moved_ends_when_what_it_moved_to_is_lost) {
  auto c = node_on_new_host();
  auto d = node_on_new_host();
  auto bc = link(b, c);
  auto cd = link(c, d);
  send_and_arrive(a, b, {in_.put(a, 10)});
  send(b, c, {last_of(b)});
  ASSERT_TRUE(in_.deliver(bc, 1));
  send(c, d, {last_of(c)}); // Sent under the name of C's entry behind B ...
  ASSERT_TRUE(in_.deliver(cd, 1));
  in_.nodes[d].wanted_links.clear();
  link(c, a);
  while (in_.adoptions == 0)
    ASSERT_TRUE(in_.deliver(over, 0) || in_.deliver(in_.links.size() - 1, 1) || in_.deliver(in_.links.size() - 1, 0));
  EXPECT_FALSE(in_.nodes[c].ledger->is_behind(last_of(c).what)); // ... which has moved since.
  auto waiter = begin_reading(d);
  kill(a);
  arrive();
  in_.nodes[d].wanted_links.clear();
  pass_grace();
  EXPECT_EQ(answer_to(waiter), handle_errc::object_lost);
  EXPECT_TRUE(in_.nodes[d].ledger->is_lost(last_of(d).what));
}

// -- time

TEST_F(waiting, for_a_lost_link_begins_when_it_is_lost_however_long_nothing_was_due) {
  send_and_arrive(a, b, {in_.put(a, 10)});
  EXPECT_FALSE(in_.nodes[a].ledger->next_deadline());
  EXPECT_FALSE(in_.nodes[b].ledger->next_deadline());
  in_.pass(1h); // Nothing is due, so nobody ticks.
  in_.cut(over);
  in_.notice(over, 0);
  in_.notice(over, 1);
  for (auto each : {a, b}) {
    EXPECT_EQ(in_.nodes[each].ledger->next_deadline(), in_.now + world::grace);
    in_.tick(each);
  }
  link(a, b);
  arrive();
  EXPECT_EQ(read(b), handle_errc::none);
}

TEST_F(waiting, for_bytes_has_its_deadlines_counted_from_when_it_began) {
  send_and_arrive(a, b, {in_.put(a, 10)});
  in_.freeze(a);
  in_.pass(1h);
  auto waiter = begin_reading(b); // No tick for an hour.
  auto sooner = in_.fetch(b, 0, 5s);
  in_.tick(b);
  EXPECT_EQ(answer_to(sooner), handle_errc::violation); // No answer yet.
  EXPECT_EQ(in_.nodes[b].ledger->next_deadline(), in_.now + 5s);
  in_.cancel(b, sooner);
  EXPECT_EQ(in_.nodes[b].ledger->next_deadline(), in_.now + in_.limits.pull_patience);
  in_.cancel(b, waiter);
  EXPECT_FALSE(in_.nodes[b].ledger->next_deadline());
}

} // namespace

} // namespace troupe::simulation
