// The last step of an outgoing message.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <troupe/framework/internal/flow/behind_handles.hpp>
#include <troupe/framework/internal/flow/bulk_lanes.hpp>
#include <troupe/framework/internal/link/mention_describer.hpp>
#include <troupe/framework/internal/link/packed_message.hpp>
#include <troupe/framework/internal/net/link_mutex.hpp>
#include <troupe/framework/internal/net/transport.hpp>
#include <troupe/framework/internal/wire/outbox.hpp>

namespace troupe::internal {

/// Appends messages that may leave to the outbox. A message with frames too large for one packet is sent chunk by
/// chunk.
///
/// Guarded by the link's lock.
class departures {
public:
  /// `mentions` must outlive this object.
  explicit departures(mention_describer& mentions) : mentions_(mentions) {}

  /// To be called before the first message. `values` is null if only bytes pass between the ends. `open_bytes_max` is
  /// how many bytes of incomplete messages the peer accepts.
  void open(const link_held&, std::shared_ptr<value_lane> values, std::uint64_t open_bytes_max) {
    values_ = std::move(values);
    bulk_.set_open_bytes_max(open_bytes_max);
  }

  /// Returns true if a message has to be sent in chunks, or after such a message of the same pair and priority.
  [[nodiscard]] bool is_bulk(const link_held&, const message_cargo& cargo, std::uint64_t receiver, std::uint64_t sender,
                             std::uint8_t flags) const {
    return !cargo.transfers.empty() || bulk_.has(bulk_key::of(receiver, sender, flags));
  }

  /// Appends a message whose packet consists of two parts, `begin` and `end`. Requires: not is_bulk().
  void append(const link_held& held, std::uint8_t flags, bytes_view begin, bytes_view end, message_cargo& cargo,
              outbox& out);

  /// Appends the message. Returns true if append_next() sends it; then the I/O thread has to call that.
  [[nodiscard]] bool leave(const link_held& held, packed_message message, outbox& out);

  /// Appends a chunk, or a message whose chunks have all left. Returns false if nothing is left.
  bool append_next(const link_held& held, outbox& out);

  [[nodiscard]] bool empty(const link_held&) const noexcept { return bulk_.empty(); }
  /// The bytes of frames and messages that have not been appended.
  [[nodiscard]] std::uint64_t bytes(const link_held&) const noexcept { return bulk_.bytes(); }
  template <class Look>
  void each(const link_held&, Look&& look) const {
    bulk_.each(look);
  }

  /// To be called when the link ends.
  [[nodiscard]] std::vector<packed_message> take_all(const link_held&) { return bulk_.take_all(); }

private:
  void append_packed(const link_held& held, packed_message message, outbox& out);

  mention_describer& mentions_;
  std::shared_ptr<value_lane> values_;
  bulk_lanes<packed_message> bulk_;
};

} // namespace troupe::internal
