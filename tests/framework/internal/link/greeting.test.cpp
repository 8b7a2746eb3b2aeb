// One end of a link until the link is open. The test acts as the peer.
#include <asio/io_context.hpp>

#include <troupe/framework/internal/link/greeting.hpp>

#include <cstdlib>

#include <troupe/framework/internal/caf_port/actors/shared_helpers.hpp>
#include <troupe/framework/internal/link/link_host.hpp>
#include <troupe/framework/internal/trust/known_peers.hpp>

#include "lone_link.hpp"

namespace troupe::internal {
namespace {

using namespace std::chrono_literals;

/// Keeps the bytes that are written. No bytes ever arrive.
class kept_bytes final : public transport {
public:
  void read_some(std::span<std::byte>, std::function<void(std::error_code, std::size_t)> done) override {
    reader = std::move(done);
  }
  void write(std::span<const bytes_view> pieces, std::function<void(std::error_code)> done) override {
    for (const auto& each : pieces)
      written.insert(written.end(), each.begin(), each.end());
    done({});
  }
  std::expected<std::size_t, std::error_code> write_now(std::span<const bytes_view>) override { return 0; }
  void close() override { is_closed = true; }

  std::function<void(std::error_code, std::size_t)> reader;
  byte_vector written;
  bool is_closed = false;
};

class end_of_connection final : public connection_events {
public:
  std::expected<void, node_error> on_packet(const packet_head&, bytes_view) override { return {}; }
  void on_bad_packet(const node_error&) override {}
  void on_all_handled() override {}
  bool refill(const link_held&, outbox&) override { return false; }
  void on_closed(const node_error& reason, std::uint64_t) override { ended = reason; }

  std::optional<node_error> ended;
};

/// A node that has only the parts that a handshake needs.
class lone_node final : public link_host, public link_book<node_link>, public entrance_book {
public:
  lone_node(caf::actor_system& system, type_registry& types, const family_set& families, asio::io_context& io)
      : link_host(system, types, families, {.name = "near"}, {std::shared_ptr<void>{}, &io}),
        helpers_(system, types, [](const auto&) { return query_answers{}; }) {}

  void name_changed_there(std::uint64_t, const std::string&) override {}
  name_book& names() noexcept override { std::abort(); }
  link_book<node_link>& links() noexcept override { return *this; }
  entrance_book& entrances() noexcept override { return *this; }
  known_peers& peers() noexcept override { return known_; }
  shared_helpers& helpers() noexcept override { return helpers_; }
  job_actor& encoder() noexcept override { std::abort(); }
  dead_letter_box& letters() noexcept override { std::abort(); }
  store_reaper& reaper() noexcept override { std::abort(); }
  whereabouts_book& whereabouts() noexcept override { std::abort(); }

  void note_opened() noexcept override {}
  void note_refused_peer() noexcept override { ++refused; }
  void ended(node_link*) override {}
  void note_late(const link_stats&) override {}
  caf::strong_actor_ptr recognize(const introduce&) const override { return nullptr; }
  std::vector<std::string> addresses() const override { return {}; }
  void unproven_peer_is_gone(node_link*) override { is_proven = true; }

  int refused = 0;
  bool is_proven = false;

private:
  known_peers known_;
  shared_helpers helpers_;
};

class a_greeting : public lone_named_link {
protected:
  a_greeting() {
    families_mine_ = {{"typed"}, {"typed"}};
    connection_->start(events_);
  }
  ~a_greeting() override {
    connection_->abort({node_errc::link_down, "the test is over"});
    io_.poll();
    node_->helpers().end();
  }

  greeting& begin(link_side side, std::chrono::milliseconds patience = 1h) {
    own_end mine;
    mine.side = side;
    mine.name = "near";
    mine.node = read_node_id(1, std::string(40, 'c'));
    mine.families = families_mine_;
    greeting_.emplace(greeting::parts{.node = *node_,
                                      .io = io_,
                                      .options = options_,
                                      .life = life_,
                                      .over = *connection_,
                                      .actors = names_,
                                      .peer = peer_,
                                      .log = log_},
                      std::move(mine), nullptr);
    greeting_->begin(patience, owner_);
    return *greeting_;
  }
  /// Returns the messages that this end has sent after the preamble. Waits up to 10 s for `at_least` messages.
  std::vector<admin_op> said(std::size_t at_least = 0) {
    const auto deadline = std::chrono::steady_clock::now() + 10s;
    auto ops = written();
    while (ops.size() < at_least && std::chrono::steady_clock::now() < deadline) {
      io_.run_for(1ms);
      ops = written();
    }
    return ops;
  }
  std::vector<admin_op> written() {
    io_.restart();
    io_.poll();
    std::vector<admin_op> ops;
    for (bytes_view rest = bytes_view{bytes_->written}.subspan(preamble_bytes); !rest.empty();) {
      const auto head = read_packet_head(rest.first<packet_head_bytes>());
      ops.push_back(static_cast<admin_op>(head.detail));
      rest = rest.subspan(packet_head_bytes + head.body_bytes);
    }
    return ops;
  }
  template <class Admin>
  auto hear(admin_op op, const Admin& what) {
    const auto body = encode_admin(what);
    return greeting_->on_packet({.body_bytes = static_cast<std::uint32_t>(body.size()),
                                 .kind = packet_kind::admin,
                                 .detail = static_cast<std::uint8_t>(op)},
                                body);
  }
  greet far() const {
    return {.process = 8, .host = std::string(40, 'b'), .nonce = byte_vector(32), .method = 0, .connection = {}};
  }

