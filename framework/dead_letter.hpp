// Messages that could not be delivered, for an actor that asks for them (node::dead_letters).
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <troupe/framework/node_errc.hpp>
#include <troupe/serializers/describe.hpp>
#include <troupe/serializers/serialized.hpp>

namespace troupe {

/// A message that a link could not deliver.
struct dead_letter {
  /// The name of the node at the other end of the link.
  std::string peer;
  /// What the peer runs, like "Troupe 0.1.0, protocol 1.4".
  std::string peer_version;
  /// link::number() of the link.
  std::uint64_t link = 0;
  /// True: the message came from the peer. False: it was not sent to the peer.
  bool has_arrived = false;
  /// The ids of the two actors, as the link numbers them; 0 for a message without a sender.
  std::uint64_t sender = 0;
  std::uint64_t receiver = 0;
  /// The message was a request. Its sender gets an error.
  bool is_request = false;
  node_errc reason = node_errc::none;
  std::string reason_text;
  /// How long the message has waited, encoded, to be sent; else 0.
  std::chrono::nanoseconds age{0};
  /// The aliases of the message's elements, or the names of their C++ types if they have no alias.
  std::vector<std::string> types;
  /// The elements, encoded by the node's `store_families`, or as they arrived. Empty if the bytes are not available: an
  /// element has no alias or no family, mentions actors or objects, or the message takes more than 1 MiB.
  std::vector<serialized> values;
};
TROUPE_DESCRIBE(dead_letter, peer, peer_version, link, has_arrived, sender, receiver, is_request, reason, reason_text,
                age, types, values)

} // namespace troupe
