// Tests each limit on what one peer can make a node keep or do, at its bound.
#include "scenario.hpp"

#include <utility>

namespace troupe::simulation {

namespace {

using handles::handle_descriptor;
using handles::handle_errc;
using handles::handle_mode;

class limits : public handle_protocol {
protected:
  [[nodiscard]] object_id name_of(node_index at, const held& what) {
    return in_.nodes[at].ledger->place_of(what.what).value();
  }
  [[nodiscard]] static object_id invented(std::uint32_t index) { return {invented_store, index, 1}; }
  [[nodiscard]] static handle_descriptor handle_to(std::uint32_t index) {
    return {invented(index), handle_mode::mine, 4, {}};
  }
  /// Answers with one more object of a chain: each object captures the next one.
  void answer_with_one_more(node_index liar, node_index to, handles::request_number request) {
    say(liar, to, handles::pull_head{request, 4, {handle_to(static_cast<std::uint32_t>(request) + 1)}});
    say(liar, to, handles::pull_chunk{request, 0, 4});
  }
  /// Returns B's waiter for the first object of an invented chain, which has grown to `depth` and waits for one more.
  [[nodiscard]] handles::waiter_id begin_chain(node_index liar, node_index to, std::size_t depth) {
    forge(liar, to, {handle_to(1)});
    arrive();
    auto waiter = begin_reading(to);
    auto over = in_.link_between(liar, to).value();
    for (handles::request_number request = 1; request <= depth; ++request) {
      in_.finish_room(to);
      answer_with_one_more(liar, to, request);
      arrive_over(over, to);
      arrive_over(over, liar);
    }
    return waiter;
  }

