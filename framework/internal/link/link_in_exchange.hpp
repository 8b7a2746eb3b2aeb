// One link as the node's exchange of objects sees it. The protocol: framework/handle-protocol.md.
#pragma once

#include <atomic>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <troupe/framework/internal/link/exchange_membership.hpp>
#include <troupe/framework/internal/net/link_mutex.hpp>
#include <troupe/framework/internal/objects/handle_counter.hpp>
#include <troupe/framework/internal/wire/admin.hpp>
#include <troupe/framework/internal/wire/outbox.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/limits.hpp>

namespace troupe::internal {

class connection;
class whereabouts_teller;
struct link_common;

/// Carries the messages between the exchanges of both ends over one link.
///
/// Threads: the I/O thread for join(), leave() and incoming packets; any for the rest.
class link_in_exchange final : public counted_link {
public:
  /// Parts of the link and of its node; all must outlive this object.
  struct parts {
    const link_common& link;
    const std::shared_ptr<handle_counter>& exchange; // Null if the node has no store.
    whereabouts_teller& whereabouts;
    const limits& bounds;           // Of incoming messages.
    asio::io_context* io = nullptr; // Of the link; null: the exchange uses its own.
    std::atomic<std::uint64_t>& bytes_sent;
    std::atomic<std::uint64_t>& bytes_received;
  };
  explicit link_in_exchange(const parts& of) : of_(of) {}

  /// Joins the exchange if both ends count handles. To be called when the terms are agreed. `link` owns this object.
  /// `over` must outlive it. Fails with `protocol_violation` if the peer has given the link the number of another link.
  [[nodiscard]] std::expected<void, node_error> join(const std::shared_ptr<const void>& link, connection& over);
  /// Leaves the exchange because the link has ended.
  void leave(std::string why) { membership_.leave(std::move(why)); }

  /// Whether one end has handles to objects of the other.
  [[nodiscard]] bool is_used(const link_held& held) const;

  // -- for the exchange

  void write_handles() override;
  void end_for_handles(const node_error& why) override;
  [[nodiscard]] asio::io_context* io() const noexcept override { return of_.io; }
  [[nodiscard]] const std::string& peer_name() const noexcept override;
  [[nodiscard]] std::uint64_t object_bytes_max() const noexcept override { return of_.bounds.object_bytes; }

  // -- outgoing

  /// Appends what the exchange has to say, then counts one sending of each object. The result keeps their order. The
  /// message must follow. Requires: both ends count handles.
  [[nodiscard]] std::vector<object_mention>
  count_out(const link_held& held, std::span<const std::shared_ptr<exchanged_object>> objects, outbox& out);
  /// Appends bytes that the peer has asked for. Returns false if there are none. I/O thread.
  bool append_piece(const link_held& held, outbox& out);

  // -- incoming

  /// Returns the sources of counted objects in order, and null for all others. All are null if the ends count no
  /// handles.
  [[nodiscard]] std::expected<std::vector<object_source_ptr>, node_error>
  receive(const std::vector<object_mention>& described);
  std::expected<void, node_error> on_chunk(bytes_view body);
  /// Requires: is_about_handles(op).
  std::expected<void, node_error> on_message(admin_op op, bytes_view body);

private:
  void append_messages(const link_held& held, outbox& out);

  const parts of_;
  connection* over_ = nullptr;
  exchange_membership membership_;
};

} // namespace troupe::internal
