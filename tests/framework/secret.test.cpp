// Who gets in over plain TCP: who knows the secret, at both ends, and nobody who has only listened or stood in between.
#include "raw_peer.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

const std::string key = "a secret of at least 16 bytes";

class secret_over_tcp : public two_nodes {
protected:
  void SetUp() override {
    far_options_.listen = {"tcp://127.0.0.1:0"};
    far_options_.accepted_links.credentials.secret = key;
    far_options_.accepted_links.connect_timeout = 2s;
  }

  static link_options with_secret(std::string secret) {
    link_options options;
    options.credentials.secret = std::move(secret);
    return options;
  }

  /// Why a link cannot be made.
  node_error refusal(const link_options& options) {
    far();
    auto connected = near().home->connect(address_, options);
    return connected ? node_error{node_errc::none, "connected"} : connected.error();
  }

  void expect_that_the_owner_gets_in() {
    connect(with_secret(key));
    EXPECT_TRUE(link_->is_open());
  }
};

TEST_F(secret_over_tcp, who_knows_it_gets_in) {
  expect_that_the_owner_gets_in();
  EXPECT_EQ(link_->peer_name(), "far");
}

TEST_F(secret_over_tcp, who_knows_another_does_not) {
  auto error = refusal(with_secret("another secret of 16 bytes"));
  EXPECT_EQ(error.code(), node_errc::refused);
  expect_contains(error.message(), "does not have the same shared secret");
  expect_that_the_owner_gets_in();
}

TEST_F(secret_over_tcp, one_that_is_too_short_is_no_option) {
  auto error = refusal(with_secret("short"));
  EXPECT_EQ(error.code(), node_errc::bad_option);
  expect_contains(error.message(), "has 5 bytes, a secret at least 16");
}

TEST_F(secret_over_tcp, a_peer_that_asks_for_none_is_refused) {
  far();
  raw_peer peer{address_};
  peer.greet();
  expect_contains(peer.farewell(), "this end asks for the shared secret and the peer was given none");
}

TEST_F(secret_over_tcp, a_correct_handshake_by_hand_gets_in) {
  publish("echo", far().system.spawn([]() -> caf::behavior { return {[](int value) { return value; }}; }));
  raw_peer peer{address_, key};
  EXPECT_NE(peer.open_and_find("echo"), 0u);
}

TEST_F(secret_over_tcp, nothing_about_names_is_told_to_who_has_not_proven_itself) {
  publish("echo", far().system.spawn([]() -> caf::behavior { return {[](int value) { return value; }}; }));
  for (bool guesses : {false, true}) {
    raw_peer peer{address_, "a secret that is not the far one"};
    peer.greet();
    if (guesses)
      peer.say(admin_op::prove, prove{byte_vector(32)});
    peer.say(admin_op::hello, raw_peer::honest_hello());
    peer.write_admin(admin_op::find, find_query{1, "echo"});
    auto told = peer.everything();
    std::string text{reinterpret_cast<const char*>(told.data()), told.size()};
    EXPECT_GT(text.size(), 0u);
    for (const auto* name : {"far", "echo", "typed", "msgpack"})
      EXPECT_EQ(text.find(name), std::string::npos) << name;
  }
}

} // namespace
} // namespace troupe::tests
