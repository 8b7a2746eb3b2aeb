// Whom to ask what is kept, and what they say.
#pragma once

#include "nodes/client.hpp"

#include <troupe/framework/memory_summary.hpp>

#include <string>
#include <vector>

namespace troupe::tools {

/// What is known of several nodes, of the `objects_max` largest objects of each, as one, and who has not answered
/// (memory_process::problem).
[[nodiscard]] memory_summary memory_of_host(const std::string& store_directory, std::uint64_t objects_max,
                                            const access& by);

struct memory_of_addresses {
  memory_summary summary;
  bool has_bad_address = false; // One of them is no address, or its host is not known.
};

/// The same of the nodes at these addresses, whose links must allow it.
[[nodiscard]] memory_of_addresses memory_of_nodes(const std::vector<std::string>& addresses, const access& by);

} // namespace troupe::tools
