// CAF's counted pointers to actors, and its attachables for watching their ends, for the rooms above.
#pragma once

#include <caf/actor_cast.hpp>
#include <caf/actor_control_block.hpp>
#include <caf/attachable.hpp>
