// A link may live long, so its counters are tested close to their ends.
#include "raw_peer.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

class long_life : public two_nodes {
protected:
  void SetUp() override {
    publish("doubler", far().system.spawn([]() -> caf::behavior { return {[](int value) { return 2 * value; }}; }));
  }

  /// Returns the head of the next message that the node writes.
  static message_head next_message(raw_peer& from) {
    while (auto packet = from.next_packet())
      if (packet->head.kind == packet_kind::message) {
        packet_reader in{packet->body};
        return read_message_head(in, packet->head.detail);
      }
    throw std::runtime_error("the node closed");
  }
};

TEST_F(long_life, the_last_request_numbers_and_actor_numbers_are_answered) {
  raw_peer peer{address_};
  auto doubler = peer.open_and_find("doubler");
  peer.define_signature({"i32"});
  auto four = serialize(4, {.serializers = {"typed"}}, far().types, far().families);
  ASSERT_TRUE(four) << four.error().message();
  std::uint64_t asker = INT64_MAX; // Bit 63 would make it an actor of a third node, which has to be introduced.
  for (auto number = request_number_max - 2; number <= request_number_max; ++number, --asker) {
    peer.write(raw_peer::message_packet({.flags = message_flags::request,
                                         .receiver = doubler,
                                         .sender = asker,
                                         .request_number = number,
                                         .signature = 0},
                                        four->header.bytes(), four->frames[0].bytes()));
    auto answer = next_message(peer);
    EXPECT_EQ(answer.flags, message_flags::response);
    EXPECT_EQ(answer.receiver, asker);
    EXPECT_EQ(answer.request_number, number);
  }
}

TEST_F(long_life, frames_in_chunks_may_have_the_last_numbers_and_the_first_again) {
  raw_peer peer{address_};
  auto doubler = peer.open_and_find("doubler");
  peer.define_signature({"i32"});
  auto four = serialize(4, {.serializers = {"typed"}}, far().types, far().families);
  ASSERT_TRUE(four) << four.error().message();
  auto body = four->frames[0].bytes();
  std::uint64_t transfer = UINT64_MAX - 1;
  for (int i = 0; i < 4; ++i, ++transfer) {
    byte_vector chunk;
    append_chunk_head(chunk, {.transfer = transfer, .total_bytes = body.size()}, true);
    chunk.insert(chunk.end(), body.begin(), body.end());
    peer.write_packet(packet_kind::chunk, chunk_flags::first, chunk);
    byte_vector message;
    append_message_head(
        message,
        {.flags = message_flags::request, .receiver = doubler, .sender = 7, .request_number = 1, .signature = 0});
    append_element(message,
                   {.header = four->header.bytes(),
                    .frames = {{.place = frame_place::chunks, .size_bytes = body.size(), .transfer = transfer}}});
    peer.write_packet(packet_kind::message, message_flags::request, message);
    EXPECT_EQ(next_message(peer).receiver, 7u);
  }
}

} // namespace
} // namespace troupe::tests
