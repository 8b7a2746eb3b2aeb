// What a message carries in addition to its packet, and a message that could not be written at once.
#pragma once

#include <any>
#include <chrono>
#include <cstdint>
#include <memory>
#include <vector>

#include <troupe/framework/internal/caf_port/message_owner.hpp>
#include <troupe/framework/internal/flow/behind_handles.hpp>
#include <troupe/framework/internal/flow/bulk_lanes.hpp>
#include <troupe/framework/internal/flow/send_window.hpp>
#include <troupe/framework/internal/link/message_claims.hpp>
#include <troupe/framework/internal/traces/traced_hop.hpp>
#include <troupe/framework/internal/wire/packet.hpp>

namespace troupe::internal {

/// What a message carries in addition to its packet, including its claims.
struct message_cargo {
  // A caf::message that passes beside the bytes; then the elements tell only its size. Otherwise empty.
  std::any value = {};
  std::vector<outgoing_transfer> transfers = {}; // Sent ahead in chunks.
  std::vector<outgoing_mention> mentions = {};   // Objects, described ahead.
  std::vector<stored_frame> frames = {};         // Charged against the window for handles, with `mentions`.
  message_claims claims = {};
  std::shared_ptr<traced_hop> call = {};          // Of a request whose span this node records.
  std::shared_ptr<const message_owner> kept = {}; // The message before it was encoded, if an actor wants dead letters.

  [[nodiscard]] behind_handles behind() noexcept { return {frames, mentions}; }
};

/// One encoded message that could not be written at once.
struct packed_message : message_cargo {
  std::uint64_t receiver = 0;
  std::uint64_t sender = 0;
  std::uint8_t flags = 0; // message_flags
  asking asks = asking::nothing;
  std::uint64_t cost = 0;      // Charged against the window; zero if the message is never held back.
  byte_vector body = {};       // The head and the elements.
  std::size_t deadline_at = 0; // Where a deadline stands in the body, in the form of this process; 0: nowhere.
  bool may_be_dropped = true;  // It may make room for newer messages.
  // If its wait for credit is measured: since when it waits, and for how many waits it stands. Otherwise 0.
  std::uint64_t stands_for = 0;
  std::chrono::steady_clock::time_point waits_since = {};
};

} // namespace troupe::internal
