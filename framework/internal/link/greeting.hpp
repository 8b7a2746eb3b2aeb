// What a link needs until it is open.
#pragma once

#include <chrono>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <troupe/framework/internal/caf_port/node_ids.hpp>

#include <troupe/framework/internal/link/actor_names.hpp>
#include <troupe/framework/internal/link/agreed_terms.hpp>
#include <troupe/framework/internal/link/handshake.hpp>
#include <troupe/framework/internal/link/handshake_report.hpp>
#include <troupe/framework/internal/link/life_cycle.hpp>
#include <troupe/framework/internal/net/connection.hpp>
#include <troupe/framework/internal/threads/io_timer.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/internal/words/limited_log.hpp>
#include <troupe/framework/link_options.hpp>
#include <troupe/framework/node_errc.hpp>

namespace troupe::internal {

class known_peers;
class node_link;
class link_host;
class refusal_log;

/// Registers the peer of a link among the peers that its node knows, until the link ends.
///
/// Threads: the I/O thread.
class known_peer {
public:
  /// `all` must outlive this object.
  explicit known_peer(known_peers& all) : all_(all) {}
  known_peer(const known_peer&) = delete;
  known_peer& operator=(const known_peer&) = delete;

  /// Returns false if the peer of another link has the same id and another token.
  [[nodiscard]] bool enter(const caf::node_id& peer, bytes_view token);
  /// Does nothing if the peer is not registered.
  void leave();

private:
  known_peers& all_;
  caf::node_id entered_; // Invalid: not registered.
};

/// Speaks with a peer over a link's connection until both have agreed on terms.
///
/// Threads: the I/O thread.
class greeting final : private handshake_host {
public:
  /// Parts of the link and of its node; all must outlive this object.
  struct parts {
    link_host& node;
    node_link* link = nullptr; // The link as the node's entrances know it.
    asio::io_context& io;      // The I/O context of the link.
    const link_options& options;
    const life_cycle& life;
    connection& over;
    actor_names& actors;
    known_peer& peer;
    limited_log& log;
  };
  greeting(const parts& of, own_end mine, std::shared_ptr<refusal_log> refusals);

  /// Begins the handshake, which must end within `patience`. `owner` owns this object.
  void begin(std::chrono::milliseconds patience, std::weak_ptr<void> owner);

  /// Handles the peer's next packet. Returns the terms once both ends have agreed. If it fails, the link ends. A
  /// refused peer is told the reason.
  [[nodiscard]] std::expected<std::optional<agreed_terms>, node_error> on_packet(const packet_head& head,
                                                                                 bytes_view body);
  /// Refuses the peer for this reason and tells it so.
  std::unexpected<node_error> refuse(node_error reason);

  /// Whether the peer has refused the secret that this end has proven.
  [[nodiscard]] bool secret_is_refused() const noexcept { return secret_is_refused_; }

  /// Ends the link to make room for others, unless the peer has proven its identity meanwhile.
  void displace();
  /// Reports that the connection has ended before the link was open. `is_common`: see handshake_report::unfinished.
  void end(const node_error& reason, bool is_common) { report_.unfinished(reason, is_common); }

private:
  void write(const packet_head& head, bytes_view body) override;
  void admit_packets(std::size_t body_bytes_max) override;
  [[nodiscard]] byte_vector session_key() const override;
  [[nodiscard]] std::vector<std::string> certificate_names() const override;
  [[nodiscard]] const loopback_ends* loopback() const override;
  void peer_is_proven() override;
  [[nodiscard]] bool know_peer(const caf::node_id& peer, bytes_view token) override;
  [[nodiscard]] receive_bounds handle_windows() const override;
  [[nodiscard]] helper_numbers export_helpers(const std::string& role, const peer_rights& rights) override;
  [[nodiscard]] std::uint64_t number_of(const caf::strong_actor_ptr& helper);

  const parts of_;
  handshake_report report_;
  handshake talk_;
  io_timer limit_;
  bool is_proven_ = false; // The peer has proven its identity.
  bool secret_is_refused_ = false;
};

} // namespace troupe::internal
