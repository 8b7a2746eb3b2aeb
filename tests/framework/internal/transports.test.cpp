// The promises of every transport: within a process, over a unix socket, and after the bytes have moved to rings.
#include <asio/generic/stream_protocol.hpp>
#include <asio/io_context.hpp>

#include <troupe/framework/internal/net/inproc.hpp>
#include <troupe/framework/internal/net/ring_memory.hpp>
#include <troupe/framework/internal/net/socket_transport.hpp>
#include <troupe/framework/internal/net/unix_transport.hpp>

#include <any>
#include <array>
#include <cstring>
#include <functional>
#include <optional>

#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/socket.h>

#include "../open_descriptors.hpp"

namespace troupe::internal {
namespace {

using transport_pair = std::pair<std::shared_ptr<transport>, std::shared_ptr<transport>>;

std::pair<stream_socket, stream_socket> connected_sockets(asio::io_context& io) {
  std::array<int, 2> ends{};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()), 0);
  const asio::generic::stream_protocol protocol{AF_UNIX, 0};
  return {stream_socket{io, protocol, ends[0]}, stream_socket{io, protocol, ends[1]}};
}

transport_pair within_a_process(asio::io_context& io) {
  return make_inproc_pair(io, io);
}

transport_pair over_sockets(asio::io_context& io) {
  auto [near, far] = connected_sockets(io);
  return {make_socket_transport(std::move(near)), make_socket_transport(std::move(far))};
}

transport_pair over_unix_sockets(asio::io_context& io) {
  auto [near, far] = connected_sockets(io);
  return {make_unix_transport(std::move(near)), make_unix_transport(std::move(far))};
}

constexpr std::size_t small_ring = 4096;

/// Moves both directions to rings before the first byte.
transport_pair over_rings(asio::io_context& io) {
  auto pair = over_unix_sockets(io);
  auto made = ring_memory::make(small_ring);
  EXPECT_TRUE(made);
  auto theirs = ring_memory::adopt(made->take_descriptor(), small_ring);
  EXPECT_TRUE(theirs);
  pair.first->rings()->set_rings(*std::move(made), link_side::dialer);
  pair.second->rings()->set_rings(*std::move(theirs), link_side::acceptor);
  for (const auto& each : {pair.first, pair.second}) {
    each->rings()->move_output_at(0);
    each->rings()->move_input();
  }
  return pair;
}

byte_vector numbered(std::size_t size) {
  byte_vector bytes(size);
  for (std::size_t i = 0; i < size; ++i)
    bytes[i] = static_cast<std::byte>(i * 7 + i / 256);
  return bytes;
}

/// Both ends use one I/O context, which the test runs itself.
class two_ends : public testing::Test {
protected:
  void read_all() {
    near->read_some(into, [this](std::error_code error, std::size_t count) {
      if (error) {
        read_error = error;
        return;
      }
      received.insert(received.end(), into.begin(), into.begin() + static_cast<std::ptrdiff_t>(count));
      read_all();
    });
  }

  /// Runs until nothing is ready.
  void run() {
    io.restart();
    io.poll();
  }

  asio::io_context io;
  std::shared_ptr<transport> near;
  std::shared_ptr<transport> far;
  std::array<std::byte, 1000> into;
  byte_vector received;
  std::error_code read_error;

  void TearDown() override {
    near->close();
    if (far)
      far->close();
    run();
  }
};

class transports : public two_ends, public testing::WithParamInterface<transport_pair (*)(asio::io_context&)> {
protected:
  void SetUp() override { std::tie(near, far) = GetParam()(io); }
};

std::string name_of_pair(const testing::TestParamInfo<transport_pair (*)(asio::io_context&)>& which) {
  static const char* const names[] = {"inproc", "sockets", "unix_sockets", "rings"};
  return names[which.index];
}

INSTANTIATE_TEST_SUITE_P(all, transports,
                         testing::Values(within_a_process, over_sockets, over_unix_sockets, over_rings), name_of_pair);

TEST_P(transports, bytes_arrive_in_order_however_many_there_are) {
  auto bytes = numbered(3'000'000);
  std::error_code written = std::make_error_code(std::errc::interrupted);
  std::vector<bytes_view> pieces{bytes_view{bytes}.first(10), bytes_view{}, bytes_view{bytes}.subspan(10)};
  far->write(pieces, [&](std::error_code error) { written = error; });
  read_all();
  run();
  EXPECT_FALSE(written) << written.message();
  EXPECT_EQ(received, bytes);
}

