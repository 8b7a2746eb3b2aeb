// The exchanges of the handle protocol, one test each. The nodes are named as in framework/handle-protocol.md: A has
// the object, B gets it from A, C gets it from B.
#include "scenario.hpp"

namespace troupe::simulation {

namespace {

using handles::handle_errc;

TEST_F(two_nodes, an_exported_object_lives_until_its_importer_releases_it) {
  send(a, b, {in_.put(a, 10)});
  in_.drop_all(a);
  arrive();
  EXPECT_EQ(objects_at(a), 1u);
  in_.drop_all(b);
  arrive();
  EXPECT_EQ(objects_at(a), 0u);
  EXPECT_EQ(tables(a).exports, 0u);
}

TEST_F(two_nodes, a_release_that_crosses_a_second_sending_takes_back_the_first_only) {
  auto object = in_.put(a, 10);
  send_and_arrive(a, b, {object});
  send(a, b, {object}); // Under way ...
  in_.drop(b, 0);       // ... when the release is sent.
  in_.drop_all(a);
  arrive();
  EXPECT_EQ(tables(a).exports, 1u);
  EXPECT_EQ(read(b), handle_errc::none);
}

TEST_F(handle_protocol, a_handle_that_is_twice_in_a_message_counts_two_and_is_released_by_one) {
  for (bool shared : {false, true}) {
    auto a = node_on_new_host();
    auto b = shared ? node_beside(a) : node_on_new_host();
    link(a, b);
    auto object = in_.put(a, 10);
    send_and_arrive(a, b, {object, object});
    in_.drop_all(a);
    in_.drop(b, 0);
    arrive();
    EXPECT_EQ(objects_at(a), 1u);
    EXPECT_EQ(read(b), handle_errc::none);
    in_.drop_all(b);
    arrive();
    EXPECT_EQ(tables(a).exports, 0u);
    EXPECT_EQ(objects_at(a), 0u);
  }
}

TEST_F(two_nodes, a_handle_that_returns_to_its_home_is_the_object_itself) {
  send_and_arrive(a, b, {in_.put(a, 10)});
  in_.drop_all(a);
  send(b, a, {last_of(b)});
  in_.drop_all(b); // The release follows the message.
  arrive();
  EXPECT_TRUE(in_.nodes[a].ledger->place_of(last_of(a).what));
  EXPECT_EQ(objects_at(a), 1u);
  EXPECT_EQ(tables(a).exports, 0u);
  EXPECT_EQ(tables(a).imports, 0u);
}

TEST_F(two_nodes, a_release_never_overtakes_the_message_that_brings_its_handle_home) {
  send_and_arrive(a, b, {in_.put(a, 10)});
  ASSERT_TRUE(in_.pack(b, 0, {last_of(b)}));
  in_.drop_all(a);
  in_.drop_all(b); // Only the waiting message has a reference.
  ASSERT_TRUE(in_.leave(b, 0));
  arrive(); // A violation would throw.
  EXPECT_TRUE(is_linked(a, b));
  EXPECT_EQ(objects_at(a), 1u);
}

TEST_F(two_nodes, a_handle_that_comes_home_over_another_link_is_the_object_itself) {
  auto second = link(b, a);
  ASSERT_TRUE(in_.send(a, ab, {in_.put(a, 10)}));
  arrive();
  in_.drop_all(a);
  ASSERT_TRUE(in_.send(b, second, {last_of(b)}));
  in_.drop_all(b);
  arrive();
  EXPECT_TRUE(in_.nodes[a].ledger->place_of(last_of(a).what));
  EXPECT_EQ(tables(a).exports + tables(a).imports, 0u);
}

TEST_F(three_nodes, a_third_node_adopts_from_the_first_and_outlives_the_second) {
  link(c, a);
  send_and_arrive(a, b, {in_.put(a, 10)});
  in_.drop_all(a);
  send_and_arrive(b, c, {last_of(b)});
  EXPECT_EQ(in_.adoptions, 1u);
  EXPECT_EQ(tables(b).exports, 0u); // C has released its handle.
  in_.drop_all(b);
  kill(b);
  arrive();
  pass_grace();
  EXPECT_EQ(read(c), handle_errc::none);
}

TEST_F(three_nodes, the_second_may_die_before_the_third_has_adopted) {
  send_and_arrive(a, b, {in_.put(a, 10)});
  in_.drop_all(a);
  send(b, c, {last_of(b)});
  ASSERT_TRUE(in_.deliver(bc, 1)); // Without a link to A yet, C is behind B.
  kill(b);
  in_.notice(bc, 1);
  EXPECT_EQ(tables(c).links_in_grace, 1u);
  arrive(); // C connects to A and adopts within the grace period.
  EXPECT_EQ(in_.adoptions, 1u);
  pass_grace();
  EXPECT_EQ(read(c), handle_errc::none);
}

TEST_F(three_nodes, without_a_way_to_the_first_the_third_stays_behind_the_second) {
  send_and_arrive(a, b, {in_.put(a, 10)});
  in_.drop_all(a);
  in_.freeze(a); // Keeps other nodes from connecting to A.
  send_and_arrive(b, c, {last_of(b)});
  in_.drop_all(b);
  in_.nodes[c].wanted_links.clear();
  in_.thaw(a);
  EXPECT_EQ(read(c), handle_errc::none); // B fetches, then serves C.
  EXPECT_EQ(in_.adoptions, 0u);
}

TEST_F(three_nodes, behind_a_dead_node_what_was_not_fetched_is_lost_and_says_so) {
  auto object = in_.put(a, 10);
  send_and_arrive(a, b, {object, in_.put(a, 11)});
  in_.freeze(a);
  send_and_arrive(b, c, {in_.nodes[b].application[0], in_.nodes[b].application[1]});
  in_.nodes[c].wanted_links.clear();
  in_.thaw(a);
  EXPECT_EQ(read(c), handle_errc::none);
  in_.copy(c, 0);
  auto waiter = begin_reading(c); // Waits for the object whose bytes have not arrived yet.
  kill(b);
  arrive();
  EXPECT_EQ(answer_to(waiter), handle_errc::violation); // No answer yet: the grace period is still running.
  pass_grace();
  EXPECT_EQ(answer_to(waiter), handle_errc::object_lost);
  EXPECT_TRUE(in_.nodes[c].ledger->place_of(in_.nodes[c].application[1].what));
}

TEST_F(three_nodes, an_adoption_that_comes_before_its_vouch_waits_for_it) {
  auto ca = link(c, a);
  send_and_arrive(a, b, {in_.put(a, 10)});
  send(b, c, {last_of(b)});
  ASSERT_TRUE(in_.deliver(bc, 1));
  ASSERT_TRUE(in_.deliver(ca, 1));
  EXPECT_EQ(tables(a).parked, 1u);
  ASSERT_TRUE(in_.deliver(ab, 0)); // The vouch.
  EXPECT_EQ(tables(a).parked, 0u);
  arrive();
  EXPECT_EQ(in_.adoptions, 1u);
}

TEST_F(three_nodes, an_adoption_after_the_graces_end_is_refused) {
  send_and_arrive(a, b, {in_.put(a, 10)});
  in_.drop_all(a);
  send(b, c, {last_of(b)});
  ASSERT_TRUE(in_.deliver(ab, 0)); // The vouch.
  ASSERT_TRUE(in_.deliver(bc, 1));
  kill(b);
  in_.notice(ab, 0);
  in_.pass(world::grace + 1s);
  in_.tick(a); // A's clock is ahead: the grace period is over at A, but not at C.
  EXPECT_EQ(objects_at(a), 0u);
  arrive();
  EXPECT_EQ(in_.adoptions, 0u);
  pass_grace();
  EXPECT_EQ(read(c), handle_errc::object_lost);
}

TEST_F(three_nodes, an_adoption_just_before_the_graces_end_saves_the_object) {
  send_and_arrive(a, b, {in_.put(a, 10)});
  in_.drop_all(a);
  send(b, c, {last_of(b)});
  ASSERT_TRUE(in_.deliver(ab, 0));
  ASSERT_TRUE(in_.deliver(bc, 1));
  kill(b);
  in_.notice(ab, 0);
  in_.pass(world::grace - 1s);
  in_.tick(a);
  arrive();
  EXPECT_EQ(in_.adoptions, 1u);
  pass_grace();
  EXPECT_EQ(read(c), handle_errc::none);
}

TEST_F(handle_protocol, a_chain_behind_dead_nodes_still_adopts_from_who_has_the_bytes) {
  auto a = node_on_new_host();
  auto b = node_on_new_host();
  auto c = node_on_new_host();
  auto d = node_on_new_host();
  auto ab = link(a, b);
  auto bc = link(b, c);
  auto cd = link(c, d);
  send_and_arrive(a, b, {in_.put(a, 10)});
  in_.drop_all(a);
  send(b, c, {last_of(b)});
  ASSERT_TRUE(in_.deliver(ab, 0));
  ASSERT_TRUE(in_.deliver(bc, 1));
  send(c, d, {last_of(c)}); // D is behind C, so C may adopt only from the node that has the bytes.
  ASSERT_TRUE(in_.deliver(cd, 1));
  kill(b);
  arrive();
  pass_grace();
  EXPECT_EQ(read(c), handle_errc::none);
  EXPECT_EQ(read(d), handle_errc::none);
}

/// Four hosts, each linked only to its two neighbors, that send an object round.
class ring : public handle_protocol {
protected:
  static constexpr node_index size = 4;

