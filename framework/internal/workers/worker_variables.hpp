// What a worker process is told at its start, in variables of its environment.
#pragma once

#include <expected>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <troupe/framework/node_errc.hpp>
#include <troupe/store/options.hpp>

namespace troupe::internal {

/// The names of the variables. Nothing in them is secret: other processes of this user can read them.
inline constexpr auto worker_variable = "TROUPE_WORKER";             // The number of the inherited socket.
inline constexpr auto worker_name_variable = "TROUPE_WORKER_NAME";   // The name of the worker's node.
inline constexpr auto worker_store_variable = "TROUPE_WORKER_STORE"; // "name:directory"; not set: no store.

/// A worker's place beside the process that has started it.
struct worker_place {
  int socket = -1;
  std::string name;
  std::optional<store::options> store; // How to open the starting node's store.
};

/// The variables that tell a program its place.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> variables_of(const worker_place& place);

/// Takes this process's place, and removes the variables. Closes the socket at exec from now on. Fails with `not_found`
/// if this process was not started as a worker, and with `bad_option` if the variables or the socket are not usable.
[[nodiscard]] std::expected<worker_place, node_error> take_worker_place();

} // namespace troupe::internal
