// Starting the program of a worker.
#pragma once

#include <expected>
#include <optional>
#include <string>

#include <sys/types.h>

#include <troupe/framework/internal/workers/memory_group.hpp>
#include <troupe/framework/node_errc.hpp>
#include <troupe/framework/worker_process.hpp>
#include <troupe/processes/descriptor.hpp>
#include <troupe/store/options.hpp>

namespace troupe::internal {

/// A worker's process, with this process's ends of what joins them. All descriptors do not block.
struct started_worker {
  pid_t number = 0;
  processes::descriptor watch; // Readable once the process has ended.
  processes::descriptor socket;
  processes::descriptor output;
  processes::descriptor errors;
};

/// The name of a worker: that of its options, or the program's file name.
[[nodiscard]] std::string name_of_worker(const worker_options& options);

/// Fails with `bad_option` for values that no system could use.
[[nodiscard]] std::expected<void, node_error> check_worker(const worker_options& options);

/// Starts the program, in the group if there is one. Fails with `spawn_failed`, or with `unsupported` if the system
/// refuses a limit. Requires: the calling thread lives as long as the worker.
[[nodiscard]] std::expected<started_worker, node_error> start_worker(const worker_options& options,
                                                                     const std::optional<store::options>& store,
                                                                     const std::optional<memory_group>& group);

} // namespace troupe::internal
