// A draft leaves as a whole, waits as a whole, or fails without taking anything.
#include <troupe/framework/internal/link/draft_sender.hpp>

#include <troupe/framework/internal/wire/message_extensions.hpp>

#include <string>

#include "way_out.hpp"

namespace troupe::internal {
namespace {

class sending_drafts : public encoding_way_out {
protected:
  using done = std::expected<void, unsent>;

  ~sending_drafts() override { clear(); }

  void clear() {
    draft.clear();
    encoder.clear();
    encoder.forget_values();
    owner = std::make_shared<message_owner>(); // Frames may keep the previous one.
  }
  done send(std::string text, caf::strong_actor_ptr sender = nullptr, caf::message_id id = caf::make_message_id(),
            std::uint64_t receiver = 3) {
    auto result = encode(element(sender, id, std::move(text)), draft);
    if (result)
      result = sending.send(draft, receiver, sender, id);
    clear();
    return result;
  }
  void agree_on_all_features() {
    auto agreed = terms_.now();
    agreed.features = *feature_set::agree(offered_features());
    agree(std::move(agreed));
  }
  void consume(std::uint64_t receiver) {
    auto held = mutex_.lock();
    const auto bytes = gate.window(held).outstanding_bytes(receiver);
    EXPECT_TRUE(gate.credit(held, {.actor = receiver, .bytes = bytes}));
    pump.run(held);
  }
  caf::strong_actor_ptr own(std::uint64_t number) {
    const auto held = mutex_.lock();
    return actors.own(held, number);
  }
  std::uint64_t outstanding(std::uint64_t receiver = 3) {
    const auto held = mutex_.lock();
    return gate.window(held).outstanding_bytes(receiver);
  }

  void fill_window() {
    while (outstanding() < bounds.actor_window)
      ASSERT_TRUE(send("tea"));
  }

