// A connection reads the same packets, however their bytes are split on the way.
#include <troupe/framework/internal/net/connection.hpp>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <asio/io_context.hpp>

#include <gtest/gtest.h>

#include <troupe/framework/internal/net/io_batch.hpp>
#include <troupe/framework/internal/words/failing.hpp>

namespace troupe::internal {
namespace {

/// Delivers the bytes that a test feeds.
class fed_transport final : public transport {
public:
  void read_some(std::span<std::byte> into, std::function<void(std::error_code, std::size_t)> done) override {
    EXPECT_FALSE(into.empty());
    into_ = into;
    done_ = std::move(done);
  }
  void write(std::span<const bytes_view>, std::function<void(std::error_code)> done) override { done({}); }
  std::expected<std::size_t, std::error_code> write_now(std::span<const bytes_view>) override { return 0; }
  void close() override { is_closed = true; }

  [[nodiscard]] std::size_t room() const noexcept { return done_ ? into_.size() : 0; }
  /// Requires: room() is at least the number of bytes.
  void feed(bytes_view bytes) {
    std::ranges::copy(bytes, into_.begin());
    std::exchange(done_, nullptr)({}, bytes.size());
  }

  bool is_closed = false;

private:
  std::span<std::byte> into_;
  std::function<void(std::error_code, std::size_t)> done_;
};

/// Adds chunks to frames like a link, and records all other packets.
class hearer final : public connection_events {
public:
  std::expected<void, node_error> on_packet(const packet_head& head, bytes_view body) override {
    if (head.kind != packet_kind::chunk) {
      heard.emplace_back(body.begin(), body.end());
      return {};
    }
    packet_reader in{body};
    const auto first = (head.detail & chunk_flags::first) != 0;
    const auto chunk = read_chunk_head(in, first);
    return frames.add_chunk(chunk, first, in.rest());
  }
  std::expected<chunk_place, node_error> on_chunk_begin(const packet_head& head, bytes_view begin) override {
    if (refuses_chunks)
      return violation("no chunks here");
    packet_reader in{begin};
    const auto first = (head.detail & chunk_flags::first) != 0;
    const auto chunk = read_chunk_head(in, first);
    if (!in.ok())
      return chunk_place{};
    ++placed;
    return frames.begin_chunk(chunk, first, in.rest(), head.body_bytes - (begin.size() - in.rest().size()));
  }
  void on_bad_packet(const node_error&) override {}
  void on_all_handled() override {}
  bool refill(const link_held&, outbox&) override { return false; }
  void on_closed(const node_error& reason, std::uint64_t) override { ended = reason; }

  std::vector<byte_vector> heard;
  transfers frames{{.frame_bytes_max = 10'000'000, .total_bytes_max = 10'000'000}};
  int placed = 0;
  bool refuses_chunks = false;
  std::optional<node_error> ended;
};

byte_vector noise(std::mt19937& random, std::size_t size) {
  byte_vector bytes(size);
  std::ranges::generate(bytes, [&] { return static_cast<std::byte>(random()); });
  return bytes;
}

void append_packet(byte_vector& out, packet_kind kind, std::uint8_t detail, const byte_vector& body) {
  append_packet_head(out, {static_cast<std::uint32_t>(body.size()), kind, detail});
  out.insert(out.end(), body.begin(), body.end());
}

/// Appends a frame in chunks of `chunk_bytes`, with a small packet behind each chunk.
void append_frame(byte_vector& out, std::uint64_t number, const byte_vector& frame, std::size_t chunk_bytes,
                  std::vector<byte_vector>& small) {
  for (std::size_t at = 0; at < frame.size(); at += chunk_bytes) {
    byte_vector body;
    append_chunk_head(body, {number, frame.size()}, at == 0);
    const auto part = std::span{frame}.subspan(at, std::min(chunk_bytes, frame.size() - at));
    body.insert(body.end(), part.begin(), part.end());
    append_packet(out, packet_kind::chunk, at == 0 ? chunk_flags::first : 0, body);
    small.push_back(byte_vector(at % 40, std::byte{1}));
    append_packet(out, packet_kind::message, 0, small.back());
  }
}

class reading : public testing::Test {
protected:
  reading() {
    over_->start(events_);
    over_->admit_packets(packet_body_bytes_max);
    const auto preamble = make_preamble();
    feed(preamble, [] { return SIZE_MAX; });
  }
  ~reading() override {
    over_->abort({node_errc::link_down, "the test is over"});
    io_.poll();
  }

