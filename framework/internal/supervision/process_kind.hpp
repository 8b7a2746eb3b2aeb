// Children that are processes.
#pragma once

#include <expected>
#include <memory>

#include <troupe/framework/internal/supervision/child_kind.hpp>
#include <troupe/framework/supervise.hpp>
#include <troupe/framework/worker_process.hpp>

namespace troupe::internal {

class node_core;

/// Children that are worker processes of that node, which is not kept alive. Fails with `bad_option` if an option
/// of the worker or of its link is not usable.
[[nodiscard]] std::expected<std::shared_ptr<const child_kind>, node_error>
process_kind(const std::shared_ptr<node_core>& node, worker_options options, hosted_actor hosts);

} // namespace troupe::internal
