// Node ids, in forms for rooms without CAF.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <caf/node_id.hpp>

namespace troupe::internal {

/// The parts of a node id: the process, and the host in hexadecimal digits.
struct node_id_text {
  std::uint32_t process = 0;
  std::string host;
  bool operator==(const node_id_text&) const = default;
};

/// Requires: a valid id.
[[nodiscard]] node_id_text text_of(const caf::node_id& node);
/// An invalid node id if the text is not valid.
[[nodiscard]] caf::node_id read_node_id(std::uint32_t process, std::string_view host);

/// The handles::node_name::node of a node: every process computes the same.
[[nodiscard]] std::uint64_t handle_number_of(const caf::node_id& node);

} // namespace troupe::internal
