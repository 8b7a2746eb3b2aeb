// What a link needs until it is open.
#pragma once

#include <cstdint>

#include <troupe/framework/internal/authentication.hpp>

namespace troupe::internal {

/// What is expected from the peer next.
//  greet --with a secret--> prove --> hello --> agreement (acceptor: ready; dialer: opened)
//     \----without-------------------/
enum class handshake_step : std::uint8_t { greet, prove, hello, agreement };

struct link_handshake {
  authentication proofs;
  handshake_step step = handshake_step::greet;
  greet theirs = {};           // Once it has come.
  transcript said_before = {}; // Without the packet that is being handled: what its proof covers.
};

} // namespace troupe::internal
