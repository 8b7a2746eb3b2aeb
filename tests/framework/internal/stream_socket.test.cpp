#include <troupe/framework/internal/net/stream_socket.hpp>
#include <troupe/processes/process.hpp>

#include <array>

#include <asio/buffer.hpp>
#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/socket.h>
#include <unistd.h>

namespace troupe::internal {
namespace {

peer_source source(const char* address) {
  return source_of(asio::ip::tcp::endpoint{asio::ip::make_address(address), 4000});
}

/// Returns the number of networks that two addresses share, starting with the widest.
int shared(const char* one, const char* other) {
  int count = 0;
  while (count < 3 && source(one).networks[count] == source(other).networks[count])
    ++count;
  return count;
}

TEST(source_of, has_networks_of_16_24_and_32_bits_in_ipv4) {
  EXPECT_EQ(shared("192.0.2.17", "192.0.2.17"), 3);
  EXPECT_EQ(shared("192.0.2.17", "192.0.2.18"), 2);
  EXPECT_EQ(shared("192.0.2.17", "192.0.3.17"), 1);
  EXPECT_EQ(shared("192.0.2.17", "192.1.2.17"), 0);
}

TEST(source_of, has_networks_of_48_56_and_64_bits_in_ipv6) {
  EXPECT_EQ(shared("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::9"), 3);
  EXPECT_EQ(shared("2001:db8:1:203::9", "2001:db8:1:204::9"), 2);
  EXPECT_EQ(shared("2001:db8:1:203::9", "2001:db8:1:304::9"), 1);
  EXPECT_EQ(shared("2001:db8:1:2::9", "2001:db8:2:2::9"), 0);
}

TEST(source_of, is_that_of_ipv4_where_an_address_is_written_as_ipv6) {
  EXPECT_EQ(source("::ffff:192.0.2.17"), source("192.0.2.17"));
  EXPECT_EQ(shared("::ffff:192.0.2.17", "::ffff:192.0.2.18"), 2);
}

TEST(source_of, is_nowhere_for_a_unix_socket) {
  EXPECT_EQ(source_of(asio::local::stream_protocol::endpoint{"/tmp/socket"}), peer_source{});
}

// -- moving from one I/O context to another

class a_moved_socket : public testing::Test {
protected:
  a_moved_socket() {
    int both[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, both), 0);
    socket_.assign(asio::generic::stream_protocol{AF_UNIX, 0}, both[0]);
    far_ = both[1];
  }
  ~a_moved_socket() override { ::close(far_); }

  asio::io_context first_;
  asio::io_context second_;
  stream_socket socket_{first_};
  int far_ = -1;
};

TEST_F(a_moved_socket, is_read_on_the_other_context) {
  const auto descriptor = socket_.native_handle();
  auto moved = moved_to(second_, std::move(socket_));
  ASSERT_TRUE(moved) << moved.error().message();
  EXPECT_EQ(moved->native_handle(), descriptor);
  std::array<char, 4> bytes{};
  std::size_t read = 0;
  moved->async_read_some(asio::buffer(bytes), [&](std::error_code, std::size_t count) { read = count; });
  ASSERT_EQ(::write(far_, "four", 4), 4);
  first_.run();
  EXPECT_EQ(read, 0u);
  second_.run();
  EXPECT_EQ(read, 4u);
}

TEST_F(a_moved_socket, stays_as_it_is_where_it_is_there_already) {
  const auto moved = moved_to(first_, std::move(socket_));
  ASSERT_TRUE(moved);
  EXPECT_TRUE(moved->is_open());
}

TEST_F(a_moved_socket, is_refused_where_there_is_none) {
  socket_.close();
  const auto moved = moved_to(second_, std::move(socket_));
  ASSERT_FALSE(moved);
  EXPECT_EQ(moved.error().code(), node_errc::link_down);
}

// -- users

TEST(a_user, is_mapped_where_the_map_has_its_number) {
  EXPECT_TRUE(is_mapped(65534, 65534, "         0          0 4294967295\n")); // Without a user namespace of its own.
  EXPECT_TRUE(is_mapped(65534, 65534, "0 100000 65536\n"));
  EXPECT_FALSE(is_mapped(65534, 65534, "0 1000 1\n"));
  EXPECT_FALSE(is_mapped(65534, 65534, "0 1000 1\n1 100000 65533\n"));
  EXPECT_FALSE(is_mapped(65534, 65534, ""));
  EXPECT_TRUE(is_mapped(1000, 65534, "")); // A user that is not the overflow user.
}

TEST(a_user, is_this_one_where_the_kernel_says_so) {
  EXPECT_TRUE(is_this_user(::geteuid()));
  EXPECT_FALSE(is_this_user(::geteuid() + 1));
}

// Goal: if no user is mapped, all users look the same, and none of them counts as this user.
TEST(a_user, is_nobody_in_a_namespace_that_maps_none) {
  constexpr int no_namespace = 2;
  const auto looks = [] {
    if (::unshare(CLONE_NEWUSER) != 0)
      return no_namespace;
    int both[2];
    asio::io_context io;
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both) != 0)
      return 3;
    stream_socket one{io, asio::generic::stream_protocol{AF_UNIX, 0}, both[0]};
    return !is_this_user(::geteuid()) && !check_same_user(one) ? 0 : 1;
  };
  const auto how = processes::process::fork(looks).value().wait();
  if (how == processes::exited_with(no_namespace))
    GTEST_SKIP() << "no user namespaces here";
  EXPECT_EQ(how, processes::exited_with(0));
}

} // namespace
} // namespace troupe::internal
