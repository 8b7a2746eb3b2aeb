#include <troupe/framework/internal/stream_socket.hpp>

#include <asio/ip/tcp.hpp>
#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

std::string source_of_text(const char* address) {
  return source_of(asio::ip::tcp::endpoint{asio::ip::make_address(address), 4000});
}

TEST(source_of, is_the_address_in_ipv4) {
  EXPECT_EQ(source_of_text("192.0.2.17"), "192.0.2.17");
  EXPECT_NE(source_of_text("192.0.2.17"), source_of_text("192.0.2.18"));
}

TEST(source_of, is_the_network_in_ipv6) {
  EXPECT_EQ(source_of_text("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
  EXPECT_EQ(source_of_text("2001:db8:1:2::9"), "2001:db8:1:2::");
  EXPECT_NE(source_of_text("2001:db8:1:3::9"), "2001:db8:1:2::");
}

TEST(source_of, tells_ipv4_addresses_apart_that_are_written_as_ipv6) {
  EXPECT_NE(source_of_text("::ffff:192.0.2.17"), source_of_text("::ffff:192.0.2.18"));
}

} // namespace
} // namespace troupe::internal
