// Messages with large frames: their chunks take turns, and messages that belong together keep their order.
#include <troupe/framework/internal/flow/bulk_lanes.hpp>

#include <gtest/gtest.h>

#include "../bytes.hpp"

namespace troupe::internal {
namespace {

using tests::bytes_of;

struct chunked {
  std::uint64_t receiver = 0;
  std::uint64_t sender = 0;
  std::uint8_t flags = 0;
  byte_vector body;
  std::vector<outgoing_transfer> transfers = {};
};

class lanes : public testing::Test {
protected:
  void add(std::uint64_t receiver, std::string_view text, std::size_t frame_bytes, std::uint64_t sender = 7) {
    auto bytes = bytes_of(text);
    chunked message{.receiver = receiver, .sender = sender, .body = {bytes.begin(), bytes.end()}};
    if (frame_bytes > 0)
      message.transfers.push_back({++transfers_, frame::copy_of(std::vector<std::byte>(frame_bytes))});
    bulk.add(std::move(message));
  }

  /// Returns a letter per step: '.' for a chunk, the text for a message.
  std::string run() {
    std::string steps;
    while (!bulk.empty()) {
      auto step = bulk.next();
      steps += step.chunk ? "." : tests::text_of(step.message->body);
    }
    return steps;
  }

  bulk_lanes<chunked> bulk;
  std::uint64_t transfers_ = 0;
};

TEST_F(lanes, chunks_go_ahead_of_their_message) {
  add(1, "m", 3 * chunk_bytes_max - 1);
  EXPECT_EQ(run(), "...m");
}

TEST_F(lanes, messages_of_the_same_pair_wait_behind) {
  add(1, "m", 2 * chunk_bytes_max);
  EXPECT_TRUE(bulk.has(bulk_key::of(1, 7, 0)));
  add(1, "n", 0);
  EXPECT_EQ(run(), "..mn");
}

TEST_F(lanes, other_pairs_priorities_and_answers_do_not) {
  add(1, "m", chunk_bytes_max);
  EXPECT_FALSE(bulk.has(bulk_key::of(2, 7, 0)));
  EXPECT_FALSE(bulk.has(bulk_key::of(1, 8, 0)));
  EXPECT_FALSE(bulk.has(bulk_key::of(1, 7, message_flags::urgent)));
  EXPECT_FALSE(bulk.has(bulk_key::of(1, 7, message_flags::response)));
  EXPECT_TRUE(bulk.has(bulk_key::of(1, 7, message_flags::request)));
}

TEST_F(lanes, pairs_take_turns_chunk_by_chunk) {
  add(1, "m", 4 * chunk_bytes_max);
  add(2, "n", 1);
  EXPECT_EQ(run(), "...n..m");
}

TEST_F(lanes, begin_no_more_than_the_peer_takes_before_others_are_complete) {
  bulk.set_open_bytes_max(3 * chunk_bytes_max);
  add(1, "a", 2 * chunk_bytes_max);
  add(2, "b", 2 * chunk_bytes_max);
  add(3, "c", chunk_bytes_max);
  EXPECT_EQ(run(), "...ca..b");
  EXPECT_EQ(bulk.bytes(), 0u);
}

TEST_F(lanes, begin_one_message_however_large_it_is) {
  bulk.set_open_bytes_max(1);
  add(1, "a", 3 * chunk_bytes_max);
  add(2, "b", chunk_bytes_max);
  EXPECT_EQ(run(), "...a.b");
}

TEST_F(lanes, an_empty_frame_is_one_chunk) {
  chunked message{.receiver = 1, .body = {}};
  message.transfers.push_back({1, frame{}});
  bulk.add(std::move(message));
  EXPECT_EQ(run(), ".");
}

} // namespace
} // namespace troupe::internal
