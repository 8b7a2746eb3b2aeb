// Who on this host can be asked what it keeps.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include <troupe/framework/node_error.hpp>

namespace troupe {

/// Where one node answers processes of its own user on its own host (node_options::local_inspection). A link to there
/// may ask for memory_summary, and reaches nothing else.
struct inspection_address {
  std::string address;
  std::uint32_t process = 0;
};

/// Those of this user's nodes in this network namespace, by process. They may be gone before they are dialed. Fails
/// with `unsupported` where the system does not tell which sockets there are.
[[nodiscard]] std::expected<std::vector<inspection_address>, node_error> inspection_addresses();

} // namespace troupe
