// A worker's process: a node, a link, one actor.
#pragma once

#include <string>

namespace images {

/// Filters tiles for the coordinator at that address until it is gone. Throws std::runtime_error.
void work(const std::string& address);

} // namespace images
