// A peer that does not read, or reads slowly: the node keeps a bounded amount of data for it, and counts the messages
// that do not reach it.
#include <algorithm>
#include <limits>

#include "raw_peer.hpp"
#include "relay.hpp"
#include "resident.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

constexpr std::size_t answer_bytes = 10'000;
constexpr std::size_t window_bytes = 192_KiB; // More than these peers send without reading.

class unread : public two_nodes {
protected:
  unread() {
    far_options_.store = near_options_.store = std::nullopt;
    far_options_.accepted_links.window_bytes = window_bytes;
    far_options_.accepted_links.actor_window_bytes = window_bytes;
    far_options_.accepted_links.unread_answer_bytes = 1_MiB;
  }

  void SetUp() override {
    publish("echo", far().system.spawn([]() -> caf::behavior {
      return {[](std::int32_t value) { return std::string(answer_bytes, static_cast<char>('a' + value % 26)); }};
    }));
  }

  /// Returns the packet of a message with one i32.
  byte_vector int_packet(const message_head& head) {
    auto encoded = serialize(std::int32_t{7}, {.serializers = {"typed"}}, far().types, far().families).value();
    return raw_peer::message_packet(head, encoded.header.bytes(), encoded.frames.at(0).bytes());
  }

  byte_vector request_packet(std::uint64_t receiver, std::uint64_t number) {
    return int_packet({.flags = message_flags::request, .receiver = receiver, .sender = 77, .request_number = number});
  }

  /// Returns the statistics of the far end's only link, or nullopt if it has none.
  std::optional<link_stats> far_stats() {
    auto links = far().home->links();
    return links.empty() ? std::nullopt : std::optional{links.front().stats()};
  }

  bool far_link_ends() {
    return eventually([this] { return far().home->links().empty(); });
  }

