#include <troupe/framework/cluster/internal/address/directory_address.hpp>

#include <gtest/gtest.h>

namespace troupe::tests {

namespace {

using cluster_directories::directory_kind;
using cluster_directories::read_directory_address;

std::string refusal_of_address(std::string_view text) {
  const auto read = read_directory_address(text);
  if (read)
    return "not refused";
  EXPECT_EQ(read.error().code(), directory_errc::bad_address);
  return read.error().message();
}

bool is_refused_for(std::string_view text, std::string_view reason) {
  return refusal_of_address(text).find(reason) != std::string::npos;
}

} // namespace

TEST(directory_address, an_etcd_address_has_endpoints_and_a_prefix) {
  const auto read = read_directory_address("etcd://10.0.0.5:2379,[::1]:2379,host-a.example:1,10.0.0.5:2379/shop/eu/");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->kind, directory_kind::etcd);
  EXPECT_EQ(read->endpoints, (std::vector<std::string>{"10.0.0.5:2379", "[::1]:2379", "host-a.example:1"}));
  EXPECT_EQ(read->prefix, "shop/eu");
}

TEST(directory_address, other_kinds_keep_the_rest) {
  EXPECT_EQ(read_directory_address("host://demo")->rest, "demo");
  EXPECT_EQ(read_directory_address("host://demo")->kind, directory_kind::host);
  EXPECT_EQ(read_directory_address("static:///etc/members")->rest, "/etc/members");
  EXPECT_EQ(read_directory_address("static:///etc/members")->kind, directory_kind::fixed);
  EXPECT_EQ(read_directory_address("dns://members.shop:4000")->kind, directory_kind::dns);
}

TEST(directory_address, a_text_of_no_kind_is_refused) {
  EXPECT_TRUE(is_refused_for("", "begins with none of"));
  EXPECT_TRUE(is_refused_for("zookeeper://a:1/b", "begins with none of"));
  EXPECT_TRUE(is_refused_for("host://", "nothing follows host://"));
}

TEST(directory_address, an_etcd_address_needs_ports_and_a_prefix) {
  EXPECT_TRUE(is_refused_for("etcd://a/b", "has no port"));
  EXPECT_TRUE(is_refused_for("etcd://a:0/b", "has no port"));
  EXPECT_TRUE(is_refused_for("etcd://a:65536/b", "has no port"));
  EXPECT_TRUE(is_refused_for("etcd://a:1x/b", "has no port"));
  EXPECT_TRUE(is_refused_for("etcd://:1/b", "has no host"));
  EXPECT_TRUE(is_refused_for("etcd://a:1,/b", "has no port"));
  EXPECT_TRUE(is_refused_for("etcd://user:secret@a:1/b", "without user and password"));
  EXPECT_TRUE(is_refused_for("etcd://a:1", "has no prefix"));
  EXPECT_TRUE(is_refused_for("etcd://a:1///", "has no prefix"));
  EXPECT_TRUE(is_refused_for("etcd://a:1/shop?x", "letters, digits"));
  EXPECT_TRUE(is_refused_for("etcd://a:1/" + std::string(300, 'x'), "300 bytes"));
  EXPECT_TRUE(is_refused_for("etcd://" + std::string(5'000, 'x'), "bytes"));
}

TEST(directory_address, a_refusal_does_not_show_a_password) {
  EXPECT_EQ(refusal_of_address("etcd://user:secret@a:1/b").find("secret"), std::string::npos);
}

TEST(directory_address, too_many_endpoints_are_refused) {
  std::string many = "etcd://h:1";
  for (int port = 2; port < 40; ++port)
    many += ",h:" + std::to_string(port);
  EXPECT_TRUE(is_refused_for(many + "/shop", "more than 32 endpoints"));
}

} // namespace troupe::tests
