// A message's objects are described ahead of the message, in as many packets as necessary.
#include <troupe/framework/internal/link/mention_writer.hpp>

#include <troupe/framework/internal/wire/handle_wire.hpp>

#include "noted_exchange.hpp"

namespace troupe::internal {
namespace {

class describing : public lone_exchange_link {
protected:
  describing() { join_and_open(); }

  static outgoing_mention counted() { return {.counted = some_reference(), .stored = {}, .size_bytes = 500}; }
  static outgoing_mention stored(std::uint32_t index) {
    return {.counted = nullptr, .stored = {9, index, 1}, .size_bytes = 300};
  }
  std::vector<packet_said> append(const std::vector<outgoing_mention>& mentions) {
    outbox out;
    const auto held = mutex_.lock();
    writer_.append_mentions(held, mentions, out);
    return packets_in(out);
  }
  static std::vector<object_mention> read(const packet_said& packet) {
    std::vector<object_mention> result;
    EXPECT_EQ(packet.head.kind, packet_kind::handles);
    packet_reader in{packet.body};
    while (in.ok() && !in.rest().empty())
      result.push_back(read_object_mention(in));
    EXPECT_TRUE(in.finished());
    return result;
  }

  mention_writer writer_{in_exchange_};
};

TEST_F(describing, keeps_the_order_of_its_kinds) {
  auto repeated = stored(4);
  repeated.is_repeated = true;
  auto lost = stored(0);
  lost.is_lost = true;
  const auto packets = append({stored(3), counted(), repeated, lost, counted()});
  ASSERT_EQ(packets.size(), 1u);
  const auto described = read(packets[0]);
  ASSERT_EQ(described.size(), 5u);
  EXPECT_EQ(described[0].what, object_mention::kind::stored);
  EXPECT_EQ(described[0].handle.name.index, 3u);
  EXPECT_EQ(described[0].handle.size_bytes, 300u);
  EXPECT_EQ(described[1].what, object_mention::kind::counted);
  EXPECT_EQ(described[1].handle.name.index, 1u);
  EXPECT_TRUE(described[2].is_repeated);
  EXPECT_EQ(described[3].what, object_mention::kind::lost);
  EXPECT_EQ(described[4].handle.name.index, 2u);
}

TEST_F(describing, counts_each_that_the_peer_has_to_pull) {
  EXPECT_EQ(append({stored(3), counted(), counted()}).size(), 1u);
  EXPECT_EQ(noted_->counted, 2u);
}

TEST_F(describing, takes_nothing_from_the_exchange_where_none_is_counted) {
  noted_->says = {handles::cancel{3}};
  EXPECT_EQ(append({stored(3)}).size(), 1u);
  EXPECT_EQ(noted_->says.size(), 1u);
}

TEST_F(describing, follows_what_the_exchange_has_to_say) {
  noted_->says = {handles::cancel{3}};
  const auto packets = append({counted()});
  ASSERT_EQ(packets.size(), 2u);
  EXPECT_EQ(packets[0].head.kind, packet_kind::admin);
  EXPECT_EQ(packets[1].head.kind, packet_kind::handles);
}

TEST_F(describing, many_takes_several_packets) {
  const std::vector<outgoing_mention> many(packet_body_bytes_max / 4, stored(3));
  const auto packets = append(many);
  EXPECT_GT(packets.size(), 1u);
  std::size_t described = 0;
  for (const auto& each : packets) {
    EXPECT_LE(each.body.size(), packet_body_bytes_max);
    described += read(each).size();
  }
  EXPECT_EQ(described, many.size());
}

} // namespace
} // namespace troupe::internal
