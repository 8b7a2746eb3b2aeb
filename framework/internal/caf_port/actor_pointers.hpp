// CAF's counted pointers to actors, for the rooms above.
#pragma once

#include <caf/actor_cast.hpp>
#include <caf/actor_control_block.hpp>
