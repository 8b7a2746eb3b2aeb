// The times at which messages may leave: windows, waiting, dropping.
#include <troupe/framework/internal/flow/send_window.hpp>

#include <malloc.h>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

constexpr std::uint8_t urgent = message_flags::urgent;

struct waiting_text {
  std::uint64_t receiver = 0;
  std::uint8_t flags = 0;
  asking asks = asking::nothing;
  std::uint64_t cost = 0;
  std::string body;
  std::vector<outgoing_mention> mentions = {};
  std::vector<stored_frame> frames = {};
  bool may_be_dropped = true;
};

class sending : public testing::Test {
protected:
  sending() {
    window.set_bounds({.window = 1000, .actor_window = 400, .queue = 500, .actor_queue = 200});
    replies.set_bounds({.all = reply_room::estimate_min, .of_receiver = 1000});
  }

  /// Sends like a link. Returns false if the message is refused at the limit.
  bool send(std::uint64_t receiver, std::uint64_t cost, std::string_view text = "", std::uint8_t flags = 0,
            asking asks = asking::nothing) {
    switch (window.admit(receiver, cost, asks)) {
    case admission::leaves:
      window.charge(receiver, cost);
      left += text;
      return true;
    case admission::waits:
      window.wait({.receiver = receiver, .flags = flags, .asks = asks, .cost = cost, .body = std::string{text}});
      return true;
    case admission::at_bound:
      return false;
    }
    return false;
  }

  void ask(std::uint64_t receiver, std::string_view text, std::uint8_t flags = 0) {
    EXPECT_TRUE(send(receiver, 10, text, flags, asking::room));
  }
  void pass_back(std::uint64_t receiver, std::string_view text, std::uint8_t flags = 0) {
    EXPECT_TRUE(send(receiver, 10, text, flags, asking::returned));
  }

  void consume(std::uint64_t receiver, std::uint64_t bytes) {
    EXPECT_TRUE(window.credit(receiver, bytes));
    pump();
  }
  void pump() {
    while (auto next = window.next())
      left += text_of(*next);
  }

  static std::string text_of(const waiting_text& message) { return message.body; }

  reply_room replies;
  send_window<waiting_text> window{replies};
  std::string left; // The texts of the messages that have left, in order.
};

TEST_F(sending, what_fits_the_window_leaves_at_once) {
  EXPECT_TRUE(send(1, 300, "a"));
  EXPECT_TRUE(send(1, 300, "b")); // The message that reaches the bound still leaves.
  EXPECT_EQ(left, "ab");
  EXPECT_EQ(window.outstanding_bytes(1), 600u);
}

TEST_F(sending, what_does_not_fit_waits_and_leaves_in_order_once_consumed) {
  send(1, 400, "a");
  EXPECT_TRUE(send(1, 100, "b"));
  EXPECT_TRUE(send(1, 100, "c"));
  EXPECT_EQ(left, "a");
  consume(1, 399);
  EXPECT_EQ(left, "abc");
}

class sending_handles : public sending {
protected:
  sending_handles() {
    window.set_bounds({.window = 1000,
                       .actor_window = 1000,
                       .queue = 1000,
                       .actor_queue = 1000,
                       .handle_window = 100,
                       .actor_handle_window = 40,
                       .handle_queue = 50,
                       .actor_handle_queue = 20});
  }

  /// Sends a message of cost 1 with `handle_bytes` bytes behind its handles.
  admission send(std::uint64_t receiver, std::uint64_t handle_bytes, std::string_view text) {
    std::vector<stored_frame> frames;
    if (handle_bytes > 0)
      frames.push_back({{1, ++frames_, 1}, handle_bytes}); // Each has an object of its own.
    const auto verdict = window.admit(receiver, 1, asking::nothing, {.frames = frames});
    if (verdict == admission::leaves) {
      EXPECT_FALSE(window.charge(receiver, 1, {.frames = frames}));
      left += text;
    } else if (verdict == admission::waits) {
      window.wait({.receiver = receiver, .cost = 1, .body = std::string{text}, .frames = std::move(frames)});
    }
    return verdict;
  }

  void consume(std::uint64_t receiver, std::uint64_t handle_bytes) {
    EXPECT_TRUE(window.credit(receiver, 0, handle_bytes));
    while (auto next = window.next()) {
      left += text_of(*next);
      for (const auto& each : next->mentions)
        left += each.is_repeated ? "=" : "+";
    }
  }

