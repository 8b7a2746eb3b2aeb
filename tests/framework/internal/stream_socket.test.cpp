#include <troupe/framework/internal/net/stream_socket.hpp>
#include <troupe/processes/process.hpp>

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

/// How many of the networks two addresses have in common, from the wide ones on.
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

// -- users

TEST(a_user, is_mapped_where_the_map_has_its_number) {
  EXPECT_TRUE(is_mapped(65534, 65534, "         0          0 4294967295\n")); // No namespace of its own.
  EXPECT_TRUE(is_mapped(65534, 65534, "0 100000 65536\n"));
  EXPECT_FALSE(is_mapped(65534, 65534, "0 1000 1\n"));
  EXPECT_FALSE(is_mapped(65534, 65534, "0 1000 1\n1 100000 65533\n"));
  EXPECT_FALSE(is_mapped(65534, 65534, ""));
  EXPECT_TRUE(is_mapped(1000, 65534, "")); // Stands for nobody else.
}

TEST(a_user, is_this_one_where_the_kernel_says_so) {
  EXPECT_TRUE(is_this_user(::geteuid()));
  EXPECT_FALSE(is_this_user(::geteuid() + 1));
}

// Goal: where no user is mapped all look like one, and none of them is taken for this one.
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
