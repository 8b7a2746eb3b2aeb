// `troupe cluster drain`.
#pragma once

#include "cluster/access.hpp"

#include <string>

namespace troupe::tools {

struct drain_request {
  std::string member;
  bool is_cancelled = false;
  double wait_seconds = 60; // 0: the command does not wait.
};

/// Orders a member to drain, and waits until it has nothing left or is gone; or cancels the order.
void drain_member(const directory_access& by, const drain_request& asked, bool as_json, const cluster_answer& to);

} // namespace troupe::tools