  /// Feeds the bytes in pieces of at most `next()` bytes each.
  template <class Next>
  void feed(bytes_view bytes, Next&& next) {
    while (!bytes.empty() && bytes_->room() > 0) {
      const auto count = std::min({bytes.size(), bytes_->room(), next()});
      bytes_->feed(bytes.first(count));
      bytes = bytes.subspan(count);
      while (batch_.has_more())
        batch_.read_on();
    }
  }

  asio::io_context io_;
  io_batch batch_;
  const io_batch::scope batching_{batch_};
  const std::shared_ptr<fed_transport> bytes_ = std::make_shared<fed_transport>();
  const std::shared_ptr<hearer> events_ = std::make_shared<hearer>();
  const std::shared_ptr<connection> over_ = std::make_shared<connection>(io_, bytes_, std::make_shared<link_mutex>());
};

// Goal: a chunk that is read directly into its frame gives the same bytes as a chunk that is copied there. The same
// holds for the packets behind it.
// Method: the same packets arrive in pieces of many sizes; each seed splits them differently.
TEST_F(reading, gives_the_same_frames_and_packets_however_the_bytes_are_cut) {
  for (std::uint32_t seed = 1; seed <= 60; ++seed) {
    std::mt19937 random{seed};
    const auto frame = noise(random, 200'000 + random() % 500'000);
    const std::size_t chunk_bytes = 1 + random() % chunk_bytes_max;
    if (frame.size() / chunk_bytes > 2000)
      continue;
    byte_vector bytes;
    std::vector<byte_vector> small;
    append_frame(bytes, seed, frame, chunk_bytes, small);
    const std::size_t piece_max = std::size_t{1} << (random() % 20);
    events_->heard.clear();
    feed(bytes, [&] { return 1 + random() % piece_max; });
    const auto whole = events_->frames.claim(seed, frame.size());
    ASSERT_TRUE(whole) << seed << ": " << whole.error().message();
    ASSERT_TRUE(std::ranges::equal(whole->bytes(), frame)) << seed;
    ASSERT_EQ(events_->heard, small) << seed;
  }
  EXPECT_GT(events_->placed, 0);
  EXPECT_FALSE(events_->ended);
}

TEST_F(reading, copies_no_more_of_a_large_chunk_than_came_with_its_head) {
  std::mt19937 random{7};
  const auto frame = noise(random, 4 * chunk_bytes_max);
  byte_vector bytes;
  std::vector<byte_vector> small;
  append_frame(bytes, 1, frame, chunk_bytes_max, small);
  feed(bytes, [] { return SIZE_MAX; });
  EXPECT_EQ(events_->placed, 4);
  EXPECT_TRUE(events_->frames.claim(1, frame.size()));
}

TEST_F(reading, ends_at_a_chunk_that_is_refused_when_it_begins) {
  events_->refuses_chunks = true;
  byte_vector bytes;
  std::vector<byte_vector> small;
  append_frame(bytes, 1, byte_vector(chunk_bytes_max), chunk_bytes_max, small);
  feed(bytes, [] { return std::size_t{1000}; });
  io_.run_for(std::chrono::seconds{20});
  ASSERT_TRUE(events_->ended);
  EXPECT_EQ(events_->ended->message(), "no chunks here");
  EXPECT_TRUE(bytes_->is_closed);
}

TEST_F(reading, may_end_in_the_middle_of_a_chunk) {
  byte_vector bytes;
  std::vector<byte_vector> small;
  append_frame(bytes, 1, byte_vector(chunk_bytes_max), chunk_bytes_max, small);
  feed(std::span{bytes}.first(100'000), [] { return std::size_t{1000}; });
  events_->frames.clear(); // Like a link that ends during a read.
  EXPECT_EQ(events_->frames.living_bytes(), chunk_bytes_max) << "the read still has its place";
  over_->abort({node_errc::link_down, "gone"});
  EXPECT_TRUE(events_->ended);
}

} // namespace
} // namespace troupe::internal