  /// Sends a message that mentions an object of `bytes` bytes.
  admission mention(std::uint64_t receiver, std::uint64_t object, std::uint64_t bytes, std::string_view text) {
    std::vector<outgoing_mention> mentions(1);
    mentions[0].size_bytes = bytes;
    mentions[0].which = {0, static_cast<std::uint32_t>(object), 1};
    const auto verdict = window.admit(receiver, 1, asking::nothing, {.objects = mentions});
    if (verdict == admission::leaves) {
      window.charge(receiver, 1, {.objects = mentions});
      left += std::string{text} + (mentions[0].is_repeated ? "=" : "+");
    } else if (verdict == admission::waits) {
      window.wait({.receiver = receiver, .cost = 1, .body = std::string{text}, .mentions = std::move(mentions)});
    }
    return verdict;
  }

  std::uint32_t frames_ = 0;
};

TEST_F(sending_handles, stored_frames_that_all_count_already_cost_nothing_again) {
  const std::vector<stored_frame> both{{{1, 1, 1}, 30}, {{1, 2, 1}, 30}};
  EXPECT_FALSE(window.charge(1, 1, {.frames = both}));
  EXPECT_TRUE(window.charge(1, 1, {.frames = both}));
  const std::vector<stored_frame> part{{{1, 2, 1}, 10}};
  EXPECT_TRUE(window.charge(1, 1, {.frames = part}));
  EXPECT_EQ(window.outstanding_handle_bytes(1), 60u);
  const std::vector<stored_frame> one_more{{{1, 1, 1}, 30}, {{1, 3, 1}, 5}};
  EXPECT_FALSE(window.charge(1, 1, {.frames = one_more}));
  EXPECT_EQ(window.outstanding_handle_bytes(1), 95u);
  EXPECT_FALSE(window.charge(2, 1, {.frames = both}));
  EXPECT_TRUE(window.credit(1, 0, 95));
  EXPECT_EQ(window.outstanding_handle_bytes(), 60u) << "the other's";
}

