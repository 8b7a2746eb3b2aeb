// Peers that connect but do not prove their identity: bounds on their time, on their number, and on the cost of each.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <list>

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <openssl/ssl.h>

#include <troupe/framework/internal/node/unproven_links.hpp>
#include <troupe/framework/internal/trust/tls_meter.hpp>
#include <troupe/framework/log.hpp>

#include "certificates.hpp"
#include "open_descriptors.hpp"
#include "other_process.hpp"
#include "raw_peer.hpp"
#include "resident.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

/// Returns true if the other end closes before a minute passes without data. Ignores the data that it sends before.
bool is_closed(int socket) {
  pollfd ready{.fd = socket, .events = POLLIN, .revents = 0};
  std::array<char, 4096> bytes;
  while (::poll(&ready, 1, 60'000) == 1)
    if (::recv(socket, bytes.data(), bytes.size(), 0) <= 0)
      return true;
  return false;
}

bool is_open(int socket) {
  pollfd ready{.fd = socket, .events = POLLRDHUP, .revents = 0};
  return ::poll(&ready, 1, 0) == 0;
}

/// Sockets that are held open without being used.
class held_sockets {
public:
  held_sockets() = default;
  ~held_sockets() {
    for (int one : sockets_)
      ::close(one);
  }
  held_sockets(const held_sockets&) = delete;
  held_sockets& operator=(const held_sockets&) = delete;

  void add(int socket) { sockets_.push_back(socket); }
  [[nodiscard]] int operator[](std::size_t i) const { return sockets_[i]; }
  [[nodiscard]] const std::vector<int>& all() const { return sockets_; }
  /// Counts the sockets that the other end has not closed.
  [[nodiscard]] std::size_t open() const { return static_cast<std::size_t>(std::ranges::count_if(sockets_, is_open)); }
  void drop_closed() {
    std::erase_if(sockets_, [](int one) { return !is_open(one) && ::close(one) == 0; });
  }

private:
  std::vector<int> sockets_;
};

class half_open : public two_nodes {
protected:
  void SetUp() override {
    authority_ = made_.authority("authority");
    auto server = made_.issue(authority_, "server", "IP:127.0.0.1");
    far_options_.listen = {"tcp://127.0.0.1:0", "tls://127.0.0.1:0"};
    far_options_.accepted_links.credentials = {.secret = test_secret,
                                               .tls = {.certificate_file = server.certificate, .key_file = server.key}};
    owner_.credentials = {.secret = test_secret, .tls = {.authority_file = authority_.certificate}};
    // No peer is dropped because it is slow, however busy the machine is. Only tests of slowness change this.
    owner_.connect_timeout = far_options_.accepted_links.connect_timeout = 60s;
  }

  std::string tls_address() { return far().home->addresses().at(1); }

  certificate_folder made_;
  certificate_files authority_;
  link_options owner_;
};

/// Repeats the tests at nodes with several numbers of I/O threads.
class half_open_peers : public half_open, public testing::WithParamInterface<std::size_t> {
protected:
  half_open_peers() { far_options_.io_threads = near_options_.io_threads = GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(with, half_open_peers, testing::Values(1, 2, 4),
                         [](const auto& which) { return std::to_string(which.param) + "_io_threads"; });

// -- how long

TEST_P(half_open_peers, peers_that_stop_at_any_step_are_dropped_when_the_handshake_is_due) {
  far_options_.accepted_links.connect_timeout = 300ms;
  far();
  std::list<raw_peer> peers;
  peers.emplace_back(address_, test_secret);
  peers.emplace_back(tls_address(), test_secret);
  peers.emplace_back(address_, test_secret).write(make_preamble());
  peers.emplace_back(address_, test_secret).greet();
  peers.emplace_back(address_, test_secret).prove_itself();
  auto& late = peers.emplace_back(address_, test_secret, raw_identity{5});
  late.prove_itself();
  late.say(admin_op::hello, raw_peer::honest_hello());
  for (auto& peer : peers)
    peer.everything(); // Reads until the node closes.
  EXPECT_TRUE(eventually([&] { return far().home->links().empty(); }));
}

TEST_F(half_open, a_listener_that_says_nothing_keeps_a_dialer_no_longer_than_it_wants) {
  raw_listener silent;
  owner_.connect_timeout = 200ms;
  for (const auto* scheme : {"tcp", "tls"}) {
    auto connected = near().home->connect(silent.address(scheme), owner_);
    ASSERT_FALSE(connected) << scheme;
    EXPECT_EQ(connected.error().code(), node_errc::timed_out) << connected.error().message();
  }
}

TEST_P(half_open_peers, a_node_ends_at_once_though_peers_are_half_open) {
  far();
  held_sockets held;
  for (const auto& address : {address_, tls_address(), tls_address()})
    held.add(connect_to(address));
  raw_peer greeted{address_, test_secret};
  greeted.greet();
  EXPECT_TRUE(greeted.hear<greet>(admin_op::greet));
  auto begin = std::chrono::steady_clock::now();
  far_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 30s); // connect_timeout is 60 seconds.
}

// -- resets

TEST_P(half_open_peers, connections_reset_in_mid_packet_at_any_step_harm_nobody) {
  far();
  auto at_step = [&](const std::function<void(raw_peer&)>& steps) {
    raw_peer peer{address_, test_secret};
    steps(peer);
    peer.write_half_a_packet();
    peer.reset();
  };
  at_step([](raw_peer&) {});
  at_step([](raw_peer& peer) { peer.write(make_preamble()); });
  at_step([](raw_peer& peer) { peer.greet(); });
  at_step([](raw_peer& peer) { peer.prove_itself(); });
  at_step([](raw_peer& peer) {
    peer.prove_itself();
    peer.say(admin_op::hello, raw_peer::honest_hello());
  });
  at_step([](raw_peer& peer) { peer.open(); });
  at_step([](raw_peer& peer) {
    peer.open();
    peer.write_admin(admin_op::find, find_query{1, "nobody"});
  });
  raw_peer in_preamble{address_};
  in_preamble.write(bytes_view{make_preamble()}.first(3));
  in_preamble.reset();
  raw_peer in_tls{tls_address()};
  in_tls.write(bytes_of("\x16\x03\x01\x02"));
  in_tls.reset();
  EXPECT_TRUE(eventually([&] { return far().home->links().empty(); }));
  connect(owner_);
  EXPECT_TRUE(link_->is_open());
}

TEST_F(half_open, a_dialer_is_told_when_the_other_end_goes_at_any_step) {
  for (int steps = 0; steps < 4; ++steps) {
    raw_listener elsewhere;
    std::jthread acceptor{[&] {
      raw_peer peer{elsewhere.accept(), link_side::acceptor, test_secret, {2}};
      if (steps > 0) {
        EXPECT_TRUE(peer.hear<greet>(admin_op::greet));
      }
      if (steps > 1)
        peer.greet();
      if (steps > 2) {
        peer.proofs().said.add_session({});
        EXPECT_TRUE(peer.hear<prove>(admin_op::prove));
        peer.say(admin_op::prove, prove{peer.proofs().my_proof(proof_of::secret)});
      }
      peer.write_half_a_packet();
      peer.reset();
    }};
    auto connected = near().home->connect(elsewhere.address(), owner_);
    ASSERT_FALSE(connected) << steps;
    EXPECT_NE(connected.error().code(), node_errc::timed_out) << connected.error().message();
  }
}

// -- how many

TEST_P(half_open_peers, one_makes_room_and_the_owner_gets_in) {
  far_options_.unproven_peers_max = 4;
  far();
  held_sockets held;
  for (int i = 0; i < 4; ++i)
    held.add(connect_to(address_));
  connect(owner_);
  EXPECT_TRUE(eventually([&] { return held.open() == 3; }));
  held.add(connect_to(address_)); // The owner has proven itself, so its place is free.
  EXPECT_EQ(ask<int>(
                near().system,
                [&] {
                  publish("one",
                          far().system.spawn([]() -> caf::behavior { return {[](int value) { return value; }}; }));
                  return find("one");
                }(),
                5),
            5);
  EXPECT_EQ(held.open(), 4u);
}

// Goal: a displaced peer is gone at once, even if it does not close. If another thread has to end a peer's link, only a
// few peers wait for that.
TEST_P(half_open_peers, a_flood_takes_no_more_descriptors_than_peers_may_wait) {
  constexpr std::size_t unproven = 8;
  far_options_.unproven_peers_max = unproven;
  far();
  const auto before = open_descriptors();
  held_sockets flood;
  std::size_t most = 0;
  for (int i = 0; i < 300; ++i) {
    flood.add(connect_to(address_));
    most = std::max(most, held_descriptors() - before - flood.all().size());
  }
  EXPECT_TRUE(eventually([&] { return flood.open() == unproven; }));
  const auto leaving = GetParam() == 1 ? 0 : unproven_links<int>::leaving_max;
  const auto by_loops = 3 * (GetParam() - 1);         // Each loop opens these for its first link.
  EXPECT_LE(most, unproven + leaving + by_loops + 2); // Plus an arriving peer and the counting itself.
}

// Goal: connections that only wait do not keep the owner out, even if the process has fewer descriptors than the number
// of peers that may wait.
TEST_P(half_open_peers, the_owner_gets_in_though_a_flood_has_taken_all_descriptors) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "the sanitizers need descriptors of their own";
#endif
  other_process elsewhere{[](const std::string& address) {
    held_sockets flood;
    for (int i = 0; i < 100; ++i)
      flood.add(connect_to(address));
    raw_peer owner{connect_to(address, 2), link_side::dialer, test_secret, {4}};
    owner.open();
    return !testing::Test::HasFailure();
  }};
  far_options_.unproven_peers_max = 1'000;
  far();
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const rlimit scarce{.rlim_cur = open_descriptors() + 20, .rlim_max = before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &scarce), 0);
  EXPECT_TRUE(elsewhere.says_yes(address_));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
}

TEST_P(half_open_peers, a_flood_from_elsewhere_does_not_displace_the_owner) {
  far_options_.unproven_peers_max = 4;
  far();
  raw_peer owner{address_, test_secret};
  owner.greet();
  EXPECT_TRUE(owner.hear<greet>(admin_op::greet)); // Half-open, and slow.
  held_sockets flood;
  for (int i = 0; i < 50; ++i)
    flood.add(connect_to(address_, 2));
  EXPECT_TRUE(eventually([&] { return flood.open() == 3; }));
  owner.proofs().said.add_session({});
  owner.say(admin_op::prove, prove{owner.proofs().my_proof(proof_of::secret)});
  EXPECT_TRUE(owner.hear<prove>(admin_op::prove));
}

TEST_P(half_open_peers, owners_get_in_while_a_flood_goes_on) {
  far_options_.unproven_peers_max = 8;
  far();
  // Connects as fast as the node accepts, and no faster.
  std::jthread flood{[&](const std::stop_token& stop) {
    held_sockets held;
    while (!stop.stop_requested()) {
      held.add(connect_to(address_, 2));
      while (held.all().size() > 9 && !stop.stop_requested())
        held.drop_closed();
    }
  }};
  for (int i = 0; i < 5; ++i) {
    auto connected = near().home->connect(address_, owner_);
    EXPECT_TRUE(connected) << connected.error().message();
  }
}

// -- what half-open peers make a node log

/// Redirects the standard error stream while the object lives.
class error_stream_is {
public:
  explicit error_stream_is(int descriptor) : before_(::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)) {
    ::dup2(descriptor, STDERR_FILENO);
  }
  ~error_stream_is() {
    ::dup2(before_, STDERR_FILENO);
    ::close(before_);
  }
  error_stream_is(const error_stream_is&) = delete;
  error_stream_is& operator=(const error_stream_is&) = delete;

private:
  const int before_;
};

