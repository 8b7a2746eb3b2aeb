// Goal: two ends agree on the same terms or on none, whatever one of the ends or a relay says.
// Method: the test passes the packets of two handshakes by hand, without a socket and without a node.
#include <troupe/framework/internal/link/handshake.hpp>

#include <deque>
#include <functional>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include <troupe/framework/internal/caf_port/node_ids.hpp>

namespace troupe::internal {
namespace {

struct said_packet {
  packet_head head;
  byte_vector body;
};

/// One end, with the packets that it has said and that have not been passed on yet.
class end final : public handshake_host {
public:
  end(own_end mine, link_options options)
      : options_(std::move(options)), talk(std::move(mine), options_, *this, log_) {}

  void write(const packet_head& head, bytes_view body) override { said.push_back({head, {body.begin(), body.end()}}); }
  void admit_packets(std::size_t body_bytes_max) override { admitted = body_bytes_max; }
  [[nodiscard]] byte_vector session_key() const override { return session; }
  [[nodiscard]] std::vector<std::string> certificate_names() const override { return names; }
  [[nodiscard]] const loopback_ends* loopback() const override { return nullptr; }
  void peer_is_proven() override { is_proven = true; }
  [[nodiscard]] bool know_peer(const caf::node_id&, bytes_view token) override {
    known_token.assign(token.begin(), token.end());
    return knows_peers;
  }
  [[nodiscard]] receive_bounds handle_windows() const override { return {.window = 4096, .actor_window = 1024}; }
  [[nodiscard]] helper_numbers export_helpers(const std::string&, const peer_rights&) override { return helpers; }

private:
  const link_options options_;
  limited_log log_;

public:
  handshake talk;
  std::deque<said_packet> said;
  byte_vector session;
  byte_vector known_token;
  std::vector<std::string> names;
  helper_numbers helpers;
  std::size_t admitted = 0;
  bool is_proven = false;
  bool knows_peers = true;
};

own_end end_named(std::string name, link_side side, char host_digit) {
  own_end result{.side = side};
  result.name = std::move(name);
  result.node = read_node_id(7, std::string(40, host_digit));
  result.families = {{"typed", "msgpack"}, {"typed", "msgpack"}};
  result.serial = side == link_side::dialer ? 3 : 4;
  return result;
}

struct outcome {
  std::expected<void, node_error> failed_at_dialer;
  std::expected<void, node_error> failed_at_acceptor;
  std::optional<agreed_terms> dialer;
  std::optional<agreed_terms> acceptor;
};

class two_handshakes : public testing::Test {
protected:
  using meddling = std::function<void(link_side from, said_packet&)>;

  /// Passes packets between the ends until both are silent or one has failed.
  outcome meet(const meddling& meddle = {}) {
    dialer_.emplace(mine_, dialer_options_);
    acceptor_.emplace(theirs_, acceptor_options_);
    if (set_up)
      set_up();
    outcome result;
    dialer_->talk.begin();
    while (result.failed_at_dialer && result.failed_at_acceptor
           && !(dialer_->said.empty() && acceptor_->said.empty())) {
      pass(*dialer_, *acceptor_, link_side::dialer, result.failed_at_acceptor, meddle);
      if (result.failed_at_acceptor)
        pass(*acceptor_, *dialer_, link_side::acceptor, result.failed_at_dialer, meddle);
    }
    result.dialer = dialer_->talk.take_terms();
    result.acceptor = acceptor_->talk.take_terms();
    return result;
  }

