// Plain messages. A message that takes the short way leaves exactly as it would the long way. If it cannot take the
// short way, nothing has changed.
#include <troupe/framework/internal/link/plain_sender.hpp>

#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <vector>

#include <caf/allowed_unsafe_message_type.hpp>
#include <caf/atom.hpp>

#include <troupe/framework/internal/caf_port/builtin_types.hpp>

#include "way_out.hpp"

namespace plain_test {

struct reading {
  std::string sensor;
  std::vector<double> samples;
};
TROUPE_DESCRIBE(reading, sensor, samples)

} // namespace plain_test

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(plain_test::reading)

namespace troupe::internal {
namespace {

using plain_test::reading;

class plain_messages : public encoding_way_out {
protected:
  /// The state that sending a message may change.
  struct state {
    std::string bytes; // Appended to the outbox.
    std::uint64_t outstanding = 0;
    std::size_t pending = 0;
    std::uint64_t expected = 0; // Room reserved for answers, in bytes.
    std::uint64_t sent = 0;
    std::uint64_t payloads = 0;
    std::size_t exported = 0;
    bool operator==(const state&) const = default;
    friend std::ostream& operator<<(std::ostream& out, const state& what) {
      return out << what.bytes.size() << " bytes, " << what.outstanding << " outstanding, " << what.pending
                 << " pending, " << what.expected << " expected, " << what.sent << " sent, " << what.payloads
                 << " payloads, " << what.exported << " exported";
    }
  };

  plain_messages() {
    add_builtin_types(types);
    types.add<reading>("reading");
    replies.set_bounds({.all = 100'000, .of_receiver = 100'000});
    bound({.window = 100'000, .actor_window = 100'000, .queue = 1000, .actor_queue = 1000});
  }
  ~plain_messages() override { clear(); }

  void clear() {
    draft.clear();
    encoder.clear();
    encoder.forget_values();
    owner = std::make_shared<message_owner>();
  }

  void by_draft(caf::mailbox_element_ptr what) {
    const auto sender = what->sender;
    const auto id = what->mid;
    EXPECT_TRUE(encode(std::move(what), draft));
    const auto left = sending.send(draft, 3, sender, id);
    EXPECT_TRUE(left) << left.error().why.message();
    clear();
  }
  bool by_short_way(const caf::mailbox_element_ptr& what, std::uint64_t receiver = 3) {
    const auto* message = plain.encode(encodings, terms, *what);
    return message != nullptr && plain_sending.send(*message, receiver, what->sender, what->mid);
  }
  /// Sends two such messages as drafts, since the first payload of a type is measured.
  template <class... Ts>
  void learn(caf::strong_actor_ptr sender, const Ts&... values) {
    by_draft(element(sender, note, values...));
    by_draft(element(sender, note, values...));
  }

  state now() {
    const auto held = mutex_.lock();
    state result;
    std::vector<bytes_view> pieces;
    to->open_outbox(held)->gather(pieces);
    for (const auto& each : pieces)
      result.bytes += troupe::tests::text_of(each);
    result.outstanding = gate.window(held).outstanding_bytes(3);
    result.pending = asked.size();
    result.expected = replies.bytes();
    result.sent = sent;
    std::vector<type_stats> rows;
    counts.add_to(rows, &type_stats::sent);
    for (const auto& each : rows)
      result.payloads += each.sent.payloads;
    result.exported = actors.exported(held);
    return result;
  }
  /// Returns the changes that `does` makes.
  state change(const std::function<void()>& does) {
    const auto before = now();
    does();
    auto after = now();
    after.bytes.erase(0, before.bytes.size());
    after.outstanding -= before.outstanding;
    after.pending -= before.pending;
    after.expected -= before.expected;
    after.sent -= before.sent;
    after.payloads -= before.payloads;
    after.exported -= before.exported;
    return after;
  }
  /// Returns how many times the peer may release the actor, and how many times it may send back messages in its name.
  std::pair<int, int> namings(const caf::strong_actor_ptr& of) {
    const auto held = mutex_.lock();
    std::pair<int, int> result{0, 0};
    while (actors.take_return(held, of->id()))
      ++result.second;
    while (actors.own(held, of->id()) != nullptr) {
      static_cast<void>(actors.take_back(held, of->id()));
      ++result.first;
    }
    return result;
  }

