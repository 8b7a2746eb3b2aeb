// One link, as the node's exchange of objects uses it. The protocol: framework/handle-protocol.md.
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

/// Carries over one link what the exchanges of its two ends say to each other.
///
/// Threads: join(), leave() and what is heard on the link's I/O thread; the rest from any.
class link_in_exchange final : public counted_link {
public:
  /// Parts of the link and of its node, which outlive this.
  struct parts {
    const link_common& link;
    const std::shared_ptr<handle_counter>& exchange; // Null for a node without a store.
    whereabouts_teller& whereabouts;
    const limits& bounds;           // Of what is heard.
    asio::io_context* io = nullptr; // The link's; null: the exchange's.
    std::atomic<std::uint64_t>& bytes_sent;
    std::atomic<std::uint64_t>& bytes_received;
  };
  explicit link_in_exchange(const parts& of) : of_(of) {}

  /// Once the terms are agreed on, where the two ends count handles. `link` has this; `over` outlives this. Fails with
  /// `protocol_violation` where the peer has given the link the number of another.
  [[nodiscard]] std::expected<void, node_error> join(const std::shared_ptr<const void>& link, connection& over);
  /// The link has ended.
  void leave(std::string why) { membership_.leave(std::move(why)); }

  // -- for the exchange

  void write_handles() override;
  void end_for_handles(const node_error& why) override;
  [[nodiscard]] asio::io_context* io() const noexcept override { return of_.io; }
  [[nodiscard]] const std::string& peer_name() const noexcept override;
  [[nodiscard]] std::uint64_t object_bytes_max() const noexcept override { return of_.bounds.object_bytes; }

  // -- out

  /// Counts one sending of each, in the order of the result, behind all that the exchange has to say. The message must
  /// follow. Requires: the two ends count handles.
  [[nodiscard]] std::vector<object_mention>
  count_out(const link_held& held, std::span<const std::shared_ptr<exchanged_object>> objects, outbox& out);
  /// Bytes that the peer has asked for; false where there are none. I/O thread.
  bool append_piece(const link_held& held, outbox& out);

  // -- in

  /// The counted ones of these, in order; null for the others. All are null where the two ends count no handles.
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