// Goal: a stranger that does not know the secret cannot stop the node by making it log, whatever has happened to the
// reader of the log.
TEST_F(half_open, strangers_that_make_a_node_log_do_not_stop_it) {
  const auto threshold = log_threshold();
  set_log_threshold(log_level::warning);
  far();
  near();
  for (const auto reader_is_gone : {false, true}) {
    int both[2];
    ASSERT_EQ(::pipe2(both, O_CLOEXEC), 0);
    ::fcntl(both[1], F_SETFL, O_NONBLOCK);
    const std::array<char, 4096> full{};
    while (::write(both[1], full.data(), full.size()) > 0)
      continue;
    ::fcntl(both[1], F_SETFL, 0);
    if (reader_is_gone)
      ::close(both[0]);
    {
      const error_stream_is taken{both[1]};
      for (int i = 0; i < 20; ++i) {
        raw_peer stranger{address_, "another secret of 16 bytes"};
        stranger.greet();
        static_cast<void>(stranger.hear<greet>(admin_op::greet));
        stranger.say(admin_op::prove, prove{byte_vector(32)});
        static_cast<void>(stranger.farewell());
      }
      connect(owner_);
      EXPECT_TRUE(link_->is_open());
    }
    ::close(both[1]);
    if (!reader_is_gone)
      ::close(both[0]);
  }
  set_log_threshold(threshold);
}

