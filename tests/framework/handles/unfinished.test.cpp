// Objects that are put before all objects that they capture have arrived.
#include <array>

#include "scenario.hpp"

namespace troupe::simulation {

namespace {

using handles::handle_errc;

/// A has an object. B puts another object that captures it. C gets that other object from B.
class unfinished : public three_nodes {
protected:
  held part_at_b(std::uint64_t size_bytes = 10) {
    send_and_arrive(a, b, {in_.put(a, size_bytes)});
    return last_of(b);
  }
  void drop_first(node_index at) { in_.drop(at, 0); }
};

TEST_F(unfinished, one_is_finished_when_it_is_fetched_and_keeps_what_it_captures) {
  auto outer = in_.put(b, 5, {part_at_b()});
  EXPECT_EQ(objects_at(b), 0u);
  EXPECT_FALSE(in_.nodes[b].ledger->is_lost(outer.what));
  EXPECT_EQ(read(b), handle_errc::none);
  EXPECT_EQ(objects_at(b), 2u);
  drop_first(b); // Drops the captured part.
  kill(a);
  EXPECT_EQ(objects_at(b), 2u);
  EXPECT_TRUE(in_.nodes[b].unfinished.empty());
}

TEST_F(unfinished, one_is_pulled_by_others_with_all_that_it_captures) {
  send_and_arrive(b, c, {in_.put(b, 5, {part_at_b(), in_.put(b, 3)})});
  in_.drop_all(b);
  EXPECT_EQ(read(c), handle_errc::none);
  EXPECT_EQ(objects_at(c), 3u);
  EXPECT_EQ(tables(b).entries, 0u);
}

TEST_F(unfinished, one_is_handed_over_to_who_shares_the_store) {
  auto neighbour = node_beside(b);
  (void)link(b, neighbour);
  send_and_arrive(b, neighbour, {in_.put(b, 5, {part_at_b()})});
  EXPECT_EQ(read(neighbour), handle_errc::none);
  EXPECT_EQ(objects_at(b), 2u);
}

TEST_F(unfinished, one_is_lost_with_its_part_and_those_behind_it_are_told) {
  send_and_arrive(b, c, {in_.put(b, 5, {part_at_b()})});
  auto waiter = begin_reading(b);
  break_link(a, b);
  arrive();
  EXPECT_EQ(answer_to(waiter), handle_errc::violation); // No answer yet.
  pass_grace();
  EXPECT_EQ(answer_to(waiter), handle_errc::object_lost);
  EXPECT_TRUE(in_.nodes[c].ledger->is_lost(last_of(c).what));
}

TEST_F(unfinished, one_that_finds_no_room_is_tried_again) {
  auto outer = in_.put(b, 5, {part_at_b()});
  EXPECT_EQ((in_.drop(b, 0), read(b)), handle_errc::none);
  auto other = in_.put(b, 6, {outer, part_at_b()});
  (void)other;
  auto waiter = begin_reading(b);
  while (in_.nodes[b].due.empty())
    for (link_index over : {ab, bc})
      for (int end : {0, 1})
        (void)(in_.send_chunk(over, end) || in_.deliver(over, end));
  in_.finish_room(b, false);
  EXPECT_EQ(answer_to(waiter), handle_errc::full);
  EXPECT_EQ(read(b), handle_errc::none);
}

TEST_F(unfinished, chains_of_any_length_are_finished_and_let_go) {
  in_.limits.fetch_imports_max = 100'000;
  auto maker = node_on_new_host();
  (void)link(a, maker);
  send_and_arrive(a, maker, {in_.put(a, 10)});
  for (int i = 0; i < 5'000; ++i)
    in_.put(maker, 1, {last_of(maker)});
  while (in_.nodes[maker].application.size() > 1)
    drop_first(maker);
  EXPECT_EQ(tables(maker).entries, 5'001u);
  EXPECT_EQ(read(maker), handle_errc::none);
  EXPECT_EQ(objects_at(maker), 5'001u);
  in_.drop_all(maker);
  in_.drop_all(a);
}

TEST_F(unfinished, one_whose_part_is_adopted_elsewhere_is_finished_from_there) {
  send_and_arrive(a, b, {in_.put(a, 10)});
  in_.drop_all(a);
  send(b, c, {last_of(b)});
  arrive(); // C has adopted it over its own link to A.
  auto outer = in_.put(c, 5, {last_of(c)});
  kill(b);
  EXPECT_EQ(read(c), handle_errc::none);
  EXPECT_TRUE(in_.nodes[c].ledger->place_of(outer.what));
}

// -- every call ends its event, however it returns

TEST_F(unfinished, calls_that_are_refused_end_their_event) {
  auto& core = *in_.nodes[a].core;
  const auto& ledger = core.ledger();
  const handles::handle_descriptor handle{.name = {1, 1, 1}, .size_bytes = 1};
  EXPECT_FALSE(core.link_up(in_.links[ab].number, {.peer = {77, 1}, .token = {}, .peer_name = "b"}));
  EXPECT_EQ(ledger.broken_invariant(), "");
  EXPECT_FALSE(core.room_found(4711, {1, 1, 1}));
  EXPECT_EQ(ledger.broken_invariant(), "");
  EXPECT_FALSE(core.room_sealed(4711, {1, 1, 1}));
  EXPECT_EQ(ledger.broken_invariant(), "");
  EXPECT_FALSE(core.receive(4711, {&handle, 1}));
  EXPECT_EQ(ledger.broken_invariant(), "");
}

} // namespace

} // namespace troupe::simulation