  const caf::message_id question = caf::make_message_id(12);
  message_draft draft;
};

TEST_F(sending_drafts, leave_at_once_and_are_charged) {
  EXPECT_TRUE(send("tea"));
  EXPECT_EQ(messages_appended(), 1u);
  EXPECT_TRUE(in_order(appended(), {"str", "tea"})); // The signature comes first.
  EXPECT_GT(outstanding(), message_cost_bytes);
  EXPECT_EQ(sent, 1u);
}

TEST_F(sending_drafts, a_signature_is_defined_once) {
  EXPECT_TRUE(send("tea"));
  const auto first = appended();
  EXPECT_TRUE(send("tea", nullptr, caf::make_message_id(), 4));
  EXPECT_EQ(appended().find("str", first.size()), std::string::npos);
}

TEST_F(sending_drafts, the_sender_is_named_and_may_be_passed_on_once) {
  const auto ann = actor();
  EXPECT_TRUE(send("tea", ann));
  EXPECT_EQ(own(ann->id()), ann);
  const auto held = mutex_.lock();
  EXPECT_TRUE(actors.take_return(held, ann->id()));
  EXPECT_FALSE(actors.take_return(held, ann->id()));
}

TEST_F(sending_drafts, a_request_is_pending_and_keeps_room_for_its_answer) {
  const auto ann = actor();
  EXPECT_TRUE(send("tea?", ann, question));
  EXPECT_EQ(asked.size(), 1u);
  EXPECT_EQ(replies.bytes(), reply_room::estimate_min);
  const auto held = mutex_.lock();
  EXPECT_FALSE(actors.take_return(held, ann->id())); // Its answer comes back, not the message itself.
}

TEST_F(sending_drafts, answers_cost_nothing) {
  EXPECT_TRUE(send("here", actor(), question.response_id()));
  EXPECT_EQ(messages_appended(), 1u);
  EXPECT_EQ(outstanding(), 0u);
}

TEST_F(sending_drafts, wait_beyond_the_window_and_leave_with_credit) {
  const auto ann = actor();
  while (messages_appended() == sent)
    ASSERT_TRUE(send("tea", ann));
  const auto before = messages_appended();
  EXPECT_EQ(sent, before + 1);
  consume(3);
  EXPECT_EQ(messages_appended(), before + 1);
}

TEST_F(sending_drafts, requests_that_wait_keep_no_room_yet) {
  fill_window();
  EXPECT_TRUE(send("tea?", actor(), question));
  EXPECT_EQ(messages_appended() + 1, sent);
  EXPECT_EQ(asked.size(), 1u);
  EXPECT_EQ(replies.bytes(), 0u);
  consume(3);
  EXPECT_EQ(replies.bytes(), reply_room::estimate_min);
}

TEST_F(sending_drafts, what_is_refused_has_taken_nothing) {
  options.block_timeout = {};
  done last;
  const auto ann = actor();
  while (last)
    last = send("tea");
  EXPECT_EQ(last.error().why.code(), node_errc::link_busy);
  EXPECT_EQ(send("tea", ann, question).error().why.code(), node_errc::link_busy);
  EXPECT_EQ(own(ann->id()), nullptr);
  EXPECT_EQ(asked.size(), 0u);
}

TEST_F(sending_drafts, what_waits_takes_it_back_where_it_never_leaves) {
  const auto ann = actor();
  fill_window();
  EXPECT_TRUE(send("tea?", ann, question));
  EXPECT_EQ(own(ann->id()), ann);
  auto waiting = gate.take_all(mutex_.lock());
  ASSERT_EQ(waiting.size(), 1u);
  EXPECT_TRUE(waiting[0].may_be_dropped);
  EXPECT_EQ(waiting[0].receiver, 3u);
  waiting.clear();
  EXPECT_EQ(own(ann->id()), nullptr);
  EXPECT_EQ(asked.size(), 0u);
}

TEST_F(sending_drafts, nothing_leaves_after_the_end) {
  enter(link_state::closed);
  EXPECT_EQ(send("tea").error().why.code(), node_errc::link_down);
  EXPECT_EQ(messages_appended(), 0u);
}

TEST_F(sending_drafts, what_was_encoded_by_older_lists_is_outdated_unless_the_peer_waits_for_it) {
  EXPECT_TRUE(send("tea"));
  ASSERT_TRUE(encode_values(draft, std::string{"milk"}));
  change_peers_lists();
  const auto late = sending.send(draft, 3, nullptr, caf::make_message_id());
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().why.code(), node_errc::link_busy);
  EXPECT_TRUE(late.error().is_outdated);
  clear();
  EXPECT_TRUE(epochs.take_acknowledgement());
  ASSERT_TRUE(encode(element(nullptr, caf::make_message_id(), std::string{"milk"}), draft, true));
  change_peers_lists();
  EXPECT_FALSE(epochs.take_acknowledgement());
  EXPECT_TRUE(sending.send(draft, 3, nullptr, caf::make_message_id()));
  clear();
  EXPECT_TRUE(epochs.take_acknowledgement());
}

TEST_F(sending_drafts, large_frames_go_in_chunks_and_keep_the_order_of_their_pair) {
  const auto ann = actor();
  bound({.window = 1'000'000, .actor_window = 1'000'000, .queue = 1, .actor_queue = 1});
  EXPECT_TRUE(send(std::string(inline_frame_bytes_max + 100, 'a'), ann));
  EXPECT_TRUE(send("behind", ann));
  EXPECT_TRUE(send("beside", nullptr));
  EXPECT_EQ(messages_appended(), 1u);
  const auto held = mutex_.lock();
  auto* out = to->open_outbox(held);
  while (leaving.append_next(held, *out))
    ;
  EXPECT_EQ(out->messages(), 3u);
  EXPECT_TRUE(in_order(text_of(*out), {"beside", "aaaa", "behind"}));
}

byte_vector map_of(std::uint64_t key, std::string_view value) {
  byte_vector map;
  append_extension(map, key, troupe::tests::bytes_of(value));
  return map;
}

TEST_F(sending_drafts, an_extension_is_carried_where_the_peer_takes_one) {
  ASSERT_TRUE(encode_values(draft, std::string{"tea"}));
  draft.extend(map_of(9, "extension"));
  EXPECT_TRUE(draft.extensions().empty());
  clear();
  agree_on_all_features();
  ASSERT_TRUE(encode_values(draft, std::string{"tea"}));
  draft.extend(map_of(9, "extension"));
  EXPECT_TRUE(sending.send(draft, 3, nullptr, caf::make_message_id()));
  EXPECT_TRUE(in_order(appended(), {"extension", "tea"}));
}

TEST_F(sending_drafts, what_was_stated_of_the_values_stays_beside_what_came_over_another_link) {
  agree_on_all_features();
  ASSERT_TRUE(encode_values(draft, std::string{"tea"}));
  if (draft.extensions().empty())
    draft.state_value_bytes(700);
  const auto stated = value_bytes_of(draft.extensions());
  EXPECT_GT(stated, 0u);
  draft.extend(map_of(9, "extension"));
  EXPECT_TRUE(is_extension_map(draft.extensions()));
  EXPECT_EQ(value_bytes_of(draft.extensions()), stated);
  EXPECT_TRUE(find_extension(draft.extensions(), 9));
}

TEST_F(sending_drafts, what_another_link_has_stated_of_the_values_stands) {
  agree_on_all_features();
  ASSERT_TRUE(encode_values(draft, std::string{"tea"}));
  byte_vector map;
  append_value_bytes(map, 30);
  draft.extend(map);
  EXPECT_EQ(value_bytes_of(draft.extensions()), 30u);
}

} // namespace
} // namespace troupe::internal
