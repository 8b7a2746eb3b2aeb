// What a link needs until it is open.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <troupe/framework/internal/trust/authentication.hpp>
#include <troupe/framework/internal/words/refusal_log.hpp>

namespace troupe::internal {

/// What is expected from the peer next.
//  greet --with a secret--> prove --> hello --> agreement (acceptor: ready; dialer: opened)
//     \----without-------------------/
enum class handshake_step : std::uint8_t { greet, prove, hello, agreement };

struct link_handshake {
  authentication proofs;
  handshake_step step = handshake_step::greet;
  greet theirs = {};                          // Once it has come.
  transcript said_before = {};                // Without the packet that is being handled: what its proof covers.
  std::shared_ptr<refusal_log> refusals = {}; // Of the address that the peer dialed; null at the dialing end.
  std::optional<digest> shared_key = {}; // Of the two nodes' keys, once both hellos have come; with that feature only.
  bool is_noted = false;                 // What became of it is counted, and said where it has to be.
};

} // namespace troupe::internal
