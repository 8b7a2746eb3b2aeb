// TCP within a host: another user may listen at a free port and relay the bytes that arrive. Such a relay gets no link
// whose bytes it could change. If the node's own user forwards a port, links through that port work.
#include <array>
#include <filesystem>
#include <functional>

#include <poll.h>
#include <sched.h>

#include <asio/io_context.hpp>
#include <asio/ip/tcp.hpp>
#include <asio/local/connect_pair.hpp>
#include <asio/local/stream_protocol.hpp>

#include <troupe/framework/internal/net/loopback_ends.hpp>
#include <troupe/framework/internal/net/stream_socket.hpp>
#include <troupe/processes/process.hpp>

#include "raw_peer.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

constexpr uid_t somebody_else = 12345;

bool become(uid_t user) {
  return user == ::geteuid() || (::setgid(user) == 0 && ::setuid(user) == 0);
}

/// Relays one connection in both directions until one end closes.
int relay(const raw_listener& at, const std::string& target) {
  const auto dialer = at.accept();
  const auto acceptor = connect_to(target);
  std::array<char, 4096> bytes{};
  std::array<pollfd, 2> both{
      {{.fd = dialer, .events = POLLIN, .revents = 0}, {.fd = acceptor, .events = POLLIN, .revents = 0}}};
  while (::poll(both.data(), both.size(), -1) > 0)
    for (std::size_t i = 0; i < 2; ++i) {
      if (both[i].revents == 0)
        continue;
      const auto count = ::recv(both[i].fd, bytes.data(), bytes.size(), 0);
      if (count <= 0 || ::send(both[1 - i].fd, bytes.data(), static_cast<std::size_t>(count), MSG_NOSIGNAL) != count)
        return 0;
    }
  return 1;
}

internal::stream_endpoint end_of(int socket, decltype(&::getsockname) which) {
  sockaddr_in at{};
  socklen_t size = sizeof(at);
  which(socket, reinterpret_cast<sockaddr*>(&at), &size);
  internal::stream_endpoint result;
  result.resize(size);
  std::memcpy(result.data(), &at, size);
  return result;
}

internal::loopback_ends ends_of(int socket) {
  return {end_of(socket, ::getsockname), end_of(socket, ::getpeername)};
}

class in_between : public two_nodes, public testing::WithParamInterface<bool> {
protected:
  void SetUp() override {
    if (::geteuid() != 0)
      GTEST_SKIP() << "only root can be somebody else";
    far_options_.listen = {"tcp://127.0.0.1:0"};
    far_options_.accepted_links.connect_timeout = options_.connect_timeout = 60s;
    for (auto* with : {&far_options_.accepted_links.credentials, &options_.credentials})
      if (GetParam())
        with->secret = test_secret;
      else
        with->cookie_file = folder_ / "cookie";
  }
  ~in_between() override { std::filesystem::remove_all(folder_); }

  std::filesystem::path folder_ = testing::TempDir() + unique_name("troupe-in-between");
  link_options options_;
};

INSTANTIATE_TEST_SUITE_P(with, in_between, testing::Bool(),
                         [](const auto& with) { return with.param ? "a_secret" : "the_cookie"; });

TEST_P(in_between, another_user_gets_no_link) {
  far();
  near();
  const raw_listener elsewhere;
  const auto other = processes::process::fork([&] { return become(somebody_else) ? relay(elsewhere, address_) : 2; });
  const auto connected = near().home->connect(elsewhere.address(), options_);
  ASSERT_FALSE(connected);
  EXPECT_EQ(connected.error().code(), node_errc::refused);
  expect_contains(connected.error().message(), "another process forwards this connection");
  expect_contains(connected.error().message(), "belongs to user 12345");
  EXPECT_TRUE(far().home->links().empty());
  connect(options_); // Directly, without the relay.
}

TEST_P(in_between, a_port_that_this_user_forwards_works) {
  far();
  near();
  publish("echo", far().system.spawn([]() -> caf::behavior { return {[](int value) { return value; }}; }));
  const raw_listener elsewhere;
  const auto own = processes::process::fork([&] { return relay(elsewhere, address_); });
  auto connected = near().home->connect(elsewhere.address(), options_);
  ASSERT_TRUE(connected) << connected.error().message();
  link_.emplace(*std::move(connected));
  EXPECT_EQ(ask<int>(near().system, find("echo"), 4), 4);
}