  template <class... Ts>
  void expect_the_same_by_both_ways(caf::strong_actor_ptr sender, const Ts&... values) {
    learn(sender, values...);
    for (const auto id : {note, urgent, question, question.response_id()}) {
      if (id.is_request() && !sender)
        continue;
      SCOPED_TRACE(id.integer_value());
      const auto first = change([&] { by_draft(element(sender, id, values...)); });
      const auto second = change([&] { EXPECT_TRUE(by_short_way(element(sender, id, values...))); });
      EXPECT_EQ(first.bytes, second.bytes);
      EXPECT_EQ(first, second);
    }
  }
  /// Expects a refusal that changes nothing.
  void expect_refused(const caf::mailbox_element_ptr& what, std::uint64_t receiver = 3) {
    EXPECT_EQ(change([&] { EXPECT_FALSE(by_short_way(what, receiver)); }), state{});
  }

  const caf::message_id note = caf::make_message_id();
  const caf::message_id urgent = caf::make_message_id(caf::message_priority::high);
  const caf::message_id question = caf::make_message_id(12);
  message_draft draft;
  plain_encoder plain{known};
};

TEST_F(plain_messages, leave_as_drafts_do) {
  expect_the_same_by_both_ways(actor(), std::string{"tea"});
  expect_the_same_by_both_ways(nullptr, std::string{"tea"});
  expect_the_same_by_both_ways(actor(), std::int32_t{-7}, std::string{"tea"}, 0.5, std::uint64_t{1} << 60);
  expect_the_same_by_both_ways(actor(), caf::atom("brew"), std::string(200, 'x')); // Its size takes two bytes.
  expect_the_same_by_both_ways(actor(), reading{"north", {1, 2, 3}});
}

TEST_F(plain_messages, name_their_sender_as_often_as_drafts_do) {
  const auto ann = actor(), bob = actor();
  learn(ann, std::string{"tea"});
  learn(bob, std::string{"tea"});
  for (const auto id : {note, question, question.response_id()}) {
    by_draft(element(ann, id, std::string{"tea"}));
    EXPECT_TRUE(by_short_way(element(bob, id, std::string{"tea"})));
  }
  EXPECT_EQ(namings(ann), (std::pair{5, 3}));
  EXPECT_EQ(namings(bob), (std::pair{5, 3}));
}

TEST_F(plain_messages, of_types_that_the_peer_does_not_know_yet_are_drafts) {
  learn(nullptr, std::string{"tea"});
  expect_refused(element(nullptr, note, std::int32_t{7}));
  learn(nullptr, std::int32_t{7});
  expect_refused(element(nullptr, note, std::string{"tea"}, std::int32_t{7})); // Each type alone is known.
}

TEST_F(plain_messages, of_a_new_sender_name_it) {
  learn(actor(), std::string{"tea"});
  const auto bob = actor();
  EXPECT_TRUE(by_short_way(element(bob, note, std::string{"tea"})));
  EXPECT_EQ(namings(bob), (std::pair{1, 1}));
}

TEST_F(plain_messages, of_another_nodes_sender_or_to_a_new_receiver_are_drafts) {
  learn(actor(), std::string{"tea"});
  expect_refused(element(foreign_actor(9), note, std::string{"tea"}));
  expect_refused(element(nullptr, note, std::string{"tea"}), 4);
  expect_refused(element(nullptr, question, std::string{"tea"}));
}

TEST_F(plain_messages, without_room_are_drafts) {
  learn(nullptr, std::string{"tea"});
  bound({.window = 1000, .actor_window = 10, .queue = 1000, .actor_queue = 1000});
  expect_refused(element(nullptr, note, std::string{"tea"}));
  EXPECT_TRUE(by_short_way(element(nullptr, question.response_id(), std::string{"tea"}))); // Answers need no room.
}

TEST_F(plain_messages, requests_without_room_for_their_answer_are_drafts) {
  const auto ann = actor();
  learn(ann, std::string{"tea"});
  by_draft(element(ann, question, std::string{"tea?"})); // One answer may always be expected.
  replies.set_bounds({.all = 1, .of_receiver = 1});
  expect_refused(element(ann, question, std::string{"tea?"}));
  EXPECT_TRUE(by_short_way(element(ann, note, std::string{"tea"})));
}

TEST_F(plain_messages, behind_chunks_are_drafts) {
  learn(nullptr, std::string{"tea"});
  {
    const auto held = mutex_.lock();
    auto large = packed("large");
    large.transfers.push_back({1, frame::copy_of(troupe::tests::bytes_of("chunk"))});
    static_cast<void>(leaving.leave(held, std::move(large), *to->open_outbox(held)));
  }
  expect_refused(element(nullptr, note, std::string{"tea"}));
}

TEST_F(plain_messages, by_older_lists_of_the_peer_are_drafts) {
  learn(nullptr, std::string{"tea"});
  const auto* message = plain.encode(encodings, terms, *element(nullptr, note, std::string{"tea"}));
  ASSERT_NE(message, nullptr);
  EXPECT_TRUE(epochs.change_peer(1, families));
  EXPECT_FALSE(plain_sending.send(*message, 3, nullptr, note));
}

TEST_F(plain_messages, by_another_family_than_the_first_are_drafts) {
  learn(nullptr, std::string{"tea"});
  renew({"msgpack", "typed"});
  expect_refused(element(nullptr, note, std::string{"tea"}));
  learn(nullptr, std::string{"tea"});
  EXPECT_TRUE(by_short_way(element(nullptr, note, std::string{"tea"})));
}

TEST_F(plain_messages, after_the_end_are_drafts) {
  learn(nullptr, std::string{"tea"});
  enter(link_state::closed);
  expect_refused(element(nullptr, note, std::string{"tea"}));
}

TEST_F(plain_messages, are_small) {
  learn(nullptr, std::string{"tea"});
  expect_refused(element(nullptr, note, std::string(plain_encoder::bytes_max + 1, 'x')));
}

// Goal: a message is rarely encoded in vain and then encoded once more.
TEST_F(plain_messages, of_a_type_that_was_not_plain_are_drafts_for_a_while) {
  const std::vector<std::string> plain_value{"tea"}, another(20);
  learn(nullptr, plain_value);
  expect_refused(element(nullptr, note, another));
  int refused = 0;
  while (refused < 1000 && !by_short_way(element(nullptr, note, plain_value)))
    ++refused;
  EXPECT_EQ(refused, 64);
}

TEST_F(plain_messages, that_others_hold_as_well_are_drafts) {
  learn(nullptr, std::string{"tea"});
  auto content = caf::make_message(std::string{"tea"});
  const auto what = caf::make_mailbox_element(nullptr, note, {}, content);
  expect_refused(what);
  content.reset();
  EXPECT_TRUE(by_short_way(what));
}

TEST_F(plain_messages, whose_values_take_more_than_they_cost_are_drafts) {
  learn(nullptr, std::vector<std::string>{"tea"});
  EXPECT_TRUE(by_short_way(element(nullptr, note, std::vector<std::string>{"tea"})));
  expect_refused(element(nullptr, note, std::vector<std::string>(20)));
}

TEST_F(plain_messages, with_frames_are_drafts) {
  learn(nullptr, reading{"north", {1}});
  EXPECT_TRUE(by_short_way(element(nullptr, note, reading{"north", {1}})));
  expect_refused(element(nullptr, note, reading{"north", std::vector<double>(400)}));
}

TEST_F(plain_messages, that_name_actors_are_drafts) {
  learn(nullptr, caf::actor_cast<caf::actor>(actor()));
  expect_refused(element(nullptr, note, caf::actor_cast<caf::actor>(actor())));
}

TEST_F(plain_messages, of_many_elements_are_drafts) {
  learn(nullptr, 1, 2, 3, 4, 5, 6, 7, 8);
  EXPECT_TRUE(by_short_way(element(nullptr, note, 1, 2, 3, 4, 5, 6, 7, 8)));
  learn(nullptr, 1, 2, 3, 4, 5, 6, 7, 8, 9);
  expect_refused(element(nullptr, note, 1, 2, 3, 4, 5, 6, 7, 8, 9));
  expect_refused(caf::make_mailbox_element(nullptr, note, {}, caf::message{}));
}

TEST_F(plain_messages, are_measured_now_and_then) {
  learn(nullptr, std::string{"tea"});
  int measured = 0;
  for (std::uint64_t i = 0; i < 2 * traffic::timed_every; ++i)
    if (!by_short_way(element(nullptr, note, std::string{"tea"}))) {
      ++measured;
      by_draft(element(nullptr, note, std::string{"tea"}));
    }
  EXPECT_EQ(measured, 2);
}

} // namespace
} // namespace troupe::internal