  static constexpr std::size_t long_chain = 30'000;
};

TEST_F(limits, of_vouchers_let_the_oldest_go) {
  in_.limits.vouchers_max = 2;
  auto a = node_on_new_host();
  auto liar = node_on_new_host(true);
  auto c = node_on_new_host();
  link(a, liar);
  auto ca = link(c, a);
  auto object = in_.put(a, 10);
  send_and_arrive(a, liar, {object});
  for (std::uint64_t token : {1, 2, 3})
    say(liar, a, handles::vouch{name_of(a, object), in_.nodes[c].name, token});
  arrive();
  EXPECT_EQ(tables(a).vouchers, 2u);
  in_.nodes[c].liar = true; // From now on it asks questions that its ledger does not know of.
  say(c, a, handles::adopt{1, name_of(a, object), 1});
  say(c, a, handles::adopt{2, name_of(a, object), 2});
  while (in_.deliver(ca, 1))
    continue;
  EXPECT_EQ(tables(a).parked, 1u);
  EXPECT_EQ(tables(a).vouchers, 1u);
}

// Goal: a peer that uses up a forwarder's vouchers leaves the vouchers of other peers alone.
// Method: B has forwarded A's object to C, which has not asked yet. B has sent the object to a liar as well. The liar
// vouches at B for itself and adopts, again and again, so that B vouches for it at A each time.
TEST_F(limits, of_vouchers_are_met_by_each_beneficiary_for_itself) {
  in_.limits.vouchers_max = 8;
  for (std::uint64_t times : {2, 100}) {
    auto a = node_on_new_host();
    auto b = node_on_new_host();
    auto c = node_on_new_host();
    auto liar = node_on_new_host(true);
    auto ab = link(a, b);
    auto bc = link(b, c);
    auto bl = link(b, liar);
    auto ca = link(c, a);
    send_and_arrive(a, b, {in_.put(a, 10)});
    in_.freeze(liar); // Its ledger says nothing.
    send(b, liar, {last_of(b)});
    auto name = std::get<parcel>(in_.links[bl].queues[1].back().what).handles[0].name;
    send(b, c, {last_of(b)});
    for (std::uint64_t token = 1; token <= times; ++token) {
      say(liar, b, handles::vouch{name, in_.nodes[liar].name, token});
      say(liar, b, handles::adopt{token, name, token});
    }
    arrive_over(bl, b);
    arrive_over(ab, a);
    EXPECT_EQ(tables(a).vouchers, std::min<std::uint64_t>(times + 2, 8));
    arrive_over(bc, c);
    arrive_over(ca, a);
    arrive_over(ca, c);
    EXPECT_FALSE(in_.nodes[c].ledger->is_behind(last_of(c).what));
    kill(liar);
  }
}

TEST_F(limits, of_vouchers_hold_for_what_is_reclaimed) {
  in_.limits.vouchers_max = 2;
  auto a = node_on_new_host();
  auto b = node_on_new_host();
  auto object = in_.put(a, 10);
  for (auto over : {link(a, b), link(a, b)}) {
    ASSERT_TRUE(in_.send(a, over, {object}));
    for (std::uint64_t token : {1, 2})
      in_.forge(over, 1, {0, handles::vouch{name_of(a, object), {77, 7}, token}, 0});
    arrive();
    EXPECT_LE(tables(a).vouchers, 4u);
  }
  break_link(a, b);
  break_link(a, b);
  arrive();
  link(a, b);
  arrive();
  EXPECT_EQ(in_.reclaims, 2u);
  EXPECT_EQ(tables(a).vouchers, 2u);
}

TEST_F(limits, of_adoptions_that_wait_are_answered_with_busy) {
  in_.limits.parked_max = 2;
  auto a = node_on_new_host();
  auto liar = node_on_new_host(true);
  auto over = link(a, liar);
  for (handles::request_number request : {1, 2, 3})
    say(liar, a, handles::adopt{request, {1, 2, 3}, request});
  while (in_.deliver(over, 0))
    continue;
  EXPECT_EQ(tables(a).parked, 2u);
  in_.pass(11s);
  in_.tick(a);
  EXPECT_EQ(tables(a).parked, 0u);
}

TEST_F(limits, of_pulls_are_answered_with_busy) {
  in_.limits.servings_max = 2;
  auto a = node_on_new_host();
  auto liar = node_on_new_host(true);
  auto over = link(a, liar);
  auto object = in_.put(a, 10);
  send_and_arrive(a, liar, {object});
  for (handles::request_number request : {1, 2, 3})
    say(liar, a, handles::pull{request, name_of(a, object)});
  while (in_.deliver(over, 0))
    continue;
  EXPECT_EQ(tables(a).servings, 2u);
  ASSERT_EQ(in_.links[over].queues[1].size(), 1u);
  EXPECT_EQ(std::get<handles::refused>(std::get<handles::message>(in_.links[over].queues[1][0].what)).reason,
            handle_errc::busy);
}

TEST_F(limits, of_what_one_object_captures_end_the_link) {
  in_.limits.captured_max = 2;
  for (std::uint32_t captured : {2, 3}) {
    auto a = node_on_new_host();
    auto liar = node_on_new_host(true);
    link(a, liar);
    forge(liar, a, {handle_to(1)});
    arrive();
    (void)begin_reading(a);
    arrive();
    handles::pull_head head{1, 4, {}};
    while (head.captured.size() < captured)
      head.captured.push_back(handle_to(2 + static_cast<std::uint32_t>(head.captured.size())));
    say(liar, a, head);
    arrive();
    EXPECT_EQ(is_linked(a, liar), captured == 2);
  }
}

TEST_F(limits, of_what_a_fetch_imports_in_all_are_told_with_their_numbers) {
  in_.limits.fetch_imports_max = 5;
  auto a = node_on_new_host();
  auto b = node_on_new_host();
  link(a, b);
  auto leaf = in_.put(a, 1);
  auto left = in_.put(a, 2, {leaf, in_.put(a, 3)});
  auto right = in_.put(a, 4, {in_.put(a, 5)});
  auto allowed = in_.put(a, 6, {left, right});
  auto refused = in_.put(a, 7, {allowed});
  send_and_arrive(a, b, {refused});
  auto too_much = begin_reading(b);
  arrive();
  EXPECT_EQ(in_.answers.at(too_much), (handles::fetch_error{handle_errc::too_many, 6, 5}));
  EXPECT_EQ(tables(b).imports, 1u);
  send_and_arrive(a, b, {allowed});
  EXPECT_EQ(read(b), handle_errc::none);
}

TEST_F(limits, of_what_a_fetch_imports_are_passed_on_by_a_forwarder_without_its_numbers) {
  in_.limits.fetch_imports_max = 1;
  auto a = node_on_new_host();
  auto b = node_on_new_host();
  in_.limits.fetch_imports_max = 100;
  auto c = node_on_new_host();
  link(a, b);
  link(b, c);
  send_and_arrive(a, b, {in_.put(a, 1, {in_.put(a, 2), in_.put(a, 3)})});
  in_.freeze(a);
  send_and_arrive(b, c, {last_of(b)});
  in_.nodes[c].wanted_links.clear();
  in_.thaw(a);
  auto waiter = begin_reading(c);
  arrive();
  EXPECT_EQ(in_.answers.at(waiter), (handles::fetch_error{handle_errc::too_many, 0, 0}));
}

// Goal: a small fetch is not refused because a large one imports too many handles.
// Method: a large object and a small one capture the same inner object. Only the large one's own captures exceed the
// limit.
TEST_F(limits, of_what_a_fetch_imports_do_not_touch_who_only_joined_it) {
  in_.limits.fetch_imports_max = 3;
  auto a = node_on_new_host();
  auto b = node_on_new_host();
  auto over = link(a, b);
  auto inner = in_.put(a, 1, {in_.put(a, 2)});
  auto large = in_.put(a, 3, {in_.put(a, 4), in_.put(a, 5), inner});
  auto small = in_.put(a, 6, {inner});
  send_and_arrive(a, b, {large, small, inner});
  auto of_large = in_.fetch(b, 0, far_off);
  in_.finish_room(b);
  ASSERT_TRUE(in_.deliver(over, 0));
  ASSERT_TRUE(in_.send_chunk(over, 0));
  ASSERT_TRUE(in_.deliver(over, 1)); // `inner` is now fetched for the large object ...
  auto of_small = in_.fetch(b, 1, far_off);
  auto of_inner = in_.fetch(b, 2, far_off); // ... and these two join that fetch.
  arrive();
  EXPECT_EQ(in_.answers.at(of_large), (handles::fetch_error{handle_errc::too_many, 4, 3}));
  EXPECT_EQ(answer_to(of_small), handle_errc::none);
  EXPECT_EQ(answer_to(of_inner), handle_errc::none);
}

TEST_F(limits, of_what_a_fetch_imports_do_not_count_what_was_given_up_with_a_link) {
  in_.limits.fetch_imports_max = 2;
  auto a = node_on_new_host();
  auto b = node_on_new_host();
  auto over = link(a, b);
  send_and_arrive(a, b, {in_.put(a, 1, {in_.put(a, 2), in_.put(a, 3)})});
  auto waiter = begin_reading(b);
  for (int times = 0; times < 3; ++times) {
    in_.finish_room(b);
    ASSERT_TRUE(in_.deliver(over, 0));
    ASSERT_TRUE(in_.send_chunk(over, 0));
    ASSERT_TRUE(in_.deliver(over, 1)); // The head with the captured handles.
    EXPECT_EQ(tables(b).fetches, 3u);
    in_.cut(over);
    in_.notice(over, 0);
    in_.notice(over, 1);
    over = link(a, b);
    while (in_.deliver(over, 0) || in_.deliver(over, 1)) // B reclaims the object.
      continue;
  }
  arrive();
  EXPECT_EQ(answer_to(waiter), handle_errc::none);
}

TEST_F(limits, of_the_stack_are_not_met_by_a_long_chain_of_captured_objects) {
  auto a = node_on_new_host();
  auto b = node_on_new_host();
  link(a, b);
  auto outermost = in_.put(a, 1);
  for (std::size_t depth = 0; depth < long_chain; ++depth)
    outermost = in_.put(a, 1, {outermost});
  send(a, b, {outermost});
  in_.drop_all(a);
  arrive();
  EXPECT_EQ(read(b), handle_errc::none);
  EXPECT_EQ(objects_at(b), long_chain + 1);
  EXPECT_EQ(objects_at(a), 0u);
}

TEST_F(limits, of_the_stack_are_not_met_when_a_long_chain_is_cancelled) {
  auto b = node_on_new_host();
  auto liar = node_on_new_host(true);
  link(liar, b);
  auto waiter = begin_chain(liar, b, long_chain);
  EXPECT_EQ(tables(b).fetches, long_chain + 1);
  in_.cancel(b, waiter);
  EXPECT_EQ(tables(b).fetches, 0u);
  EXPECT_EQ(tables(b).entries, 1u);
}

TEST_F(limits, of_the_stack_are_not_met_when_a_long_chain_fails_at_its_end) {
  auto b = node_on_new_host();
  auto liar = node_on_new_host(true);
  link(liar, b);
  auto waiter = begin_chain(liar, b, long_chain);
  arrive();
  say(liar, b, handles::refused{long_chain + 1, handle_errc::stalled});
  in_.deliver(0, 1);
  EXPECT_EQ(answer_to(waiter), handle_errc::stalled);
  EXPECT_EQ(tables(b).entries, 1u);
}

TEST_F(limits, of_the_stack_are_not_met_when_the_link_of_a_long_chain_is_lost) {
  auto b = node_on_new_host();
  auto liar = node_on_new_host(true);
  link(liar, b);
  auto waiter = begin_chain(liar, b, long_chain);
  kill(liar);
  arrive();
  EXPECT_EQ(tables(b).fetches, 1u);
  pass_grace();
  EXPECT_EQ(answer_to(waiter), handle_errc::object_lost);
}

TEST_F(limits, of_what_a_fetch_imports_end_a_chain_without_an_end) {
  in_.limits.fetch_imports_max = 1000;
  auto b = node_on_new_host();
  auto liar = node_on_new_host(true);
  link(liar, b);
  auto waiter = begin_chain(liar, b, 1001);
  EXPECT_EQ(in_.answers.at(waiter), (handles::fetch_error{handle_errc::too_many, 1001, 1000}));
  EXPECT_EQ(tables(b).entries, 1u);
  EXPECT_EQ(tables(b).requests, 0u);
}

TEST_F(limits, of_nodes_to_dial_hold_for_all_that_a_peer_offers) {
  in_.limits.dials_max = 2;
  auto b = node_on_new_host();
  auto liar = node_on_new_host(true);
  auto over = link(liar, b);
  const auto offer = [&](std::uint64_t node) {
    forge(liar, b,
          {{invented(static_cast<std::uint32_t>(node)), handle_mode::behind, 4,
            handles::adoption_offer{{1000 + node, 1}, {1, 2, 3}, 1}}});
    ASSERT_TRUE(in_.deliver(over, 1));
  };
  for (std::uint64_t node : {1, 1, 2, 3, 4})
    offer(node);
  EXPECT_EQ(in_.nodes[b].wanted_links.size(), 2u);
  in_.pass(31s);
  in_.tick(b);
  offer(5);
  EXPECT_EQ(in_.nodes[b].wanted_links.size(), 3u);
}

// -- adoptions: one peer's offers leave room for the offers of others

class offers : public limits {
protected:
  offers() : a(node_on_new_host()), b(node_on_new_host()), liar(node_on_new_host(true)) {}

