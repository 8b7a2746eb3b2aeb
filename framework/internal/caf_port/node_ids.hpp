// A node's id as the parts without CAF know it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <caf/node_id.hpp>

namespace troupe::internal {

/// What a node id consists of: the process, and the host in hexadecimal digits.
struct node_id_text {
  std::uint32_t process = 0;
  std::string host;
  bool operator==(const node_id_text&) const = default;
};

/// Requires: a valid id.
[[nodiscard]] node_id_text text_of(const caf::node_id& node);
/// An invalid node id when the text is none.
[[nodiscard]] caf::node_id read_node_id(std::uint32_t process, std::string_view host);

/// handles::node_name::node of a node: the same wherever it is asked.
[[nodiscard]] std::uint64_t handle_number_of(const caf::node_id& node);

} // namespace troupe::internal
