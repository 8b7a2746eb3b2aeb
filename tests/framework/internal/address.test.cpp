#include <troupe/framework/internal/net/address.hpp>
#include <troupe/framework/internal/net/host_lookup.hpp>

#include <gtest/gtest.h>

namespace troupe::internal {
namespace {

using namespace std::chrono_literals;

std::string why_not(std::string_view text) {
  auto parsed = parse_address(text);
  return parsed ? "readable" : parsed.error().message();
}

std::string parts(std::string_view text) {
  auto at = parse_address(text).value();
  return at.path + '|' + at.host + '|' + std::to_string(at.port);
}

bool is_here(std::string_view text) {
  return is_of_this_host(resolve(parse_address(text).value(), 5s).value().front());
}

TEST(an_address, is_read) {
  EXPECT_EQ(parts("unix:///tmp/a"), "/tmp/a||0");
  EXPECT_EQ(parts("unix://@a"), "@a||0");
  EXPECT_EQ(parts("inproc://a name"), "a name||0");
  EXPECT_EQ(parts("tcp://localhost:80"), "|localhost|80");
  EXPECT_EQ(parts("tcp://127.0.0.1:0"), "|127.0.0.1|0");
  EXPECT_EQ(parts("tcp://[::1]:65535"), "|::1|65535");
  EXPECT_EQ(parts("tls://[fe80::1%eth0]:1"), "|fe80::1%eth0|1");
  EXPECT_EQ(parse_address("tls://a:1")->kind, transport_kind::tls);
  EXPECT_EQ(parse_address("tcp://a:1")->kind, transport_kind::tcp);
}

TEST(an_address, that_cannot_be_read_says_why) {
  for (const auto* text : {"", "/tmp/a", "http://a:1", "unix:/tmp/a", "TCP://a:1"})
    EXPECT_NE(why_not(text).find("known: unix:///path/of/socket"), std::string::npos) << text;
  EXPECT_NE(why_not("inproc://").find("needs a name of 1 to 255 bytes, has 0"), std::string::npos);
  EXPECT_NE(why_not("inproc://" + std::string(256, 'x')).find("has 256"), std::string::npos);
  for (const auto* text : {"unix://", "unix://@", "unix://relative"})
    EXPECT_NE(why_not(text).find("needs an absolute path or @name"), std::string::npos) << text;
  for (const auto* text :
       {"tcp://a", "tcp://a:", "tcp://a:-1", "tcp://a:65536", "tcp://a:1x", "tcp://[::1]", "tcp://a: 1"})
    EXPECT_NE(why_not(text).find("needs a port from 0 to 65535"), std::string::npos) << text;
  for (const auto* text : {"tcp://:1", "tcp://a b:1", "tcp://a/b:1", "tcp://a\n:1"})
    EXPECT_NE(why_not(text).find("needs a host"), std::string::npos) << text;
  EXPECT_NE(why_not("tcp://::1:80").find("write IPv6 addresses in brackets"), std::string::npos);
  EXPECT_NE(why_not("tcp://[::1:80").find("[ without its ]"), std::string::npos);
  EXPECT_NE(why_not("tcp://[localhost]:80").find("not an IPv6 address"), std::string::npos);
}

TEST(an_address, gets_its_port_where_its_host_ends) {
  EXPECT_EQ(with_port(parse_address("tcp://[::1]:0").value(), 7), "tcp://[::1]:7");
  EXPECT_EQ(with_port(parse_address("tls://localhost:0").value(), 7), "tls://localhost:7");
}

TEST(an_address, is_of_this_host_or_not) {
  for (const auto* text : {"unix://@a", "tcp://127.0.0.1:1", "tcp://127.9.9.9:1", "tcp://[::1]:1"})
    EXPECT_TRUE(is_here(text)) << text;
  for (const auto* text : {"tcp://0.0.0.0:1", "tcp://128.0.0.1:1", "tcp://[::]:1", "tcp://[::ffff:10.0.0.1]:1"})
    EXPECT_FALSE(is_here(text)) << text;
}

TEST(an_address, keeps_its_port_when_it_is_resolved) {
  EXPECT_EQ(port_of(resolve(parse_address("tcp://127.0.0.1:4321").value(), 5s)->front()), 4321);
  EXPECT_EQ(port_of(resolve(parse_address("tcp://[::1]:4321").value(), 5s)->front()), 4321);
}

TEST(an_address, by_name_is_looked_up) {
  auto found = resolve(parse_address("tcp://localhost:1").value(), 5s);
  ASSERT_TRUE(found) << found.error().message();
  for (const auto& one : *found)
    EXPECT_TRUE(is_of_this_host(one));
}

} // namespace
} // namespace troupe::internal