  /// Writes the packet repeatedly until the far end has ended the link. Returns false if that never happens.
  bool ends_for(raw_peer& peer, const byte_vector& packet) {
    byte_vector many;
    while (many.size() < 60'000)
      many.insert(many.end(), packet.begin(), packet.end());
    return eventually([&] {
      peer.write(many);
      return far().home->links().empty();
    });
  }
};

template <class Admin>
byte_vector admin_packet(admin_op op, const Admin& what) {
  return raw_peer::packet(packet_kind::admin, static_cast<std::uint8_t>(op), msgpack::encode_described(what));
}

TEST_F(unread, who_asks_the_link_itself_and_never_reads_has_it_ended) {
  for (const auto& packet :
       {admin_packet(admin_op::ping, ping{}), admin_packet(admin_op::find, find_query{1, "echo"})}) {
    raw_peer peer{address_};
    peer.open_and_find("echo");
    EXPECT_TRUE(ends_for(peer, packet));
  }
}

TEST_F(unread, answers_beyond_the_bound_are_errors_and_none_is_lost) {
  constexpr std::uint64_t requests = 1'000; // 10 MB of answers.
  raw_peer peer{address_};
  auto echo = peer.open_and_find("echo");
  peer.define_signature({"i32"});
  for (std::uint64_t i = 1; i <= requests; ++i) {
    peer.write(request_packet(echo, i));
    if (i % 100 == 0) { // Stays within the peer's credit.
      ASSERT_TRUE(eventually([&] { return far_stats() && far_stats()->unconsumed_bytes_here == 0; }));
    }
  }
  ASSERT_TRUE(eventually([&] { return far_stats() && far_stats()->messages_sent == requests; }));
  auto stats = *far_stats();
  EXPECT_GT(stats.refused_at_bound, requests / 2);
  EXPECT_GT(stats.unread_bytes, 1_MiB);
  EXPECT_LT(stats.unread_bytes, 1_MiB + window_bytes + 2 * answer_bytes + requests * 500);
  std::uint64_t answers = 0;
  std::uint64_t large = 0;
  while (answers < requests) {
    auto packet = peer.next_packet();
    ASSERT_TRUE(packet);
    answers += packet->head.kind == packet_kind::message ? 1 : 0;
    large += packet->body.size() > answer_bytes ? 1 : 0;
  }
  EXPECT_EQ(large + stats.refused_at_bound, requests);
  EXPECT_TRUE(eventually([&] { return far_stats() && far_stats()->unread_bytes == 0; }));
}

TEST_F(unread, a_large_answer_comes_where_nothing_else_waits) {
  publish("large",
          far().system.spawn([]() -> caf::behavior { return {[](std::int32_t) { return std::string(5_MiB, 'x'); }}; }));
  connect();
  for (int i = 0; i < 3; ++i) {
    auto answer = ask<std::string>(near().system, find("large"), std::int32_t{1});
    ASSERT_TRUE(answer) << text_of(answer);
    EXPECT_EQ(answer->size(), 5_MiB);
  }
}

TEST_F(unread, who_asked_for_too_much_at_once_gets_the_reason) {
  publish("large",
          far().system.spawn([]() -> caf::behavior { return {[](std::int32_t) { return std::string(5_MiB, 'x'); }}; }));
  connect();
  caf::scoped_actor self{near().system};
  auto large = find("large");
  int answered = 0;
  std::string refused;
  constexpr int requests = 20;
  auto ask_one = [&] { return self->request(large, 10s, std::int32_t{1}); };
  std::vector<decltype(ask_one())> asked;
  std::generate_n(std::back_inserter(asked), requests, ask_one);
  for (auto& one : asked)
    one.receive([&](const std::string&) { ++answered; }, [&](caf::error& error) { refused = troupe::text_of(error); });
  EXPECT_GT(answered, 0);
  if (answered < requests) { // Depends on how fast this end reads.
    expect_contains(refused, "ask for less at a time");
  }
}

TEST_F(unread, no_bound_is_no_bound) {
  far_.reset();
  far_options_.accepted_links.unread_answer_bytes = std::numeric_limits<std::size_t>::max();
  SetUp();
  connect();
  auto echo = find("echo");
  caf::scoped_actor self{near().system};
  auto ask_one = [&] { return self->request(echo, caf::infinite, std::int32_t{1}); };
  std::vector<decltype(ask_one())> asked;
  std::generate_n(std::back_inserter(asked), 100, ask_one);
  for (auto& one : asked)
    one.receive([](const std::string& answer) { EXPECT_EQ(answer.size(), answer_bytes); },
                [](caf::error& error) { ADD_FAILURE() << troupe::text_of(error); });
}

TEST_F(unread, small_answers_come_beside_a_large_message) {
  far_options_.accepted_links = {};
  far_options_.accepted_links.unread_answer_bytes = 1_MiB;
  far_.reset();
  SetUp();
  publish("giver", far().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
    return {[self](const caf::actor& whom) { self->send(whom, std::string(100_MiB, 'x')); }};
  }));
  connect();
  auto came = std::make_shared<std::atomic<bool>>(false);
  auto taker =
      near().system.spawn([came]() -> caf::behavior { return {[came](const std::string&) { *came = true; }}; });
  auto echo = find("echo");
  caf::anon_send(find("giver"), taker);
  while (!*came && link_->is_open()) {
    auto answer = ask<std::string>(near().system, echo, std::int32_t{1});
    ASSERT_TRUE(answer) << text_of(answer);
  }
  EXPECT_TRUE(*came);
}

TEST_F(unread, nothing_is_unread_after_the_end) {
  std::optional<link> kept;
  {
    raw_peer peer{address_};
    auto echo = peer.open_and_find("echo");
    peer.define_signature({"i32"});
    for (std::uint64_t i = 1; i <= 50; ++i)
      peer.write(request_packet(echo, i));
    kept.emplace(far().home->links().front());
    ASSERT_TRUE(eventually([&] { return kept->stats().messages_sent == 50; }));
  }
  ASSERT_TRUE(far_link_ends());
  EXPECT_EQ(kept->stats().unread_bytes, 0u);
}

