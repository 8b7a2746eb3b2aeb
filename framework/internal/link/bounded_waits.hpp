// Options whose waits are safe to add to a clock.
#pragma once

#include <algorithm>
#include <utility>

#include <troupe/base/longest_wait.hpp>
#include <troupe/framework/options.hpp>

namespace troupe::internal {

/// Returns the options with each wait capped at `longest_wait`. Shorter waits, even invalid ones, stay unchanged.
[[nodiscard]] inline link_options with_bounded_waits(link_options options) {
  for (auto* wait :
       {&options.connect_timeout, &options.block_timeout, &options.heartbeat_interval, &options.heartbeat_timeout})
    if (**wait > longest_wait)
      *wait = longest_wait;
  return options;
}

[[nodiscard]] inline node_options with_bounded_waits(node_options options) {
  for (auto* wait : {&options.handle_grace, &options.drain_timeout})
    if (**wait > longest_wait)
      *wait = longest_wait;
  options.accepted_links = with_bounded_waits(std::move(options.accepted_links));
  return options;
}

} // namespace troupe::internal
