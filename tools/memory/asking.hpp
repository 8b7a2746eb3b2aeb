// Asks nodes and stores which objects they keep in memory.
#pragma once

#include "nodes/client.hpp"

#include <troupe/framework/memory_summary.hpp>

#include <string>
#include <vector>

namespace troupe::tools {

/// One combined summary of all this user's nodes and stores on this host: the `objects_max` largest objects of
/// each, and the processes that did not answer (memory_process::problem).
[[nodiscard]] memory_summary memory_of_host(const std::string& store_directory, std::uint64_t objects_max,
                                            const access& by);

/// The combined summary of these answers of nodes, made without memory_query::whole_store, and of this user's stores on
/// this host.
[[nodiscard]] memory_summary with_stores(std::vector<memory_summary> parts, const std::string& store_directory,
                                         std::uint64_t objects_max);

struct memory_of_addresses {
  memory_summary summary;
  bool has_bad_address = false; // At least one address is malformed, or its host is unknown.
};

/// One combined summary of the nodes at these addresses. Their links must allow it (allow_memory_summary).
[[nodiscard]] memory_of_addresses memory_of_nodes(const std::vector<std::string>& addresses, const access& by);

} // namespace troupe::tools
