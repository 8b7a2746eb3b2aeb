#include <troupe/framework/internal/trust/authentication.hpp>

#include <gtest/gtest.h>

#include <troupe/serializers/msgpack/described.hpp>

#include "bytes.hpp"

namespace troupe::internal {
namespace {

using tests::bytes_of;
using tests::to_hex;

const std::string key = "0123456789abcdef";
const std::string dialer_host(40, 'a');
const std::string acceptor_host(40, 'b');

digest filled(int value) {
  digest result;
  result.fill(static_cast<std::byte>(value));
  return result;
}

std::string hex_without_spaces(bytes_view bytes) {
  auto text = to_hex(bytes);
  std::erase(text, ' ');
  return text;
}

packet_head head_of(std::size_t size) {
  return {.body_bytes = static_cast<std::uint32_t>(size), .kind = packet_kind::admin, .detail = 11};
}

TEST(hashes, have_the_values_that_the_standards_give) {
  EXPECT_EQ(hex_without_spaces(sha256(bytes_of("abc"))),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  // Test case 2 of RFC 4231.
  EXPECT_EQ(hex_without_spaces(hmac_sha256(bytes_of("Jefe"), bytes_of("what do ya want for nothing?"))),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(hashes, are_compared_whole) {
  auto one = filled(1);
  auto late = one, early = one;
  late.back() = early.front() = std::byte{2};
  EXPECT_TRUE(same_digest(one, one));
  EXPECT_FALSE(same_digest(one, late));
  EXPECT_FALSE(same_digest(one, early));
  EXPECT_FALSE(same_digest(one, bytes_view{one}.first(31)));
  EXPECT_FALSE(same_digest(one, {}));
}

TEST(a_transcript, has_its_golden_bytes) {
  transcript said;
  EXPECT_EQ(hex_without_spaces(said.so_far()), "2ce702eca3bf059f7653e6c70cdf63b095f7fc370c5d6aa0cdfc257443feb372");
  said.add_packet(link_side::dialer, head_of(3), bytes_of("abc"));
  EXPECT_EQ(hex_without_spaces(said.so_far()), "229d916e721a1ac8b42789b5457bf292a397371b09a2504236e4ed17362feb10");
  said.add_session(bytes_of("key"));
  EXPECT_EQ(hex_without_spaces(said.so_far()), "cc3c878af1f1ecc54c805b9b370890ebcf5fa88ece749e4f3ca9a0f998bc0a89");
}

TEST(a_link_id, has_its_golden_value_and_follows_from_everything_that_was_said) {
  transcript said;
  EXPECT_EQ(link_id_of(said), "010da1fb0da6d92d92698eacf906eb56");
  auto other = said;
  other.add_packet(link_side::dialer, head_of(0), {});
  EXPECT_NE(link_id_of(other), link_id_of(said));
}

TEST(a_transcript, differs_by_speaker_order_boundaries_and_session) {
  auto of = [](auto... steps) {
    transcript said;
    (steps(said), ...);
    return said.so_far();
  };
  auto says = [](link_side who, std::string_view text) {
    return [=](transcript& said) { said.add_packet(who, head_of(text.size()), bytes_of(text)); };
  };
  auto session = [](std::string_view text) { return [=](transcript& said) { said.add_session(bytes_of(text)); }; };
  using enum link_side;
  std::vector<digest> all = {of(),
                             of(says(dialer, "ab")),
                             of(says(acceptor, "ab")),
                             of(says(dialer, "a"), says(dialer, "b")),
                             of(says(dialer, "b"), says(dialer, "a")),
                             of(says(dialer, "ab"), session("")),
                             of(says(dialer, "ab"), session("k")),
                             of(session("k"), says(dialer, "ab"))};
  for (std::size_t i = 0; i < all.size(); ++i)
    for (std::size_t j = 0; j < i; ++j)
      EXPECT_NE(all[i], all[j]) << i << ' ' << j;
}

TEST(a_proof, has_its_golden_bytes) {
  transcript said;
  EXPECT_EQ(hex_without_spaces(make_proof(key, link_side::dialer, proof_of::secret, said)),
            "ae1583920879188eec1bef14e8e7e36b753aeab0740f7bf91cd60f5aaa56a01c");
  EXPECT_EQ(hex_without_spaces(make_proof(key, link_side::acceptor, proof_of::secret, said)),
            "91208babdf0fc05a1eb7a1b96888fcd830d77cca9e7ce02d1b4f6f4f487923c0");
  EXPECT_EQ(hex_without_spaces(make_proof(key, link_side::dialer, proof_of::agreement, said)),
            "e4822f04c0fee35227c173b526bf668b3414e448301b787d6edba2b7d9e1b881");
  EXPECT_EQ(hex_without_spaces(make_proof(key, link_side::acceptor, proof_of::agreement, said)),
            "59680d6a5e0a07ed67cdf693749315a680ce0fd34244fb129061e9960162441f");
}

TEST(a_proof, depends_on_the_secret) {
  transcript said;
  EXPECT_NE(make_proof(key, link_side::dialer, proof_of::secret, said),
            make_proof(key + '.', link_side::dialer, proof_of::secret, said));
}

/// Makes the two ends of a handshake with the given secrets and nonces.
class two_ends : public testing::Test {
protected:
  authentication dialer(std::string secret = key, int nonce = 1) {
    return {link_side::dialer, 1, dialer_host, std::move(secret), filled(nonce)};
  }
  authentication acceptor(std::string secret = key, int nonce = 2) {
    return {link_side::acceptor, 2, acceptor_host, std::move(secret), filled(nonce)};
  }
  static std::string text_of(const std::expected<void, node_error>& result) {
    return result ? "let in" : result.error().message();
  }
};

TEST_F(two_ends, with_one_secret_accept_each_others_proofs_and_not_their_own) {
  auto left = dialer();
  auto right = acceptor();
  EXPECT_TRUE(left.check(right.my_greet()));
  EXPECT_TRUE(right.check(left.my_greet()));
  for (auto what : {proof_of::secret, proof_of::agreement}) {
    EXPECT_TRUE(right.peer_proves(what, left.my_proof(what), right.said));
    EXPECT_TRUE(left.peer_proves(what, right.my_proof(what), left.said));
    EXPECT_FALSE(left.peer_proves(what, left.my_proof(what), left.said)); // A reflected proof.
  }
  EXPECT_FALSE(right.peer_proves(proof_of::agreement, left.my_proof(proof_of::secret), right.said));
  EXPECT_FALSE(right.peer_proves(proof_of::secret, {}, right.said));
}

/// The example in "A handshake, byte by byte" in framework/link-protocol.md.
TEST_F(two_ends, say_what_the_document_shows) {
  auto left = dialer();
  auto right = acceptor();
  auto says = [&](link_side who, admin_op op, const auto& what) {
    auto body = msgpack::encode_described(what);
    packet_head head{.body_bytes = static_cast<std::uint32_t>(body.size()),
                     .kind = packet_kind::admin,
                     .detail = static_cast<std::uint8_t>(op)};
    for (auto* end : {&left, &right})
      end->said.add_packet(who, head, body);
    byte_vector packet;
    append_packet_head(packet, head);
    packet.insert(packet.end(), body.begin(), body.end());
    return hex_without_spaces(packet);
  };
  EXPECT_EQ(says(link_side::dialer, admin_op::greet, left.my_greet()),
            "76000000010e000085a770726f6365737301a4686f7374d92861616161616161616161616161616161616161616161616161"
            "616161616161616161616161616161a56e6f6e6365c420010101010101010101010101010101010101010101010101010101"
            "0101010101a66d6574686f6401aa636f6e6e656374696f6ec400");
  says(link_side::acceptor, admin_op::greet, right.my_greet());
  for (auto* end : {&left, &right})
    end->said.add_session({});
  EXPECT_EQ(hex_without_spaces(left.said.so_far()), "6978f12b97328f779db11ae9f24e0924bb3b71f33eba284c1067a1f33e5ddb6e");
  auto proof = left.my_proof(proof_of::secret);
  EXPECT_EQ(hex_without_spaces(proof), "8eb74da9586621bff0de8c98bfadf5c81addb66341dd808f47f255777189b7c6");
  says(link_side::dialer, admin_op::prove, prove{proof});
  EXPECT_EQ(hex_without_spaces(right.my_proof(proof_of::secret)),
            "3e1b37b2a45294746e8e8d703a7114d27033f5cfbac58794e2ab99f4ccf66673");
}

TEST_F(two_ends, that_have_heard_different_things_do_not) {
  auto left = dialer();
  auto right = acceptor();
  left.said.add_packet(link_side::dialer, head_of(1), bytes_of("a"));
  right.said.add_packet(link_side::dialer, head_of(1), bytes_of("b"));
  EXPECT_FALSE(right.peer_proves(proof_of::secret, left.my_proof(proof_of::secret), right.said));
}

TEST_F(two_ends, without_a_secret_prove_nothing) {
  auto left = dialer("");
  EXPECT_TRUE(left.check(acceptor("").my_greet()));
  EXPECT_TRUE(left.my_proof(proof_of::secret).empty());
  EXPECT_TRUE(left.peer_proves(proof_of::secret, {}, left.said));
}

TEST_F(two_ends, of_which_one_asks_for_a_secret_refuse_each_other) {
  EXPECT_NE(text_of(dialer().check(acceptor("").my_greet())).find("the listening end has none"), std::string::npos);
  EXPECT_NE(text_of(dialer("").check(acceptor().my_greet())).find("the dialing end has none"), std::string::npos);
  auto strange = acceptor().my_greet();
  strange.method = 7;
  EXPECT_NE(text_of(dialer().check(strange)).find("does not know"), std::string::npos);
}

TEST_F(two_ends, refuse_their_own_echo) {
  auto left = dialer();
  EXPECT_NE(text_of(left.check(left.my_greet())).find("own id"), std::string::npos);
  EXPECT_NE(text_of(left.check(acceptor(key, 1).my_greet())).find("own nonce"), std::string::npos);
  auto cut = acceptor().my_greet();
  cut.nonce.pop_back();
  EXPECT_NE(text_of(left.check(cut)).find("31 bytes instead of 32"), std::string::npos);
}

TEST(a_proof, of_a_node_key_has_its_golden_bytes) {
  EXPECT_EQ(hex_without_spaces(make_proof(key, link_side::dialer, proof_of::node_key, {})),
            "0d8101f35936be987f6aca91070585ee5a7639427c0fadbd8f9a7a018b5b23a1");
  EXPECT_EQ(hex_without_spaces(make_proof(key, link_side::acceptor, proof_of::node_key, {})),
            "f8b8e4939420e9389b9fa02a91392c53117ae730c117b972ee7521071c5141f9");
}

TEST(a_proof, of_a_store_has_its_golden_bytes) {
  EXPECT_EQ(hex_without_spaces(make_store_proof(bytes_of(key), link_side::dialer, 3, 77, {})),
            "86c24ffec5cf570f4aae07cf6da316b79a1955ff6be3f9872dd58e665cb86a96");
  EXPECT_EQ(hex_without_spaces(make_store_proof(bytes_of(key), link_side::acceptor, 3, 77, {})),
            "313830f90a849d65cd4cfcada3bace02a35cdd17da6ba25a60e59cc1771197f5");
}

TEST(a_proof, of_a_store_is_of_one_place_and_one_conversation) {
  transcript other;
  other.add_session(bytes_of("k"));
  const auto proof = make_store_proof(bytes_of(key), link_side::dialer, 3, 77, {});
  EXPECT_NE(proof, make_store_proof(bytes_of(key), link_side::dialer, 4, 77, {}));
  EXPECT_NE(proof, make_store_proof(bytes_of(key), link_side::dialer, 3, 78, {}));
  EXPECT_NE(proof, make_store_proof(bytes_of(key), link_side::dialer, 3, 77, other));
}

digest from_hex(std::string_view text) {
  digest result{};
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = static_cast<std::byte>(std::stoi(std::string{text.substr(2 * i, 2)}, nullptr, 16));
  return result;
}

// The values of RFC 7748, section 6.1.
TEST(a_node_key, has_the_values_that_the_standard_gives) {
  const node_key bob{from_hex("5dab087e624a8a4b79e17f8b83800ee66f3bb1292618b6fd1c2f8b27ff88e0eb")};
  const auto alice = from_hex("8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a");
  EXPECT_EQ(hex_without_spaces(bob.public_part()), "de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f");
  ASSERT_TRUE(bob.shared_with(alice));
  EXPECT_EQ(hex_without_spaces(*bob.shared_with(alice)),
            "4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742");
}

TEST(a_node_key, is_shared_by_two_and_nobody_else) {
  const node_key one, other, third;
  EXPECT_EQ(one.shared_with(other.public_part()), other.shared_with(one.public_part()));
  EXPECT_NE(one.shared_with(other.public_part()), third.shared_with(one.public_part()));
}

TEST(a_node_key, refuses_what_is_no_public_part) {
  const node_key one;
  EXPECT_FALSE(one.shared_with({}));
  EXPECT_FALSE(one.shared_with(byte_vector(31)));
  EXPECT_FALSE(one.shared_with(byte_vector(32))); // Every key has the same shared secret with this one.
}

} // namespace
} // namespace troupe::internal
