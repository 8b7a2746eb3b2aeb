// A message that could not be written at once.
#pragma once

#include <any>
#include <cstdint>
#include <vector>

#include <caf/actor_control_block.hpp>

#include <troupe/framework/internal/flow/behind_handles.hpp>
#include <troupe/framework/internal/flow/bulk_lanes.hpp>
#include <troupe/framework/internal/flow/consumption.hpp>
#include <troupe/framework/internal/wire/packet.hpp>

namespace troupe::internal {

/// One encoded message that could not be written at once, with what it has counted.
struct packed_message {
  std::uint64_t receiver = 0;
  std::uint64_t sender = 0;
  std::uint8_t flags = 0; // message_flags
  std::uint64_t cost = 0; // Charged against the window; zero for what is never held back.
  byte_vector body;       // Head and elements.
  std::any value = {};    // Goes beside the bytes, instead of elements; else empty.
  std::vector<outgoing_transfer> transfers = {};
  std::vector<outgoing_mention> mentions = {};
  // The receiver, and the peer's actors that the message mentions: released to the peer after the message only.
  std::vector<caf::strong_actor_ptr> proxies = {};
  // What is taken back when it is dropped.
  std::vector<store::handle> objects = {};
  std::vector<std::uint64_t> actors = {};
  question_key question = {};
  caf::strong_actor_ptr settles = {}; // An asker whose request the message forwards: answered elsewhere once it leaves.
  std::vector<stored_frame> frames = {}; // Charged against the window for handles, with the objects in `mentions`.
  std::uint64_t handle_bytes = 0;        // What those count more for the receiver while it waits; `wait` says it.
  std::uint64_t link_handle_bytes = 0;   // The same for the link.
  bool may_be_dropped = true;            // To make room for newer ones.
  receipt owed = {};                     // To the link that it came over, where this node passes it on.
  std::uint64_t peer_epoch = 0;          // By whose lists it was encoded, see negotiation.
};

} // namespace troupe::internal
