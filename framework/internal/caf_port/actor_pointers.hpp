// CAF's counted pointers to actors, and how their ends are watched, for the rooms above.
#pragma once

#include <caf/actor_cast.hpp>
#include <caf/actor_control_block.hpp>
#include <caf/attachable.hpp>