  /// B receives handles that the liar claims A has.
  void offer_what_is_not_there(std::uint32_t first, std::uint32_t last) {
    for (auto index = first; index <= last; ++index)
      forged_.push_back(
          {invented(index), handle_mode::behind, 4, handles::adoption_offer{in_.nodes[a].name, {1, 2, index}, index}});
    forge(liar, b, std::exchange(forged_, {}));
    arrive_over(in_.link_between(liar, b).value(), b);
  }
  void link_all() {
    link(a, b);
    link(liar, b);
  }

  std::vector<handle_descriptor> forged_;
  node_index a, b, liar;
};

TEST_F(offers, of_one_liar_block_nobody_elses) {
  link_all();
  auto c = node_on_new_host();
  link(a, c);
  link(c, b);
  offer_what_is_not_there(1, 5000);
  arrive();
  EXPECT_EQ(tables(b).requests, handles::ledger_options{}.adoptions_offered_max);
  send_and_arrive(a, c, {in_.put(a, 10)});
  send_and_arrive(c, b, {last_of(c)});
  EXPECT_EQ(in_.adoptions, 1u);
  EXPECT_FALSE(in_.nodes[b].ledger->is_behind(last_of(b).what));
}

TEST_F(offers, beyond_the_bound_wait_for_their_turn_and_are_not_forgotten) {
  in_.limits.adoptions_offered_max = 2;
  b = node_on_new_host();
  link_all();
  offer_what_is_not_there(1, 5);
  for (std::size_t asked : {2, 2, 1, 0}) {
    arrive();
    EXPECT_EQ(tables(b).requests, asked);
    in_.pass(11s); // A refuses adoptions for which nobody has vouched.
    in_.tick(a);
  }
}

TEST_F(offers, of_many_go_by_turns_when_all_room_is_taken) {
  in_.limits.adoptions_max = 2;
  in_.limits.adoptions_offered_max = 2;
  b = node_on_new_host();
  link_all();
  auto c = node_on_new_host();
  link(a, c);
  link(c, b);
  offer_what_is_not_there(1, 50);
  send_and_arrive(a, c, {in_.put(a, 10)});
  send_and_arrive(c, b, {last_of(c)});
  EXPECT_EQ(in_.adoptions, 0u); // The liar's offers take all places ...
  in_.pass(11s);
  in_.tick(a);
  arrive();
  EXPECT_EQ(in_.adoptions, 1u); // ... but not the next turn.
}

TEST_F(offers, of_what_is_dropped_make_room_at_once_and_on_both_sides) {
  in_.limits.adoptions_offered_max = 2;
  b = node_on_new_host();
  link_all();
  offer_what_is_not_there(1, 4);
  arrive();
  EXPECT_EQ(tables(a).parked, 2u);
  in_.drop(b, 0);
  in_.drop(b, 2); // One that was asked for, and one that was waiting.
  EXPECT_EQ(tables(b).requests, 2u);
  arrive();
  EXPECT_EQ(tables(a).parked, 2u);
  in_.drop_all(b);
  arrive();
  EXPECT_EQ(tables(b).requests, 0u);
  EXPECT_EQ(tables(a).parked, 0u);
}

TEST_F(offers, that_the_exporter_is_too_busy_for_are_made_again) {
  in_.limits.parked_max = 1;
  a = node_on_new_host();
  link_all();
  auto c = node_on_new_host();
  link(a, c);
  link(c, b);
  offer_what_is_not_there(1, 1);
  arrive();
  send_and_arrive(a, c, {in_.put(a, 10)});
  auto over = in_.link_between(c, b).value();
  ASSERT_TRUE(in_.send(c, over, {last_of(c)}));
  ASSERT_TRUE(in_.deliver(over, in_.end_of(over, b)));
  auto ab = in_.link_between(a, b).value();
  while (in_.deliver(ab, 0)) // Delivered before the vouch.
    continue;
  EXPECT_EQ(tables(a).parked, 1u);
  arrive();
  EXPECT_EQ(in_.adoptions, 0u);
  EXPECT_TRUE(in_.nodes[b].ledger->is_behind(last_of(b).what));
  in_.pass(1s);
  in_.tick(b);
  arrive();
  EXPECT_EQ(in_.adoptions, 1u);
}

TEST_F(offers, lead_to_few_nodes_within_a_time_also_when_links_come_of_them) {
  in_.limits.dials_max = 2;
  b = node_on_new_host();
  link(liar, b);
  std::size_t linked = 0;
  for (std::uint64_t node = 1; node <= 20; ++node) {
    if (!is_linked(liar, b))
      link(liar, b); // A new link does not help the liar.
    auto there = node_on_new_host();
    forge(liar, b,
          {{invented(1), handle_mode::behind, 4, handles::adoption_offer{in_.nodes[there].name, {1, 2, 3}, node}}});
    if (node % 5 == 0)
      break_link(liar, b);
    arrive(); // Dialed nodes get linked.
    linked += is_linked(b, there);
  }
  EXPECT_EQ(tables(b).dialed, 2u);
  EXPECT_EQ(linked, 2u);
}

TEST_F(offers, lead_to_a_node_again_when_the_link_that_came_of_them_is_lost) {
  link(liar, b);
  auto c = node_on_new_host();
  const auto offer = [&](std::uint32_t index) {
    forge(liar, b,
          {{invented(index), handle_mode::behind, 4, handles::adoption_offer{in_.nodes[c].name, {1, 2, 3}, index}}});
    arrive_over(0, b);
    return std::exchange(in_.nodes[b].wanted_links, {}).size();
  };
  EXPECT_EQ(offer(1), 1u);
  EXPECT_EQ(offer(2), 0u); // The dial is already under way.
  auto bc = link(b, c);
  in_.cut(bc);
  in_.notice(bc, 0); // Nothing was answered, so B wants another link.
  EXPECT_EQ(std::exchange(in_.nodes[b].wanted_links, {}).size(), 1u);
}

TEST_F(offers, that_wait_for_their_turn_outlive_who_made_them) {
  in_.limits.adoptions_offered_max = 1;
  auto c = node_on_new_host();
  auto ab = link(a, b);
  auto bc = link(b, c);
  send_and_arrive(a, b, {in_.put(a, 10), in_.put(a, 11)});
  send(b, c, {in_.nodes[b].application[0], in_.nodes[b].application[1]});
  arrive_over(ab, a); // B has vouched.
  arrive_over(bc, c);
  in_.nodes[c].wanted_links.clear();
  in_.freeze(a);
  kill(b);
  in_.notice(bc, 1);
  in_.pass(5s);
  link(c, a);
  in_.pass(world::grace - 5s);
  in_.tick(c);
  EXPECT_EQ(tables(c).requests, 1u);
  EXPECT_EQ(tables(c).entries, 2u);
  in_.thaw(a);
  arrive();
  EXPECT_EQ(in_.adoptions, 2u);
  for (const auto& each : in_.nodes[c].application)
    EXPECT_FALSE(in_.nodes[c].ledger->is_lost(each.what));
}

TEST_F(limits, of_what_cannot_be_taken_out_of_the_store_end_the_link) {
  in_.limits.unclaimed_max = 5;
  for (std::size_t handed_over : {5, 6}) {
    auto a = node_on_new_host();
    auto b = node_beside(a);
    auto liar = in_.add_node(in_.nodes[a].host, true);
    auto over = link(b, liar);
    in_.adopting_fails = true;
    forge(liar, b, std::vector<handle_descriptor>(handed_over, {invented(1), handle_mode::shared, 4, {}}));
    arrive_over(over, b);
    EXPECT_EQ(is_linked(b, liar), handed_over == 5);
    in_.adopting_fails = false;
    EXPECT_EQ(in_.nodes[b].ledger->next_deadline().has_value(), handed_over == 5); // Or all was abandoned.
  }
}

TEST_F(limits, of_vouchers_hold_for_a_link_too) {
  in_.limits.link_vouchers_max = 5;
  auto a = node_on_new_host();
  auto liar = node_on_new_host(true);
  link(a, liar);
  for (int objects = 0; objects < 4; ++objects) {
    auto object = in_.put(a, 10);
    send_and_arrive(a, liar, {object});
    for (std::uint64_t token : {1, 2, 3})
      say(liar, a, handles::vouch{name_of(a, object), {77, 7}, token});
    arrive();
  }
  EXPECT_EQ(tables(a).vouchers, 5u);
}

// Goal: many entries at a time do not keep the table large for ever, and no reference's name is used again.
TEST_F(two_nodes, a_table_shrinks_to_what_lasts) {
  std::vector<held> many;
  for (int i = 0; i < 1000; ++i)
    many.push_back(in_.put(a, 1));
  send_and_arrive(a, b, many);
  EXPECT_EQ(tables(b).rows, 1000u);
  auto last = in_.nodes[b].application.back().what;
  while (in_.nodes[b].application.size() > 10)
    in_.drop(b, in_.nodes[b].application.size() - 1);
  arrive();
  EXPECT_EQ(tables(b).rows, 10u);
  send_and_arrive(a, b, {many[999]});
  EXPECT_EQ(tables(b).rows, 11u);
  EXPECT_TRUE(in_.nodes[b].ledger->is_lost(last)); // It does not refer to the new object.
  EXPECT_GT(last_of(b).what.generation, last.generation);
}

} // namespace

} // namespace troupe::simulation
