// The parts of a message beside its packet, and a message that could not be written at once.
#pragma once

#include <any>
#include <cstdint>
#include <vector>

#include <troupe/framework/internal/flow/behind_handles.hpp>
#include <troupe/framework/internal/flow/bulk_lanes.hpp>
#include <troupe/framework/internal/flow/send_window.hpp>
#include <troupe/framework/internal/link/message_claims.hpp>
#include <troupe/framework/internal/wire/packet.hpp>

namespace troupe::internal {

/// The parts of a message beside its packet, its claims among them.
struct message_cargo {
  std::any value =
      {}; // A caf::message that goes beside the bytes; then the elements say only how large it is. Else empty.
  std::vector<outgoing_transfer> transfers = {}; // Go ahead in chunks.
  std::vector<outgoing_mention> mentions = {};   // Of objects, described ahead.
  std::vector<stored_frame> frames = {};         // Charged against the window for handles, with `mentions`.
  message_claims claims = {};

  [[nodiscard]] behind_handles behind() noexcept { return {frames, mentions}; }
};

/// One encoded message that could not be written at once.
struct packed_message : message_cargo {
  std::uint64_t receiver = 0;
  std::uint64_t sender = 0;
  std::uint8_t flags = 0; // message_flags
  asking asks = asking::nothing;
  std::uint64_t cost = 0;     // Charged against the window; zero for what is never held back.
  byte_vector body = {};      // Head and elements.
  bool may_be_dropped = true; // To make room for newer ones.
};

} // namespace troupe::internal
