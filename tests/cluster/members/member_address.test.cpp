#include <troupe/framework/cluster/internal/members/member_address.hpp>

#include <gtest/gtest.h>

namespace troupe::tests {

namespace {

using cluster_directories::problem_of_address;

TEST(member_address_test, the_addresses_of_nodes_are_accepted) {
  for (const auto* address :
       {"tcp://10.0.0.5:4000", "tls://a-b.example.org:65535", "tcp://[fd00::1]:1", "tls://[fe80::1%eth0]:4000",
        "unix:///run/a.sock", "unix://@name", "shm:///run/a", "inproc://a"})
    EXPECT_EQ(problem_of_address(address), "") << address;
}

TEST(member_address_test, anything_else_is_refused_with_a_reason) {
  for (const auto* address : {"",
                              "tcp",
                              "tcp://",
                              "tcp://a",
                              "tcp://a:",
                              "tcp://a:0",
                              "tcp://a:65536",
                              "tcp://a:1x",
                              "tcp://:1",
                              "tcp://a b:1",
                              "tcp://fd00::1:1",
                              "tcp://[a]:1",
                              "tcp://[::1:1",
                              "http://a:1",
                              "unix://a",
                              "unix://",
                              "unix:///a b",
                              "inproc://",
                              "tcp://a\":1",
                              "unix:///a\\b",
                              "unix:///\xc3\xa4",
                              "unix:///\x7f"})
    EXPECT_NE(problem_of_address(address), "") << address;
  EXPECT_NE(problem_of_address("unix:///" + std::string(107, 'a')), "");
  EXPECT_NE(problem_of_address("tcp://" + std::string(600, 'a') + ":1"), "");
}

} // namespace

} // namespace troupe::tests
