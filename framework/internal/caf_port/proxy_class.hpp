// CAF's base class for actors that pass their messages on, for the rooms above.
#pragma once

#include <caf/actor_proxy.hpp>
#include <caf/make_actor.hpp>
