// `troupe cluster watch`.
#pragma once

#include "cluster/access.hpp"

#include <optional>

namespace troupe::tools {

/// Prints a line for each event, until the time is over, or SIGINT or SIGTERM comes, or the output cannot be written.
void watch_cluster(const directory_access& by, std::optional<double> seconds, bool as_json, const cluster_answer& to);

} // namespace troupe::tools
