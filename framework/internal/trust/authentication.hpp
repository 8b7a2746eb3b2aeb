// How the two ends of a link prove to each other that they know a secret without sending it. framework/link-protocol.md
// has the reason for each step, and what an attacker learns at each. Pure: no sockets and no clock; random numbers are
// passed in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <troupe/framework/internal/wire/admin.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

enum class link_side : std::uint8_t { dialer = 1, acceptor = 2 };

[[nodiscard]] constexpr link_side other(link_side side) noexcept {
  return side == link_side::dialer ? link_side::acceptor : link_side::dialer;
}

using digest = std::array<std::byte, 32>;

/// Fills `into` with random bytes of the kernel.
void fill_randomly(std::span<std::byte> into);
[[nodiscard]] std::uint64_t random_number();
[[nodiscard]] digest random_digest();

[[nodiscard]] digest sha256(bytes_view bytes);
[[nodiscard]] digest hmac_sha256(bytes_view key, bytes_view bytes);

/// Takes the same time wherever the two digests differ.
[[nodiscard]] bool same_digest(bytes_view left, bytes_view right) noexcept;

/// A hash over everything that both ends have said so far, in order. Each step is hashed with its sender and its
/// length, so that no two conversations have the same hash.
class transcript {
public:
  /// Begins with the two preambles.
  transcript();

  void add_packet(link_side from, const packet_head& head, bytes_view body);

  /// Adds bytes that belong to the link's encrypted session and to no other; empty without encryption.
  void add_session(bytes_view keying_material);

  [[nodiscard]] const digest& so_far() const noexcept { return so_far_; }

private:
  void chain(std::uint8_t what, bytes_view bytes);

  digest so_far_;
};

/// The purpose of a proof. A proof for one purpose is not valid for another.
enum class proof_of : std::uint8_t {
  secret,    // In `prove`: the end knows the secret.
  agreement, // In `ready` and `opened`: the end has also seen the same hellos.
  node_key,  // In `ready` and `opened`: the node has the private key to the public part in its hello.
};

/// HMAC-SHA256 by `secret` over the side, the purpose and the transcript.
[[nodiscard]] digest make_proof(std::string_view secret, link_side by, proof_of what, const transcript& seen);
[[nodiscard]] digest make_proof(bytes_view secret, link_side by, proof_of what, const transcript& seen);

/// For `hello`: proves that the process with that slot in a store has opened the store. `seen` is the handshake before
/// the hello, including both ends' nonces, so the proof is not valid on another link.
[[nodiscard]] digest make_store_proof(bytes_view store_secret, link_side by, std::uint32_t slot, std::uint64_t nonce,
                                      const transcript& seen);

/// A name for a link: 32 hexadecimal digits, the same at both ends, and no secret. `seen` is the handshake before
/// `opened`. It contains both ends' nonces, so no other link has the same name.
[[nodiscard]] std::string link_id_of(const transcript& seen);

/// One end's view of a handshake until the link is open.
class authentication {
public:
  /// `secrets` are those that this end knows; none if the transport has authenticated the peer already and no secret is
  /// used. A dialer proves the first one, and an acceptor the one that the dialer has proven.
  authentication(link_side mine, std::uint32_t process, std::string host, std::vector<std::string> secrets,
                 const digest& nonce);
  /// For one secret, or an empty text for none.
  authentication(link_side mine, std::uint32_t process, std::string host, std::string secret, const digest& nonce);

  [[nodiscard]] greet my_greet() const;

  /// Fails with `refused` if the peer is this node itself or echoes this node's greet, or if only one end uses a
  /// secret. Fails with `protocol_violation` if the greet is malformed.
  [[nodiscard]] std::expected<void, node_error> check(const greet& theirs) const;

  [[nodiscard]] bool asks_for_secret() const noexcept { return !secrets_.empty(); }

  /// For an acceptor, after the dialer's `prove`: returns which of the secrets the dialer has proven, or nullopt. All
  /// later proofs are by this secret. Takes the same time whichever it is, and if it is none. Requires:
  /// asks_for_secret().
  [[nodiscard]] std::optional<std::size_t> find_proven(bytes_view proof, const transcript& before);

  /// The proof over everything that was said so far. Empty if no secret is used.
  [[nodiscard]] byte_vector my_proof(proof_of what) const;
  /// Whether the peer's proof is right. `before` is the transcript before the packet with the proof.
  [[nodiscard]] bool peer_proves(proof_of what, bytes_view proof, const transcript& before) const;

  /// The transcript: every packet of the handshake in order, and the session once both ends have greeted.
  transcript said;

private:
  const link_side mine_;
  const std::uint32_t process_;
  const std::string host_;
  const std::vector<std::string> secrets_;
  std::size_t in_use_ = 0; // The secret of all proofs.
  const digest nonce_;
};

/// Identifies a node. A second link that claims to come from the same node must have the same key. Only the public part
/// travels (X25519, RFC 7748), so a peer cannot impersonate the node.
class node_key {
public:
  /// The private part may be any 32 bytes.
  explicit node_key(const digest& private_part = random_digest());

  [[nodiscard]] const digest& public_part() const noexcept { return public_part_; }

  /// The secret that only two nodes share. Each computes it from its own private part and the other's public part.
  /// Returns nullopt if `public_part` is not valid.
  [[nodiscard]] std::optional<digest> shared_with(bytes_view public_part) const;

private:
  digest private_part_;
  digest public_part_;
};

} // namespace troupe::internal
