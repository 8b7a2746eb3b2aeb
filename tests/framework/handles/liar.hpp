// What a node does that has the link's secret and bad intentions: it writes what it likes.
#pragma once

#include <cstdint>

#include "world.hpp"

namespace troupe::simulation {

/// Puts a made-up packet on one of a liar's links. Does nothing where there is no liar.
void forge(world& in, std::uint32_t how, std::uint32_t seed);

/// Changes, repeats, drops or swaps what a liar has just written.
void tamper(world& in, std::uint32_t how, std::uint32_t seed);

} // namespace troupe::simulation
