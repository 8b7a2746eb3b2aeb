#include <troupe/framework/internal/stream_socket.hpp>

#include <asio/ip/tcp.hpp>
#include <asio/local/stream_protocol.hpp>
#include <gtest/gtest.h>

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

} // namespace
} // namespace troupe::internal
