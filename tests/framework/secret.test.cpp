// Admission over plain TCP: both ends admit only peers that know the secret. Eavesdroppers and relays do not.
#include <list>
#include <sstream>

#include "man_in_between.hpp"
#include "raw_peer.hpp"
#include "two_nodes.hpp"

namespace troupe::tests {
namespace {

std::string text_of(bytes_view bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

class secret_over_tcp : public two_nodes {
protected:
  void SetUp() override {
    far_options_.listen = {"tcp://127.0.0.1:0"};
    far_options_.accepted_links.credentials.secret = test_secret;
    far_options_.accepted_links.connect_timeout = 60s;
  }

  static link_options with_secret(std::string secret) {
    link_options options{.connect_timeout = 60s};
    options.credentials.secret = std::move(secret);
    return options;
  }

  /// Returns the error with which the link is refused, or the code `none`.
  node_error refusal(const link_options& options) {
    far();
    auto connected = near().home->connect(address_, options);
    return connected ? node_error{node_errc::none, "connected"} : connected.error();
  }

  void expect_that_the_owner_gets_in() {
    connect(with_secret(test_secret));
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
  expect_contains(error.message(), "do not have the same shared secret");
  expect_that_the_owner_gets_in();
}

// Goal: repeated attempts cannot fill the log, and each attempt is counted.
TEST_F(secret_over_tcp, refused_attempts_beyond_ten_a_second_are_counted_in_one_line) {
  constexpr std::uint64_t attempts = 100;
  far();
  near();
  testing::internal::CaptureStderr();
  const auto begin = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < attempts; ++i) {
    raw_peer peer{address_};
    peer.greet(); // Without the secret.
    static_cast<void>(peer.farewell());
  }
  far_.reset(); // This logs what has not been logged yet.
  const auto seconds = (std::chrono::steady_clock::now() - begin) / 1s + 1;
  std::istringstream log{testing::internal::GetCapturedStderr()};
  std::uint64_t lines = 0;
  std::uint64_t summarized = 0;
  for (std::string line; std::getline(log, line);) {
    if (line.find("a peer was refused in the handshake: ") != std::string::npos)
      ++lines;
    else if (line.find("further attempts at " + address_ + " were refused in the last second") != std::string::npos)
      summarized += std::stoull(line.substr(line.find(": ") + 2));
  }
  EXPECT_GE(lines, 10u);
  EXPECT_LE(lines, static_cast<std::uint64_t>(10 * seconds));
  EXPECT_EQ(lines + summarized, attempts);
}

TEST_F(secret_over_tcp, one_that_is_too_short_is_no_option) {
  auto error = refusal(with_secret("short"));
  EXPECT_EQ(error.code(), node_errc::bad_option);
  expect_contains(error.message(), "has 5 bytes, minimum 16");
}

TEST_F(secret_over_tcp, a_peer_that_asks_for_none_is_refused) {
  far();
  raw_peer peer{address_};
  peer.greet();
  expect_contains(peer.farewell(), "the listening end requires a shared secret and the dialing end has none");
}

TEST_F(secret_over_tcp, a_correct_handshake_by_hand_gets_in) {
  publish("echo", far().system.spawn([]() -> caf::behavior { return {[](int value) { return value; }}; }));
  raw_peer peer{address_, test_secret};
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
    auto text = text_of(told);
    EXPECT_GT(text.size(), 0u);
    for (const auto* name : {"far", "echo", "typed", "msgpack"})
      EXPECT_EQ(text.find(name), std::string::npos) << name;
  }
}

// -- eavesdroppers

TEST_F(secret_over_tcp, the_recorded_bytes_of_an_honest_dialer_let_nobody_in) {
  far();
  man_in_between recorder{address_};
  near();
  ASSERT_TRUE(near().home->connect(recorder.address(), with_secret(test_secret)));
  near_->home.reset();
  auto recorded = recorder.end().from_dialer;
  ASSERT_GT(recorded.size(), 200u);
  raw_peer replay{address_};
  replay.write(recorded);
  expect_contains(replay.farewell(), "do not have the same shared secret");
}

TEST_F(secret_over_tcp, a_nodes_own_words_let_nobody_in) {
  // Sends everything that the node says back to it, on the same connection and on a second one.
  far();
  raw_peer first{address_, test_secret};
  first.greet();
  auto own_greeting = first.hear<greet>(admin_op::greet);
  ASSERT_TRUE(own_greeting);
  raw_peer echo{address_};
  echo.write(make_preamble());
  echo.write_admin(admin_op::greet, *own_greeting);
  expect_contains(echo.farewell(), "own id");

  raw_peer second{address_, test_secret};
  second.greet();
  auto fresh = second.hear<greet>(admin_op::greet);
  ASSERT_TRUE(fresh);
  second.proofs().said.add_session({});
  // A proof with the right secret and transcript, but for the acceptor's side.
  auto reflected = make_proof(test_secret, link_side::acceptor, proof_of::secret, second.proofs().said);
  second.write_admin(admin_op::prove, prove{{reflected.begin(), reflected.end()}});
  expect_contains(second.farewell(), "do not have the same shared secret");
}

TEST_F(secret_over_tcp, a_nonce_that_comes_back_is_refused) {
  raw_listener elsewhere;
  std::jthread acceptor{[&] {
    raw_peer peer{elsewhere.accept(), link_side::acceptor, test_secret};
    auto theirs = peer.hear<greet>(admin_op::greet);
    theirs->process += 1;
    peer.write(make_preamble());
    peer.write_admin(admin_op::greet, *theirs);
    peer.farewell();
  }};
  auto connected = near().home->connect(elsewhere.address(), with_secret(test_secret));
  ASSERT_FALSE(connected);
  expect_contains(connected.error().message(), "own nonce");
}

// -- a listening end that does not know the secret

TEST_F(secret_over_tcp, an_acceptor_that_does_not_know_it_learns_no_names) {
  for (const auto* attempt : {"guesses", "asks for none", "sends the dialer's proof back"}) {
    raw_listener elsewhere;
    byte_vector heard;
    std::jthread acceptor{[&] {
      bool asks = attempt != std::string_view{"asks for none"};
      raw_peer peer{elsewhere.accept(), link_side::acceptor, asks ? "some other secret, long" : "", {2}};
      EXPECT_TRUE(peer.hear<greet>(admin_op::greet));
      peer.greet();
      if (!asks) {
        heard = peer.everything();
        return;
      }
      peer.proofs().said.add_session({});
      auto proof = peer.hear<prove>(admin_op::prove);
      ASSERT_TRUE(proof);
      if (attempt == std::string_view{"guesses"})
        proof->proof = peer.proofs().my_proof(proof_of::secret);
      peer.say(admin_op::prove, *proof);
      heard = peer.everything();
    }};
    auto connected = near().home->connect(elsewhere.address(), with_secret(test_secret));
    ASSERT_FALSE(connected) << attempt;
    EXPECT_EQ(connected.error().code(), node_errc::refused) << attempt;
    acceptor.join();
    EXPECT_EQ(text_of(heard).find("near"), std::string::npos) << attempt;
    EXPECT_NE(text_of(heard).find("secret"), std::string::npos) << attempt; // The refusal.
  }
}

// -- relays that change messages

TEST_F(secret_over_tcp, whatever_is_changed_on_the_way_ends_the_link) {
  far();
  auto flip_method = [](auto& greeting) { greeting.method = 0; };
  auto shorten = [](auto& what) { what.serializers.pop_back(), what.deserializers.pop_back(); };
  std::vector<man_in_between::change> changes{
      {link_side::dialer, admin_op::greet, man_in_between::change_of<greet>(flip_method)},
      {link_side::acceptor, admin_op::greet, man_in_between::change_of<greet>(flip_method)},
      {link_side::dialer, admin_op::hello, man_in_between::change_of<hello>(shorten)},
      {link_side::acceptor, admin_op::hello, man_in_between::change_of<hello>(shorten)},
      {link_side::dialer, admin_op::ready,
       man_in_between::change_of<ready>([](auto& what) { what.shares_store = !what.shares_store; })},
      {link_side::acceptor, admin_op::opened,
       man_in_between::change_of<opened>([](auto& what) { what.proof.clear(); })},
  };
  for (const auto& change : changes) {
    man_in_between middle{address_, change};
    auto connected = near().home->connect(middle.address(), with_secret(test_secret));
    EXPECT_FALSE(connected) << static_cast<int>(change.op);
    if (!connected) {
      EXPECT_EQ(connected.error().code(), node_errc::refused) << connected.error().message();
    }
  }
  expect_that_the_owner_gets_in();
}

// -- ids

TEST_F(secret_over_tcp, a_peer_that_claims_the_nodes_own_id_is_refused) {
  far();
  raw_peer asks{address_, test_secret};
  asks.greet();
  auto theirs = asks.hear<greet>(admin_op::greet);
  ASSERT_TRUE(theirs);
  raw_peer spoofs{address_, test_secret, {theirs->process, theirs->host}};
  spoofs.greet();
  expect_contains(spoofs.farewell(), "own id");
}

TEST_F(secret_over_tcp, a_peer_that_claims_a_linked_nodes_id_is_refused_though_it_knows_the_secret) {
  far();
  raw_peer honest{address_, test_secret, {7, std::string(40, 'c')}};
  honest.open();
  raw_peer spoofs{address_, test_secret, {7, std::string(40, 'c')}};
  spoofs.prove_itself();
  auto mine = raw_peer::honest_hello();
  mine.token = byte_vector(32, std::byte{9});
  spoofs.say(admin_op::hello, mine);
  expect_contains(spoofs.farewell(), "uses the id of a node that is linked already");
  EXPECT_EQ(far().home->links().size(), 1u);
}

hello hello_with_key() {
  auto mine = raw_peer::honest_hello();
  mine.features = offered_features();
  return mine;
}

TEST_F(secret_over_tcp, a_second_link_of_a_node_is_known_by_its_key) {
  far();
  std::list<raw_peer> links;
  for (int i = 0; i < 2; ++i)
    links.emplace_back(address_, test_secret, raw_identity{7, std::string(40, 'c')}).open(hello_with_key());
  EXPECT_TRUE(eventually([&] { return far().home->links().size() == 2; }));
}

// Goal: if a peer repeats everything that a node has said to it, another node does not take it for that node.
TEST_F(secret_over_tcp, a_peer_that_says_all_that_another_node_says_is_not_taken_for_it) {
  far();
  const raw_identity victim{7, std::string(40, 'c')};
  raw_peer honest{address_, test_secret, victim};
  honest.open(hello_with_key());
  auto heard = hello_with_key();
  const node_key victims{sha256(bytes_of("a raw peer"))};
  heard.token = {victims.public_part().begin(), victims.public_part().end()};
  for (const auto has_feature : {true, false}) {
    raw_peer spoofs{address_, test_secret, victim};
    spoofs.prove_itself();
    if (!has_feature)
      heard.features.clear();
    spoofs.say(admin_op::hello, heard);
    if (has_feature) {
      ASSERT_TRUE(spoofs.hear<hello>(admin_op::hello));
      spoofs.say(admin_op::ready, ready{false, spoofs.proofs().my_proof(proof_of::agreement), byte_vector(32)});
      expect_contains(spoofs.farewell(), "claims the id of another node");
    } else {
      expect_contains(spoofs.farewell(), "without proof that it is that node");
    }
  }
  EXPECT_EQ(far().home->links().size(), 1u);
}

// Goal: if a peer is dialed under another node's name, it learns nothing from the dialer that would let it act as the
// dialer elsewhere.
TEST_F(secret_over_tcp, a_dialer_does_not_open_a_link_to_who_does_not_have_the_key_that_it_tells) {
  raw_listener elsewhere;
  std::jthread acceptor{[&] {
    raw_peer peer{elsewhere.accept(), link_side::acceptor, test_secret, {2}};
    EXPECT_TRUE(peer.hear<greet>(admin_op::greet));
    peer.greet();
    peer.proofs().said.add_session({});
    EXPECT_TRUE(peer.hear<prove>(admin_op::prove));
    peer.say(admin_op::prove, prove{peer.proofs().my_proof(proof_of::secret)});
    const auto theirs = peer.hear<hello>(admin_op::hello);
    ASSERT_TRUE(theirs);
    auto mine = hello_with_key();
    const node_key another;
    mine.token = {another.public_part().begin(), another.public_part().end()};
    peer.say(admin_op::hello, mine);
    EXPECT_TRUE(peer.hear<ready>(admin_op::ready));
    peer.say(admin_op::opened, opened{peer.proofs().my_proof(proof_of::agreement), byte_vector(32)});
    expect_contains(peer.farewell(), "claims the id of another node");
  }};
  auto connected = near().home->connect(elsewhere.address(), with_secret(test_secret));
  ASSERT_FALSE(connected);
  expect_contains(connected.error().message(), "does not have the private key");
}

TEST_F(secret_over_tcp, a_hello_without_a_token_is_refused) {
  far();
  raw_peer peer{address_, test_secret};
  peer.prove_itself();
  auto mine = raw_peer::honest_hello();
  mine.token.clear();
  peer.say(admin_op::hello, mine);
  expect_contains(peer.farewell(), "without proof that it is that node");
}

TEST_F(secret_over_tcp, two_nodes_may_have_two_links) {
  connect(with_secret(test_secret));
  auto again = near().home->connect(address_, with_secret(test_secret));
  ASSERT_TRUE(again) << again.error().message();
  EXPECT_TRUE(link_->is_open());
  EXPECT_TRUE(again->is_open());
  EXPECT_EQ(near().home->links().size(), 2u);
}

TEST_F(secret_over_tcp, the_id_is_free_again_when_its_node_is_gone) {
  far();
  std::optional<raw_peer> first;
  first.emplace(address_, test_secret, raw_identity{7, std::string(40, 'c')});
  first->open();
  first.reset();
  ASSERT_TRUE(eventually([&] { return far().home->links().empty(); }));
  raw_peer second{address_, test_secret, {7, std::string(40, 'c')}};
  auto mine = raw_peer::honest_hello();
  mine.token = byte_vector(32, std::byte{9});
  second.open(mine);
}

} // namespace
} // namespace troupe::tests
