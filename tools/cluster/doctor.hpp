// `troupe cluster doctor`.
#pragma once

#include "cluster/access.hpp"

#include <troupe/framework/link_options.hpp>

namespace troupe::tools {

struct doctor_request {
  credentials known_by; // Of the links to members.
  bool writes = true;   // Tries to write to the directory.

  [[nodiscard]] bool has_credentials() const;
};

/// Examines the directory and every member, and prints what it finds. Status: 0, or 1 if something is wrong, or 2 if
/// the directory cannot be asked.
void examine_cluster(const directory_access& by, const doctor_request& asked, bool as_json, const cluster_answer& to);

} // namespace troupe::tools