// -- what each costs

/// Returns the resident memory without free blocks, whose reuse would go unnoticed.
std::size_t resident_bytes_at_least() {
  ::malloc_trim(0);
  return resident_bytes();
}

constexpr bool memory_is_as_in_production =
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    false;
#else
    true;
#endif

class cost_of_half_open : public half_open {
protected:
  void measure(const std::string& what, const std::string& address, bytes_view said) {
    if (!memory_is_as_in_production)
      GTEST_SKIP() << "sanitizers need memory of their own";
    constexpr std::size_t bytes_max = 128_KiB;
    auto least = SIZE_MAX;
    for (int attempt = 0; attempt < 3 && least > bytes_max; ++attempt) { // Other memory adds to it.
      std::size_t each = 0;
      ASSERT_NO_FATAL_FAILURE(measure_once(address, said, each));
      least = std::min(least, each);
    }
    std::cout << what << ": " << grouped(least) << " bytes each\n";
    RecordProperty("bytes_each", static_cast<int>(least));
    EXPECT_LE(least, bytes_max);
  }

  /// Measures the resident memory for each of 60 peers that have sent `said` and then nothing.
  void measure_once(const std::string& address, bytes_view said, std::size_t& each) {
    constexpr std::size_t peers = 60;
    auto before = resident_bytes_at_least();
    held_sockets held;
    for (std::size_t i = 0; i < peers; ++i) {
      held.add(connect_to(address, static_cast<std::uint32_t>(2 + i))); // TLS makes peers of one address wait.
      ASSERT_EQ(::send(held[i], said.data(), said.size(), MSG_NOSIGNAL), static_cast<ssize_t>(said.size()));
    }
    // Once the node has handled this last peer, it has handled all earlier ones.
    raw_peer last{address_, test_secret};
    last.greet();
    EXPECT_TRUE(last.hear<greet>(admin_op::greet));
    std::size_t highest = 0;
    const auto looks = address.starts_with("tls") ? 1'000 : 50; // Handshakes start one after the other.
    for (int look = 0; look < looks; ++look) {
      highest = std::max(highest, resident_bytes());
      std::this_thread::sleep_for(1ms);
    }
    each = (highest - std::min(before, highest)) / peers;
    for (int one : held.all())
      EXPECT_TRUE(is_open(one));
  }