TEST_F(unread, a_window_that_a_peer_claims_does_not_fill_this_node) {
  constexpr int messages = 1'000;
  publish("giver", far().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
    return {[self](std::int32_t) {
      auto to = caf::actor_cast<caf::actor>(self->current_sender());
      for (int i = 0; i < messages; ++i)
        self->send(to, std::string(answer_bytes, 'x'));
      self->send(self, caf::unit);
    }};
  }));
  raw_peer peer{address_};
  auto mine = raw_peer::honest_hello();
  mine.window_bytes = mine.actor_window_bytes = std::uint64_t{1} << 50;
  peer.open(mine);
  peer.write_admin(admin_op::find, find_query{1, "giver"});
  auto giver = peer.hear<found>(admin_op::found);
  ASSERT_TRUE(giver);
  peer.define_signature({"i32"});
  peer.write(request_packet(giver->actor, 1));
  ASSERT_TRUE(eventually(
      [&] { return far_stats() && far_stats()->messages_sent + far_stats()->refused_at_bound >= messages; }));
  EXPECT_LE(far_stats()->unconsumed_bytes_there, window_bytes + 2 * answer_bytes);
}

// Method: each answered message has another sender, and the peer gives no credit.
TEST_F(unread, what_is_kept_for_a_peer_that_consumes_nothing_is_about_what_its_windows_say) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer keeps what is freed";
#endif
  constexpr std::size_t window = 4_MiB;
  constexpr std::size_t queue = 1_MiB;
  constexpr std::uint64_t messages = 40'000; // Their answers of 150 bytes exceed both.
  far_.reset();
  auto& accepted = far_options_.accepted_links;
  accepted.window_bytes = accepted.actor_window_bytes = window;
  accepted.queue_bytes = accepted.actor_queue_bytes = queue;
  publish("teller", far().system.spawn([](caf::event_based_actor* self) -> caf::behavior {
    return {[self](std::int32_t value) { self->send(caf::actor_cast<caf::actor>(self->current_sender()), value); }};
  }));
  raw_peer peer{address_};
  auto mine = raw_peer::honest_hello();
  mine.window_bytes = mine.actor_window_bytes = window;
  peer.open(mine);
  peer.write_admin(admin_op::find, find_query{1, "teller"});
  const auto teller = peer.hear<found>(admin_op::found);
  ASSERT_TRUE(teller);
  peer.define_signature({"i32"});
  const auto before = resident_bytes();
  for (std::uint64_t i = 1; i <= messages; ++i) {
    peer.write(int_packet({.receiver = teller->actor, .sender = 1'000 + i}));
    if (i % 1'000 == 0) { // Stays within the peer's credit.
      ASSERT_TRUE(eventually([&] {
        return far_stats() && far_stats()->messages_received == i && far_stats()->unconsumed_bytes_here == 0;
      }));
    }
  }
  ASSERT_TRUE(eventually(
      [&] { return far_stats() && far_stats()->messages_sent + far_stats()->refused_at_bound == messages; }));
  const auto kept = resident_bytes() - before;
  EXPECT_GE(far_stats()->unconsumed_bytes_there, window);
  EXPECT_GT(far_stats()->refused_at_bound, 0u);
  EXPECT_LT(kept, 2 * (window + queue));
}

TEST_F(unread, who_sends_more_than_the_window_has_the_link_ended) {
  std::promise<void> over;
  publish("stuck", far().system.spawn([opened = over.get_future().share()]() -> caf::behavior {
    return {[opened](std::int32_t) { opened.wait_for(10s); }};
  }));
  raw_peer peer{address_};
  auto stuck = peer.open_and_find("stuck");
  peer.define_signature({"i32"});
  auto packet = int_packet({.receiver = stuck});
  for (int i = 0; i < 1'600; ++i)
    peer.write(packet);
  expect_contains(peer.farewell(), "exceeded its credit");
  over.set_value();
}

class slow_network : public relayed_nodes {
protected:
  void SetUp() override {
    options_.credentials.secret = std::string(32, 's');
    options_.share_store = false;
    options_.block_timeout = 0ms;
    far_options_.store = near_options_.store = std::nullopt;
    far_options_.listen = {"tcp://127.0.0.1:0"};
    far_options_.accepted_links = options_;
  }

  link_options options_;
};

TEST_F(slow_network, is_no_dead_peer) {
  options_.heartbeat_interval = 100ms;
  options_.heartbeat_timeout = 600ms;
  expect_to_stay_though_reading_is_slow(connect_through_relay(options_));
}

TEST_F(slow_network, what_was_not_written_at_the_end_is_counted) {
  auto sink = connect_through_relay(options_);
  between_->stall();
  constexpr std::uint64_t messages = 7'000;
  const std::string text(1'000, 'x');
  for (std::uint64_t i = 0; i < messages; ++i)
    caf::anon_send(sink, text);
  auto refused = link_->stats().refused_at_bound;
  near().home.reset();
  between_->stop();
  auto undelivered = link_->stats().undelivered;
  EXPECT_GT(undelivered, 0u);
  // What the operating system had taken is unknown; everything else is counted.
  EXPECT_LE(*got_ + undelivered + refused, messages);
  EXPECT_GT(undelivered + refused, messages - 6'000); // Two sockets' buffers.
}

// Goal: everything written before the end arrives, even if the peer continues to write what is no longer read.
// Method: the peer reads slowly into a small buffer, so that answers are still on their way when the node ends.
TEST_F(slow_network, the_end_loses_nothing_that_was_written) {
  constexpr std::uint64_t requests = 200;
  far_options_.drain_timeout = 20s;
  publish("echo", far().system.spawn(
                      []() -> caf::behavior { return {[](std::int32_t) { return std::string(50'000, 'x'); }}; }));
  auto connected = connect_to(address_);
  int small = 131'072; // Below one segment, TCP may report free room only after a long time.
  ::setsockopt(connected, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
  raw_peer peer{connected, link_side::dialer, options_.credentials.secret};
  auto echo = peer.open_and_find("echo");
  ASSERT_NE(echo, 0u);
  peer.define_signature({"i32"});
  auto value = serialize(std::int32_t{7}, {.serializers = {"typed"}}, far().types, far().families).value();
  for (std::uint64_t i = 1; i <= requests; ++i)
    peer.write(
        raw_peer::message_packet({.flags = message_flags::request, .receiver = echo, .sender = 77, .request_number = i},
                                 value.header.bytes(), value.frames.at(0).bytes()));
  auto kept = far().home->links().front();
  ASSERT_TRUE(eventually([&] { return kept.stats().messages_sent == requests; }));
  std::atomic<bool> over{false};
  std::jthread writer{[&] {
    byte_vector many;
    while (many.size() < 20'000) {
      auto one = raw_peer::packet(packet_kind::admin, static_cast<std::uint8_t>(admin_op::pong),
                                  msgpack::encode_described(ping{}));
      many.insert(many.end(), one.begin(), one.end());
    }
    while (!over)
      peer.write(many);
  }};
  auto ended = std::async(std::launch::async, [&] { far_->home.reset(); });
  std::uint64_t answers = 0;
  bool said_goodbye = false;
  while (auto packet = peer.next_packet()) {
    answers += packet->head.kind == packet_kind::message ? 1 : 0;
    said_goodbye |=
        packet->head.kind == packet_kind::admin && static_cast<admin_op>(packet->head.detail) == admin_op::goodbye;
    std::this_thread::sleep_for(500us);
  }
  over = true;
  ended.get();
  EXPECT_EQ(answers, requests);
  EXPECT_TRUE(said_goodbye);
}

} // namespace
} // namespace troupe::tests
