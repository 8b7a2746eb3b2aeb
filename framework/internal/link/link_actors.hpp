// The actors of this node that one link has sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <troupe/framework/internal/caf_port/actor_pointers.hpp>

namespace troupe::internal {

/// An actor of this node that a peer may address, and the peer's messages that it has not consumed.
struct addressed_actor {
  caf::strong_actor_ptr actor;
  std::uint64_t waiting_messages = 0;
  std::uint64_t waiting_bytes = 0;
};

/// How many actors of one link are listed that are neither asked for nor have messages waiting.
inline constexpr std::size_t idle_actors_max = 1'000;

/// The actors of this node that the peer of one link may address.
struct link_actors {
  std::vector<addressed_actor> actors; // Each once.
  std::vector<std::uint64_t> omitted;  // The ids of further ones. One may be there twice.
};

} // namespace troupe::internal
