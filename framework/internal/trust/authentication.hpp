// How the two ends of a link prove to each other that they know one secret, which itself never travels.
// Why these steps, and what an attacker learns at each: framework/link-protocol.md. Pure: no sockets, no clock; the
// random numbers are handed in.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include <troupe/framework/internal/wire/admin.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

enum class link_side : std::uint8_t { dialer = 1, acceptor = 2 };

[[nodiscard]] constexpr link_side other(link_side side) noexcept {
  return side == link_side::dialer ? link_side::acceptor : link_side::dialer;
}

using digest = std::array<std::byte, 32>;

/// Fills `into` from the kernel's generator.
void fill_randomly(std::span<std::byte> into);
[[nodiscard]] std::uint64_t random_number();
[[nodiscard]] digest random_digest();

[[nodiscard]] digest sha256(bytes_view bytes);
[[nodiscard]] digest hmac_sha256(bytes_view key, bytes_view bytes);

/// Takes the same time wherever the two differ.
[[nodiscard]] bool same_digest(bytes_view left, bytes_view right) noexcept;

/// A hash over all that both ends have said so far, in order. Each step is hashed with who said it and how long it was,
/// so that no two conversations give the same value.
class transcript {
public:
  /// Begins with the two preambles.
  transcript();

  void add_packet(link_side from, const packet_head& head, bytes_view body);

  /// What belongs to the encrypted session below the link and to no other; empty without one.
  void add_session(bytes_view keying_material);

  [[nodiscard]] const digest& so_far() const noexcept { return so_far_; }

private:
  void chain(std::uint8_t what, bytes_view bytes);

  digest so_far_;
};

/// What a proof is good for; one never passes for another.
enum class proof_of : std::uint8_t {
  secret,    // In `prove`: the end knows the secret.
  agreement, // In `ready` and `opened`: it has also seen the same hellos.
  node_key,  // In `ready` and `opened`: the node has the key whose public part its hello tells.
};

/// HMAC-SHA256 by `secret` over the side, the purpose and the transcript.
[[nodiscard]] digest make_proof(std::string_view secret, link_side by, proof_of what, const transcript& seen);
[[nodiscard]] digest make_proof(bytes_view secret, link_side by, proof_of what, const transcript& seen);

/// In `hello`: the process that has that place in a store, and says so, has opened it. `seen` is what was said before
/// the hello, nonces of both ends among it, so that the proof is worth nothing on any other link.
[[nodiscard]] digest make_store_proof(bytes_view store_secret, link_side by, std::uint32_t slot, std::uint64_t nonce,
                                      const transcript& seen);

/// One end's view of a handshake until the link is open.
class authentication {
public:
  /// An empty secret: the transport has let the peer in already, and none is asked for.
  authentication(link_side mine, std::uint32_t process, std::string host, std::string secret, const digest& nonce);

  [[nodiscard]] greet my_greet() const;

  /// Fails with `refused` when the peer is this node itself or its echo, or when one end asks for the secret and the
  /// other does not; with `protocol_violation` when it makes no sense.
  [[nodiscard]] std::expected<void, node_error> check(const greet& theirs) const;

  [[nodiscard]] bool asks_for_secret() const noexcept { return !secret_.empty(); }

  /// Over all that was said so far. Empty where no secret is asked for.
  [[nodiscard]] byte_vector my_proof(proof_of what) const;
  /// Whether the peer's proof is right; `before` is what was said before the packet that holds it.
  [[nodiscard]] bool peer_proves(proof_of what, bytes_view proof, const transcript& before) const;

  /// What was said: every packet of the handshake in order, and the session once both ends have greeted.
  transcript said;

private:
  const link_side mine_;
  const std::uint32_t process_;
  const std::string host_;
  const std::string secret_;
  const digest nonce_;
};

/// What a node is known again by: a second link that claims to come from the same node must have the same key. Only its
/// public part travels (X25519, RFC 7748), so a peer learns nothing by which it could be taken for the node.
class node_key {
public:
  /// Any 32 bytes.
  explicit node_key(const digest& private_part = random_digest());

  [[nodiscard]] const digest& public_part() const noexcept { return public_part_; }

  /// What two nodes have in common, each by its own key and the public part of the other's, and nobody else. Nothing
  /// where that cannot be the public part of a key.
  [[nodiscard]] std::optional<digest> shared_with(bytes_view public_part) const;

private:
  digest private_part_;
  digest public_part_;
};

} // namespace troupe::internal
