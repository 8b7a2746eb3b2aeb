// Nodes that share a store bring the same object into it once. A has the objects; B and C share a store, and each has a
// link to A.
#include "scenario.hpp"

namespace troupe::simulation {

namespace {

using handles::handle_errc;

class neighbours : public handle_protocol {
protected:
  neighbours() : a(node_on_new_host()), b(node_on_new_host()), c(node_beside(b)), ab(link(a, b)), ac(link(a, c)) {}

  held give_both(const held& what) {
    send_and_arrive(a, b, {what});
    send_and_arrive(a, c, {what});
    return what;
  }
  /// B has asked A for the bytes, and has received none yet.
  [[nodiscard]] handles::waiter_id have_b_begin() {
    auto waiter = begin_reading(b);
    in_.finish_room(b);
    return waiter;
  }

  node_index a, b, c;
  link_index ab, ac;
};

TEST_F(neighbours, who_ask_at_once_pull_once) {
  give_both(in_.put(a, 3 * world::chunk_bytes));
  auto first = have_b_begin();
  auto second = begin_reading(c);
  EXPECT_FALSE(in_.finish_room(c)); // The room waits for B.
  EXPECT_EQ(tables(c).requests, 0u);
  arrive();
  EXPECT_EQ(answer_to(first), handle_errc::none);
  EXPECT_EQ(answer_to(second), handle_errc::none);
  EXPECT_EQ(in_.finds, 1u);
  EXPECT_EQ(objects_at(b), 1u);
  EXPECT_EQ(tables(c).links_up, 1u);
  EXPECT_EQ(tables(a).exports, 0u); // Both have given their counts back.
}

TEST_F(neighbours, who_ask_later_find_it_and_keep_it) {
  give_both(in_.put(a, 10));
  EXPECT_EQ(read(b), handle_errc::none);
  EXPECT_EQ(read(c), handle_errc::none);
  EXPECT_EQ(in_.finds, 1u);
  kill(b);
  kill(a);
  EXPECT_EQ(objects_at(c), 1u);
  EXPECT_EQ(read(c), handle_errc::none);
}

TEST_F(neighbours, find_all_that_it_captures) {
  auto inner = in_.put(a, 5);
  auto outer = in_.put(a, 6, {inner, inner});
  give_both(in_.put(a, 7, {outer, inner}));
  EXPECT_EQ(read(b), handle_errc::none);
  EXPECT_EQ(read(c), handle_errc::none); // The world checks the whole graph.
  EXPECT_EQ(in_.finds, 1u);
  EXPECT_EQ(objects_at(b), 3u);
  in_.drop_all(b);
  kill(b);
  EXPECT_EQ(objects_at(c), 3u);
  EXPECT_EQ(read(c), handle_errc::none);
}

TEST_F(neighbours, find_what_another_object_captures) {
  auto inner = in_.put(a, 5);
  send_and_arrive(a, c, {inner});
  send_and_arrive(a, b, {in_.put(a, 6, {inner})});
  EXPECT_EQ(read(b), handle_errc::none);
  EXPECT_EQ(read(c), handle_errc::none);
  EXPECT_EQ(in_.finds, 1u);
  EXPECT_EQ(objects_at(b), 2u);
}

TEST_F(neighbours, pull_again_what_nobody_keeps_any_more) {
  give_both(in_.put(a, 10));
  EXPECT_EQ(read(b), handle_errc::none);
  in_.drop_all(b);
  arrive();
  EXPECT_EQ(objects_at(b), 0u);
  EXPECT_EQ(read(c), handle_errc::none);
  EXPECT_EQ(in_.finds, 0u);
}

TEST_F(neighbours, pull_themselves_when_who_pulls_dies) {
  give_both(in_.put(a, 10));
  (void)have_b_begin();
  auto second = begin_reading(c);
  EXPECT_FALSE(in_.finish_room(c));
  kill(b);
  arrive();
  EXPECT_EQ(answer_to(second), handle_errc::none);
  EXPECT_EQ(in_.finds, 0u);
}

TEST_F(neighbours, pull_themselves_when_who_pulls_loses_its_link) {
  give_both(in_.put(a, 10));
  auto first = have_b_begin();
  auto second = begin_reading(c);
  EXPECT_FALSE(in_.finish_room(c));
  break_link(a, b);
  arrive();
  EXPECT_EQ(answer_to(second), handle_errc::none);
  ab = link(a, b);
  arrive();
  EXPECT_EQ(answer_to(first), handle_errc::none); // B finds the bytes that C has pulled meanwhile.
  EXPECT_EQ(in_.finds, 1u);
}

TEST_F(neighbours, that_wait_may_cancel) {
  give_both(in_.put(a, 10));
  auto first = have_b_begin();
  auto second = begin_reading(c);
  in_.cancel(c, second);
  EXPECT_EQ(tables(c).rooms, 0u);
  in_.drop_all(c);
  arrive();
  EXPECT_EQ(answer_to(first), handle_errc::none);
  EXPECT_EQ(in_.finds, 0u);
}

TEST_F(neighbours, that_wait_lose_their_own_link_and_find_the_bytes_with_the_next) {
  give_both(in_.put(a, 10));
  auto first = have_b_begin();
  auto second = begin_reading(c);
  break_link(a, c);
  arrive();
  EXPECT_EQ(answer_to(first), handle_errc::none);
  EXPECT_EQ(answer_to(second), handle_errc::violation); // No answer yet: only A could confirm that C may still have it.
  ac = link(a, c);
  arrive();
  EXPECT_EQ(answer_to(second), handle_errc::none);
  EXPECT_EQ(in_.finds, 1u);
}

TEST_F(neighbours, that_wait_are_answered_at_their_deadline) {
  give_both(in_.put(a, 10));
  in_.freeze(a);
  (void)have_b_begin();
  auto second = in_.fetch(c, 0, 5s);
  in_.pass_and_tick(1, 5s);
  EXPECT_EQ(answer_to(second), handle_errc::timed_out);
  in_.thaw(a);
  arrive();
}

// Goal: a node that makes no progress does not delay the others for ever.
TEST_F(neighbours, pull_themselves_when_who_pulls_is_slow) {
  give_both(in_.put(a, 10));
  auto first = have_b_begin();
  in_.freeze(b);
  auto second = begin_reading(c);
  arrive();
  EXPECT_EQ(answer_to(second), handle_errc::violation); // No answer yet.
  in_.pass_and_tick(1, world::others_patience);
  EXPECT_EQ(answer_to(second), handle_errc::none);
  in_.thaw(b);
  arrive();
  EXPECT_EQ(answer_to(first), handle_errc::none);
  EXPECT_EQ(in_.finds, 0u);
  EXPECT_EQ(objects_at(b), 2u);
}

TEST_F(neighbours, take_a_new_incarnations_objects_for_others) {
  give_both(in_.put(a, 10));
  EXPECT_EQ(read(b), handle_errc::none);
  kill(a);
  auto again = in_.restart(a);
  link(again, c);
  auto other = in_.put(again, 10); // Same row of the same store, judging by the names.
  send_and_arrive(again, c, {other});
  EXPECT_EQ(read(c), handle_errc::none);
  EXPECT_EQ(in_.finds, 0u);
}

TEST_F(neighbours, on_several_links_to_one_node_find_what_the_other_link_has_brought) {
  link(a, b);
  auto object = in_.put(a, 10);
  ASSERT_TRUE(in_.send(a, ab, {object}));
  send_and_arrive(a, b, {object});
  EXPECT_EQ(in_.nodes[b].application.size(), 2u);
  auto first = in_.fetch(b, 0, far_off);
  auto second = in_.fetch(b, 1, far_off);
  arrive();
  EXPECT_EQ(answer_to(first), handle_errc::none);
  EXPECT_EQ(answer_to(second), handle_errc::none);
  EXPECT_EQ(in_.finds, 1u);
  EXPECT_EQ(objects_at(b), 1u);
}

TEST_F(neighbours, may_send_on_what_they_found_and_get_it_back) {
  give_both(in_.put(a, 10));
  auto d = node_on_new_host();
  link(c, d);
  EXPECT_EQ(read(b), handle_errc::none);
  EXPECT_EQ(read(c), handle_errc::none);
  send_and_arrive(c, d, {last_of(c)});
  EXPECT_EQ(read(d), handle_errc::none);
  send_and_arrive(c, a, {last_of(c)}); // The handle that A sent comes home.
  send_and_arrive(a, c, {last_of(a)});
  EXPECT_EQ(read(c), handle_errc::none);
  EXPECT_EQ(objects_at(c), 1u);
}

// A has put an object. Other nodes copy it and send it back.
class at_home : public three_nodes {
protected:
  at_home() { in_.put(a, 3 * world::chunk_bytes); }