  asio::io_context io_;
  type_registry types_;
  family_set families_;
  family_names families_mine_;
  link_options options_;
  std::shared_ptr<lone_node> node_ = std::make_shared<lone_node>(system_, types_, families_, io_);
  std::shared_ptr<kept_bytes> bytes_ = std::make_shared<kept_bytes>();
  std::shared_ptr<end_of_connection> events_ = std::make_shared<end_of_connection>();
  std::shared_ptr<connection> connection_ =
      std::make_shared<connection>(io_, bytes_, std::shared_ptr<link_mutex>{std::shared_ptr<void>{}, &mutex_});
  known_peer peer_{node_->peers()};
  std::shared_ptr<int> owner_ = std::make_shared<int>();
  std::optional<greeting> greeting_;
};

TEST_F(a_greeting, begins_where_this_end_has_dialed) {
  begin(link_side::dialer);
  EXPECT_EQ(said(1), (std::vector{admin_op::greet}));
}

TEST_F(a_greeting, goes_on_to_the_hello_once_the_peer_may_come_in) {
  begin(link_side::acceptor);
  EXPECT_TRUE(said().empty());
  const auto terms = hear(admin_op::greet, far());
  ASSERT_TRUE(terms);
  EXPECT_FALSE(*terms); // The peer has more to say.
  const auto answers = said(1);
  ASSERT_FALSE(answers.empty());
  EXPECT_EQ(answers.front(), admin_op::greet);
}

TEST_F(a_greeting, refuses_a_peer_and_tells_it) {
  begin(link_side::acceptor);
  const auto terms = hear(admin_op::hello, hello{});
  ASSERT_FALSE(terms);
  EXPECT_EQ(said(1), (std::vector{admin_op::refuse}));
  EXPECT_EQ(node_->refused, 1);
}

TEST_F(a_greeting, ends_by_the_peers_words) {
  begin(link_side::dialer);
  const auto refused = hear(admin_op::refuse, refuse{static_cast<std::uint8_t>(node_errc::nothing_in_common), "no"});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code(), node_errc::refused); // An unproven peer's refusal is never final.
  EXPECT_FALSE(hear(admin_op::goodbye, goodbye{"enough"}));
  EXPECT_EQ(said(1), (std::vector{admin_op::greet})); // The peer gets no reply to that.
}

TEST_F(a_greeting, has_a_time) {
  begin(link_side::acceptor, 1ms);
  for (const auto until = std::chrono::steady_clock::now() + 5s;
       !events_->ended && std::chrono::steady_clock::now() < until;) {
    io_.restart();
    io_.run_one_for(10ms);
  }
  ASSERT_TRUE(events_->ended);
  EXPECT_EQ(events_->ended->code(), node_errc::timed_out);
  EXPECT_TRUE(bytes_->is_closed);
}

TEST_F(a_greeting, has_no_time_any_more_once_the_link_is_open) {
  begin(link_side::acceptor, 1ms);
  open();
  io_.restart();
  io_.run_for(20ms);
  EXPECT_FALSE(events_->ended);
}

TEST_F(a_greeting, makes_room_for_others_at_once) {
  begin(link_side::acceptor).displace();
  ASSERT_TRUE(events_->ended);
  EXPECT_EQ(events_->ended->code(), node_errc::timed_out);
  EXPECT_EQ(node_->refused, 1);
}

TEST_F(a_greeting, counts_a_peer_as_known_until_it_leaves) {
  const auto id = read_node_id(8, std::string(40, 'b'));
  const byte_vector token(16);
  const byte_vector other(17);
  EXPECT_TRUE(peer_.enter(id, token));
  known_peer second{node_->peers()};
  EXPECT_FALSE(second.enter(id, other));
  second.leave(); // This one has not entered.
  EXPECT_FALSE(second.enter(id, other));
  peer_.leave();
  EXPECT_TRUE(second.enter(id, other));
  second.leave();
}

} // namespace
} // namespace troupe::internal
