// Links behave the same on every transport: TCP over IPv4, over IPv6 and by name, TLS, and memory.
#include <numeric>

#include <troupe/framework/resolving.hpp>

#include "certificates.hpp"
#include "raw_peer.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

bool has_ipv6() {
  int probe = ::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in6 at{};
  at.sin6_family = AF_INET6;
  at.sin6_addr = in6addr_loopback;
  bool there = probe >= 0 && ::bind(probe, reinterpret_cast<const sockaddr*>(&at), sizeof(at)) == 0;
  if (probe >= 0)
    ::close(probe);
  return there;
}

/// Runs with each address to listen at.
class every_transport : public two_nodes, public testing::WithParamInterface<const char*> {
protected:
  void SetUp() override {
    if (std::string_view{GetParam()}.find("[::1]") != std::string_view::npos && !has_ipv6())
      GTEST_SKIP() << "this host has no IPv6";
    auto authority = made_.authority("authority");
    auto server = made_.issue(authority, "server", "DNS:localhost,IP:127.0.0.1,IP:::1");
    auto& accepted = far_options_.accepted_links;
    accepted.credentials.secret = test_secret;
    accepted.credentials.tls = {.certificate_file = server.certificate, .key_file = server.key};
    options_.connect_timeout = accepted.connect_timeout = 60s;
    options_.credentials.secret = test_secret;
    options_.credentials.tls.authority_file = authority.certificate;
    asked_ = GetParam();
    if (stays_here())
      asked_ += unique_name("troupe-transport");
    far_options_.listen = {asked_};
  }

  static bool stays_here() {
    return std::string_view{GetParam()}.starts_with("unix") || std::string_view{GetParam()}.starts_with("inproc");
  }

  certificate_folder made_;
  link_options options_;
  std::string asked_; // The address that the far end is told to listen at.
};

INSTANTIATE_TEST_SUITE_P(all, every_transport,
                         testing::Values("unix://@", "inproc://", "tcp://127.0.0.1:0", "tcp://[::1]:0",
                                         "tcp://localhost:0", "tls://127.0.0.1:0", "tls://[::1]:0",
                                         "tls://localhost:0"),
                         [](const auto& address) {
                           std::string name{address.param};
                           std::erase_if(name, [](char c) { return !std::isalnum(static_cast<unsigned char>(c)); });
                           return name;
                         });

caf::behavior worker(caf::event_based_actor* self) {
  return resolving{
      self,
      [](int value) { return 2 * value; },
      [](const std::string& text) { return static_cast<int>(text.size()); },
      [](const array<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); },
      [](const caf::actor& whom, int value) {
        caf::anon_send(whom, value);
        return value;
      },
  };
}

TEST_P(every_transport, carries_requests_large_values_and_handles_of_actors) {
  publish("worker", far().system.spawn(worker));
  connect(options_);
  auto remote = find("worker");
  EXPECT_EQ(ask<int>(near().system, remote, 21), 42);
  EXPECT_EQ(ask<int>(near().system, remote, std::string(3'000'000, 'x')), 3'000'000);
  auto heard = std::make_shared<std::promise<int>>();
  auto guest = near().system.spawn(
      [heard](caf::event_based_actor*) -> caf::behavior { return {[heard](int value) { heard->set_value(value); }}; });
  EXPECT_EQ(ask<int>(near().system, remote, guest, 7), 7);
  EXPECT_EQ(heard->get_future().get(), 7);
}

TEST_P(every_transport, carries_references_to_objects) {
  if (!stays_here())
    near_options_.store.edit()->name = unique_name("other-host");
  publish("worker", far().system.spawn(worker));
  connect(options_);
  EXPECT_EQ(link_->shares_store(), stays_here()); // Between hosts, only if both agree.
  auto ref = near().home->put(array<double>(std::vector<double>(100'000, 0.5)));
  ASSERT_TRUE(ref) << ref.error().message();
  EXPECT_EQ(ask<double>(near().system, find("worker"), *ref), 50'000);
  EXPECT_EQ(link_->stats().handle_bytes_sent, stays_here() ? 800'000u : 0u);
  EXPECT_EQ(link_->stats().pulled_bytes_sent, stays_here() ? 0u : 800'000u);
}

TEST_P(every_transport, shares_a_store_where_both_ends_say_so) {
  publish("worker", far().system.spawn(worker));
  far_options_.accepted_links.share_store = true;
  far_.reset();
  publish("worker", far().system.spawn(worker));
  options_.share_store = true;
  connect(options_);
  EXPECT_TRUE(link_->shares_store());
  auto ref = near().home->put(array<double>(std::vector<double>(100'000, 0.5)));
  EXPECT_EQ(ask<double>(near().system, find("worker"), *ref), 50'000);
  EXPECT_EQ(link_->stats().handle_bytes_sent, 800'000u);
}

TEST_P(every_transport, shares_no_store_when_one_end_says_no) {
  options_.share_store = true;
  if (stays_here())
    far_options_.accepted_links.share_store = false;
  connect(options_);
  EXPECT_FALSE(link_->shares_store());
}

TEST_P(every_transport, ends_with_its_peer) {
  publish("worker", far().system.spawn(worker));
  connect(options_);
  auto remote = find("worker");
  caf::scoped_actor self{near().system};
  self->monitor(remote);
  far_.reset();
  self->receive([](const caf::down_msg& down) { EXPECT_EQ(down.reason, caf::exit_reason::remote_link_unreachable); },
                caf::after(10s) >> [] { ADD_FAILURE() << "no down message"; });
}

TEST_P(every_transport, keeps_the_order_of_many_messages) {
  auto next = std::make_shared<int>(0);
  auto done = std::make_shared<std::promise<bool>>();
  publish("collector", far().system.spawn([next, done](caf::event_based_actor*) -> caf::behavior {
    return {[next, done](int value) {
      if (value != (*next)++ || *next == 5'000)
        done->set_value(value == 4'999);
    }};
  }));
  connect(options_);
  auto remote = find("collector");
  for (int i = 0; i < 5'000; ++i)
    caf::anon_send(remote, i);
  auto in_order = done->get_future();
  ASSERT_EQ(in_order.wait_for(10s), std::future_status::ready);
  EXPECT_TRUE(in_order.get());
}

TEST_P(every_transport, tells_where_it_really_listens) {
  far();
  auto addresses = far().home->addresses();
  ASSERT_EQ(addresses.size(), 1u);
  if (stays_here()) {
    EXPECT_EQ(addresses[0], asked_);
    return;
  }
  EXPECT_TRUE(addresses[0].starts_with(asked_.substr(0, asked_.size() - 1))) << addresses[0];
  EXPECT_FALSE(addresses[0].ends_with(":0"));
}

TEST_P(every_transport, may_be_one_of_several) {
  far_options_.listen = {asked_, "unix://@" + unique_name("troupe-second")};
  far();
  for (const auto& address : far().home->addresses()) {
    auto connected = near().home->connect(address, options_);
    EXPECT_TRUE(connected) << connected.error().message();
  }
}

} // namespace
} // namespace troupe::tests
