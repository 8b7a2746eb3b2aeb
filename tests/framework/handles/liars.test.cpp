// A lying peer gets nothing that it was not given, and loses its link. Cycles are tested here as well, since most of
// them need a liar.
#include "scenario.hpp"

namespace troupe::simulation {

namespace {

using handles::handle_descriptor;
using handles::handle_errc;
using handles::handle_mode;

class lying_peer : public handle_protocol {
protected:
  lying_peer() : a(node_on_new_host()), liar(node_on_new_host(true)) { link(a, liar); }

  [[nodiscard]] object_id name_of(const held& what) { return in_.nodes[a].ledger->place_of(what.what).value(); }
  [[nodiscard]] bool loses_its_link_by(const packet_content& what) {
    say(liar, a, what);
    arrive();
    return !is_linked(a, liar);
  }
  [[nodiscard]] bool loses_its_link_by_sending(const handle_descriptor& what) {
    forge(liar, a, {what});
    arrive();
    return !is_linked(a, liar);
  }
  /// A asks for the bytes of an object that does not exist. This is A's first request on the link.
  [[nodiscard]] handles::waiter_id asks_for_bytes() {
    EXPECT_FALSE(loses_its_link_by_sending({invented, handle_mode::mine, 10, {}}));
    auto waiter = begin_reading(a);
    arrive();
    EXPECT_EQ(tables(a).requests, 1u);
    return waiter;
  }
  void link_again() {
    if (!is_linked(a, liar))
      link(a, liar);
  }

