// Handles over lost links: which handles are reclaimed, and when. Also tests adoption if several offers are answered,
// or none.
#include "scenario.hpp"

namespace troupe::simulation {

namespace {

using handles::handle_errc;

class lost_link : public handle_protocol {
protected:
  lost_link() : a(node_on_new_host()), b(node_on_new_host()) {}

  void see_end(link_index over, node_index at) { in_.notice(over, in_.end_of(over, at)); }
  void lose(link_index over) {
    in_.cut(over);
    see_end(over, a);
    see_end(over, b);
  }
  /// Expects that B can read all its objects although A's application has dropped them and grace periods have passed.
  void expect_all_saved() {
    pass_grace();
    for (std::size_t each = 0; each < in_.nodes[b].application.size(); ++each) {
      auto waiter = in_.fetch(b, each, far_off);
      arrive();
      EXPECT_EQ(answer_to(waiter), handle_errc::none);
    }
  }

  node_index a;
  node_index b;
};

TEST_F(lost_link, of_two_imports_of_one_name_over_two_links_both_are_reclaimed) {
  auto first = link(a, b);
  auto second = link(a, b);
  auto object = in_.put(a, 10);
  ASSERT_TRUE(in_.send(a, first, {object}));
  ASSERT_TRUE(in_.send(a, second, {object}));
  in_.drop_all(a);
  arrive();
  lose(first);
  lose(second);
  link(a, b);
  arrive();
  EXPECT_EQ(in_.reclaims, 2u);
  expect_all_saved();
}

TEST_F(lost_link, is_reclaimed_from_also_when_its_end_is_seen_after_the_next_one_is_up) {
  auto first = link(a, b);
  send_and_arrive(a, b, {in_.put(a, 10)});
  in_.drop_all(a);
  in_.cut(first);
  see_end(first, a);
  link(a, b);
  arrive();
  EXPECT_EQ(in_.reclaims, 1u);
  expect_all_saved();
}

TEST_F(lost_link, is_reclaimed_from_over_another_that_was_up_all_the_time) {
  auto first = link(a, b);
  auto second = link(a, b);
  ASSERT_TRUE(in_.send(a, first, {in_.put(a, 10)}));
  in_.drop_all(a);
  arrive();
  in_.cut(first);
  see_end(first, b); // A learns of the loss from the reclaim.
  arrive();
  EXPECT_EQ(in_.reclaims, 1u);
  EXPECT_TRUE(in_.links[second].up[0]);
  expect_all_saved();
}

TEST_F(lost_link, is_reclaimed_from_again_when_the_answer_was_lost_with_the_next_one) {
  auto first = link(a, b);
  send_and_arrive(a, b, {in_.put(a, 10)});
  in_.drop_all(a);
  lose(first);
  auto second = link(a, b);
  ASSERT_TRUE(in_.deliver(second, 0)); // Delivers the reclaim. Its answer never arrives.
  lose(second);
  link(a, b);
  arrive();
  expect_all_saved();
}

TEST_F(lost_link, is_reclaimed_from_again_when_the_question_went_into_a_dead_one) {
  auto first = link(a, b);
  auto second = link(a, b);
  ASSERT_TRUE(in_.send(a, first, {in_.put(a, 10)}));
  in_.drop_all(a);
  arrive();
  in_.cut(first);
  in_.cut(second);
  see_end(first, b); // B asks over the second link, which is dead as well.
  link(a, b);
  arrive();
  expect_all_saved();
}

TEST_F(lost_link, whose_handles_were_sent_anew_meanwhile_becomes_one_with_the_new_import) {
  auto first = link(a, b);
  auto object = in_.put(a, 10);
  send_and_arrive(a, b, {object});
  lose(first);
  link(a, b);
  send(a, b, {object});
  in_.drop_all(a);
  arrive();
  EXPECT_EQ(tables(b).imports, 1u);
  expect_all_saved();
  EXPECT_EQ(objects_at(b), 1u);
}

TEST_F(lost_link, leaves_nothing_of_what_was_dropped_before_it_was_reclaimed) {
  auto first = link(a, b);
  send_and_arrive(a, b, {in_.put(a, 10)});
  in_.drop_all(a);
  lose(first);
  link(a, b);
  in_.drop_all(b); // While the reclaim is on its way.
  arrive();
  EXPECT_EQ(in_.reclaims, 1u);
  pass_grace();
  EXPECT_EQ(objects_at(a), 0u);
  EXPECT_EQ(tables(a).exports, 0u);
}

TEST_F(lost_link, takes_no_more_than_the_grace_to_be_forgotten_though_nobody_answers) {
  auto first = link(a, b);
  send_and_arrive(a, b, {in_.put(a, 10)});
  lose(first);
  auto second = link(a, b);
  in_.freeze(a);
  EXPECT_EQ(tables(b).requests, 1u);
  pass_grace();
  EXPECT_EQ(tables(b).requests, 0u);
  EXPECT_TRUE(in_.nodes[b].ledger->is_lost(last_of(b).what));
  in_.drop_all(b);
  in_.thaw(a);
  while (in_.deliver(second, 0)) // A's clock has not advanced, so A still answers ...
    continue;
  arrive();
  EXPECT_EQ(in_.reclaims, 1u);
  EXPECT_TRUE(is_linked(a, b)); // ... and B releases the count of the late answer.
}

TEST_F(lost_link, of_a_shared_store_needs_no_grace) {
  auto c = node_beside(a);
  auto over = link(a, c);
  send_and_arrive(a, c, {in_.put(a, 10)});
  in_.drop_all(a);
  EXPECT_EQ(read(c), handle_errc::none); // The object was handed over.
  in_.cut(over);
  see_end(over, in_.end_of(over, a) == 0 ? a : c);
  EXPECT_EQ(tables(a).exports, 0u);
  arrive();
  EXPECT_EQ(read(c), handle_errc::none);
}

TEST_F(lost_link, gives_back_what_came_without_a_store_however_the_next_ones_are) {
  for (bool first_shares : {true, false}) {
    auto c = node_beside(a);
    auto over = in_.connect(a, c, false);
    send_and_arrive(a, c, {in_.put(a, 10)});
    in_.drop_all(a);
    for (bool shares : {first_shares, !first_shares, first_shares}) {
      in_.cut(over);
      in_.notice(over, 0);
      in_.notice(over, 1);
      over = in_.connect(a, c, shares);
      arrive();
      EXPECT_FALSE(in_.nodes[c].ledger->is_lost(last_of(c).what));
    }
    pass_grace();
    EXPECT_EQ(read(c), handle_errc::none);
    in_.drop_all(c);
    arrive();
    pass_grace();
    EXPECT_EQ(tables(a).exports, 0u);
  }
}

TEST_F(lost_link, gives_back_over_one_with_a_store_what_came_without_while_the_other_way_is_gone) {
  auto c = node_beside(a);
  auto without = in_.connect(a, c, false);
  auto with = in_.connect(a, c, true);
  ASSERT_TRUE(in_.send(a, without, {in_.put(a, 10)}));
  in_.drop_all(a);
  arrive();
  auto waiter = begin_reading(c);
  in_.cut(without);
  arrive();
  EXPECT_EQ(answer_to(waiter), handle_errc::none);
  EXPECT_TRUE(in_.links[with].up[0]);
}

TEST_F(lost_link, is_given_back_once_however_often_the_peer_comes_again) {
  auto over = link(a, b);
  for (std::uint64_t objects = 0; objects < 10; ++objects)
    send_and_arrive(a, b, {in_.put(a, 10)});
  in_.drop_all(a);
  for (int times = 0; times < 20; ++times) {
    lose(over);
    over = link(a, b);
    if (times % 3 == 0) // The answers and some of the questions are lost.
      for (int questions = 0; questions < 5; ++questions)
        in_.deliver(over, 0);
    else
      arrive();
    EXPECT_EQ(tables(a).exports, 10u);
    EXPECT_EQ(tables(b).imports, 10u);
    EXPECT_LE(tables(a).links_in_grace, 2u);
  }
  arrive();
  expect_all_saved();
}

TEST_F(lost_link, is_given_back_twice_where_one_name_was_imported_twice_and_answers_are_lost) {
  auto first = link(a, b);
  auto object = in_.put(a, 10);
  send_and_arrive(a, b, {object});
  lose(first);
  auto second = link(a, b);
  ASSERT_TRUE(in_.deliver(second, 0)); // Delivers the reclaim. Its answer waits ...
  auto third = link(a, b);
  ASSERT_TRUE(in_.send(a, third, {object})); // ... while the same name arrives over another link.
  in_.drop_all(a);
  while (in_.deliver(third, 1))
    continue;
  lose(second);
  lose(third);
  EXPECT_EQ(tables(b).imports, 2u);
  link(a, b);
  arrive();
  EXPECT_EQ(tables(b).imports, 1u);
  expect_all_saved();
}

// Goal: two nodes never keep an object alive only because each has a handle from the other.
// Method: A's object goes to B and back in their shared store. B also imports it over a link without a store, loses
// that link and reclaims. Then A forwards the handle that it got back.
TEST_F(lost_link, does_not_make_two_nodes_of_a_store_keep_an_object_for_each_other) {
  in_.homes_fail = true; // Otherwise nothing would be reclaimed here.
  b = node_beside(a);
  auto with = in_.connect(a, b);
  send_and_arrive(a, b, {in_.put(a, 10)});
  send_and_arrive(b, a, {last_of(b)});
  auto returned = last_of(a);
  auto without = in_.connect(a, b, false);
  ASSERT_TRUE(in_.send(a, without, {in_.nodes[a].application[0]}));
  in_.drop(a, 0);
  ASSERT_TRUE(in_.deliver(without, 1));
  lose(without);
  arrive();
  ASSERT_TRUE(in_.send(a, with, {returned}));
  arrive();
  in_.drop_all(a);
  in_.drop_all(b);
  arrive();
  EXPECT_EQ(tables(a).entries, 0u);
  EXPECT_EQ(tables(b).entries, 0u);
}

TEST_F(lost_link, whose_late_question_takes_nothing_from_the_next_one) {
  auto first = link(a, b);
  send_and_arrive(a, b, {in_.put(a, 10)});
  in_.drop_all(a);
  lose(first);
  auto second = link(a, b);
  in_.cut(second);
  see_end(second, b);
  auto third = link(a, b);
  ASSERT_TRUE(in_.deliver(third, 0));  // B asks again and A answers ...
  ASSERT_TRUE(in_.deliver(second, 0)); // ... before the first question arrives.
  arrive();
  EXPECT_TRUE(is_linked(a, b));
  expect_all_saved();
}

TEST_F(lost_link, over_which_a_loss_was_told_is_asked_again_and_says_so) {
  auto c = node_on_new_host();
  link(a, b);
  auto bc = link(b, c);
  send_and_arrive(a, b, {in_.put(a, 10)});
  in_.freeze(a); // Keeps other nodes from connecting to A.
  send_and_arrive(b, c, {last_of(b)});
  in_.nodes[c].wanted_links.clear();
  kill(a);
  in_.notice(0, 1);
  in_.pass(world::grace);
  in_.cut(bc);
  in_.tick(b); // B tells C, which never hears it.
  link(b, c);
  arrive();
  EXPECT_TRUE(in_.nodes[c].ledger->is_lost(last_of(c).what));
}

TEST_F(lost_link, whose_late_question_for_what_is_lost_breaks_no_good_one) {
  auto s = node_on_new_host();
  auto sa = link(s, a);
  auto first = link(a, b);
  send_and_arrive(s, a, {in_.put(s, 10)});
  in_.freeze(s);
  send_and_arrive(a, b, {last_of(a)});
  in_.nodes[b].wanted_links.clear();
  kill(s);
  see_end(sa, a);
  in_.pass(world::grace - 1s);
  lose(first);
  auto second = link(a, b); // This link's question arrives last.
  in_.cut(second);
  see_end(second, b);
  auto third = link(a, b);
  ASSERT_TRUE(in_.deliver(third, 0));
  ASSERT_TRUE(in_.deliver(third, 1)); // Reclaimed over the third link.
  in_.pass(1s);
  in_.tick(a); // The source is lost, and A tells B.
  ASSERT_TRUE(in_.deliver(second, 0));
  arrive();
  EXPECT_TRUE(is_linked(a, b));
  EXPECT_TRUE(in_.nodes[b].ledger->is_lost(last_of(b).what));
}

TEST_F(lost_link, and_lost_again_adds_no_entry_each_time_that_a_handle_is_sent_anew) {
  auto over = link(a, b);
  auto object = in_.put(a, 10);
  send_and_arrive(a, b, {object});
  for (int times = 0; times < 20; ++times) {
    lose(over);
    over = link(a, b);
    send(a, b, {object}); // Sent before the reclaim arrives.
    arrive();
    while (in_.nodes[b].application.size() > 1)
      in_.drop(b, 1);
  }
  EXPECT_EQ(tables(b).entries, 2u); // The application's entry and the one to which it has moved.
  EXPECT_EQ(tables(b).imports, 1u);
  EXPECT_EQ(read(b), handle_errc::none);
}

// Goal: if the first forwarder of a handle loses the source, handles that have another source stay valid.
// Method: A loses S, and B has adopted from S. Then a message from B arrives that offers A its own handle.
TEST_F(lost_link, of_a_source_does_not_bring_home_what_others_still_have) {
  auto s = node_on_new_host();
  auto sa = link(s, a);
  auto there = link(a, b);
  auto back = link(a, b);
  send_and_arrive(s, a, {in_.put(s, 10)});
  ASSERT_TRUE(in_.send(a, there, {last_of(a)}));
  arrive_over(sa, s); // The vouch.
  arrive_over(there, b);
  in_.nodes[b].wanted_links.clear();
  ASSERT_TRUE(in_.send(b, back, {last_of(b)})); // This message is late ...
  arrive_over(there, a);                        // ... but its vouch is not.
  in_.cut(sa);
  see_end(sa, a);
  in_.pass(world::grace - 1s);
  auto bs = link(b, s);
  arrive_over(bs, s);
  arrive_over(bs, b);
  ASSERT_EQ(in_.adoptions, 1u);
  in_.pass(1s);
  in_.tick(a);
  arrive_over(back, a);
  EXPECT_EQ(read(a), handle_errc::none);
}

TEST_F(lost_link, and_the_next_one_must_not_have_the_same_number) {
  auto first = link(a, b);
  auto number = in_.links[first].number;
  EXPECT_FALSE(in_.nodes[a].core->link_up(number, {.peer = in_.nodes[b].name, .token = {}, .peer_name = "b"}));
  send_and_arrive(a, b, {in_.put(a, 10)});
  lose(first);
  EXPECT_FALSE(
      in_.nodes[a].core->link_up(number, {.peer = in_.nodes[b].name, .token = {}, .peer_name = "b"})); // In its grace.
  EXPECT_EQ(tables(a).links_in_grace, 1u);
}

// -- adoption

class forwarding : public three_nodes {
protected:
  forwarding() {
    send_and_arrive(a, b, {in_.put(a, 10)});
    in_.drop_all(a);
  }
  [[nodiscard]] bool c_is_behind() const { return in_.nodes[c].ledger->is_behind(last_of(c).what); }
};

TEST_F(forwarding, twice_to_one_node_before_it_has_adopted_gives_it_the_handle) {
  auto ca = link(c, a);
  send(b, c, {last_of(b)});
  ASSERT_TRUE(in_.deliver(bc, 1)); // C asks A with the first token ...
  send(b, c, {last_of(b)});
  ASSERT_TRUE(in_.deliver(ab, 0));
  ASSERT_TRUE(in_.deliver(ab, 0)); // ... and A knows both tokens when it reads the question.
  ASSERT_TRUE(in_.deliver(ca, 1));
  arrive();
  EXPECT_FALSE(c_is_behind());
  kill(b);
  arrive();
  pass_grace();
  EXPECT_EQ(read(c), handle_errc::none);
}

TEST_F(forwarding, twice_is_adopted_by_the_second_offer_when_the_first_is_refused) {
  auto ca = link(c, a);
  send(b, c, {last_of(b)});
  ASSERT_TRUE(in_.deliver(bc, 1));
  ASSERT_TRUE(in_.deliver(ca, 1)); // The question waits at A for the first vouch, which arrives ...
  send(b, c, {last_of(b)});
  ASSERT_TRUE(in_.deliver(bc, 1));
  in_.pass(11s);
  in_.tick(a); // ... too late.
  arrive();
  EXPECT_EQ(in_.adoptions, 1u);
  EXPECT_FALSE(c_is_behind());
}

TEST_F(forwarding, to_who_gets_no_answer_leaves_the_handle_behind_its_sender) {
  auto ca = link(c, a);
  send_and_arrive(b, c, {}); // Waits until nothing is on its way.
  in_.freeze(a);
  send_and_arrive(b, c, {last_of(b)});
  EXPECT_EQ(tables(c).requests, 1u);
  in_.pass(31s);
  in_.tick(c);
  EXPECT_EQ(tables(c).requests, 0u);
  EXPECT_TRUE(c_is_behind());
  in_.thaw(a);
  arrive(); // The answer comes late; C releases what it counts.
  EXPECT_EQ(in_.adoptions, 1u);
  EXPECT_TRUE(in_.links[ca].up[0] && in_.links[ca].up[1]);
  EXPECT_EQ(tables(a).exports, 1u);
  EXPECT_EQ(read(c), handle_errc::none);
}

TEST_F(forwarding, from_a_source_that_is_lost_says_so_to_who_is_behind_without_being_asked) {
  in_.freeze(a); // Keeps other nodes from connecting to A.
  send_and_arrive(b, c, {last_of(b)});
  EXPECT_TRUE(c_is_behind());
  kill(a);
  arrive();
  pass_grace();
  EXPECT_TRUE(in_.nodes[c].ledger->is_lost(last_of(c).what));
  EXPECT_EQ(tables(b).exports, 0u); // C has released its handle.
}

TEST_F(forwarding, is_adopted_over_the_next_link_when_the_question_was_lost_with_the_first) {
  auto ca = link(c, a);
  send(b, c, {last_of(b)});
  ASSERT_TRUE(in_.deliver(bc, 1));
  in_.cut(ca);
  in_.notice(ca, 1); // The question never arrives ...
  arrive();          // ... and C wants another link.
  EXPECT_EQ(in_.adoptions, 1u);
  EXPECT_FALSE(c_is_behind());
}

TEST_F(handle_protocol, a_voucher_is_still_good_when_the_store_was_busy) {
  auto a = node_on_new_host();
  auto b = node_on_new_host();
  auto c = node_beside(a);
  link(a, b);
  link(b, c);
  link(c, a);
  send_and_arrive(a, b, {in_.put(a, 10)});
  in_.homes_fail = true; // Otherwise C finds the object in the store without a voucher.
  in_.hand_over_fails = true;
  send_and_arrive(b, c, {last_of(b)});
  ASSERT_EQ(in_.adoptions, 0u);
  in_.hand_over_fails = false;
  in_.pass(1s);
  in_.tick(c);
  arrive();
  EXPECT_EQ(in_.adoptions, 1u);
}

} // namespace

} // namespace troupe::simulation