  void SetUp() override {
    half_open::SetUp();
    far();
    raw_peer warm{address_, test_secret}; // One-time allocations are not counted.
    warm.open();
  }
};

TEST_F(cost_of_half_open, silent_over_tcp) {
  measure("silent", address_, {});
}

TEST_F(cost_of_half_open, greeted_with_most_of_a_packet_behind_it) {
  authentication somebody{link_side::dialer, 3, std::string(40, 'd'), test_secret, random_digest()};
  byte_vector said;
  auto append = [&](bytes_view bytes) { said.insert(said.end(), bytes.begin(), bytes.end()); };
  append(make_preamble());
  append(raw_peer::packet(packet_kind::admin, 14, msgpack::encode_described(somebody.my_greet())));
  auto large = raw_peer::packet(packet_kind::admin, 15, byte_vector(unproven_body_bytes_max));
  append(bytes_view{large}.first(large.size() - 1));
  measure("greeted, most of a packet", address_, said);
}

TEST_F(cost_of_half_open, silent_over_tls) {
  measure("TLS, silent", tls_address(), {});
}

TEST_F(cost_of_half_open, with_most_of_a_large_tls_handshake) {
  // A ClientHello of almost the longest permitted length, without its last byte.
  constexpr std::size_t message_bytes = tls_meter::message_bytes_max - 4;
  byte_vector said;
  for (int byte : {0x16, 0x03, 0x01, 0x40, 0x00, 1, 0, static_cast<int>(message_bytes >> 8),
                   static_cast<int>(message_bytes & 0xff)})
    said.push_back(static_cast<std::byte>(byte));
  said.resize(said.size() + message_bytes - 1, std::byte{0x5a});
  measure("TLS, most of a handshake", tls_address(), said);
}

/// Opens `count` TLS connections that stay. Runs in another process, since their other ends need memory as well.
std::function<bool(const std::string&)> tls_clients(std::size_t count, const byte_vector& said) {
  return [=](const std::string& address) {
    auto* context = SSL_CTX_new(TLS_client_method());
    for (std::size_t i = 0; i < count; ++i) {
      auto* one = SSL_new(context);
      SSL_set_fd(one, connect_to(address, static_cast<std::uint32_t>(2 + i)));
      if (SSL_connect(one) != 1 || SSL_write(one, said.data(), static_cast<int>(said.size())) <= 0)
        return false;
    }
    return true;
  };
}

