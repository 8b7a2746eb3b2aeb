// A worker process: one node, one link and one actor.
#pragma once

#include <string>

namespace images {

/// Filters tiles for the coordinator at `address` until the coordinator is gone. Throws std::runtime_error.
void work(const std::string& address);

} // namespace images