  ring() {
    for (node_index at = 0; at < size; ++at)
      node_on_new_host();
    for (node_index at = 0; at < size; ++at)
      link(at, (at + 1) % size);
  }

  /// Each node sends its object on and keeps nothing.
  void go_round(int laps) {
    for (int lap = 0; lap < laps; ++lap)
      for (node_index at = 0; at < size; ++at) {
        send(at, (at + 1) % size, {last_of(at)});
        in_.drop_all(at);
        arrive_without_new_links();
      }
  }

  void arrive_without_new_links() {
    for (bool moves = true; moves;) {
      moves = false;
      for (link_index over = 0; over < in_.links.size(); ++over)
        for (int end : {0, 1})
          moves |= in_.deliver(over, end);
    }
    for (auto& each : in_.nodes)
      each.wanted_links.clear();
  }

  [[nodiscard]] std::size_t rows() const {
    std::size_t all = 0;
    for (node_index at = 0; at < size; ++at)
      all += tables(at).entries + tables(at).exports + tables(at).imports;
    return all;
  }
};

TEST_F(ring, a_handle_that_goes_round_and_round_leaves_no_longer_trail_with_each_lap) {
  in_.put(0, 10);
  go_round(2);
  const auto after_two = rows();
  for (int i = 0; i < 50; ++i) {
    go_round(20);
    EXPECT_LE(rows(), after_two);
  }
  EXPECT_EQ(read(0), handle_errc::none);
}

TEST_F(ring, does_not_hold_what_comes_in_from_outside_any_longer) {
  const auto outside = node_on_new_host();
  const auto between = node_on_new_host();
  link(outside, between);
  link(between, 0);
  send(outside, between, {in_.put(outside, 10)});
  in_.drop_all(outside);
  arrive_without_new_links();
  send(between, 0, {last_of(between)});
  in_.drop_all(between);
  arrive_without_new_links();
  go_round(3);
  const auto after_three = rows();
  go_round(100);
  EXPECT_LE(rows(), after_three);
  EXPECT_EQ(read(0), handle_errc::none);
}

TEST_F(two_nodes, a_new_link_of_the_same_incarnation_reclaims) {
  send_and_arrive(a, b, {in_.put(a, 10)});
  in_.drop_all(a);
  auto waiter = begin_reading(b);
  break_link(a, b);
  arrive();
  in_.pass(world::grace - 1s);
  link(a, b);
  arrive();
  pass_grace();
  EXPECT_EQ(answer_to(waiter), handle_errc::none); // The pull started again.
  EXPECT_EQ(in_.reclaims, 1u);
}

TEST_F(two_nodes, a_reclaim_ends_a_link_whose_loss_the_exporter_has_not_seen) {
  send_and_arrive(a, b, {in_.put(a, 10)});
  in_.drop_all(a);
  in_.cut(ab);
  in_.notice(ab, 1);
  link(a, b);
  for (int packets = 0; packets < 4; ++packets)
    in_.deliver(ab + 1, packets % 2);
  EXPECT_FALSE(in_.links[ab].up[0]);
  EXPECT_EQ(read(b), handle_errc::none);
}

TEST_F(two_nodes, a_new_incarnation_reclaims_nothing_and_its_stale_release_ends_its_link) {
  send_and_arrive(a, b, {in_.put(a, 10)});
  auto name = in_.nodes[a].ledger->place_of(last_of(a).what).value();
  kill(b);
  in_.notice(ab, 0);
  auto again = in_.restart(b);
  link(a, again);
  say(again, a, handles::reclaim{1, name, in_.links[ab].number});
  in_.nodes[again].liar = true; // Its ledger has not asked this question.
  arrive();
  EXPECT_EQ(tables(a).links_in_grace, 1u); // The lost link kept its exports.
  if (!is_linked(a, again))
    link(a, again);
  say(again, a, handles::release{name, 1});
  arrive();
  EXPECT_FALSE(is_linked(a, again));
  EXPECT_EQ(objects_at(a), 1u);
}

TEST_F(handle_protocol, a_message_to_an_actor_that_is_gone_releases_its_handles) {
  for (bool shared : {false, true}) {
    auto a = node_on_new_host();
    auto b = shared ? node_beside(a) : node_on_new_host();
    link(a, b);
    send(a, b, {in_.put(a, 10)}, false);
    in_.drop_all(a);
    arrive();
    EXPECT_EQ(objects_at(a), 0u);
    EXPECT_EQ(tables(a).exports, 0u);
  }
}

TEST_F(handle_protocol, a_message_that_is_given_up_takes_everything_back) {
  for (bool shared : {false, true}) {
    auto a = node_on_new_host();
    auto b = shared ? node_beside(a) : node_on_new_host();
    auto over = link(a, b);
    ASSERT_TRUE(in_.pack(a, over, {in_.put(a, 10), in_.put(a, 11)}));
    in_.drop_all(a);
    EXPECT_EQ(objects_at(a), 2u);
    in_.give_up(a, 0);
    EXPECT_EQ(objects_at(a), 0u);
    EXPECT_EQ(tables(a).exports, 0u);
  }
}

TEST_F(three_nodes, what_is_lost_while_its_message_waits_is_not_counted) {
  auto d = node_on_new_host();
  auto cd = link(c, d);
  send_and_arrive(a, b, {in_.put(a, 10)});
  send(b, c, {last_of(b)});
  ASSERT_TRUE(in_.deliver(bc, 1));
  ASSERT_TRUE(in_.pack(c, cd, {last_of(c)}));
  auto ca = link(c, a);
  while (in_.adoptions == 0)
    ASSERT_TRUE(in_.deliver(ab, 0) || in_.deliver(ca, 1) || in_.deliver(ca, 0));
  ASSERT_FALSE(in_.nodes[c].ledger->is_behind(last_of(c).what));
  kill(a);
  arrive();
  pass_grace();
  ASSERT_TRUE(in_.nodes[c].ledger->is_lost(last_of(c).what));
  EXPECT_FALSE(in_.leave(c, 0));
  arrive();
  EXPECT_TRUE(in_.nodes[d].application.empty());
}

TEST_F(handle_protocol, one_payload_goes_to_many_links_and_each_counts_for_itself) {
  auto a = node_on_new_host();
  auto object = in_.put(a, 10);
  std::vector<node_index> others;
  for (int i = 0; i < 5; ++i) {
    others.push_back(i % 2 == 0 ? node_on_new_host() : node_beside(a));
    link(a, others.back());
    send(a, others.back(), {object});
  }
  in_.drop_all(a);
  arrive();
  EXPECT_EQ(tables(a).exports, 3u); // The other objects were handed over.
  for (auto each : others) {
    EXPECT_EQ(objects_at(a), 1u);
    EXPECT_EQ(read(each), handle_errc::none);
    in_.drop_all(each);
    arrive();
  }
  EXPECT_EQ(objects_at(a), 0u);
}

TEST_F(handle_protocol, an_exporter_killed_between_hold_and_send_leaves_nothing) {
  auto a = node_on_new_host();
  auto b = node_beside(a);
  auto over = link(a, b);
  ASSERT_TRUE(in_.pack(a, over, {in_.put(a, 10)})); // Already in flight, and held.
  kill(a);
  EXPECT_EQ(objects_at(b), 1u); // In flight to B until B sees that the link has ended.
  arrive();
  EXPECT_EQ(objects_at(b), 0u);
}

TEST_F(handle_protocol, an_exporter_killed_between_send_and_receive_loses_nothing_in_a_shared_store) {
  auto a = node_on_new_host();
  auto b = node_beside(a);
  auto over = link(a, b);
  send(a, b, {in_.put(a, 10)}); // Handed over.
  auto second = in_.put(a, 11);
  in_.hand_over_fails = true;
  send(a, b, {second}); // Counted, and handed over when B pulls it.
  in_.hand_over_fails = false;
  ASSERT_TRUE(in_.deliver(over, 1) && in_.deliver(over, 1));
  auto waiter = begin_reading(b);
  arrive_over(over, a);
  send(a, b, {in_.put(a, 12)});
  kill(a);
  EXPECT_EQ(objects_at(b), 3u);
  arrive(); // Messages written before the death are still delivered.
  EXPECT_EQ(answer_to(waiter), handle_errc::none);
  EXPECT_EQ(in_.nodes[b].application.size(), 3u);
  EXPECT_EQ(read(b), handle_errc::none);
}

TEST_F(two_nodes, an_exporter_killed_between_send_and_receive_is_object_lost_on_another_host) {
  send(a, b, {in_.put(a, 10)});
  kill(a);
  in_.deliver(0, 1);
  auto waiter = begin_reading(b);
  arrive();
  pass_grace();
  EXPECT_EQ(answer_to(waiter), handle_errc::object_lost);
}

TEST_F(two_nodes, an_importer_killed_in_mid_pull_leaves_nothing_after_the_grace) {
  send_and_arrive(a, b, {in_.put(a, 10 * world::chunk_bytes)});
  in_.drop_all(a);
  (void)begin_reading(b);
  in_.finish_room(b);
  ASSERT_TRUE(in_.deliver(ab, 0));
  ASSERT_TRUE(in_.send_chunk(ab, 0));
  EXPECT_EQ(tables(a).servings, 1u);
  kill(b);
  arrive();
  EXPECT_EQ(tables(a).servings, 0u);
  EXPECT_EQ(objects_at(a), 1u);
  pass_grace();
  EXPECT_EQ(objects_at(a), 0u);
}

TEST_F(two_nodes, a_row_that_is_used_again_is_another_object_to_everybody) {
  send_and_arrive(a, b, {in_.put(a, 10)});
  EXPECT_EQ(read(b), handle_errc::none); // B's replica lives on, and A's row is free.
  in_.drop_all(a);
  arrive();
  auto second = in_.put(a, 12);
  EXPECT_EQ(in_.nodes[a].ledger->place_of(second.what)->generation, 2u);
  send_and_arrive(a, b, {second});
  EXPECT_EQ(read(b), handle_errc::none); // The world checks that the bytes are the second object's.
  EXPECT_EQ(objects_at(b), 2u);
}

TEST_F(two_nodes, captured_handles_come_along_and_are_released_once) {
  auto inner = in_.put(a, 5);
  auto outer = in_.put(a, 6, {inner, inner});
  auto outermost = in_.put(a, 7, {outer, inner});
  send_and_arrive(a, b, {outermost});
  in_.drop_all(a);
  EXPECT_EQ(objects_at(a), 3u);
  EXPECT_EQ(read(b), handle_errc::none);
  EXPECT_EQ(objects_at(b), 3u);
  EXPECT_EQ(objects_at(a), 0u);
  EXPECT_EQ(tables(a).exports + tables(b).imports - tables(b).entries, 0u);
  in_.drop_all(b);
  arrive();
  EXPECT_EQ(objects_at(b), 0u);
}

TEST_F(two_nodes, of_two_who_wait_for_one_pull_one_may_cancel) {
  send_and_arrive(a, b, {in_.put(a, 10)});
  auto patient = begin_reading(b);
  auto hasty = begin_reading(b);
  EXPECT_EQ(tables(b).fetches, 1u);
  in_.cancel(b, hasty);
  arrive();
  EXPECT_EQ(answer_to(hasty), handle_errc::cancelled);
  EXPECT_EQ(answer_to(patient), handle_errc::none);
}

TEST_F(two_nodes, a_pull_that_all_have_cancelled_stops_and_releases_what_came_along) {
  auto inner = in_.put(a, 5);
  send_and_arrive(a, b, {in_.put(a, 10, {inner})});
  auto only = begin_reading(b);
  in_.finish_room(b);
  ASSERT_TRUE(in_.deliver(ab, 0));    // The pull ...
  ASSERT_TRUE(in_.send_chunk(ab, 0)); // ... arrives, and its head with the captured handle is on its way.
  in_.cancel(b, only);
  EXPECT_EQ(tables(a).servings, 1u);
  arrive();
  EXPECT_EQ(tables(a).servings, 0u);
  EXPECT_EQ(tables(a).exports, 1u); // The inner object's export was released.
  EXPECT_EQ(read(b), handle_errc::none);
}

TEST_F(two_nodes, an_object_that_spills_while_it_is_pulled_arrives_whole) {
  auto object = in_.put(a, 4 * world::chunk_bytes);
  auto place = in_.nodes[a].ledger->place_of(object.what).value();
  send_and_arrive(a, b, {object});
  auto waiter = begin_reading(b);
  in_.finish_room(b);
  ASSERT_TRUE(in_.deliver(ab, 0));
  for (int chunk = 0; chunk < 4; ++chunk) {
    in_.store_of(a).spill(place);
    ASSERT_TRUE(in_.send_chunk(ab, 0));
    EXPECT_FALSE(in_.store_of(a).is_spilled(place)); // Reading restores the bytes.
  }
  arrive();
  EXPECT_EQ(answer_to(waiter), handle_errc::none);
}

TEST_F(two_nodes, a_replica_without_room_is_an_error_and_can_be_fetched_again) {
  send_and_arrive(a, b, {in_.put(a, 10)});
  auto waiter = begin_reading(b);
  in_.finish_room(b, false);
  EXPECT_EQ(answer_to(waiter), handle_errc::full);
  EXPECT_EQ(read(b), handle_errc::none);
}

TEST_F(two_nodes, a_frozen_exporter_costs_a_waiter_its_patience_and_not_more) {
  send_and_arrive(a, b, {in_.put(a, 10)});
  in_.freeze(a);
  auto waiter = begin_reading(b);
  auto sooner = in_.fetch(b, 0, 5s);
  arrive();
  in_.pass(6s);
  in_.tick(b);
  EXPECT_EQ(answer_to(sooner), handle_errc::timed_out);
  in_.pass(60s);
  in_.tick(b);
  EXPECT_EQ(answer_to(waiter), handle_errc::stalled);
  in_.thaw(a);
  EXPECT_EQ(read(b), handle_errc::none);
}

TEST_F(handle_protocol, nodes_that_share_a_store_make_one_replica) {
  auto a = node_on_new_host();
  auto b = node_on_new_host();
  auto c = node_beside(b);
  link(a, b);
  link(b, c);
  send_and_arrive(a, b, {in_.put(a, 10)});
  in_.freeze(a);
  send_and_arrive(b, c, {last_of(b)});
  in_.nodes[c].wanted_links.clear();
  in_.thaw(a);
  EXPECT_EQ(read(c), handle_errc::none);
  EXPECT_EQ(objects_at(b), 1u);
  in_.drop_all(b);
  kill(b);
  EXPECT_EQ(read(c), handle_errc::none); // C has its own hold.
}

TEST_F(handle_protocol, a_store_that_could_not_be_asked_leaves_nothing_in_flight) {
  auto a = node_on_new_host();
  auto b = node_beside(a);
  link(a, b);
  in_.hand_over_fails = true;
  send_and_arrive(a, b, {in_.put(a, 10)});
  in_.hand_over_fails = false;
  in_.drop_all(a);
  in_.adopting_fails = true;
  auto waiter = begin_reading(b);
  arrive();
  EXPECT_EQ(answer_to(waiter), handle_errc::violation); // No answer yet.
  in_.adopting_fails = false;
  in_.pass(1s);
  in_.tick(b);
  arrive();
  EXPECT_EQ(answer_to(waiter), handle_errc::none);
  in_.drop_all(b);
  arrive();
  EXPECT_EQ(objects_at(a), 0u);
}

// -- objects that links hand over in a store shared by both ends, without the ledger

class handed_over : public handle_protocol {
protected:
  handed_over() : a(node_on_new_host()), b(node_beside(a)), ab(link(a, b)) {}

