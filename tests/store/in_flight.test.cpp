// Handles in flight between processes that share a store.
#include "support.hpp"

#include <troupe/store/internal/host/crash_point.hpp>

namespace troupe::store::test {

namespace {

constexpr auto channel = std::uint64_t{42};

struct conversation {
  std::atomic<int> step{0};
  object_id id;
  process_id sender;
  process_id receiver;
};

class in_flight_test : public store_test {
protected:
  /// Starts a process that attaches, publishes its process_id, waits for step 2, and then runs `body(store)`.
  template <class Body>
  child receiver(shared<conversation>& talk, Body body) {
    auto made = child([this, &talk, body] {
      auto store = open();
      talk->receiver = store.self();
      talk->step = 1;
      if (!eventually([&] { return talk->step == 2; }))
        return 90;
      return body(store);
    });
    EXPECT_TRUE(eventually([&] { return talk->step == 1; }));
    return made;
  }

  shared<conversation> talk_;
};

TEST_F(in_flight_test, a_handle_is_adopted_after_its_sender_let_go) {
  auto store = open();
  auto peer = receiver(talk_, [&](object_store& mine) {
    const auto adopted = mine.adopt(talk_->id, talk_->sender, channel);
    return adopted && read(*adopted) == "parcel" ? 0 : 1;
  });
  auto made = put(store, "parcel");
  talk_->id = made.id();
  talk_->sender = store.self();
  ASSERT_TRUE(made.hand_over(talk_->receiver, channel));
  made = {};
  EXPECT_TRUE(store.contains(talk_->id));
  talk_->step = 2;
  EXPECT_EQ(peer.wait(), fine);
  EXPECT_FALSE(store.contains(talk_->id));
}

TEST_F(in_flight_test, a_killed_senders_handle_is_still_adopted) {
  auto store = open();
  talk_->receiver = store.self();
  auto sender = child([&] {
    auto mine = open();
    const auto made = put(mine, "last words");
    talk_->id = made.id();
    talk_->sender = mine.self();
    if (!made.hand_over(talk_->receiver, channel))
      return 1;
    ::raise(SIGKILL);
    return 2;
  });
  const auto sender_pid = sender.pid();
  ASSERT_EQ(sender.wait(), killed);
  EXPECT_EQ(store.reap(), 1u);
  EXPECT_EQ(store.summary()->rows.at(0).in_flight.at(0).from, sender_pid);
  EXPECT_EQ(child([&] { return open().shares_with(talk_->sender) ? 1 : 0; }).wait(), fine); // Its slot is reused.
  const auto adopted = store.adopt(talk_->id, talk_->sender, channel);
  ASSERT_TRUE(adopted) << message_of(adopted);
  EXPECT_EQ(read(*adopted), "last words");
  EXPECT_EQ(code_of(store.adopt(talk_->id, talk_->sender, channel)), store_errc::not_found);
}

// Goal: rebuilding the table keeps entries in flight as long as their receiver lives, even if the sender is gone.
// Method: the sender is reaped. Another process takes its slot and dies while it holds the lock.
TEST_F(in_flight_test, a_killed_senders_handle_is_still_adopted_after_the_table_was_rebuilt) {
  auto store = open();
  talk_->receiver = store.self();
  auto sender = child([&] {
    auto mine = open();
    const auto made = put(mine, "last words");
    talk_->id = made.id();
    talk_->sender = mine.self();
    if (!made.hand_over(talk_->receiver, channel))
      return 1;
    ::raise(SIGKILL);
    return 2;
  });
  ASSERT_EQ(sender.wait(), killed);
  EXPECT_EQ(store.reap(), 1u);
  auto other = child([&] {
    auto theirs = open();
    internal::arm_crash_point(internal::crash_point::create_row_filled);
    (void)theirs.create(1);
    return 1;
  });
  ASSERT_EQ(other.wait(), killed);
  const auto adopted = store.adopt(talk_->id, talk_->sender, channel);
  ASSERT_TRUE(adopted) << message_of(adopted);
  EXPECT_EQ(read(*adopted), "last words");
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

class adoption_test : public in_flight_test, public ::testing::WithParamInterface<internal::crash_point> {};

// Goal: while a handle is being adopted, its object is held at every moment.
// Method: the receiver, which would be the only holder, is stopped at the crash point.
TEST_P(adoption_test, an_object_is_there_while_its_receiver_takes_it_over) {
  auto store = open();
  auto peer = receiver(talk_, [&](object_store& mine) {
    internal::arm_crash_point(GetParam(), 1, internal::crash_action::stop);
    return mine.adopt(talk_->id, talk_->sender, channel) ? 0 : 1;
  });
  auto made = put(store, "parcel");
  talk_->id = made.id();
  talk_->sender = store.self();
  ASSERT_TRUE(made.hand_over(talk_->receiver, channel));
  made = {};
  talk_->step = 2;
  peer.wait_until_stopped();
  EXPECT_TRUE(store.contains(talk_->id));
  peer.kill(SIGCONT);
  EXPECT_EQ(peer.wait(), fine);
}

INSTANTIATE_TEST_SUITE_P(every_point, adoption_test,
                         ::testing::Values(internal::crash_point::adopt_held, internal::crash_point::adopt_uncounted),
                         [](const auto& one) { return std::string(internal::to_string(one.param)); });

TEST_F(in_flight_test, a_killed_receivers_handle_is_freed) {
  auto store = open();
  auto peer = receiver(talk_, [](object_store&) { return 0; });
  auto made = put(store, "undeliverable");
  const auto id = made.id();
  ASSERT_TRUE(made.hand_over(talk_->receiver, channel));
  ASSERT_TRUE(made.hand_over(talk_->receiver, channel));
  made = {};
  EXPECT_EQ(store.summary()->rows.at(0).in_flight.at(0).count, 2u);
  peer.kill_and_wait();
  EXPECT_EQ(store.summary()->objects, 0u);
  EXPECT_FALSE(store.contains(id));
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

// Goal: a sender that dies before it has written its message leaves nothing behind.
// Method: the sender hands over and is killed. The receiver gets no message, sees the connection end and abandons the
// channel.
TEST_F(in_flight_test, what_a_killed_sender_never_wrote_goes_when_the_receiver_ends_the_channel) {
  auto store = open();
  talk_->receiver = store.self();
  auto sender = child([&] {
    auto mine = open();
    talk_->sender = mine.self();
    if (!put(mine, "never written").hand_over(talk_->receiver, channel))
      return 1;
    ::raise(SIGKILL);
    return 2;
  });
  ASSERT_EQ(sender.wait(), killed);
  EXPECT_EQ(store.reap(), 1u);
  EXPECT_EQ(store.summary()->objects, 1u); // Its message might have been written.
  ASSERT_TRUE(store.abandon(talk_->sender, channel));
  EXPECT_EQ(store.summary()->objects, 0u);
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

TEST_F(in_flight_test, what_was_in_flight_between_two_dead_processes_is_freed) {
  auto store = open();
  auto peer = receiver(talk_, [](object_store&) { return 0; });
  auto sender = child([&] {
    auto mine = open();
    if (!put(mine, "for nobody").hand_over(talk_->receiver, channel))
      return 1;
    ::raise(SIGKILL);
    return 2;
  });
  ASSERT_EQ(sender.wait(), killed);
  EXPECT_EQ(store.reap(), 1u);
  EXPECT_EQ(store.summary()->objects, 1u);
  peer.kill_and_wait();
  EXPECT_EQ(store.reap(), 1u);
  EXPECT_EQ(store.summary()->objects, 0u);
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

// Goal: an entry in flight keeps the objects that its object captures, and so does the adopter.
// Method: the creator of both objects is killed while the outer object is in flight. Then the adopter releases the
// outer object.
TEST_F(in_flight_test, captured_objects_stay_while_the_outer_one_is_in_flight_from_a_dead_process) {
  auto store = open();
  talk_->receiver = store.self();
  auto inner_id = shared<object_id>{};
  auto sender = child([&] {
    auto mine = open();
    const auto inner = put(mine, "inner");
    const auto outer = put(mine, "outer", std::vector{inner.id()});
    *inner_id = inner.id();
    talk_->id = outer.id();
    talk_->sender = mine.self();
    if (!outer.hand_over(talk_->receiver, channel))
      return 1;
    ::raise(SIGKILL);
    return 2;
  });
  ASSERT_EQ(sender.wait(), killed);
  EXPECT_EQ(store.reap(), 1u);
  EXPECT_EQ(store.summary()->objects, 2u);
  auto adopted = store.adopt(talk_->id, talk_->sender, channel);
  ASSERT_TRUE(adopted) << message_of(adopted);
  const auto inner = store.find(*inner_id);
  ASSERT_TRUE(inner);
  EXPECT_EQ(read(*inner), "inner");
  *adopted = {};
  EXPECT_EQ(store.summary()->objects, 1u); // The inner one, which has a handle of its own now.
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

TEST_F(in_flight_test, a_receiver_that_leaves_cleanly_drops_what_it_never_adopted) {
  auto store = open();
  auto peer = receiver(talk_, [](object_store&) { return 0; });
  ASSERT_TRUE(put(store, "undeliverable").hand_over(talk_->receiver, channel));
  EXPECT_EQ(store.summary()->objects, 1u);
  talk_->step = 2;
  EXPECT_EQ(peer.wait(), fine);
  EXPECT_EQ(store.summary()->objects, 0u);
}

TEST_F(in_flight_test, a_receiver_that_leaves_while_others_send_leaves_nothing_in_flight) {
  auto store = open();
  auto sent = shared<std::atomic<int>>{};
  auto peer = child([&] {
    for (auto round = 0; round < 300 || (*sent < 20 && round < 100'000); ++round) {
      const auto mine = open();
      talk_->receiver = mine.self(); // A torn value mixes two attachments: an id like any other.
    }
    talk_->step = 1;
    return 0;
  });
  // If the receiver gets no processor time, the entries that it has not dropped yet may fill the table. Then `put`
  // fails for a while, which is no failure of this test.
  while (talk_->step == 0)
    if (const auto object = store.put(bytes_of("x")); object && object->hand_over(talk_->receiver, channel))
      ++*sent;
  EXPECT_EQ(peer.wait(), fine);
  EXPECT_GE(*sent, 20);
  EXPECT_EQ(store.summary()->objects, 0u) << "of " << *sent << " sent";
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

TEST_F(in_flight_test, each_hand_over_is_adopted_once) {
  auto store = open();
  const auto made = put(store, "twice");
  ASSERT_TRUE(made.hand_over(store.self(), channel));
  ASSERT_TRUE(made.hand_over(store.self(), channel));
  const auto first = store.adopt(made.id(), store.self(), channel);
  const auto second = store.adopt(made.id(), store.self(), channel);
  EXPECT_TRUE(first && second);
  EXPECT_EQ(code_of(store.adopt(made.id(), store.self(), channel)), store_errc::not_found);
}

TEST_F(in_flight_test, two_nodes_of_one_process_hand_over_to_each_other) {
  auto store = open();
  auto made = put(store, "to myself");
  const auto id = made.id();
  ASSERT_TRUE(made.hand_over(store.self(), channel));
  made = {};
  const auto adopted = store.adopt(id, store.self(), channel);
  ASSERT_TRUE(adopted);
  EXPECT_EQ(read(*adopted), "to myself");
}

TEST_F(in_flight_test, only_the_right_receiver_sender_and_channel_adopt) {
  auto store = open();
  auto peer = receiver(talk_, [&](object_store& mine) {
    if (mine.adopt(talk_->id, talk_->sender, channel + 1) || mine.adopt(talk_->id, mine.self(), channel)
        || mine.adopt(talk_->id, {talk_->sender.slot, talk_->sender.nonce + 1}, channel))
      return 1;
    return mine.adopt(talk_->id, talk_->sender, channel) ? 0 : 2;
  });
  const auto made = put(store, "addressed");
  talk_->id = made.id();
  talk_->sender = store.self();
  ASSERT_TRUE(made.hand_over(talk_->receiver, channel));
  EXPECT_EQ(code_of(store.adopt(made.id(), store.self(), channel)), store_errc::not_found);
  talk_->step = 2;
  EXPECT_EQ(peer.wait(), fine);
}

TEST_F(in_flight_test, what_is_taken_back_cannot_be_adopted) {
  auto store = open();
  auto made = put(store, "never sent");
  const auto id = made.id();
  ASSERT_TRUE(made.hand_over(store.self(), channel));
  made.take_back(store.self(), channel);
  made.take_back(store.self(), channel); // Taking back once too often does nothing.
  EXPECT_EQ(code_of(store.adopt(id, store.self(), channel)), store_errc::not_found);
  made = {};
  EXPECT_EQ(store.summary()->objects, 0u);
}

TEST_F(in_flight_test, abandoning_drops_both_directions_of_one_channel_only) {
  auto store = open();
  auto peer = receiver(talk_, [&](object_store& mine) {
    auto reply = put(mine, "reply");
    if (!reply.hand_over(talk_->sender, channel) || !reply.hand_over(talk_->sender, channel + 1))
      return 1;
    talk_->id = reply.id();
    reply = {};
    talk_->step = 3;
    return eventually([&] { return talk_->step == 4; }) ? 0 : 2;
  });
  talk_->sender = store.self();
  const auto request = put(store, "request");
  ASSERT_TRUE(request.hand_over(talk_->receiver, channel));
  talk_->step = 2;
  ASSERT_TRUE(eventually([&] { return talk_->step == 3; }));
  store.abandon(talk_->receiver, channel);
  EXPECT_EQ(code_of(store.adopt(talk_->id, talk_->receiver, channel)), store_errc::not_found);
  EXPECT_TRUE(store.adopt(talk_->id, talk_->receiver, channel + 1));
  EXPECT_TRUE(store.summary()->rows.at(0).in_flight.empty());
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
  talk_->step = 4;
  EXPECT_EQ(peer.wait(), fine);
}

// Goal: objects that a peer sends after this process has ended their channel do not stay.
// Method: the peer sends once, and this process notices it while the peer lives. Then the peer sends again and is
// killed.
TEST_F(in_flight_test, what_is_sent_on_a_channel_that_the_receiver_has_abandoned_goes_with_the_next_reaping) {
  auto store = open();
  talk_->sender = store.self();
  auto peer = receiver(talk_, [&](object_store& mine) {
    for (auto step : {3, 5}) {
      if (!put(mine, "late").hand_over(talk_->sender, channel) || !put(mine, "other").hand_over(talk_->sender, step))
        return 1;
      talk_->step = step;
      if (!eventually([&] { return talk_->step == step + 1; }))
        return 2;
    }
    return 3;
  });
  ASSERT_TRUE(store.abandon(talk_->receiver, channel));
  talk_->step = 2;
  ASSERT_TRUE(eventually([&] { return talk_->step == 3; }));
  EXPECT_EQ(store.reap(), 0u);
  EXPECT_EQ(store.summary()->objects, 1u); // The one on the other channel.
  talk_->step = 4;
  ASSERT_TRUE(eventually([&] { return talk_->step == 5; }));
  peer.kill_and_wait();
  EXPECT_EQ(store.reap(), 1u);
  EXPECT_EQ(store.summary()->objects, 2u); // The dead peer's objects on the channels not yet ended.
  ASSERT_TRUE(store.abandon(talk_->receiver, 3));
  ASSERT_TRUE(store.abandon(talk_->receiver, 5));
  EXPECT_EQ(store.summary()->objects, 0u);
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
}

TEST_F(in_flight_test, a_channel_within_one_process_may_be_used_again_after_abandoning_it) {
  auto store = open();
  const auto made = put(store, "x");
  ASSERT_TRUE(store.abandon(store.self(), channel));
  ASSERT_TRUE(made.hand_over(store.self(), channel));
  EXPECT_EQ(store.reap(), 0u);
  EXPECT_TRUE(store.adopt(made.id(), store.self(), channel));
}

TEST_F(in_flight_test, handing_over_to_nobody_is_refused) {
  auto store = open();
  const auto made = put(store, "x");
  EXPECT_EQ(code_of(made.hand_over({}, channel)), store_errc::peer_gone);
  EXPECT_EQ(code_of(made.hand_over({3, 77}, channel)), store_errc::peer_gone);
  EXPECT_EQ(code_of(made.hand_over({store.self().slot, store.self().nonce + 1}, channel)), store_errc::peer_gone);
}

TEST_F(in_flight_test, a_table_full_of_what_was_sent_to_a_dead_process_makes_room_for_more) {
  auto store = open();
  auto peer = receiver(talk_, [](object_store&) { return 0; });
  auto held = std::vector<handle>{};
  for (auto object = 0; object < 1024; ++object)
    held.push_back(put(store, "y"));
  for (auto count = std::uint64_t{0}; count < 64; ++count)
    for (const auto& object : held)
      ASSERT_TRUE(object.hand_over(talk_->receiver, count));
  ASSERT_EQ(code_of(held[0].hand_over(store.self(), channel)), store_errc::table_full);
  peer.kill_and_wait();
  EXPECT_TRUE(held[0].hand_over(store.self(), channel));
  store.abandon(store.self(), channel);
}

TEST_F(in_flight_test, the_table_of_what_is_in_flight_has_an_end_and_says_so) {
  auto store = open();
  const auto made = put(store, "x");
  for (auto count = std::uint64_t{0}; count < 3; ++count) // Many channels for one object would make one long chain ...
    ASSERT_TRUE(made.hand_over(store.self(), count));
  auto held = std::vector<handle>{};
  for (auto object = 0; object < 1000; ++object) // ... so spread them.
    held.push_back(put(store, "y"));
  auto refused = std::expected<void, store_error>{};
  for (auto count = std::uint64_t{0}; count < 70 && refused; ++count)
    for (auto at = held.begin(); at != held.end() && refused; ++at)
      refused = at->hand_over(store.self(), count);
  EXPECT_EQ(code_of(refused), store_errc::table_full);
  EXPECT_EQ(message_of(refused), "the store's table of entries in flight is full: limit 65,536");
  EXPECT_TRUE(store.verify()) << message_of(store.verify());
  store.abandon(store.self(), 5);
  EXPECT_TRUE(made.hand_over(store.self(), 5));
}

} // namespace

} // namespace troupe::store::test
