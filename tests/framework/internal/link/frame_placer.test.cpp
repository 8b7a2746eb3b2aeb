// Small frames go into the packet; large ones go into the store that both ends share, or into chunks.
#include <troupe/framework/internal/link/frame_placer.hpp>

#include <unistd.h>

#include <troupe/framework/internal/objects/stored_bytes.hpp>

#include "way_out.hpp"

namespace troupe::internal {
namespace {

class placing : public way_out {
protected:
  placing() { begin(); }

  void begin(std::size_t spill_bytes = 1024) {
    cargo.claims.begin(tables);
    placer.begin(drafts.frames, cargo, spill_bytes);
  }
  void share_store() {
    auto opened = store::object_store::open(
        {.name = "frame-placer-" + std::to_string(getpid()), .capacity_bytes = 4 * 1024 * 1024});
    ASSERT_TRUE(opened) << opened.error().message();
    store = *std::move(opened);
    auto agreed = terms_.now();
    agreed.shares_store = true;
    agreed.peer.process = flights.receiver = store->self();
    agree(std::move(agreed));
  }
  frame_descriptor place(std::size_t bytes) {
    const auto whole = frame::copy_of(std::vector<std::byte>(bytes));
    auto placed = placer.place(whole.bytes(), &whole);
    return placed ? *placed : frame_descriptor{};
  }

  message_cargo cargo;
  frame_placer placer;
};

TEST_F(placing, small_frames_go_into_the_packet) {
  EXPECT_EQ(place(10).place, frame_place::inline_);
  EXPECT_EQ(place(0).place, frame_place::inline_);
  EXPECT_EQ(placer.socket_bytes(), 10u);
  EXPECT_EQ(placer.chunked_bytes(), 0u);
  EXPECT_TRUE(cargo.transfers.empty());
}

TEST_F(placing, large_frames_go_ahead_in_chunks_each_by_a_number) {
  const auto first = place(inline_frame_bytes_max + 1);
  const auto second = place(inline_frame_bytes_max + 1);
  EXPECT_EQ(first.place, frame_place::chunks);
  EXPECT_EQ(second.place, frame_place::chunks);
  EXPECT_NE(first.transfer, second.transfer);
  ASSERT_EQ(cargo.transfers.size(), 2u);
  EXPECT_EQ(cargo.transfers[0].number, first.transfer);
  EXPECT_EQ(placer.chunked_bytes(), 2 * (inline_frame_bytes_max + 1));
  EXPECT_EQ(placer.socket_bytes(), placer.chunked_bytes());
}

TEST_F(placing, frames_for_which_the_packet_has_no_more_room_go_in_chunks) {
  std::size_t in_packet = 0;
  while (place(inline_frame_bytes_max).place == frame_place::inline_)
    in_packet += inline_frame_bytes_max;
  EXPECT_LE(in_packet, inline_frames_bytes_max);
  EXPECT_GT(in_packet + inline_frame_bytes_max, inline_frames_bytes_max);
}

TEST_F(placing, a_body_that_is_used_again_is_copied_for_chunks) {
  std::vector<std::byte> reused(inline_frame_bytes_max + 1, std::byte{1});
  ASSERT_TRUE(placer.place(reused, nullptr));
  reused.assign(reused.size(), std::byte{2});
  EXPECT_EQ(cargo.transfers.front().bytes.bytes()[0], std::byte{1});
}

TEST_F(placing, each_message_begins_anew) {
  (void)place(inline_frame_bytes_max + 1);
  (void)place(10);
  begin();
  EXPECT_EQ(placer.socket_bytes(), 0u);
  EXPECT_EQ(placer.chunked_bytes(), 0u);
}

TEST_F(placing, frames_from_a_size_on_go_into_a_store_that_is_shared) {
  share_store();
  EXPECT_EQ(place(1023).place, frame_place::inline_);
  const auto stored = place(1024);
  EXPECT_EQ(stored.place, frame_place::stored);
  EXPECT_EQ(placer.bytes_in_store(), 1024u);
  EXPECT_EQ(placer.socket_bytes(), 1023u);
  EXPECT_EQ(spilled, 1024u);
  ASSERT_EQ(cargo.frames.size(), 1u);
  EXPECT_EQ(cargo.frames[0].which.index, stored.object_index);
  EXPECT_EQ(cargo.claims.flights().objects().size(), 1u);
}

TEST_F(placing, what_lies_in_the_store_is_not_put_there_again) {
  share_store();
  const auto once = placer.put_once(frame::copy_of(std::vector<std::byte>(2000)).bytes(), nullptr);
  EXPECT_EQ(spilled, 2000u);
  const auto part = once.slice(100, 50);
  const auto placed = placer.place(part.bytes(), &part);
  ASSERT_TRUE(placed);
  EXPECT_EQ(placed->place, frame_place::stored); // Whatever its size.
  EXPECT_EQ(placed->object_offset, 100u);
  EXPECT_EQ(spilled, 2000u);
}

TEST_F(placing, what_is_put_once_stays_as_it_is_where_it_is_small) {
  share_store();
  const auto small = frame::copy_of(std::vector<std::byte>(10));
  EXPECT_EQ(placer.put_once(small.bytes(), &small).bytes().data(), small.bytes().data());
  EXPECT_EQ(spilled, 0u);
}

TEST_F(placing, without_room_in_the_store_frames_go_through_the_socket) {
  share_store();
  const auto placed = place(8 * 1024 * 1024);
  EXPECT_EQ(placed.place, frame_place::chunks);
  EXPECT_EQ(fallbacks, 1u);
  EXPECT_EQ(spilled, 0u);
}

TEST_F(placing, a_peer_whose_process_is_gone_fails_the_message) {
  share_store();
  flights.receiver.nonce += 1;
  const auto whole = frame::copy_of(std::vector<std::byte>(2000));
  const auto placed = placer.place(whole.bytes(), &whole);
  ASSERT_FALSE(placed);
  EXPECT_EQ(placed.error().code(), node_errc::link_down);
  EXPECT_TRUE(cargo.claims.flights().objects().empty());
}

} // namespace
} // namespace troupe::internal