TEST_F(sending_handles, an_object_that_counts_already_costs_nothing_again) {
  EXPECT_EQ(mention(1, 7, 1'000, "a"), admission::leaves);
  EXPECT_EQ(mention(1, 7, 1'000, "b"), admission::leaves);
  EXPECT_EQ(mention(1, 8, 1, "c"), admission::waits) << "the window is full";
  EXPECT_EQ(left, "a+b=");
  EXPECT_EQ(window.outstanding_handle_bytes(1), 1'000u);
  consume(1, 1'000);
  EXPECT_EQ(left, "a+b=c+");
  EXPECT_EQ(mention(1, 7, 1'000, "d"), admission::leaves);
  EXPECT_EQ(left, "a+b=c+d+");
}

TEST_F(sending_handles, an_object_counts_once_while_it_waits) {
  send(1, 100, "a");
  EXPECT_EQ(mention(1, 7, 15, "b"), admission::waits);
  EXPECT_EQ(mention(1, 7, 15, "c"), admission::waits);
  EXPECT_EQ(window.queued_handle_bytes(1), 15u);
  EXPECT_EQ(mention(1, 8, 15, "d"), admission::at_bound);
  consume(1, 100);
  EXPECT_EQ(left, "ab+c=");
  EXPECT_EQ(window.queued_handle_bytes(), 0u);
}

TEST_F(sending_handles, an_object_for_several_receivers_counts_once_for_the_link) {
  for (std::uint64_t receiver = 1; receiver <= 9; ++receiver)
    EXPECT_EQ(mention(receiver, 7, 90, "x"), admission::leaves);
  EXPECT_EQ(window.outstanding_handle_bytes(), 90u);
  EXPECT_EQ(mention(10, 8, 20, "y"), admission::leaves);
  EXPECT_EQ(mention(11, 9, 20, "z"), admission::waits);
  EXPECT_EQ(mention(12, 9, 20, "z"), admission::waits);
  EXPECT_EQ(window.queued_handle_bytes(), 20u);
  for (std::uint64_t receiver = 1; receiver <= 9; ++receiver)
    consume(receiver, 90);
  EXPECT_EQ(window.outstanding_handle_bytes(), 40u);
}

TEST_F(sending_handles, what_lies_behind_handles_is_held_to_windows_of_its_own) {
  EXPECT_EQ(send(1, 30, "a"), admission::leaves);
  EXPECT_EQ(send(1, 30, "b"), admission::leaves); // The message that reaches the bound still leaves.
  EXPECT_EQ(send(1, 1, "c"), admission::waits);
  EXPECT_EQ(send(2, 40, "d"), admission::leaves);
  EXPECT_EQ(send(3, 1, "e"), admission::waits); // The link's window is full.
  consume(1, 30);
  EXPECT_EQ(left, "abdce");
  EXPECT_EQ(window.outstanding_handle_bytes(), 72u);
}

TEST_F(sending_handles, what_has_none_waits_behind_messages_to_its_receiver_only) {
  send(1, 100, "a");
  EXPECT_EQ(send(1, 1, "b"), admission::waits);
  EXPECT_EQ(send(1, 0, "c"), admission::waits);
  EXPECT_EQ(send(2, 0, "d"), admission::leaves);
  consume(1, 100);
  EXPECT_EQ(left, "adbc");
}

TEST_F(sending_handles, what_waits_is_bounded_by_what_lies_behind_it) {
  send(1, 100, "a");
  EXPECT_EQ(send(1, 15, "b"), admission::waits);
  EXPECT_FALSE(window.is_ready(1));
  EXPECT_EQ(send(1, 15, "c"), admission::at_bound);
  EXPECT_EQ(window.queued_handle_bytes(1), 15u);
  EXPECT_TRUE(window.drop_oldest(1));
  EXPECT_EQ(window.queued_handle_bytes(), 0u);
  EXPECT_TRUE(window.is_ready(1));
}

TEST_F(sending_handles, more_credit_than_was_used_is_refused) {
  send(1, 10, "a");
  EXPECT_FALSE(window.credit(1, 0, 11));
  EXPECT_TRUE(window.credit(1, 1, 10));
}

TEST_F(sending, a_receiver_that_consumes_nothing_holds_up_nobody_else) {
  send(1, 400, "a");
  send(1, 100, "b");
  EXPECT_TRUE(send(2, 100, "c"));
  EXPECT_EQ(left, "ac");
}

TEST_F(sending, the_link_has_a_window_of_its_own) {
  for (std::uint64_t receiver = 1; receiver <= 3; ++receiver)
    send(receiver, 390, "x");
  send(4, 10, "y");
  EXPECT_EQ(left, "xxx");
  consume(1, 390);
  EXPECT_EQ(left, "xxxy");
}

TEST_F(sending, only_so_much_waits_for_one_receiver_and_for_all) {
  send(1, 400);
  EXPECT_TRUE(send(1, 150));
  EXPECT_FALSE(send(1, 150));
  send(2, 400);
  send(3, 400);
  EXPECT_TRUE(send(2, 200));
  EXPECT_FALSE(send(3, 151));
  EXPECT_TRUE(send(3, 150));
  EXPECT_EQ(window.queued_bytes(), 500u);
}

TEST_F(sending, small_messages_count_what_they_take_while_they_wait) {
  window.set_bounds({.window = 1000, .actor_window = 400, .queue = 500, .actor_queue = 200, .waiting_least = 90});
  send(1, 400);
  EXPECT_TRUE(send(1, 1, "a"));
  EXPECT_EQ(window.queued_bytes(1), 90u);
  EXPECT_TRUE(send(1, 100, "b"));
  EXPECT_EQ(window.queued_bytes(), 190u);
  EXPECT_FALSE(send(1, 1));
  consume(1, 400);
  EXPECT_EQ(left, "ab");
  EXPECT_EQ(window.queued_bytes(), 0u);
  EXPECT_EQ(window.outstanding_bytes(1), 101u);
}

TEST_F(sending, a_message_larger_than_any_bound_waits_alone) {
  send(1, 400);
  EXPECT_TRUE(send(1, 5000, "large"));
  EXPECT_FALSE(send(1, 1));
  consume(1, 400);
  EXPECT_EQ(left, "large");
}

TEST_F(sending, urgent_ones_leave_first) {
  send(1, 400);
  send(1, 50, "n");
  send(1, 50, "u", urgent);
  consume(1, 400);
  EXPECT_EQ(left, "un");
}

TEST_F(sending, receivers_take_turns) {
  send(1, 1000);
  send(2, 10, "a"); // The link's window is full.
  send(2, 10, "b");
  send(3, 10, "c");
  consume(1, 1000);
  EXPECT_EQ(left, "acb");
}

TEST_F(sending, the_oldest_of_the_same_receiver_is_dropped_first) {
  send(1, 400);
  send(1, 90, "old");
  send(1, 90, "young");
  send(2, 400);
  send(2, 90, "other");
  EXPECT_EQ(text_of(*window.drop_oldest(1)), "old");
  EXPECT_EQ(text_of(*window.drop_oldest(1)), "young");
  EXPECT_EQ(text_of(*window.drop_oldest(1)), "other"); // Receiver 1 has none left.
  EXPECT_FALSE(window.drop_oldest(1));
  EXPECT_EQ(window.queued_bytes(), 0u);
}

TEST_F(sending, more_credit_than_was_sent_is_noticed) {
  send(1, 100);
  EXPECT_FALSE(window.credit(1, 101));
  EXPECT_FALSE(window.credit(2, 1));
  EXPECT_TRUE(window.credit(1, 100));
}

TEST_F(sending, a_request_waits_until_there_is_room_for_its_answer) {
  const auto reserved = replies.reserve(3);
  EXPECT_FALSE(replies.has_room(1));
  ask(1, "q");
  EXPECT_TRUE(send(2, 10, "p"));
  EXPECT_EQ(left, "p");
  EXPECT_FALSE(window.is_ready(2)); // A request would have no room.
  replies.unreserve(3, reserved);
  EXPECT_EQ(text_of(*window.next()), "q");
}

TEST_F(sending, what_is_passed_back_does_not_wait_for_room_for_answers) {
  const auto reserved = replies.reserve(3);
  ask(1, "q");
  pass_back(1, "b");
  EXPECT_EQ(left, "b");
  send(1, 400, "p"); // It may come from the sender of the question.
  EXPECT_EQ(left, "b");
  pass_back(1, "c");
  EXPECT_EQ(left, "bc");
  replies.unreserve(3, reserved);
  pump();
  EXPECT_EQ(left, "bcqp");
}

TEST_F(sending, what_waits_for_credit_leaves_in_order_whoever_has_sent_it) {
  send(1, 400);
  ask(1, "q");
  pass_back(1, "b");
  ask(1, "r");
  pass_back(1, "c");
  EXPECT_EQ(left, "");
  consume(1, 400);
  EXPECT_EQ(left, "qbrc");
}

TEST_F(sending, what_is_passed_back_overtakes_what_waits_for_room_for_answers_once_there_is_credit) {
  const auto reserved = replies.reserve(3);
  send(1, 400);
  ask(1, "q");
  ask(1, "u", urgent);
  pass_back(1, "b");
  pass_back(1, "v", urgent);
  pass_back(1, "c");
  EXPECT_EQ(left, "");
  consume(1, 400);
  EXPECT_EQ(left, "vbc");
  replies.unreserve(3, reserved);
  pump();
  EXPECT_EQ(left, "vbcuq");
  EXPECT_FALSE(window.anything_waits());
}

TEST_F(sending, what_is_passed_back_waits_for_credit_and_is_bounded) {
  send(1, 400);
  pass_back(1, "b");
  EXPECT_TRUE(send(1, 180, "c", 0, asking::returned));
  EXPECT_FALSE(send(1, 180, "d", 0, asking::returned));
  EXPECT_EQ(left, "");
}

// Method: the test has as many receivers as a peer may invent, each with one message on its way.
TEST_F(sending, receivers_that_nothing_waits_for_take_little_memory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer has a heap of its own";
#endif
  window.set_bounds({.window = UINT64_MAX, .actor_window = UINT64_MAX, .queue = 1, .actor_queue = 1});
  constexpr std::uint64_t receivers = 100'000;
  const auto before = ::mallinfo2().uordblks;
  for (std::uint64_t receiver = 1; receiver <= receivers; ++receiver)
    send(receiver, 148);
  EXPECT_LT(::mallinfo2().uordblks - before, receivers * 148);
  EXPECT_EQ(window.receivers(), receivers);
}

TEST_F(sending, forgotten_receivers_leave_nothing) {
  send(1, 100);
  window.forget(1);
  EXPECT_EQ(window.receivers(), 1u); // One message is not consumed yet.
  consume(1, 100);
  EXPECT_EQ(window.receivers(), 0u);
}

TEST_F(sending, is_ready_from_half_empty_on) {
  send(1, 400);
  EXPECT_TRUE(window.is_ready(1));
  send(1, 150);
  EXPECT_FALSE(window.is_ready(1));
  consume(1, 400);
  EXPECT_TRUE(window.is_ready(1));
}

TEST_F(sending, who_is_ready_takes_a_message_of_any_size) {
  send(1, 400);
  send(1, 100, "small");
  EXPECT_TRUE(window.is_ready(1));
  EXPECT_TRUE(send(1, 5000, "large"));
  EXPECT_FALSE(window.is_ready(1));
  EXPECT_FALSE(send(1, 1));
  consume(1, 400);
  EXPECT_EQ(left, "smalllarge");
}

} // namespace
} // namespace troupe::internal