TEST_F(half_open, costs_little_with_most_of_a_packet_behind_a_whole_tls_handshake) {
  if (!memory_is_as_in_production)
    GTEST_SKIP() << "sanitizers need memory of their own";
  constexpr std::size_t peers = 60;
  byte_vector said;
  auto preamble = make_preamble();
  said.insert(said.end(), preamble.begin(), preamble.end());
  auto large = raw_peer::packet(packet_kind::admin, 14, byte_vector(unproven_body_bytes_max));
  said.insert(said.end(), large.begin(), large.end() - 1);
  other_process clients{tls_clients(peers, said)};
  other_process warm{tls_clients(2, said)};
  far();
  ASSERT_TRUE(warm.says_yes(tls_address()));
  auto before = resident_bytes_at_least();
  ASSERT_TRUE(clients.says_yes(tls_address()));
  std::size_t highest = 0;
  for (int look = 0; look < 50; ++look) {
    highest = std::max(highest, resident_bytes());
    std::this_thread::sleep_for(1ms);
  }
  auto each = (highest - std::min(before, highest)) / peers;
  std::cout << "TLS, most of a packet: " << grouped(each) << " bytes each\n";
  EXPECT_LE(each, 128_KiB);
}

// Goal: however many handshakes strangers request, a node starts a bounded number, and the owner's is among them.
// Method: the owner comes from another network than the flood.
TEST_P(half_open_peers, owners_get_in_while_strangers_ask_for_tls_handshakes) {
  other_process strangers{[](const std::string& address) {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&](const std::stop_token& stop) {
        auto* context = SSL_CTX_new(TLS_client_method());
        while (!stop.stop_requested()) {
          auto* one = SSL_new(context);
          const auto socket = connect_to(address, (1u << 16) + 2); // 127.1.0.2
          timeval limit{.tv_sec = 0, .tv_usec = 100'000};
          ::setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
          SSL_set_fd(one, socket);
          static_cast<void>(SSL_connect(one));
          SSL_free(one);
          ::close(socket);
        }
        SSL_CTX_free(context);
      });
    std::this_thread::sleep_for(3s);
    return true;
  }};
  far();
  near();
  auto flood = std::async(std::launch::async, [&] { return strangers.says_yes(tls_address()); });
  while (flood.wait_for(0ms) != std::future_status::ready) {
    const auto connected = near().home->connect(tls_address(), owner_);
    EXPECT_TRUE(connected) << connected.error().message();
  }
  EXPECT_TRUE(flood.get());
}

TEST_F(half_open, a_tls_handshake_that_is_too_large_is_cut_off) {
  far();
  int socket = connect_to(tls_address());
  held_sockets held;
  held.add(socket);
  byte_vector said = {std::byte{0x16}, std::byte{3}, std::byte{1}, std::byte{0x40}, std::byte{0}};
  said.resize(said.size() + 0x4000, std::byte{0});
  said[5] = std::byte{1};
  said[6] = std::byte{1};
  for (int i = 0; i < 8; ++i) {
    [[maybe_unused]] auto sent = ::send(socket, said.data(), said.size(), MSG_NOSIGNAL);
    std::fill(said.begin() + 5, said.end(), std::byte{0});
  }
  EXPECT_TRUE(is_closed(socket));
}

// -- descriptors

TEST_F(half_open, a_node_out_of_descriptors_turns_peers_away_and_goes_on) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "UndefinedBehaviorSanitizer needs descriptors of its own to look at memory";
#endif
  // The node lives in a child process with few descriptors, the peers in this process.
  auto child = processes::process::fork([&](processes::line_channel& test) {
                 far_options_.store = std::nullopt;
                 auto& node = far();
                 int lowest_free = ::dup(0);
                 ::close(lowest_free);
                 rlimit few{.rlim_cur = static_cast<rlim_t>(lowest_free + 10),
                            .rlim_max = static_cast<rlim_t>(lowest_free + 10)};
                 ::setrlimit(RLIMIT_NOFILE, &few);
                 test.write_line(node.home->addresses()[0]);
                 static_cast<void>(test.read_line()); // Returns once the test has closed the channel.
                 return 0;
               }).value();
  const auto address = child.channel().read_line().value();
  {
    held_sockets held;
    for (int i = 0; i < 40; ++i)
      held.add(connect_to(address));
    // Only about ten can stay; the others are closed.
    std::size_t closed = 0;
    EXPECT_TRUE(eventually([&] {
      closed = static_cast<std::size_t>(std::ranges::count_if(held.all(), [](int one) { return !is_open(one); }));
      return closed >= 30;
    })) << closed;
    EXPECT_LT(closed, 40u);
  }
  raw_peer owner{address, test_secret};
  owner.open();
  child.channel().end_writing();
  EXPECT_EQ(child.wait(), processes::exited_with(0));
}

} // namespace
} // namespace troupe::tests