  own_end mine_ = end_named("near", link_side::dialer, 'a');
  own_end theirs_ = end_named("far", link_side::acceptor, 'b');
  link_options dialer_options_;
  link_options acceptor_options_;
  std::optional<end> dialer_;
  std::optional<end> acceptor_;
  std::function<void()> set_up;

private:
  static void pass(end& from, end& to, link_side side, std::expected<void, node_error>& result,
                   const meddling& meddle) {
    while (result && !from.said.empty()) {
      auto packet = std::move(from.said.front());
      from.said.pop_front();
      if (meddle)
        meddle(side, packet);
      result = to.talk.on_packet(packet.head, packet.body);
    }
  }
};

TEST_F(two_handshakes, come_to_mirrored_terms) {
  dialer_options_.window_bytes = 5000;
  acceptor_options_.window_bytes = 3000;
  set_up = [&] {
    dialer_->helpers = {.runner = 11, .spawner = 12, .inspector = 13};
    acceptor_->helpers = {.runner = 21, .spawner = 0, .inspector = 23};
  };
  const auto met = meet();
  ASSERT_TRUE(met.dialer && met.acceptor);
  EXPECT_EQ(met.dialer->peer.name, "far");
  EXPECT_EQ(met.acceptor->peer.name, "near");
  EXPECT_EQ(met.dialer->peer.node, theirs_.node);
  EXPECT_EQ(met.acceptor->peer.node, mine_.node);
  EXPECT_EQ(met.dialer->own_id, met.acceptor->peer.id);
  EXPECT_EQ(met.dialer->peer.link, 4u);
  EXPECT_EQ(met.acceptor->peer.link, 3u);
  EXPECT_EQ(met.dialer->peer.runner, 21u);
  EXPECT_EQ(met.acceptor->peer.spawner, 12u);
  EXPECT_EQ(met.dialer->windows.window, 3000u);
  EXPECT_EQ(met.acceptor->windows.window, 3000u);
  EXPECT_EQ(met.dialer->handle_windows.actor_window, 1024u);
  EXPECT_EQ(met.dialer->channel, met.acceptor->channel);
  EXPECT_EQ(met.dialer->send_channel(), met.acceptor->receive_channel());
  EXPECT_EQ(met.dialer->receive_channel(), met.acceptor->send_channel());
  EXPECT_NE(met.dialer->send_channel(), met.dialer->receive_channel());
  EXPECT_FALSE(met.dialer->shares_store);
  EXPECT_FALSE(met.dialer->counts_handles);
  EXPECT_TRUE(dialer_->is_proven && acceptor_->is_proven);
  EXPECT_EQ(acceptor_->admitted, greeting_body_bytes_max);
}

TEST_F(two_handshakes, count_handles_where_both_nodes_do) {
  mine_.incarnation = 5;
  EXPECT_FALSE(meet().dialer->counts_handles);
  theirs_.incarnation = 6;
  const auto met = meet();
  EXPECT_TRUE(met.dialer->counts_handles && met.acceptor->counts_handles);
  EXPECT_EQ(met.dialer->peer.handles.incarnation, 6u);
}

TEST_F(two_handshakes, with_one_secret_meet_and_with_two_do_not) {
  mine_.secrets = theirs_.secrets = {{"a secret of some length"}};
  EXPECT_TRUE(meet().acceptor);
  theirs_.secrets = {{"another one of a length"}};
  const auto met = meet();
  EXPECT_EQ(met.failed_at_acceptor.error().code(), node_errc::refused);
  EXPECT_FALSE(acceptor_->is_proven || dialer_->is_proven);
  EXPECT_EQ(acceptor_->admitted, 0u); // An unproven peer may not send anything large.
}

TEST_F(two_handshakes, meet_by_any_secret_of_the_acceptor_but_only_by_the_first_of_the_dialer) {
  const known_secret old{"the old secret, 16 bytes"}, fresh{"the new secret, 16 bytes"};
  for (const auto& known : {old, fresh}) {
    mine_.secrets = {known};
    theirs_.secrets = {fresh, old};
    EXPECT_TRUE(meet().dialer && meet().acceptor) << known.secret;
  }
  mine_.secrets = {fresh, old};
  theirs_.secrets = {old};
  EXPECT_EQ(meet().failed_at_acceptor.error().code(), node_errc::refused);
}

TEST_F(two_handshakes, agree_on_the_role_of_the_secret_that_was_proven) {
  const known_secret common{"the common secret"}, workers{"the workers' secret", "worker"};
  acceptor_options_.roles = {{.name = "worker", .secret_file = "not read here", .allow_tasks = true}};
  theirs_.secrets = {common, workers};
  mine_.secrets = {workers};
  const auto worker = meet();
  ASSERT_TRUE(worker.acceptor && worker.dialer);
  EXPECT_EQ(worker.acceptor->role, "worker");
  EXPECT_TRUE(worker.acceptor->rights.tasks);
  EXPECT_EQ(worker.dialer->peer.role_of_reader, "worker");
  EXPECT_EQ(worker.dialer->role, ""); // The dialer's own options have no meaning for a peer that it has chosen.
  EXPECT_FALSE(worker.dialer->rights.tasks);
  mine_.secrets = {common};
  const auto other = meet();
  ASSERT_TRUE(other.acceptor);
  EXPECT_EQ(other.acceptor->role, "");
  EXPECT_FALSE(other.acceptor->rights.tasks);
}

TEST_F(two_handshakes, do_not_meet_if_a_role_needs_more_than_its_secret) {
  acceptor_options_.roles = {
      {.name = "worker", .secret_file = "not read here", .certificate_names = {"*.workers.shop"}}};
  mine_.secrets = theirs_.secrets = {{"the workers' secret", "worker"}};
  const auto without = meet();
  EXPECT_EQ(without.failed_at_acceptor.error().code(), node_errc::refused);
  EXPECT_FALSE(acceptor_->is_proven);
  set_up = [&] { acceptor_->names = {"DNS:one.workers.shop"}; };
  EXPECT_TRUE(meet().acceptor);
}

TEST_F(two_handshakes, of_which_only_one_asks_for_a_secret_do_not_meet) {
  theirs_.secrets = {{"a secret of some length"}};
  EXPECT_EQ(meet().failed_at_acceptor.error().code(), node_errc::refused);
}

TEST_F(two_handshakes, notice_each_byte_that_somebody_in_between_changes) {
  mine_.secrets = theirs_.secrets = {{"a secret of some length"}};
  auto packets = 0u;
  ASSERT_TRUE(meet([&](link_side, said_packet&) { ++packets; }).dialer);
  ASSERT_EQ(packets, 8u); // Greet, prove and hello from each end, then ready and opened.
  for (auto which = 0u; which < packets; ++which) {
    auto size = std::size_t{0};
    for (auto at = std::size_t{0}; at == 0 || at < size; ++at) {
      auto passed = 0u;
      const auto met = meet([&](link_side, said_packet& packet) {
        if (passed++ != which)
          return;
        size = packet.body.size();
        packet.body[at] ^= std::byte{1};
      });
      EXPECT_FALSE(met.dialer && met.acceptor) << "byte " << at << " of packet " << which;
    }
  }
}

TEST_F(two_handshakes, notice_that_their_encrypted_sessions_are_not_the_same) {
  mine_.secrets = theirs_.secrets = {{"a secret of some length"}};
  set_up = [&] { dialer_->session = byte_vector(32, std::byte{1}); };
  EXPECT_EQ(meet().failed_at_acceptor.error().code(), node_errc::refused);
}

TEST_F(two_handshakes, without_a_family_in_common_say_what_each_has) {
  theirs_.families = {{"cereal"}, {"cereal"}};
  const auto met = meet();
  EXPECT_EQ(met.failed_at_acceptor.error().code(), node_errc::nothing_in_common);
  EXPECT_NE(met.failed_at_acceptor.error().message().find("cereal"), std::string::npos);
}

TEST_F(two_handshakes, do_not_meet_where_the_id_is_another_nodes) {
  set_up = [&] { acceptor_->knows_peers = false; };
  EXPECT_EQ(meet().failed_at_acceptor.error().code(), node_errc::refused);
}

TEST_F(two_handshakes, refuse_what_is_out_of_place) {
  const auto met = meet([](link_side from, said_packet& packet) {
    if (from == link_side::acceptor && packet.head.detail == static_cast<std::uint8_t>(admin_op::greet))
      packet.head.detail = static_cast<std::uint8_t>(admin_op::hello);
  });
  EXPECT_EQ(met.failed_at_dialer.error().code(), node_errc::protocol_violation);
}

TEST_F(two_handshakes, count_what_a_newer_version_adds_among_what_was_said) {
  const packet_head newer{.body_bytes = 1, .kind = packet_kind::admin, .detail = first_skippable_number};
  const byte_vector body(1);
  set_up = [&] { EXPECT_EQ(dialer_->talk.on_packet(newer, body).error().code(), node_errc::protocol_violation); };
  EXPECT_TRUE(meet().acceptor); // No effect, because no peer was admitted.
  set_up = {};
  const auto met = meet([&](link_side from, said_packet& packet) {
    if (from == link_side::dialer && packet.head.detail == static_cast<std::uint8_t>(admin_op::ready)) {
      EXPECT_TRUE(acceptor_->talk.on_packet(newer, body)); // The dialer has not said this.
    }
  });
  EXPECT_EQ(met.failed_at_acceptor.error().code(), node_errc::refused);
}

TEST_F(two_handshakes, believe_a_refusal_for_good_only_of_whoever_is_let_in) {
  meet();
  end stranger{mine_, dialer_options_};
  const auto words =
      encode_admin(refuse{static_cast<std::uint8_t>(node_errc::nothing_in_common), "no family\nof mine"});
  EXPECT_EQ(stranger.talk.read_refusal(words).code(), node_errc::refused);
  EXPECT_EQ(stranger.talk.read_refusal(words).message().find('\n'), std::string::npos);
  EXPECT_EQ(handshake::read_goodbye(words).code(), node_errc::link_down);
}

} // namespace
} // namespace troupe::internal
