// The addresses of other nodes: those that a node is told, and those that it may dial.
#include <troupe/framework/internal/net/whereabouts.hpp>

#include <gtest/gtest.h>

namespace troupe::internal::whereabouts_tests {
namespace {

using texts = std::vector<std::string>;

const link_place within{transport_kind::unix_socket, ""};
const link_place loopback{transport_kind::tcp, "127.0.0.1"};
const link_place away{transport_kind::tcp, "10.0.0.1"};
const link_place sealed{transport_kind::tls, "10.0.0.1"};
const texts everywhere{"unix:///run/a",     "unix://@a",       "inproc://a",
                       "tcp://127.0.0.1:1", "tcp://0.0.0.0:2", "tls://example.org:3"};

texts tell(const texts& addresses, bool is_on_this_host, const link_place& link) {
  const texts others{"10.0.0.1", "10.0.1.1", "fd00::1"};
  return tellable(addresses, is_on_this_host, link, others);
}

TEST(whereabouts, within_a_host_all_are_told_but_those_of_one_process) {
  const texts told{"unix:///run/a", "unix://@a", "tcp://127.0.0.1:1", "tcp://0.0.0.0:2", "tls://example.org:3"};
  EXPECT_EQ(tell(everywhere, true, within), told);
  EXPECT_EQ(tell(everywhere, true, loopback), told);
}

TEST(whereabouts, other_hosts_are_told_what_they_can_reach) {
  EXPECT_EQ(tell(everywhere, true, away), (texts{"tcp://10.0.0.1:2", "tcp://10.0.1.1:2", "tls://example.org:3"}));
  EXPECT_EQ(tell({"tcp://[::]:2"}, true, away), (texts{"tcp://10.0.0.1:2", "tcp://10.0.1.1:2", "tcp://[fd00::1]:2"}));
}

TEST(whereabouts, of_another_host_nothing_is_told_that_means_this_one) {
  EXPECT_EQ(tell(everywhere, false, within), texts{"tls://example.org:3"});
  EXPECT_EQ(tell(everywhere, false, away), texts{"tls://example.org:3"});
}

TEST(whereabouts, are_few_and_short) {
  texts many;
  for (int port = 1; port <= 20; ++port)
    many.push_back("tcp://10.0.0.9:" + std::to_string(port));
  EXPECT_EQ(tell(many, true, away).size(), told_addresses_max);
  EXPECT_EQ(tell({"tls://" + std::string(300, 'a') + ":1"}, true, away), texts{});
}

TEST(whereabouts, of_a_peer_on_another_host_lead_to_no_place_on_this_one) {
  const texts said{"unix:///run/a",     "unix://@a",         "inproc://a",      "tcp://127.0.0.1:1", "tcp://[::1]:1",
                   "tcp://localhost:1", "tls://localhost:1", "tcp://0.0.0.0:2", "tcp://10.0.0.7:2"};
  EXPECT_EQ(dialable(said, away), texts{"tcp://10.0.0.7:2"});
}

TEST(whereabouts, within_a_host_are_dialed_there) {
  EXPECT_EQ(dialable(texts{"unix://@a", "tcp://0.0.0.0:2", "tcp://[::]:3"}, within),
            (texts{"unix://@a", "tcp://127.0.0.1:2", "tcp://[::1]:3"}));
}

TEST(whereabouts, are_names_only_where_a_certificate_is_checked_and_no_less_secure_than_the_link) {
  const texts said{"tcp://example.org:1", "tls://example.org:2", "tcp://10.0.0.7:3"};
  EXPECT_EQ(dialable(said, away), (texts{"tls://example.org:2", "tcp://10.0.0.7:3"}));
  EXPECT_EQ(dialable(said, sealed), texts{"tls://example.org:2"});
}

TEST(whereabouts, that_are_no_addresses_are_passed_over) {
  EXPECT_EQ(dialable(texts{"", "tcp://", "nonsense", "tcp://10.0.0.7", "tcp://10.0.0.7:99999"}, away), texts{});
}

} // namespace
} // namespace troupe::internal::whereabouts_tests
