// Large messages and objects that the peer pulls do not delay each other.
#include <troupe/framework/internal/link/chunk_turns.hpp>

#include <troupe/framework/internal/link/departures.hpp>

#include "noted_exchange.hpp"

namespace troupe::internal {
namespace {

class describes_none final : public mention_describer {
public:
  void append_mentions(const link_held&, std::span<const outgoing_mention>, outbox&) override {}
};

class taking_turns : public lone_exchange_link {
protected:
  taking_turns() {
    join_and_open();
    const auto held = mutex_.lock();
    messages_.open(held, nullptr, UINT64_MAX);
  }
  /// Adds a message that goes in `chunks` chunks.
  void add_message(std::size_t chunks) {
    const auto held = mutex_.lock();
    packed_message large;
    large.transfers.push_back({.number = ++transfers_, .bytes = frame::copy_of(byte_vector(chunks * chunk_bytes_max))});
    outbox out;
    EXPECT_TRUE(messages_.leave(held, std::move(large), out));
  }
  /// Returns the kinds of everything that leaves: 'c' for a chunk, 'o' for an object's chunk, 'm' for a message.
  std::string leaving() {
    outbox out;
    const auto held = mutex_.lock();
    while (turns_.append_next(held, out)) {
    }
    std::string kinds;
    for (const auto& each : packets_in(out))
      kinds += each.head.kind == packet_kind::chunk ? 'c' : each.head.kind == packet_kind::object_chunk ? 'o' : 'm';
    return kinds;
  }

  describes_none none_;
  departures messages_{none_};
  chunk_turns turns_{messages_, in_exchange_};
  std::uint64_t transfers_ = 0;
};

TEST_F(taking_turns, both_leave_by_turns) {
  add_message(3);
  noted_->pieces = {"a", "b", "c"};
  EXPECT_EQ(leaving(), "ocococm");
}

TEST_F(taking_turns, either_has_all_turns_without_the_other) {
  noted_->pieces = {"a", "b"};
  EXPECT_EQ(leaving(), "oo");
  add_message(2);
  EXPECT_EQ(leaving(), "ccm");
}

TEST_F(taking_turns, what_is_left_of_one_follows_the_other) {
  add_message(1);
  noted_->pieces = {"a", "b", "c", "d"};
  EXPECT_EQ(leaving(), "ocomoo");
}

TEST_F(taking_turns, nothing_leaves_where_there_is_nothing) {
  EXPECT_EQ(leaving(), "");
}

} // namespace
} // namespace troupe::internal