  /// Returns whether the node's last handle refers to the object that A has put.
  [[nodiscard]] bool is_original(node_index at) const {
    return in_.nodes[at].ledger->place_of(last_of(at).what)
           == in_.nodes[a].ledger->place_of(in_.nodes[a].application[0].what);
  }
};

TEST_F(at_home, a_copy_that_comes_home_is_the_original) {
  send_and_arrive(a, b, {last_of(a)});
  EXPECT_EQ(read(b), handle_errc::none);
  send_and_arrive(b, a, {last_of(b)});
  EXPECT_TRUE(is_original(a));
  EXPECT_EQ(tables(a).imports, 0u); // A depends on no other node,
  EXPECT_EQ(tables(b).exports, 0u); // and keeps nothing alive elsewhere.
  kill(b);
  EXPECT_EQ(read(a), handle_errc::none);
  EXPECT_EQ(objects_at(a), 1u);
  EXPECT_EQ(in_.came_home, 1u);
}

TEST_F(at_home, however_many_have_copied_it_and_by_whatever_link) {
  send_and_arrive(a, b, {last_of(a)});
  EXPECT_EQ(read(b), handle_errc::none);
  send_and_arrive(b, c, {last_of(b)});
  EXPECT_EQ(read(c), handle_errc::none);
  link(c, a);
  send_and_arrive(c, a, {last_of(c)});
  EXPECT_TRUE(is_original(a));
  break_link(a, b);
  pass_grace();
  link(b, a);
  send_and_arrive(b, a, {last_of(b)});
  EXPECT_TRUE(is_original(a));
  EXPECT_EQ(in_.came_home, 2u);
}

TEST_F(at_home, what_is_behind_somebody_needs_no_way_back) {
  send_and_arrive(a, b, {last_of(a)});
  auto d = node_beside(a); // Another node on the original's host, which knows none of the others.
  send(b, c, {last_of(b)});
  arrive_over(bc, c);
  link(c, d);
  send_and_arrive(c, d, {last_of(c)});
  EXPECT_TRUE(is_original(d));
  EXPECT_EQ(in_.came_home, 1u);
}

TEST_F(at_home, another_node_of_that_host_has_it_at_once) {
  send_and_arrive(a, b, {last_of(a)});
  EXPECT_EQ(read(b), handle_errc::none);
  auto d = node_beside(a);
  link(b, d);
  send_and_arrive(b, d, {last_of(b)});
  EXPECT_TRUE(is_original(d));
  kill(a);
  kill(b);
  EXPECT_EQ(read(d), handle_errc::none);
}

TEST_F(at_home, a_neighbour_of_who_has_copied_it_sends_it_home_too) {
  auto d = node_beside(b);
  link(b, d);
  link(d, a);
  send_and_arrive(a, b, {last_of(a)});
  EXPECT_EQ(read(b), handle_errc::none);
  in_.hand_over_fails = true;
  send_and_arrive(b, d, {last_of(b)});
  in_.hand_over_fails = false;
  EXPECT_EQ(read(d), handle_errc::none); // Read through their shared store; the ledger hands it over.
  send_and_arrive(d, a, {last_of(d)});
  EXPECT_TRUE(is_original(a));
}

TEST_F(at_home, what_a_link_hands_over_does_not_say_where_it_was_put) {
  auto d = node_beside(b);
  link(b, d);
  link(d, a);
  send_and_arrive(a, b, {last_of(a)});
  EXPECT_EQ(read(b), handle_errc::none);
  send_and_arrive(b, d, {last_of(b)});
  send_and_arrive(d, a, {last_of(d)});
  EXPECT_FALSE(is_original(a));
  EXPECT_EQ(read(a), handle_errc::none); // A pulls it once more.
}

TEST_F(at_home, what_a_copy_is_captured_by_does_not_lead_home) {
  auto inner = last_of(a);
  send_and_arrive(a, b, {inner});
  EXPECT_EQ(read(b), handle_errc::none);
  auto outer = in_.put(b, 5, {last_of(b)}); // B's own object, which captures B's copy of A's object.
  send_and_arrive(b, a, {outer});
  EXPECT_EQ(read(a), handle_errc::none);
  EXPECT_EQ(objects_at(a), 3u); // To B's store the copy is an object of its own, so A pulls it once more.
}

TEST_F(at_home, what_is_gone_there_is_brought_back) {
  send_and_arrive(a, b, {last_of(a)});
  EXPECT_EQ(read(b), handle_errc::none);
  in_.drop_all(a);
  arrive();
  EXPECT_EQ(objects_at(a), 0u);
  send_and_arrive(b, a, {last_of(b)});
  EXPECT_EQ(read(a), handle_errc::none);
  EXPECT_EQ(objects_at(a), 1u);
  EXPECT_EQ(in_.came_home, 0u);
}

TEST_F(at_home, neither_a_guess_nor_another_size_finds_anything) {
  auto place = in_.nodes[a].ledger->place_of(last_of(a).what).value();
  auto proof = in_.store_of(a).proof_of(place);
  auto size_bytes = 3 * world::chunk_bytes;
  for (const handles::home_name& lie : {handles::home_name{place, proof + 1},
                                        {{place.store, place.index, place.generation + 1}, proof},
                                        {{place.store, place.index + 1, place.generation}, proof}})
    EXPECT_FALSE(in_.nodes[a].objects->hold_at_home(lie, size_bytes));
  EXPECT_FALSE(in_.nodes[a].objects->hold_at_home({place, proof}, size_bytes + 1));
  EXPECT_EQ(in_.came_home, 0u);
}

} // namespace

} // namespace troupe::simulation