TEST_P(transports, bytes_arrive_both_ways_at_once) {
  auto bytes = numbered(300'000);
  std::vector<bytes_view> pieces{bytes};
  byte_vector there;
  std::array<std::byte, 777> into_there;
  std::function<void()> read_there = [&] {
    far->read_some(into_there, [&](std::error_code error, std::size_t count) {
      if (error)
        return;
      there.insert(there.end(), into_there.begin(), into_there.begin() + static_cast<std::ptrdiff_t>(count));
      read_there();
    });
  };
  far->write(pieces, [](std::error_code) {});
  near->write(pieces, [](std::error_code) {});
  read_all();
  read_there();
  run();
  EXPECT_EQ(received, bytes);
  EXPECT_EQ(there, bytes);
}

TEST_P(transports, a_reader_that_waits_is_told_of_each_write) {
  read_all();
  for (std::size_t i = 1; i <= 20; ++i) {
    run();
    const auto bytes = numbered(i);
    std::vector<bytes_view> pieces{bytes};
    ASSERT_EQ(far->write_now(pieces), i);
    run();
    EXPECT_EQ(received, bytes);
    received.clear();
  }
}

TEST_P(transports, a_writer_waits_for_its_reader) {
  auto bytes = numbered(5'000'000);
  std::vector<bytes_view> pieces{bytes};
  auto taken = far->write_now(pieces);
  ASSERT_TRUE(taken);
  EXPECT_LT(*taken, bytes.size());
  pieces[0] = pieces[0].subspan(*taken);
  EXPECT_EQ(far->write_now(pieces), 0u);
  bool written = false;
  far->write(pieces, [&](std::error_code error) { written = !error; });
  run();
  EXPECT_FALSE(written);
  read_all();
  run();
  EXPECT_TRUE(written);
  EXPECT_EQ(received, bytes);
}

TEST_P(transports, what_was_written_before_the_end_is_still_read) {
  auto bytes = numbered(4'000);
  std::vector<bytes_view> pieces{bytes};
  ASSERT_TRUE(far->write_now(pieces));
  far->close();
  far.reset();
  read_all();
  run();
  EXPECT_EQ(received, bytes);
  EXPECT_TRUE(read_error);
}

TEST_P(transports, the_end_of_either_side_wakes_who_waits) {
  auto bytes = numbered(5'000'000);
  std::vector<bytes_view> pieces{bytes};
  std::error_code written;
  far->write(pieces, [&](std::error_code error) { written = error; });
  std::error_code read_there;
  std::array<std::byte, 10> into_there;
  far->read_some(into_there, [&](std::error_code error, std::size_t) { read_there = error; });
  run();
  EXPECT_FALSE(written);
  near->close();
  near->close();
  run();
  EXPECT_TRUE(written);
  EXPECT_TRUE(read_there);
  EXPECT_FALSE(far->write_now(pieces));
}

TEST_P(transports, an_end_that_closes_hears_of_what_it_waited_for) {
  auto bytes = numbered(5'000'000);
  std::vector<bytes_view> pieces{bytes};
  std::error_code written;
  near->write(pieces, [&](std::error_code error) { written = error; });
  read_all();
  run();
  near->close();
  run();
  EXPECT_TRUE(read_error);
  EXPECT_TRUE(written);
}

// -- within a process only

class inproc_transport : public two_ends {
protected:
  void SetUp() override { std::tie(near, far) = make_inproc_pair(io, io); }
};

TEST_F(inproc_transport, values_come_out_as_they_went_in) {
  ASSERT_NE(far->values(), nullptr);
  EXPECT_FALSE(near->values()->pop().has_value());
  std::any one = 1, two = 2;
  far->values()->push(one);
  far->values()->push(two);
  EXPECT_FALSE(one.has_value());                  // It was taken.
  EXPECT_FALSE(far->values()->pop().has_value()); // They arrive at the other end.
  EXPECT_EQ(std::any_cast<int>(near->values()->pop()), 1);
  EXPECT_EQ(std::any_cast<int>(near->values()->pop()), 2);
}

TEST_F(inproc_transport, values_are_not_taken_after_the_end) {
  near->close();
  std::any value = 1;
  far->values()->push(value);
  EXPECT_TRUE(value.has_value());
}

TEST_F(inproc_transport, an_end_that_is_gone_counts_as_closed) {
  far.reset();
  read_all();
  run();
  EXPECT_TRUE(read_error);
}

// Goal: an accepted guest's callbacks run on the context that it moves to, even for bytes written before it was
// accepted.
TEST_F(inproc_transport, a_guest_is_called_back_on_the_context_that_it_goes_to) {
  asio::io_context elsewhere;
  std::shared_ptr<transport> guest;
  const auto listener = inproc_listener::open(io, "inproc-guest", [&](inproc_listener::guest comes) {
    comes.move_to(elsewhere);
    guest = std::move(comes.bytes);
  });
  ASSERT_TRUE(listener);
  const auto dialed = dial_inproc(io, "inproc-guest");
  ASSERT_TRUE(dialed);
  ASSERT_EQ((*dialed)->write_now(std::vector<bytes_view>{bytes_view{numbered(10)}}), 10u);
  run();
  ASSERT_TRUE(guest);
  std::size_t read = 0;
  guest->read_some(into, [&](std::error_code, std::size_t count) { read = count; });
  run();
  EXPECT_EQ(read, 0u);
  elsewhere.run();
  EXPECT_EQ(read, 10u);
  guest->close();
}

// -- moving from the socket to the rings

class moving_transport : public two_ends {
protected:
  void SetUp() override { std::tie(near, far) = over_unix_sockets(io); }

  /// Shares rings as if near had dialed.
  void share_rings() {
    auto made = ring_memory::make(small_ring);
    ASSERT_TRUE(made);
    auto theirs = ring_memory::adopt(::dup(made->take_descriptor()), small_ring);
    ASSERT_TRUE(theirs);
    near->rings()->set_rings(*std::move(made), link_side::dialer);
    far->rings()->set_rings(*std::move(theirs), link_side::acceptor);
  }
};

TEST_F(moving_transport, a_descriptor_comes_with_its_byte) {
  auto made = ring_memory::make(small_ring);
  ASSERT_TRUE(made);
  far->rings()->set_rings(*std::move(made), link_side::dialer);
  near->rings()->expect_descriptor();
  far->rings()->send_descriptor_at(3);
  const auto bytes = numbered(5);
  std::vector<bytes_view> pieces{bytes};
  far->write(pieces, [](std::error_code) {});
  std::vector<std::pair<std::size_t, bool>> seen; // Bytes so far, and whether the descriptor has arrived.
  std::function<void()> read_on = [&] {
    near->read_some(into, [&](std::error_code error, std::size_t count) {
      if (error)
        return;
      received.insert(received.end(), into.begin(), into.begin() + static_cast<std::ptrdiff_t>(count));
      read_on();
    });
  };
  read_on();
  run();
  EXPECT_EQ(received, bytes);
  const auto descriptor = near->rings()->take_descriptor();
  EXPECT_TRUE(ring_memory::adopt(descriptor, small_ring));
  EXPECT_EQ(near->rings()->take_descriptor(), -1);
}

TEST_F(moving_transport, a_descriptor_that_nobody_expects_is_closed_by_the_system) {
  auto made = ring_memory::make(small_ring);
  ASSERT_TRUE(made);
  far->rings()->set_rings(*std::move(made), link_side::dialer);
  far->rings()->send_descriptor_at(0);
  const auto bytes = numbered(5);
  std::vector<bytes_view> pieces{bytes};
  ASSERT_EQ(far->write_now(pieces), 5u);
  read_all();
  run();
  EXPECT_EQ(received, bytes);
  EXPECT_EQ(near->rings()->take_descriptor(), -1);
}

/// Sends one byte with `count` descriptors attached, as no honest peer does.
void send_descriptors(int socket, std::size_t count) {
  std::byte one{1};
  iovec piece{&one, 1};
  std::array<std::byte, CMSG_SPACE(8 * sizeof(int))> room{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = room.data();
  message.msg_controllen = CMSG_SPACE(count * sizeof(int));
  auto* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(count * sizeof(int));
  const int nothing = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  for (std::size_t i = 0; i < count; ++i)
    std::memcpy(CMSG_DATA(head) + i * sizeof(int), &nothing, sizeof(nothing));
  ASSERT_EQ(::sendmsg(socket, &message, 0), 1);
  ::close(nothing);
}

class hostile_descriptors : public two_ends {
protected:
  void SetUp() override {
    auto [mine, theirs] = connected_sockets(io);
    near = make_unix_transport(std::move(mine));
    peer.emplace(std::move(theirs));
    near->rings()->expect_descriptor();
    before = tests::open_descriptors();
  }
  void expect_end_without_descriptors() {
    read_all();
    run();
    EXPECT_EQ(read_error, std::errc::protocol_error);
    near->close();
    run();
    near = nullptr;
    EXPECT_LE(tests::open_descriptors(), before - 1); // Less the socket.
    near = make_unix_transport(std::move(*peer));
  }

  std::optional<stream_socket> peer;
  std::size_t before = 0;
};

TEST_F(hostile_descriptors, several_at_once_end_the_connection_and_are_closed) {
  send_descriptors(peer->native_handle(), 3);
  expect_end_without_descriptors();
}

TEST_F(hostile_descriptors, one_after_the_other_end_the_connection_and_are_closed) {
  send_descriptors(peer->native_handle(), 1);
  send_descriptors(peer->native_handle(), 1);
  expect_end_without_descriptors();
}

TEST_F(moving_transport, bytes_keep_their_order_on_the_way_into_the_ring) {
  share_rings();
  const auto bytes = numbered(600'000);
  constexpr std::size_t moves_at = 450'000; // More than the socket buffers.
  far->rings()->move_output_at(moves_at);
  far->rings()->move_input(); // From now on, the socket brings only wake-ups.
  std::vector<bytes_view> pieces{bytes_view{bytes}.first(100), bytes_view{bytes}.subspan(100)};
  far->write(pieces, [](std::error_code) {});
  std::function<void()> read_on = [&] {
    const auto left = moves_at - std::min(received.size(), moves_at);
    if (left == 0)
      near->rings()->move_input();
    near->read_some(left == 0 ? std::span<std::byte>{into} : std::span{into}.first(std::min(into.size(), left)),
                    [&, left](std::error_code error, std::size_t count) {
                      if (error)
                        return;
                      received.insert(received.end(), into.begin(), into.begin() + static_cast<std::ptrdiff_t>(count));
                      if (left == 0)
                        read_all();
                      else
                        read_on();
                    });
  };
  read_on();
  near->rings()->move_output_at(0); // Until this, its wake-ups wait.
  for (int i = 0; i < 10; ++i)
    run();
  EXPECT_EQ(received, bytes);
  EXPECT_TRUE(far->rings()->writes_to_ring());
}

TEST_F(moving_transport, a_wake_up_waits_until_no_packets_are_in_its_way) {
  share_rings();
  // Far fills its ring, and waits for room.
  const auto bytes = numbered(3 * small_ring);
  std::vector<bytes_view> pieces{bytes};
  far->rings()->move_output_at(0);
  far->rings()->move_input();
  bool written = false;
  far->write(pieces, [&](std::error_code error) { written = !error; });
  // Near reads the ring and has packets of its own for the socket. No wake-up may be written between them.
  near->rings()->move_input();
  read_all();
  run();
  EXPECT_EQ(received.size(), small_ring);
  EXPECT_FALSE(written);
  near->rings()->move_output_at(0);
  run();
  EXPECT_TRUE(written);
  EXPECT_EQ(received, bytes);
}

// -- a peer that writes arbitrary values into the rings' words

class hostile_ring : public two_ends {
protected:
  void SetUp() override {
    std::tie(near, far) = over_unix_sockets(io);
    auto made = ring_memory::make(small_ring);
    ASSERT_TRUE(made);
    descriptor = made->take_descriptor();
    theirs.emplace(*ring_memory::adopt(::dup(descriptor), small_ring));
    near->rings()->set_rings(*std::move(made), link_side::dialer);
    near->rings()->move_output_at(0);
    near->rings()->move_input();
  }
  void TearDown() override {
    two_ends::TearDown();
    ::close(descriptor);
  }
  /// Makes near check its rings.
  void wake() {
    std::vector<bytes_view> pieces{bytes_view{&one, 1}};
    EXPECT_EQ(far->write_now(pieces), 1u);
    run();
  }

  std::byte one{1};
  int descriptor = -1;
  std::optional<ring_memory> theirs;
};

TEST_F(hostile_ring, more_than_the_ring_holds_ends_the_connection) {
  read_all();
  run();
  theirs->words_of(link_side::acceptor).written.store(small_ring + 1);
  wake();
  EXPECT_EQ(read_error, std::errc::protocol_error);
}

TEST_F(hostile_ring, fewer_bytes_than_were_read_end_the_connection) {
  read_all();
  theirs->words_of(link_side::acceptor).written.store(100);
  wake();
  EXPECT_EQ(received.size(), 100u);
  theirs->words_of(link_side::acceptor).written.store(99);
  wake();
  EXPECT_EQ(read_error, std::errc::protocol_error);
}

TEST_F(hostile_ring, more_read_than_was_written_ends_the_connection) {
  const auto bytes = numbered(2 * small_ring);
  std::vector<bytes_view> pieces{bytes};
  std::error_code written;
  near->write(pieces, [&](std::error_code error) { written = error; });
  run();
  theirs->words_of(link_side::dialer).read.store(small_ring + 1);
  wake();
  EXPECT_EQ(written, std::errc::protocol_error);
}

TEST_F(hostile_ring, a_peer_that_only_wakes_makes_nobody_read) {
  read_all();
  for (int i = 0; i < 1000; ++i)
    wake();
  EXPECT_TRUE(received.empty());
  EXPECT_FALSE(read_error);
}

} // namespace
} // namespace troupe::internal
