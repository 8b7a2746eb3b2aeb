// A worker process: one node, one link and one actor.
#pragma once

#include <troupe/framework/worker_main.hpp>

namespace images {

/// For troupe::worker_main: filters tiles for the coordinator until the coordinator is gone.
void set_up_worker(troupe::worker_setup& with);

} // namespace images
