// CAF's actor system, for the rooms above.
#pragma once

#include <caf/actor_system.hpp>
