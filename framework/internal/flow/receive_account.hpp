// What messages that have come cost until they are consumed.
#pragma once

#include <algorithm>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <troupe/framework/internal/flow/consumption.hpp>
#include <troupe/framework/internal/flow/object_charges.hpp>
#include <troupe/framework/internal/flow/receive_window.hpp>
#include <troupe/framework/internal/flow/understated_memory.hpp>
#include <troupe/framework/internal/wire/message_extensions.hpp>
#include <troupe/framework/internal/wire/packet.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/store/object_id.hpp>

namespace troupe::internal {

/// What lies behind the handles of a message that has come: in the store of both ends, or behind references.
struct received_behind_handles {
  std::uint64_t bytes = 0;
  std::vector<store::object_id> counted = {};  // Objects that count with this message.
  std::vector<store::object_id> repeated = {}; // Those that count with an earlier one.
};

/// What a link's ends have agreed on, and this end's own options.
struct receive_terms {
  receive_bounds windows;        // Of bytes ...
  receive_bounds handle_windows; // ... and of what lies behind handles; counted where the ends say so.
  bool counts_behind_handles = false;
  bool states_value_bytes = false; // Messages may say what their values take.
  std::uint64_t own_window_bytes = 0;
  std::uint64_t own_handle_window_bytes = 0;
};

/// Charges each message that comes to its receiver until it is consumed. Answers cost nothing here: they have room
/// reserved where they were asked for.
///
/// Threads: one; receipts are settled on any, and the sums may be read on any.
class receive_account {
public:
  /// `wake`: as of a receive_window. Messages keep `keeps` alive.
  receive_account(const receive_terms& terms, const std::function<void()>& wake, std::shared_ptr<const void> keeps);

  /// A message of this cost, by what this end knows, has come. Fails with `protocol_violation` when the peer had no
  /// credit left.
  [[nodiscard]] std::expected<receipt, node_error> charge(const message_head& head, std::uint64_t cost) {
    if ((head.flags & message_flags::response) != 0)
      return receipt{};
    return bytes_.received(head.receiver, cost_of(head, cost));
  }
  /// The same for what lies behind its handles, with what it owes already.
  [[nodiscard]] std::expected<receipt, node_error> charge(const message_head& head, receipt owed,
                                                          const received_behind_handles& behind);
  /// What it owes beside that, since its values take so much and it has stated less; null: nothing. Fails with
  /// `undecodable` where too much was not stated.
  [[nodiscard]] std::expected<std::optional<receipt>, node_error>
  charge_understated(const message_head& head, std::uint64_t cost, std::uint64_t values_take) {
    if (values_take <= cost || !terms_.states_value_bytes) // Most.
      return std::nullopt;
    return charge_beyond(cost_of(head, cost), values_take);
  }

  /// What it costs, by what this end knows or the peer states, whichever is more.
  [[nodiscard]] std::uint64_t cost_of(const message_head& head, std::uint64_t known) const {
    return head.extensions.empty() || !terms_.states_value_bytes ? known
                                                                 : std::max(known, value_bytes_of(head.extensions));
  }
  /// What bytes behind the handles of an answer count where answers have one window for all: as large a part of it as
  /// of the window for handles.
  [[nodiscard]] std::uint64_t share_of_window(std::uint64_t handle_bytes) const;

  /// The peer refers to the actor no more.
  void release(std::uint64_t actor);

  /// What the peer is to be told that its messages to one actor have consumed.
  struct due {
    std::uint64_t actor = 0;
    std::uint64_t bytes = 0;
    std::uint64_t handle_bytes = 0;
  };
  [[nodiscard]] std::vector<due> take_due();

  [[nodiscard]] std::uint64_t unconsumed_bytes() const noexcept { return bytes_.unconsumed_bytes(); }
  [[nodiscard]] std::uint64_t unconsumed_handle_bytes() const noexcept { return handles_.unconsumed_bytes(); }

private:
  std::expected<std::optional<receipt>, node_error> charge_beyond(std::uint64_t known, std::uint64_t values_take);

  const receive_terms terms_;
  const std::shared_ptr<const void> keeps_;
  receive_window handles_;
  receive_window bytes_;
  object_charges objects_; // That several messages mention: each costs once.
  understated_memory understated_;
};

} // namespace troupe::internal