  void pack(const std::vector<held>& what) { ASSERT_TRUE(in_.pack(a, ab, what)); }

  node_index a, b;
  link_index ab;
};

TEST_F(handed_over, an_object_is_here_at_once_and_its_sender_may_die) {
  send_and_arrive(a, b, {in_.put(a, 10)});
  EXPECT_EQ(tables(a).exports + tables(b).imports, 0u); // The ledger does not know of it.
  kill(a);
  arrive();
  EXPECT_EQ(read(b), handle_errc::none);
}

TEST_F(handed_over, an_object_that_came_twice_is_released_once_and_then_gone) {
  auto object = in_.put(a, 10);
  send_and_arrive(a, b, {object, object});
  in_.drop_all(a);
  in_.drop(b, 0);
  arrive();
  EXPECT_EQ(objects_at(a), 1u);
  in_.drop_all(b);
  arrive();
  EXPECT_EQ(objects_at(a), 0u);
}

TEST_F(handed_over, an_encoding_that_fails_half_way_takes_everything_back) {
  auto first = in_.put(a, 10);
  auto second = in_.put(a, 11);
  in_.hand_overs_left = 1; // Enough for the first only; the second is counted when the message leaves.
  pack({first, second});
  in_.hand_overs_left.reset();
  in_.drop_all(a);
  EXPECT_EQ(objects_at(a), 2u);
  in_.give_up(a, 0);
  EXPECT_EQ(objects_at(a), 0u); // Nothing is held, nothing is in flight.
}

TEST_F(handed_over, a_message_that_waits_for_room_takes_its_objects_back_at_the_links_end) {
  pack({in_.put(a, 10)});
  in_.admit(a, 0);
  in_.drop_all(a);
  EXPECT_EQ(objects_at(a), 1u);
  in_.cut(ab);
  in_.notice(ab, 0);
  EXPECT_TRUE(in_.nodes[a].waiting.empty());
  EXPECT_EQ(objects_at(a), 0u);
}

TEST_F(handed_over, a_message_that_is_encoded_after_the_links_end_takes_its_objects_back) {
  pack({in_.put(a, 10)});
  in_.drop_all(a);
  in_.cut(ab);
  in_.notice(ab, 0);
  in_.notice(ab, 1);
  EXPECT_FALSE(in_.leave(a, 0));
  EXPECT_EQ(objects_at(a), 0u);
}

TEST_F(handed_over, what_was_written_and_never_read_is_abandoned_by_its_reader) {
  send(a, b, {in_.put(a, 10)});
  in_.drop_all(a);
  in_.cut(ab);
  in_.notice(ab, 0);
  EXPECT_EQ(objects_at(a), 1u); // B may still adopt it.
  in_.notice(ab, 1);
  EXPECT_EQ(objects_at(a), 0u);
}

TEST_F(handed_over, a_store_that_was_busy_leaves_nothing_in_flight_and_no_export) {
  send(a, b, {in_.put(a, 10)});
  in_.drop_all(a);
  in_.adopting_fails = true;
  arrive();
  EXPECT_TRUE(in_.nodes[b].application.empty()); // A reader is told that the object is lost.
  EXPECT_EQ(objects_at(a), 1u);
  in_.tick(b);
  EXPECT_EQ(objects_at(a), 1u);
  in_.adopting_fails = false;
  in_.tick(b);
  EXPECT_EQ(objects_at(a), 0u);
  EXPECT_TRUE(is_linked(a, b));
}

TEST_F(handed_over, an_object_goes_on_to_other_hosts_by_the_ledger) {
  auto c = node_on_new_host();
  link(b, c);
  send_and_arrive(a, b, {in_.put(a, 10)});
  in_.drop_all(a);
  send_and_arrive(b, c, {last_of(b)});
  in_.drop_all(b);
  arrive();
  EXPECT_EQ(objects_at(b), 1u);
  EXPECT_EQ(read(c), handle_errc::none);
  EXPECT_EQ(objects_at(b), 0u);
}

TEST_F(handed_over, who_names_what_it_did_not_hand_over_loses_its_link) {
  auto liar = in_.add_node(in_.nodes[b].host, true);
  link(liar, b);
  const auto place = in_.nodes[a].ledger->place_of(in_.put(a, 10).what).value();
  auto over = in_.link_between(liar, b).value();
  in_.forge(over, 0, {0, parcel{{}, {}, true, {place}}, 0});
  arrive();
  EXPECT_FALSE(is_linked(liar, b));
  EXPECT_TRUE(in_.nodes[b].application.empty());
}

TEST_F(handed_over, who_releases_more_than_it_was_sent_loses_its_link) {
  auto liar = in_.add_node(in_.nodes[a].host, true);
  auto over = link(a, liar);
  auto object = in_.put(a, 10);
  const auto place = in_.nodes[a].ledger->place_of(object.what).value();
  send_and_arrive(a, liar, {object});
  in_.forge(over, 1, {0, shared_release{place, 2}, 0});
  arrive();
  EXPECT_FALSE(is_linked(a, liar));
  EXPECT_EQ(objects_at(a), 1u);
}

} // namespace

} // namespace troupe::simulation
