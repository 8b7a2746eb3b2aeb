// How the two ends of a link reach agreed terms. The steps and their reasons: framework/link-protocol.md.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <vector>

#include <troupe/framework/internal/link/agreed_terms.hpp>
#include <troupe/framework/internal/net/loopback_ends.hpp>
#include <troupe/framework/internal/trust/authentication.hpp>
#include <troupe/framework/internal/trust/peer_roles.hpp>
#include <troupe/framework/internal/trust/secret_book.hpp>
#include <troupe/framework/internal/wire/admin.hpp>
#include <troupe/framework/internal/words/limited_log.hpp>
#include <troupe/framework/link_options.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// This end of a link, as the handshake presents it to the peer.
struct own_end {
  link_side side = link_side::dialer;
  std::string name; // The name of the node.
  caf::node_id node;
  /// Both ends have to prove one. A dialer proves the first; an acceptor accepts each of them. None: the transport
  /// itself lets in only permitted peers.
  std::vector<known_secret> secrets;
  bool is_cookie = false;                   // The secret is the cookie of this user's processes on this host.
  bool is_local = false;                    // The transport admits only processes of the same user.
  node_key key = node_key{};                // By which peers recognize the node.
  family_names families;                    // The lists of the hello.
  std::uint64_t serial = 0;                 // This end's number for the link ...
  digest introduction_key{};                // ... and the key that proves what this end has given away on it.
  std::uint64_t incarnation = 0;            // Of the node, if it counts handles; 0: objects travel with their bytes.
  std::optional<store::object_store> store; // Set if it may be shared with the peer.
};

/// The numbers of the actors by which this end serves its peer; 0: the service is not offered.
struct helper_numbers {
  std::uint64_t runner = 0;
  std::uint64_t spawner = 0;
  std::uint64_t inspector = 0;
};

/// What a handshake needs from its link. Threads: the I/O thread.
class handshake_host {
public:
  virtual ~handshake_host() = default;
  virtual void write(const packet_head& head, bytes_view body) = 0;
  /// Sets the largest body that a packet may have from now on.
  virtual void admit_packets(std::size_t body_bytes_max) = 0;
  /// The session key of the encryption below. Empty if there is none.
  [[nodiscard]] virtual byte_vector session_key() const = 0;
  /// The names in the peer's certificate, see proven_peer. Empty if it has shown none.
  [[nodiscard]] virtual std::vector<std::string> certificate_names() const = 0;
  /// Null if the bytes do not travel over a loopback address.
  [[nodiscard]] virtual const loopback_ends* loopback() const = 0;
  /// Called when the peer may come in, as far as secrets decide.
  virtual void peer_is_proven() = 0;
  /// Returns false if the peer of another link has the same id and another token.
  [[nodiscard]] virtual bool know_peer(const caf::node_id& peer, bytes_view token) = 0;
  /// How many unconsumed bytes behind handles this end admits, including those on their way.
  [[nodiscard]] virtual receive_bounds handle_windows() const = 0;
  /// Exports the actors that serve a peer with that role and these rights.
  [[nodiscard]] virtual helper_numbers export_helpers(const std::string& role, const peer_rights& rights) = 0;
};

/// Agrees with the peer on the terms of a link.
///
/// Threads: the I/O thread.
//  greet --with a secret--> prove --> hello --> agreement (acceptor: ready; dialer: opened) --> take_terms()
//     \----without-------------------/
class handshake {
public:
  /// `host`, `options` and `log` must outlive this object.
  handshake(own_end mine, const link_options& options, handshake_host& host, limited_log& log);

  /// Sends the greeting if this end has dialed.
  void begin();

  /// Handles the peer's next packet. If it fails, the caller has to refuse the peer for this reason.
  std::expected<void, node_error> on_packet(const packet_head& head, bytes_view body);

  /// Returns the terms once, after both ends have agreed. Nullopt until then.
  [[nodiscard]] std::optional<agreed_terms> take_terms();

  /// Returns why the peer refuses this end, in the peer's words.
  [[nodiscard]] node_error read_refusal(bytes_view body) const;
  /// Returns why the peer has closed the link before it was open, in the peer's words.
  [[nodiscard]] static node_error read_goodbye(bytes_view body);
  /// Whether the peer has this end's proof of a secret and has not answered it. If it refuses now, it does not know the
  /// secret, or says so.
  [[nodiscard]] bool awaits_proof() const noexcept { return step_ == step::prove && mine_.side == link_side::dialer; }

private:
  enum class step : std::uint8_t { greet, prove, hello, agreement, over };

  template <class Admin>
  void say(admin_op op, const Admin& what);
  template <class Admin>
  std::expected<void, node_error> hear(admin_op due, const packet_head& head, bytes_view body, const limits& bounds,
                                       std::expected<void, node_error> (handshake::*handle)(const Admin&));
  std::expected<void, node_error> on_greet(const greet& theirs);
  std::expected<void, node_error> on_prove(const prove& theirs);
  std::expected<void, node_error> on_hello(const hello& theirs);
  std::expected<void, node_error> on_ready(const ready& theirs);
  std::expected<void, node_error> on_opened(const opened& theirs);
  [[nodiscard]] bool is_let_in() const noexcept { return step_ == step::hello || step_ == step::agreement; }
  std::expected<void, node_error> find_proven_secret(bytes_view proof);
  std::expected<void, node_error> give_role();
  void let_peer_in();
  void send_hello();
  std::expected<void, node_error> know_peer(const hello& theirs);
  void note_peer(const hello& theirs);
  std::expected<void, node_error> agree_on_windows(const hello& theirs);
  std::expected<void, node_error> agree_on_families(const hello& theirs);
  [[nodiscard]] bool agrees_on_store(const hello& theirs) const;
  [[nodiscard]] greet my_greet() const;
  [[nodiscard]] byte_vector key_proof(link_side by, const transcript& seen) const;
  [[nodiscard]] std::expected<void, node_error> check_agreement(bytes_view proof, bytes_view key_proof) const;
  [[nodiscard]] std::expected<void, node_error> check_nobody_between() const;

  const own_end mine_;
  const link_options& options_;
  handshake_host& host_;
  limited_log& log_;
  authentication proofs_;
  step step_ = step::greet;
  greet theirs_ = {};                // Set when it has arrived.
  std::string role_of_secret_;       // Of the secret that the dialer has proven.
  transcript said_before_ = {};      // Excludes the packet that is being handled: this is what its proof covers.
  std::optional<digest> shared_key_; // From both nodes' keys; set after both hellos if both have the feature.
  agreed_terms terms_;
};

} // namespace troupe::internal