/// Returns whether a dialer goes on to its proof if the acceptor runs as another user. Forks the acceptor's process
/// before it calls `make_dialer`, because forking is safer while there are no other threads.
bool goes_on(const std::function<side&()>& make_dialer, link_options options, bool says_what_it_sees) {
  const raw_listener elsewhere;
  options.credentials.secret = test_secret;
  auto other = processes::process::fork([&] {
    if (!become(somebody_else))
      return 2;
    const auto accepted = elsewhere.accept();
    raw_peer peer{accepted, link_side::acceptor, test_secret, {2}};
    peer.hear<greet>(admin_op::greet);
    peer.write(make_preamble());
    auto mine = peer.proofs().my_greet();
    if (says_what_it_sees)
      mine.connection = ends_of(accepted).sum(link_side::acceptor);
    peer.say(admin_op::greet, mine);
    return peer.hear<prove>(admin_op::prove) ? 0 : 1;
  });
  EXPECT_FALSE(make_dialer().home->connect(elsewhere.address(), options));
  const auto how = other->end(60s);
  EXPECT_TRUE(how == processes::exited_with(0) || how == processes::exited_with(1)) << how;
  return how == processes::exited_with(0);
}

// Goal: users of one host that share a secret can link to each other if they connect directly.
TEST_P(in_between, nobody_is_where_both_ends_see_the_same_connection) {
  if (!GetParam())
    GTEST_SKIP() << "the cookie is one user's";
  const auto make_dialer = [this]() -> side& { return near(); };
  EXPECT_TRUE(goes_on(make_dialer, options_, true));
  near_.reset();
  EXPECT_FALSE(goes_on(make_dialer, options_, false));
}

// -- what an end sees of its connection

class two_sockets : public testing::Test {
protected:
  const raw_listener listener_;
  const int dialer_ = connect_to(listener_.address());
  const int acceptor_ = listener_.accept();
  ~two_sockets() override {
    ::close(dialer_);
    ::close(acceptor_);
  }
};

TEST_F(two_sockets, see_the_same_and_no_others_do) {
  const auto sum = ends_of(dialer_).sum(link_side::dialer);
  EXPECT_EQ(sum.size(), 32u);
  EXPECT_EQ(sum, ends_of(acceptor_).sum(link_side::acceptor));
  EXPECT_NE(sum, ends_of(dialer_).sum(link_side::acceptor));
  const auto another = connect_to(listener_.address());
  EXPECT_NE(sum, ends_of(another).sum(link_side::dialer));
  ::close(another);
}

TEST_F(two_sockets, see_whose_the_other_one_is) {
  EXPECT_EQ(ends_of(dialer_).peer_owner().value_or(99), ::geteuid());
  EXPECT_EQ(ends_of(acceptor_).peer_owner().value_or(99), ::geteuid());
  EXPECT_TRUE(check_forwarder(ends_of(dialer_)));
  const auto nobody_accepts = connect_to(listener_.address());
  EXPECT_FALSE(ends_of(nobody_accepts).peer_owner()); // Its other end appears to belong to root.
  ::close(nobody_accepts);
}

TEST(loopback_ends_of, a_table_say_whose_the_other_one_is) {
  using namespace asio::ip;
  const auto at = [](std::uint16_t port) { return tcp::endpoint{make_address("127.0.0.1"), port}; };
  const internal::loopback_ends ends{at(0xd431), at(0x1f90)};
  const std::string head =
      "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";
  const std::string mine =
      "   7: 0100007F:D431 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1000        0 66 1\n";
  const std::string theirs =
      "   8: 0100007F:1F90 0100007F:D431 01 00000000:00000000 00:00000000 00000000  1001        0 77 1\n";
  const std::string theirs_by_v6 =
      "   2: 0000000000000000FFFF00000100007F:1F90 0000000000000000FFFF00000100007F:D431 01 "
      "00000000:00000000 00:00000000 00000000  1002        0 77 1\n";
  const std::string nobodys =
      "   8: 0100007F:1F90 0100007F:D431 01 00000000:00000000 00:00000000 00000000     0        0 0 1\n";
  EXPECT_EQ(ends.peer_owner(head + mine + theirs, head).value(), 1001u);
  EXPECT_EQ(ends.peer_owner(head + mine, head + theirs_by_v6).value(), 1002u);
  EXPECT_EQ(ends.peer_owner(head + mine, head).value(), std::nullopt); // The peer is in another network namespace.
  EXPECT_FALSE(ends.peer_owner(head + mine + nobodys, head));
  EXPECT_FALSE(ends.peer_owner(head, head));
  EXPECT_FALSE(ends.peer_owner("", ""));
}

TEST(loopback_ends_of, are_those_of_tcp_within_a_host) {
  asio::io_context io;
  asio::local::stream_protocol::socket left{io}, right{io};
  asio::local::connect_pair(left, right);
  EXPECT_FALSE(internal::loopback_ends::of(internal::stream_socket{std::move(left)}));
  const raw_listener listener;
  internal::stream_socket dialer{io, asio::generic::stream_protocol{AF_INET, IPPROTO_TCP},
                                 connect_to(listener.address())};
  EXPECT_TRUE(internal::loopback_ends::of(dialer));
}

} // namespace
} // namespace troupe::tests
