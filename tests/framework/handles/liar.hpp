// The attacks of a node that knows the link's secret and may write anything.
#pragma once

#include <cstdint>

#include "world.hpp"

namespace troupe::simulation {

/// Puts an invented packet on one of a liar's links. Does nothing if there is no liar.
void forge(world& in, std::uint32_t how, std::uint32_t seed);

/// Changes, repeats, drops or swaps packets that a liar has written and that have not arrived yet.
void tamper(world& in, std::uint32_t how, std::uint32_t seed);

} // namespace troupe::simulation
