// What a link has until it is open.
#pragma once

#include <memory>

#include <asio/steady_timer.hpp>

#include <troupe/framework/internal/link/handshake.hpp>
#include <troupe/framework/internal/link/handshake_report.hpp>
#include <troupe/framework/internal/link/link_core.hpp>

namespace troupe::internal {

/// Lets the handshake speak over the link's connection.
///
/// Threads: the I/O thread.
class link_core::greeting final : public handshake_host {
public:
  greeting(link_core& link, std::shared_ptr<refusal_log> refusals);

  void write(const packet_head& head, bytes_view body) override;
  void admit_packets(std::size_t body_bytes_max) override;
  [[nodiscard]] byte_vector session_key() const override;
  [[nodiscard]] const loopback_ends* loopback() const override;
  void peer_is_proven() override;
  [[nodiscard]] bool know_peer(const caf::node_id& peer, bytes_view token) override;
  [[nodiscard]] receive_bounds handle_windows() const override;
  [[nodiscard]] helper_numbers export_helpers() override;

  handshake_report report;
  handshake talk;
  asio::steady_timer limit;

private:
  [[nodiscard]] static own_end own_end_of(const link_core& link);
  [[nodiscard]] std::uint64_t number_of(const caf::strong_actor_ptr& helper);

  link_core& link_;
};

} // namespace troupe::internal
