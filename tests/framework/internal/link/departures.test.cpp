// Departing messages are appended whole and in order. Large frames travel in chunks, ahead of their message.
#include <troupe/framework/internal/link/departures.hpp>

#include "way_out.hpp"

namespace troupe::internal {
namespace {

class leaving_messages : public way_out {
protected:
  bool leave(packed_message message) {
    const auto held = mutex_.lock();
    return leaving.leave(held, std::move(message), out);
  }
  /// Appends like the I/O thread. Returns a dot for each chunk and an 'm' for each message.
  std::string append_rest() {
    const auto held = mutex_.lock();
    std::string steps;
    auto messages = out.messages();
    while (leaving.append_next(held, out))
      steps += out.messages() == std::exchange(messages, out.messages()) ? '.' : 'm';
    return steps;
  }
  static packed_message large(std::string_view text, std::uint64_t receiver = 3) {
    auto message = packed(text, receiver);
    message.transfers.push_back({1, frame::copy_of(std::vector<std::byte>(2 * chunk_bytes_max))});
    return message;
  }

  outbox out;
};

TEST_F(leaving_messages, small_ones_are_appended_at_once) {
  EXPECT_FALSE(leave(packed("one")));
  EXPECT_FALSE(leave(packed("two")));
  EXPECT_EQ(out.messages(), 2u);
  EXPECT_TRUE(in_order(text_of(out), {"one", "two"}));
}

TEST_F(leaving_messages, a_packet_in_two_pieces_is_one) {
  message_cargo cargo;
  leaving.append(mutex_.lock(), 0, troupe::tests::bytes_of("he"), troupe::tests::bytes_of("ad"), cargo, out);
  EXPECT_EQ(out.messages(), 1u);
  EXPECT_TRUE(in_order(text_of(out), {"head"}));
}

TEST_F(leaving_messages, large_frames_go_ahead_in_chunks) {
  EXPECT_TRUE(leave(large("big")));
  EXPECT_TRUE(out.empty());
  EXPECT_GT(leaving.bytes(mutex_.lock()), 2 * chunk_bytes_max);
  EXPECT_EQ(append_rest(), "..m");
  EXPECT_TRUE(leaving.empty(mutex_.lock()));
}

TEST_F(leaving_messages, the_same_pair_stays_behind_and_another_overtakes) {
  EXPECT_TRUE(leave(large("big")));
  EXPECT_TRUE(leave(packed("behind")));
  EXPECT_FALSE(leave(packed("beside", 4)));
  EXPECT_EQ(append_rest(), "..mm");
  EXPECT_TRUE(in_order(text_of(out), {"beside", "big", "behind"}));
}

TEST_F(leaving_messages, their_objects_are_described_ahead) {
  auto message = packed("text");
  message.mentions.resize(2);
  EXPECT_FALSE(leave(std::move(message)));
  EXPECT_FALSE(leave(packed("plain")));
  EXPECT_TRUE(in_order(text_of(out), {"<mentions 2>", "text", "plain"}));
  EXPECT_FALSE(in_order(text_of(out), {"<mentions", "<mentions"}));
}

TEST_F(leaving_messages, values_go_beside_their_packets) {
  auto message = packed("size");
  message.value = 5;
  EXPECT_FALSE(leave(std::move(message)));
  EXPECT_EQ(beside->values.size(), 1u);
  EXPECT_EQ(out.messages(), 1u);
}

TEST_F(leaving_messages, what_is_appended_is_committed_and_the_rest_comes_back) {
  const auto with_flight = [&](packed_message message) {
    message.claims.begin(tables);
    EXPECT_TRUE(message.claims.flights().hand_over(store::handle{}));
    return message;
  };
  EXPECT_FALSE(leave(with_flight(packed("gone"))));
  EXPECT_TRUE(leave(with_flight(large("stays"))));
  auto rest = leaving.take_all(mutex_.lock());
  EXPECT_EQ(rest.size(), 1u);
  rest.clear();
  EXPECT_EQ(flights.landed, 1);
}

TEST_F(leaving_messages, frames_of_chunks_end_with_the_outbox) {
  struct counted final : frame_owner {
    explicit counted(int& count) : living(count) { ++living; }
    ~counted() override { --living; }
    int& living;
    std::vector<std::byte> bytes = std::vector<std::byte>(chunk_bytes_max);
  };
  int living = 0;
  auto owner = std::make_shared<counted>(living);
  auto message = packed("big");
  message.transfers.push_back({1, frame{std::span<const std::byte>{owner->bytes}, owner}});
  owner.reset();
  EXPECT_TRUE(leave(std::move(message)));
  EXPECT_EQ(append_rest(), ".m");
  EXPECT_EQ(living, 1); // Not written yet.
  out.clear();
  EXPECT_EQ(living, 0);
}

} // namespace
} // namespace troupe::internal
