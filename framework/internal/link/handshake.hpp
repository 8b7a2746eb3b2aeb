// How the two ends of a link come to agreed terms. The steps, and why: framework/link-protocol.md.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include <troupe/framework/internal/link/agreed_terms.hpp>
#include <troupe/framework/internal/net/loopback_ends.hpp>
#include <troupe/framework/internal/trust/authentication.hpp>
#include <troupe/framework/internal/wire/admin.hpp>
#include <troupe/framework/internal/words/limited_log.hpp>
#include <troupe/framework/link_options.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

/// This end of a link, as the handshake tells of it.
struct own_end {
  link_side side = link_side::dialer;
  std::string name; // The node's.
  caf::node_id node;
  std::string secret;            // To be proven by both ends; empty: the transport lets in only who may come.
  bool is_cookie = false;        // The secret is that of this user's processes on this host.
  node_key key = node_key{};     // What the node is known again by.
  family_names families;         // The first lists.
  std::uint64_t serial = 0;      // This end's name for the link ...
  digest introduction_key{};     // ... and what proves to it what it has given away on it.
  std::uint64_t incarnation = 0; // Of the node, which counts handles; 0: objects travel with their bytes.
  std::optional<store::object_store> store; // That may be shared with the peer.
};

/// The numbers of the actors by which this end serves its peer; 0: not at all.
struct helper_numbers {
  std::uint64_t runner = 0;
  std::uint64_t spawner = 0;
  std::uint64_t inspector = 0;
};

/// What a handshake needs of its surroundings. All on the I/O thread.
class handshake_host {
public:
  virtual ~handshake_host() = default;
  virtual void write(const packet_head& head, bytes_view body) = 0;
  /// From now on a packet's body may be as large as this.
  virtual void admit_packets(std::size_t body_bytes_max) = 0;
  /// Of the encrypted session below; empty without one.
  [[nodiscard]] virtual byte_vector session_key() const = 0;
  /// Null where the bytes do not go by a loopback address.
  [[nodiscard]] virtual const loopback_ends* loopback() const = 0;
  /// The peer may come in, as far as secrets say.
  virtual void peer_is_proven() = 0;
  /// False when another link's peer has that id and another token.
  [[nodiscard]] virtual bool know_peer(const caf::node_id& peer, bytes_view token) = 0;
  /// What this end lets lie behind handles that are on their way to it or not consumed.
  [[nodiscard]] virtual receive_bounds handle_windows() const = 0;
  /// Exports the actors that serve the peer.
  [[nodiscard]] virtual helper_numbers export_helpers() = 0;
};

/// Comes to agreed terms with a peer that greets.
///
/// Threads: the I/O thread.
//  greet --with a secret--> prove --> hello --> agreement (acceptor: ready; dialer: opened) --> take_terms()
//     \----without-------------------/
class handshake {
public:
  /// `host`, `options` and `log` must outlive this.
  handshake(own_end mine, const link_options& options, handshake_host& host, limited_log& log);

  /// Greets, where this end has dialed.
  void begin();

  /// The next packet of the peer. Where it fails, the peer is to be refused, for this reason.
  std::expected<void, node_error> on_packet(const packet_head& head, bytes_view body);

  /// What the two ends have agreed on, once; nothing while the peer has more to say.
  [[nodiscard]] std::optional<agreed_terms> take_terms();

  /// Why the peer refuses this end, by its words.
  [[nodiscard]] node_error read_refusal(bytes_view body) const;
  /// Why the peer has closed the link before it was open, by its words.
  [[nodiscard]] static node_error read_goodbye(bytes_view body);

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
  greet theirs_ = {};                // Once it has come.
  transcript said_before_ = {};      // Without the packet that is being handled: what its proof covers.
  std::optional<digest> shared_key_; // Of the two nodes' keys, once both hellos have come; with that feature only.
  agreed_terms terms_;
};

} // namespace troupe::internal
