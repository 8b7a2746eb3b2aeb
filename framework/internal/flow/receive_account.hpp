// The cost of received messages until they are consumed.
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

/// What lies behind the handles of a received message: in the store of both ends, or behind references.
struct received_behind_handles {
  std::uint64_t bytes = 0;
  std::vector<store::object_id> counted = {};  // Objects that count with this message.
  std::vector<store::object_id> repeated = {}; // Objects that count with an earlier message.
};

/// The terms on which a link's ends have agreed, and this end's own options.
struct receive_terms {
  receive_bounds windows;        // For bytes.
  receive_bounds handle_windows; // For bytes behind handles; used if both ends count these.
  bool counts_behind_handles = false;
  bool states_value_bytes = false; // Messages may state the memory of their values.
  std::uint64_t own_window_bytes = 0;
  std::uint64_t own_handle_window_bytes = 0;
};

/// Charges each received message to its receiver until the message is consumed. Answers cost nothing here, because
/// their requests have reserved room for them.
///
/// Threads: one; receipts are settled on any thread, and the sums may be read on any thread.
class receive_account {
public:
  /// `wake`: as for a receive_window. Messages keep `keeps` alive.
  receive_account(const receive_terms& terms, const std::function<void()>& wake, std::shared_ptr<const void> keeps);

  /// Charges a message of this cost, as far as this end knows it. Fails with `protocol_violation` if the peer had no
  /// credit left.
  [[nodiscard]] std::expected<receipt, node_error> charge(const message_head& head, std::uint64_t cost) {
    if ((head.flags & message_flags::response) != 0)
      return receipt{};
    return bytes_.received(head.receiver, cost_of(head, cost));
  }
  /// Charges the bytes behind the message's handles, and joins them with `owed`, its receipt so far.
  [[nodiscard]] std::expected<receipt, node_error> charge(const message_head& head, receipt owed,
                                                          const received_behind_handles& behind);
  /// Charges the memory of a message's values that the message did not state; nullopt if it stated enough. Fails with
  /// `undecodable` if too much was not stated.
  [[nodiscard]] std::expected<std::optional<receipt>, node_error>
  charge_understated(const message_head& head, std::uint64_t cost, std::uint64_t values_take) {
    if (values_take <= cost || !terms_.states_value_bytes) // Most.
      return std::nullopt;
    return charge_beyond(cost_of(head, cost), values_take);
  }

  /// The cost of a message: what this end knows, or what the peer states if that is more.
  [[nodiscard]] std::uint64_t cost_of(const message_head& head, std::uint64_t known) const {
    return head.extensions.empty() || !terms_.states_value_bytes ? known
                                                                 : std::max(known, value_bytes_of(head.extensions));
  }
  /// Converts bytes behind an answer's handles into bytes of the single window for answers, in proportion to the two
  /// windows.
  [[nodiscard]] std::uint64_t share_of_window(std::uint64_t handle_bytes) const;

  /// The peer no longer refers to the actor.
  void release(std::uint64_t actor);

  /// The consumed bytes of one actor that the peer has to be told.
  struct due {
    std::uint64_t actor = 0;
    std::uint64_t bytes = 0;
    std::uint64_t handle_bytes = 0;
  };
  [[nodiscard]] std::vector<due> take_due();

  [[nodiscard]] std::uint64_t unconsumed_bytes() const noexcept { return bytes_.unconsumed_bytes(); }
  [[nodiscard]] std::uint64_t unconsumed_handle_bytes() const noexcept { return handles_.unconsumed_bytes(); }
  /// The actors that have not consumed everything, by the numbers that the peer uses. Any thread.
  [[nodiscard]] std::vector<unconsumed_by_actor> unconsumed() const { return bytes_.unconsumed(); }

private:
  std::expected<std::optional<receipt>, node_error> charge_beyond(std::uint64_t known, std::uint64_t values_take);

  const receive_terms terms_;
  const std::shared_ptr<const void> keeps_;
  receive_window handles_;
  receive_window bytes_;
  object_charges objects_; // Objects that several messages mention cost once.
  understated_memory understated_;
};

} // namespace troupe::internal