  static constexpr object_id invented{invented_store, 1, 1};
  node_index a;
  node_index liar;
};

TEST_F(lying_peer, releases_more_than_it_was_given) {
  auto object = in_.put(a, 10);
  send_and_arrive(a, liar, {object});
  EXPECT_TRUE(loses_its_link_by(handles::release{name_of(object), 2}));
  EXPECT_EQ(objects_at(a), 1u);
}

TEST_F(lying_peer, releases_what_it_was_never_given) {
  EXPECT_TRUE(loses_its_link_by(handles::release{name_of(in_.put(a, 10)), 1}));
  EXPECT_EQ(objects_at(a), 1u);
}

TEST_F(lying_peer, pulls_what_it_was_never_given) {
  say(liar, a, handles::pull{100, name_of(in_.put(a, 10))});
  ASSERT_TRUE(in_.deliver(0, 0));
  EXPECT_EQ(tables(a).servings, 0u); // The pull is refused.
  EXPECT_FALSE(in_.send_chunk(0, 0));
}

TEST_F(lying_peer, pulls_another_generation) {
  auto object = in_.put(a, 10);
  send_and_arrive(a, liar, {object});
  auto name = name_of(object);
  ++name.generation;
  say(liar, a, handles::pull{100, name});
  arrive();
  EXPECT_EQ(tables(a).servings, 0u);
}

TEST_F(lying_peer, sends_home_what_it_was_never_given) {
  EXPECT_TRUE(loses_its_link_by_sending({name_of(in_.put(a, 10)), handle_mode::yours, 10, {}}));
}

TEST_F(lying_peer, names_an_object_in_a_store_that_it_does_not_share) {
  EXPECT_TRUE(loses_its_link_by_sending({name_of(in_.put(a, 10)), handle_mode::shared, 10, {}}));
}

TEST_F(lying_peer, adopts_with_a_token_that_was_meant_for_another) {
  auto b = node_on_new_host();
  auto c = node_on_new_host();
  auto ab = link(a, b);
  link(b, c);
  auto object = in_.put(a, 10);
  send(a, b, {object});
  ASSERT_TRUE(in_.deliver(ab, 1));
  send(b, c, {last_of(b)});
  ASSERT_TRUE(in_.deliver(ab, 0)); // The vouch.
  ASSERT_EQ(in_.tokens_seen.size(), 1u);
  say(liar, a, handles::adopt{100, name_of(object), in_.tokens_seen[0]});
  in_.deliver(0, 0);
  EXPECT_EQ(tables(a).parked, 1u);
  pass_grace();
  EXPECT_EQ(tables(a).parked, 0u);
  arrive(); // The world fails if the liar gets the bytes.
}

TEST_F(lying_peer, adopts_twice_with_one_token) {
  auto b = node_on_new_host();
  link(a, b);
  link(b, liar);
  auto object = in_.put(a, 10);
  send_and_arrive(a, b, {object});
  send_and_arrive(b, liar, {last_of(b)});
  ASSERT_EQ(in_.adoptions, 1u);
  ASSERT_EQ(in_.tokens_seen.size(), 1u);
  say(liar, a, handles::adopt{100, name_of(object), in_.tokens_seen[0]});
  ASSERT_TRUE(in_.deliver(0, 0));
  EXPECT_EQ(tables(a).parked, 1u); // Parked as if nobody had vouched.
}

TEST_F(lying_peer, reclaims_what_another_was_given) {
  auto b = node_on_new_host();
  auto ab = link(a, b);
  auto object = in_.put(a, 10);
  send_and_arrive(a, b, {object});
  in_.cut(ab);
  in_.notice(ab, 0);
  say(liar, a, handles::reclaim{100, name_of(object), in_.links[ab].number});
  in_.deliver(0, 0);
  EXPECT_EQ(tables(a).links_in_grace, 1u);
  EXPECT_EQ(tables(a).exports, 1u);
}

TEST_F(lying_peer, cannot_end_a_link_of_another_by_reclaiming_over_it) {
  auto b = node_on_new_host();
  auto ab = link(a, b);
  say(liar, a, handles::reclaim{100, {1, 2, 3}, in_.links[ab].number});
  in_.deliver(0, 0);
  EXPECT_TRUE(is_linked(a, b));
}

TEST_F(lying_peer, cannot_give_its_own_bytes_for_anothers_name) {
  auto b = node_on_new_host();
  link(a, b);
  link(b, liar);
  auto object = in_.put(a, 10);
  forge(liar, b, {{name_of(object), handle_mode::mine, 10, {}}});
  arrive();
  send_and_arrive(a, b, {object});
  EXPECT_EQ(read(b), handle_errc::none); // The world checks that the bytes are A's.
}

TEST_F(lying_peer, answers_what_was_not_asked) {
  EXPECT_TRUE(loses_its_link_by(handles::pull_chunk{7, 0, 4}));
  link(a, liar);
  EXPECT_TRUE(loses_its_link_by(handles::adopted{7, {{9, 9, 9}, handle_mode::mine, 4, {}}}));
  link(a, liar);
  EXPECT_TRUE(loses_its_link_by(handles::reclaimed{7, {}}));
  link(a, liar);
  EXPECT_TRUE(loses_its_link_by(handles::vouch{{9, 9, 9}, in_.nodes[liar].name, 1}));
}

TEST_F(lying_peer, refuses_for_no_reason) {
  auto waiter = asks_for_bytes();
  EXPECT_TRUE(loses_its_link_by(handles::refused{1, handle_errc::none}));
  EXPECT_EQ(answer_to(waiter), handle_errc::violation); // No answer yet.
  pass_grace();
  EXPECT_EQ(answer_to(waiter), handle_errc::object_lost);
}

TEST_F(lying_peer, refuses_for_reasons_that_only_this_end_may_have) {
  for (unsigned reason = 0; reason < 256; ++reason) {
    auto why = static_cast<handle_errc>(reason);
    if (why == handle_errc::busy || why == handle_errc::full)
      continue; // A asks again.
    link_again();
    auto waiter = asks_for_bytes();
    EXPECT_EQ(loses_its_link_by(handles::refused{1, why}), !handles::may_refuse(why)) << reason;
    pass_grace();
    EXPECT_EQ(answer_to(waiter), handles::may_refuse(why) ? why : handle_errc::object_lost) << reason;
    in_.drop_all(a);
    if (is_linked(a, liar))
      break_link(a, liar);
    arrive();
  }
}

TEST_F(lying_peer, refuses_for_no_reason_what_is_forwarded) {
  auto c = node_on_new_host();
  link(a, c);
  EXPECT_FALSE(loses_its_link_by_sending({invented, handle_mode::mine, 10, {}}));
  in_.freeze(liar);
  send_and_arrive(a, c, {last_of(a)});
  in_.nodes[c].wanted_links.clear();
  auto waiter = begin_reading(c); // A fetches for C.
  arrive();
  EXPECT_TRUE(loses_its_link_by(handles::refused{1, handle_errc::none}));
  EXPECT_EQ(answer_to(waiter), handle_errc::violation); // No answer yet.
  EXPECT_TRUE(is_linked(a, c));
  pass_grace();
  EXPECT_EQ(answer_to(waiter), handle_errc::object_lost);
}

TEST_F(lying_peer, answers_each_question_as_if_it_were_another) {
  const std::vector<packet_content> answers{handles::adopted{1, {{9, 9, 9}, handle_mode::mine, 4, {}}},
                                            handles::reclaimed{1, invented}, handles::pull_head{1, 10, {}},
                                            handles::pull_chunk{1, 0, 4},
                                            handles::pull_here{1, {invented, handle_mode::shared, 10, {}}}};
  constexpr std::size_t to_adopt = 0, to_reclaim = 1, to_pull = 2;
  for (auto asked : {to_adopt, to_reclaim, to_pull}) {
    for (bool dropped : {false, true}) {
      for (std::size_t answer = 0; answer < answers.size(); ++answer) {
        if (answer == asked || (asked != to_reclaim && dropped))
          continue; // The question is canceled, so every answer counts as late.
        link_again();
        if (asked == to_adopt) {
          auto offer = handles::adoption_offer{in_.nodes[liar].name, {1, 2, 3}, 4};
          EXPECT_FALSE(loses_its_link_by_sending({{invented_store, 2, 1}, handle_mode::behind, 10, offer}));
        } else if (asked == to_reclaim) {
          EXPECT_FALSE(loses_its_link_by_sending({invented, handle_mode::mine, 10, {}}));
          break_link(a, liar);
          arrive();
          link(a, liar);
        } else {
          (void)asks_for_bytes();
        }
        ASSERT_EQ(tables(a).requests, 1u);
        if (dropped)
          in_.drop_all(a);
        EXPECT_TRUE(loses_its_link_by(answers[answer])) << asked << ' ' << dropped << ' ' << answer;
        in_.drop_all(a);
        pass_grace();
      }
    }
  }
}

TEST_F(lying_peer, says_that_another_name_was_reclaimed) {
  EXPECT_FALSE(loses_its_link_by_sending({invented, handle_mode::mine, 10, {}}));
  break_link(a, liar);
  arrive();
  link(a, liar);
  EXPECT_TRUE(loses_its_link_by(handles::reclaimed{1, {1, 2, 3}}));
}

TEST_F(lying_peer, uses_a_request_number_again_after_its_pull_was_served) {
  auto object = in_.put(a, 4);
  send_and_arrive(a, liar, {object});
  EXPECT_FALSE(loses_its_link_by(handles::pull{7, name_of(object)}));
  EXPECT_EQ(tables(a).servings, 0u);
  EXPECT_TRUE(loses_its_link_by(handles::pull{7, name_of(object)}));
}

TEST_F(lying_peer, uses_a_request_number_below_one_that_it_has_used) {
  for (const auto& question : std::vector<handles::message>{
           handles::pull{3, {1, 2, 3}}, handles::adopt{3, {1, 2, 3}, 1}, handles::reclaim{3, {1, 2, 3}, 1}}) {
    link_again();
    EXPECT_FALSE(loses_its_link_by(handles::pull{4, {1, 2, 3}}));
    EXPECT_TRUE(loses_its_link_by(question));
  }
  link_again();
  EXPECT_TRUE(loses_its_link_by(handles::pull{0, {1, 2, 3}}));
}

TEST_F(lying_peer, sends_bytes_that_do_not_follow_the_last) {
  for (auto offset : {std::uint64_t{3}, std::uint64_t{5}, std::uint64_t{0}, ~std::uint64_t{0}}) {
    link_again();
    auto waiter = asks_for_bytes();
    EXPECT_FALSE(loses_its_link_by(handles::pull_head{1, 10, {}}));
    EXPECT_FALSE(loses_its_link_by(handles::pull_chunk{1, 0, 4}));
    EXPECT_TRUE(loses_its_link_by(handles::pull_chunk{1, offset, 4})) << offset;
    pass_grace();
    EXPECT_EQ(answer_to(waiter), handle_errc::object_lost);
    in_.drop_all(a);
  }
}

TEST_F(lying_peer, sends_bytes_before_their_head_or_none_at_all) {
  (void)asks_for_bytes();
  EXPECT_TRUE(loses_its_link_by(handles::pull_chunk{1, 0, 4}));
  in_.drop_all(a);
  pass_grace();
  link(a, liar);
  (void)asks_for_bytes();
  EXPECT_FALSE(loses_its_link_by(handles::pull_head{1, 10, {}}));
  EXPECT_TRUE(loses_its_link_by(handles::pull_chunk{1, 0, 0}));
}

TEST_F(lying_peer, says_another_size_when_it_is_asked_for_the_bytes) {
  for (std::uint64_t size : {9, 11, 0}) {
    link_again();
    (void)asks_for_bytes();
    EXPECT_TRUE(loses_its_link_by(handles::pull_head{1, size, {}})) << size;
    in_.drop_all(a);
    pass_grace();
  }
}

TEST_F(lying_peer, says_twice_that_the_bytes_follow) {
  (void)asks_for_bytes();
  EXPECT_FALSE(loses_its_link_by(handles::pull_head{1, 10, {}}));
  EXPECT_TRUE(loses_its_link_by(handles::pull_head{1, 10, {}}));
}

TEST_F(lying_peer, gives_one_name_two_sizes) {
  EXPECT_FALSE(loses_its_link_by_sending({invented, handle_mode::mine, 10, {}}));
  EXPECT_TRUE(loses_its_link_by_sending({invented, handle_mode::mine, 11, {}}));
}

TEST_F(lying_peer, gives_one_name_two_sizes_over_two_links) {
  EXPECT_FALSE(loses_its_link_by_sending({invented, handle_mode::mine, 10, {}}));
  break_link(a, liar);
  arrive();
  link(a, liar); // A reclaims its old import ...
  EXPECT_FALSE(loses_its_link_by_sending({invented, handle_mode::mine, 11, {}}));
  EXPECT_TRUE(loses_its_link_by(handles::reclaimed{1, invented})); // ... and is told that both are the same object.
  pass_grace();
}

TEST_F(lying_peer, gives_what_is_adopted_another_size_and_nothing_is_adopted) {
  auto b = node_on_new_host(true);
  link(b, a);
  auto offer = handles::adoption_offer{in_.nodes[liar].name, invented, 4};
  forge(b, a, {{{invented_store, 2, 1}, handle_mode::behind, 10, offer}});
  arrive();
  auto waiter = begin_reading(a);
  arrive();
  EXPECT_FALSE(loses_its_link_by(handles::adopted{1, {invented, handle_mode::mine, std::uint64_t{1} << 50, {}}}));
  EXPECT_TRUE(in_.nodes[a].ledger->is_behind(last_of(a).what)); // B may have lied instead, so A stays behind B.
  EXPECT_EQ(in_.nodes[a].rooms.begin()->second.size_bytes, 10u);
  in_.cancel(a, waiter);
}

TEST_F(lying_peer, hands_over_another_object_than_was_asked_for) {
  auto neighbour = in_.add_node(in_.nodes[a].host, true);
  auto over = link(neighbour, a);
  auto other = in_.put(neighbour, 12);
  auto place = in_.nodes[neighbour].ledger->place_of(other.what).value();
  forge(neighbour, a, {{invented, handle_mode::behind, 10, {}}});
  arrive();
  auto waiter = begin_reading(a);
  arrive();
  ASSERT_TRUE(in_.nodes[neighbour].objects->hand_over(place, in_.links[over].number));
  say(neighbour, a, handles::pull_here{1, {place, handle_mode::shared, 12, {}}});
  arrive();
  EXPECT_FALSE(is_linked(a, neighbour));
  pass_grace();
  EXPECT_EQ(answer_to(waiter), handle_errc::object_lost);
}

TEST_F(lying_peer, has_and_has_not_the_bytes_of_one_name) {
  EXPECT_FALSE(loses_its_link_by_sending({invented, handle_mode::mine, 10, {}}));
  EXPECT_TRUE(loses_its_link_by_sending({invented, handle_mode::behind, 10, {}}));
}

TEST_F(lying_peer, offers_an_adoption_of_what_it_has_itself) {
  auto offer = handles::adoption_offer{in_.nodes[a].name, {1, 2, 3}, 4};
  EXPECT_TRUE(loses_its_link_by_sending({invented, handle_mode::mine, 10, offer}));
}

// Goal: an object that captures itself waits for itself. It is given up after the pull patience, or when its link ends.
TEST_F(lying_peer, makes_an_object_capture_itself) {
  for (bool link_is_lost : {false, true}) {
    link_again();
    auto waiter = asks_for_bytes();
    say(liar, a, handles::pull_head{1, 10, {{invented, handle_mode::mine, 10, {}}}});
    for (std::uint64_t offset : {0, 4, 8})
      say(liar, a, handles::pull_chunk{1, offset, std::min<std::uint64_t>(4, 10 - offset)});
    arrive();
    in_.cancel(a, waiter);
    in_.drop_all(a);
    EXPECT_EQ(tables(a).fetches, 1u); // The object waits for itself.
    if (link_is_lost) {
      break_link(a, liar);
      arrive();
    } else {
      in_.pass(61s);
      in_.tick(a);
    }
    EXPECT_EQ(tables(a).fetches, 0u);
    EXPECT_EQ(tables(a).entries, 0u);
    if (is_linked(a, liar))
      break_link(a, liar);
    arrive();
  }
}

TEST_F(lying_peer, sends_more_bytes_than_it_said) {
  send_and_arrive(liar, a, {in_.put(liar, 4)});
  auto waiter = begin_reading(a);
  in_.finish_room(a);
  in_.freeze(liar);
  say(liar, a, handles::pull_head{1, 4, {}});
  say(liar, a, handles::pull_chunk{1, 0, 5});
  arrive();
  EXPECT_FALSE(is_linked(a, liar));
  pass_grace();
  EXPECT_EQ(answer_to(waiter), handle_errc::object_lost);
}

// Goal: handles never form a cycle that keeps itself alive.
// Method: a liar says that X captures Y and that Y captures X. Both replicas then wait for each other.
TEST_F(lying_peer, makes_a_cycle_of_captured_handles_which_ends_by_itself) {
  auto x = object_id{77, 1, 1};
  auto y = object_id{77, 2, 1};
  in_.freeze(liar);
  EXPECT_FALSE(loses_its_link_by_sending({x, handle_mode::mine, 4, {}}));
  auto waiter = begin_reading(a);
  in_.finish_room(a);
  say(liar, a, handles::pull_head{1, 4, {{y, handle_mode::mine, 4, {}}}});
  arrive();
  say(liar, a, handles::pull_chunk{1, 0, 4});
  say(liar, a, handles::pull_head{2, 4, {{x, handle_mode::mine, 4, {}}}});
  say(liar, a, handles::pull_chunk{2, 0, 4});
  arrive();
  EXPECT_EQ(tables(a).fetches, 2u);
  in_.drop_all(a);
  in_.pass(61s);
  in_.tick(a);
  EXPECT_EQ(answer_to(waiter), handle_errc::stalled);
  EXPECT_EQ(tables(a).fetches, 0u);
  EXPECT_EQ(tables(a).entries, 0u);
}

// Goal: a liar cannot close a circle of honest nodes, which would keep itself alive for ever.
// Method: a handle that C has from the liar goes C -> D -> A -> liar. The liar then vouches at A for C, so that C would
// get behind A, which is behind D, which is behind C.
TEST_F(lying_peer, cannot_close_a_circle_by_vouching) {
  auto c = node_on_new_host();
  auto d = node_on_new_host();
  auto lc = link(liar, c);
  auto cd = link(c, d);
  auto da = link(d, a);
  auto ca = link(c, a);
  auto give = [&](std::optional<handles::adoption_offer> offer) {
    forge(liar, c, {{invented, handle_mode::behind, 10, offer}});
    ASSERT_TRUE(in_.deliver(lc, 1));
  };
  give(std::nullopt);
  send(c, d, {last_of(c)});
  ASSERT_TRUE(in_.deliver(cd, 1));
  send(d, a, {last_of(d)});
  ASSERT_TRUE(in_.deliver(da, 1));
  send(a, liar, {last_of(a)});
  auto name = std::get<parcel>(in_.links[0].queues[1].back().what).handles[0].name;
  say(liar, a, handles::vouch{name, in_.nodes[c].name, 7});
  ASSERT_TRUE(in_.deliver(0, 0));
  give(handles::adoption_offer{in_.nodes[a].name, name, 7});
  ASSERT_TRUE(in_.deliver(ca, 1)); // C asks A to adopt ...
  ASSERT_TRUE(in_.deliver(ca, 0)); // ... A handles C's question, but D's vouch is missing ...
  ASSERT_TRUE(in_.deliver(ca, 0)); // ... and C gets its answer.
  EXPECT_EQ(in_.adoptions, 1u);
  for (auto each : {a, c, d})
    in_.drop_all(each);
  kill(liar);
  arrive();
  pass_grace();
  for (auto each : {a, c, d})
    EXPECT_EQ(tables(each).entries, 0u);
}

// Goal: a liar also cannot close such a circle by sending a node its own handle.
// Method: a handle that C has from the liar goes C -> D -> E -> C, under another name, and on to the liar. The liar
// vouches at C for C itself, so that C's first handle would become the second, which is behind the first.
TEST_F(lying_peer, cannot_close_a_circle_by_sending_a_handle_home) {
  auto c = node_on_new_host();
  auto d = node_on_new_host();
  auto e = node_on_new_host();
  auto lc = link(liar, c);
  auto give = [&](std::optional<handles::adoption_offer> offer) {
    forge(liar, c, {{invented, handle_mode::behind, 10, offer}});
    ASSERT_TRUE(in_.deliver(lc, 1));
  };
  give(std::nullopt);
  for (auto [from, to] : {std::pair{c, d}, std::pair{d, e}, std::pair{e, c}}) {
    auto over = link(from, to);
    send(from, to, {last_of(from)});
    for (auto before = in_.nodes[to].application.size(); in_.nodes[to].application.size() == before;)
      ASSERT_TRUE(in_.deliver(over, 1));
  }
  send(c, liar, {last_of(c)});
  auto name = std::get<parcel>(in_.links[lc].queues[0].back().what).handles[0].name;
  say(liar, c, handles::vouch{name, in_.nodes[c].name, 7});
  ASSERT_TRUE(in_.deliver(lc, 1));
  give(handles::adoption_offer{in_.nodes[c].name, name, 7});
  for (auto each : {c, d, e})
    in_.drop_all(each);
  kill(liar);
  arrive();
  pass_grace();
  for (auto each : {c, d, e})
    EXPECT_EQ(tables(each).entries, 0u);
}

// Goal: honest nodes also do not form a cycle in which each is behind the next.
// Method: the handle goes A -> B -> C -> D -> B, each time before any node can adopt it. Then all handles are dropped,
// and nothing may be left.
TEST_F(handle_protocol, a_handle_that_went_in_a_circle_is_let_go_by_all) {
  auto a = node_on_new_host();
  auto b = node_on_new_host();
  auto c = node_on_new_host();
  auto ab = link(a, b);
  auto bc = link(b, c);
  auto d = node_on_new_host();
  auto cd = link(c, d);
  auto db = link(d, b);
  send(a, b, {in_.put(a, 10)});
  ASSERT_TRUE(in_.deliver(ab, 1));
  for (auto [from, to, over] : {std::tuple{b, c, bc}, std::tuple{c, d, cd}, std::tuple{d, b, db}}) {
    send(from, to, {last_of(from)});
    while (in_.nodes[to].application.empty() || (to == b && in_.nodes[b].application.size() < 2))
      ASSERT_TRUE(in_.deliver(over, in_.end_of(over, to)));
  }
  for (auto each : {a, b, c, d})
    in_.drop_all(each);
  arrive();
  for (auto each : {a, b, c, d})
    EXPECT_EQ(tables(each).entries, 0u);
  EXPECT_EQ(objects_at(a), 0u);
}

// Goal: such a cycle also ends if its source is lost.
TEST_F(handle_protocol, a_circle_whose_source_is_lost_is_lost_for_all_and_keeps_nothing) {
  auto a = node_on_new_host();
  auto b = node_on_new_host();
  auto c = node_on_new_host();
  auto d = node_on_new_host();
  auto ab = link(a, b);
  link(b, c);
  link(c, d);
  link(d, b);
  send(a, b, {in_.put(a, 10)});
  ASSERT_TRUE(in_.deliver(ab, 1));
  in_.freeze(a);
  send_and_arrive(b, c, {last_of(b)});
  send_and_arrive(c, d, {last_of(c)});
  send_and_arrive(d, b, {last_of(d)});
  for (auto& each : in_.nodes)
    each.wanted_links.clear();
  kill(a);
  arrive();
  pass_grace();
  for (auto each : {b, c, d})
    EXPECT_EQ(read(each), handle_errc::object_lost);
}

} // namespace

} // namespace troupe::simulation
